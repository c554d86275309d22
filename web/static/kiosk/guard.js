/** Keeps the page where it is: no way back, no zoom by accident, no menu, no sleeping screen; full screen where it can be. */

/** Keys that leave or reload a page. @param {KeyboardEvent} event @returns {boolean} */
export function leaves(event) {
  if (["F5", "BrowserBack", "BrowserForward", "BrowserRefresh", "BrowserHome"].includes(event.key)) return true;
  if (event.altKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) return true;
  return (event.ctrlKey || event.metaKey) && ["r", "R", "p", "P", "s", "S", "[", "]"].includes(event.key);
}

export class Guard {
  constructor() {
    this.engaged = false;
    this.going = false;
    /** @type {WakeLockSentinel | null} */
    this.lock = null;
    this.#trap();
    this.#quiet();
    document.addEventListener("visibilitychange", () => void this.#stayAwake());
    void this.#stayAwake();
  }

  /** From now on, until the reset, the browser asks before it lets the page go. @param {boolean} engaged */
  engage(engaged) {
    this.engaged = engaged;
  }

  /** Begins the page anew; the history stays as long as it is. */
  restart() {
    this.going = true;
    location.reload();
  }

  /** One entry lies behind the page, so that "back" leads to where it is. */
  #trap() {
    if (!history.state?.kiosk) {
      history.replaceState({ kiosk: "floor" }, "");
      history.pushState({ kiosk: "top" }, "");
    } else if (history.state.kiosk === "floor") history.forward();
    window.addEventListener("popstate", () => {
      if (history.state?.kiosk !== "top") history.forward();
    });
    window.addEventListener("beforeunload", (event) => {
      if (this.engaged && !this.going) event.preventDefault();
    });
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) this.restart();
    });
  }

  #quiet() {
    const refuse = (/** @type {globalThis.Event} */ event) => event.preventDefault();
    for (const name of ["contextmenu", "dragstart", "drop", "dragover", "gesturestart", "copy", "cut"]) {
      document.addEventListener(name, refuse, { capture: true, passive: false });
    }
    document.addEventListener("wheel", (event) => {
      if (event.ctrlKey) event.preventDefault();
    }, { passive: false });
    document.addEventListener("keydown", (event) => {
      if (leaves(event)) event.preventDefault();
    }, { capture: true });
    document.addEventListener("pointerup", () => void this.fullScreen(), { capture: true, passive: true });
  }

  /** Within a touch; where the page was installed, or the browser started as a kiosk, it fills the screen anyhow. */
  async fullScreen() {
    const installed = matchMedia("(display-mode: fullscreen), (display-mode: standalone)").matches;
    if (installed || document.fullscreenElement || !document.fullscreenEnabled || !matchMedia("(any-pointer: coarse)").matches) return;
    await document.documentElement.requestFullscreen({ navigationUI: "hide" }).catch(() => undefined);
  }

  async #stayAwake() {
    if (document.visibilityState !== "visible" || (this.lock && !this.lock.released)) return;
    try {
      this.lock = await navigator.wakeLock.request("screen");
    } catch {
      this.lock = null;
    }
  }
}
