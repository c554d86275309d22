/** The button to talk: held with finger, mouse or key; or tapped to start and to stop, for hands that cannot hold. */

import { enable, isEnabled, make, write } from "../interview/dom.js";
import { icon } from "./icons.js";

/** Shorter than this is a tap. */
const TAP_MS = 350;

/** Whether something else would take the space bar. @param {EventTarget | null} target of a key. */
export function takesKeys(target) {
  if (document.querySelector("dialog[open]")) return true;
  return target !== document.body && /** @type {HTMLElement | null} */ (target)?.id !== "voice-mood";
}

export class TalkButton {
  /**
   * @param {import("../texts/index.js").Texts} t
   * @param {{press: (latch: boolean) => void, release: () => void, state: () => "up" | "held" | "latched"}} told
   */
  constructor(t, told) {
    this.t = t;
    this.told = told;
    this.downAt = 0;
    /** What holds it: a pointer's id, a key, or nothing. @type {number | string | null} */
    this.by = null;
    const button = /** @type {HTMLButtonElement} */ (make("button", "primary talk-button"));
    button.type = "button";
    button.id = "voice-talk";
    button.dataset["testid"] = "voice-talk";
    this.word = make("span", "button-word", t("voice.hold"));
    button.append(icon("mic"), this.word);
    this.element = button;
    this.#listen();
  }

  #listen() {
    const { element } = this;
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !isEnabled(element)) return;
      element.setPointerCapture(event.pointerId);
      this.#down(event.pointerId);
    });
    for (const name of /** @type {const} */ (["pointerup", "pointercancel", "lostpointercapture"])) {
      element.addEventListener(name, (event) => this.#up(event.pointerId));
    }
    element.addEventListener("contextmenu", (event) => event.preventDefault());
    // Assistive technology clicks without pressing.
    element.addEventListener("click", (event) => {
      if (event.detail === 0 && this.by === null && performance.now() - this.downAt > TAP_MS && isEnabled(element)) this.told.press(true);
    });
    window.addEventListener("blur", () => this.letGo());
    document.addEventListener("keydown", (event) => {
      if (!this.#means(event)) return;
      event.preventDefault();
      if (!event.repeat && isEnabled(element)) this.#down(event.key);
    });
    document.addEventListener("keyup", (event) => {
      if (this.by !== event.key) return;
      event.preventDefault();
      this.#up(event.key);
    });
  }

  /** Space and Enter on the button; the space bar also where nothing else would take it. @param {KeyboardEvent} event */
  #means(event) {
    if (this.element.offsetParent === null || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.target === this.element) return event.key === " " || event.key === "Enter";
    return event.key === " " && !takesKeys(event.target);
  }

  /** @param {number | string} by */
  #down(by) {
    if (this.by !== null) return;
    if (this.told.state() === "latched") {
      this.downAt = performance.now();
      return this.told.release();
    }
    this.by = by;
    this.downAt = performance.now();
    this.told.press(false);
  }

  /** @param {number | string} by */
  #up(by) {
    if (this.by !== by) return;
    this.by = null;
    const tapped = performance.now() - this.downAt < TAP_MS;
    this.downAt = performance.now();
    if (this.told.state() !== "held") return;
    if (tapped) this.told.press(true);
    else this.told.release();
  }

  /** Whatever holds it may be let go where the page does not see it. */
  letGo() {
    this.by = null;
    if (this.told.state() === "held") this.told.release();
  }

  /** @param {"up" | "held" | "latched"} push @param {boolean} enabled */
  render(push, enabled) {
    enable(this.element, enabled || push !== "up");
    this.element.dataset["push"] = push;
    this.element.setAttribute("aria-pressed", String(push !== "up"));
    write(this.word, this.t(push === "held" ? "voice.hold.on" : push === "latched" ? "voice.hold.latched" : "voice.hold"));
  }
}
