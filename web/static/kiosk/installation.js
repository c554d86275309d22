/** The page's own files on the device, so that it opens while the server is still starting; and how a new version comes in. */

export class Installation {
  constructor() {
    /** @type {ServiceWorkerRegistration | null} */
    this.registration = null;
    this.free = false;
  }

  /** @returns {boolean} whether a new version has come and waits for its turn. */
  get waiting() {
    return this.registration?.waiting != null;
  }

  /** @returns {boolean} whether the page opens without its server. */
  get installed() {
    return this.registration?.active != null;
  }

  /** Only over a secure connection, or on the machine itself; elsewhere the page does without. */
  async install() {
    if (!("serviceWorker" in navigator)) return;
    const replacing = navigator.serviceWorker.controller !== null;
    navigator.serviceWorker.addEventListener("controllerchange", () => {
      if (replacing && this.free) location.reload();
    });
    try {
      this.registration = await navigator.serviceWorker.register("/kiosk/sw.js", { scope: "/kiosk/", updateViaCache: "none" });
    } catch {
      return;
    }
    const { registration } = this;
    registration.addEventListener("updatefound", () => {
      registration.installing?.addEventListener("statechange", () => this.#change());
    });
    this.#change();
  }

  /** A new version takes over only while nobody is at the kiosk. @param {boolean} free */
  between(free) {
    this.free = free;
    this.#change();
  }

  /** Looks for a new version. */
  refresh() {
    void this.registration?.update().catch(() => undefined);
  }

  #change() {
    if (this.free && navigator.serviceWorker?.controller) this.registration?.waiting?.postMessage("take over");
  }
}
