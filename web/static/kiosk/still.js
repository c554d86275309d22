/** Asks whether anybody is still there, to eyes and ears, before the screen is cleared. */

import { byId, write } from "../interview/dom.js";

/** @typedef {import("../texts/index.js").Texts} Texts */

/** Seconds between two calls. */
const CALL_EVERY_S = 8;
/** How often assistive technology is told how long is left. */
const TELL_EVERY_S = 10;

export class Still {
  /** @param {import("./chime.js").Chime} chime @param {() => void} here what happens when somebody is. */
  constructor(chime, here) {
    this.chime = chime;
    this.dialog = /** @type {HTMLDialogElement} */ (byId("still"));
    this.called = Infinity;
    this.here = () => {
      here();
      this.hide();
    };
    byId("still-here").addEventListener("click", this.here);
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.here();
    });
  }

  get open() {
    return this.dialog.open;
  }

  /** @param {Texts} t @param {number} leftMs @param {number} wholeMs */
  show(t, leftMs, wholeMs) {
    const seconds = Math.max(1, Math.ceil(leftMs / 1000));
    write(byId("still-seconds"), String(seconds));
    byId("still-ring").style.strokeDashoffset = String(1 - leftMs / wholeMs);
    if (!this.dialog.open) {
      this.called = Infinity;
      this.dialog.showModal();
      byId("still-here").focus();
    }
    if (seconds % TELL_EVERY_S === 0) write(byId("still-text"), `${t("kiosk.still.text")} ${t("kiosk.still.seconds", { count: seconds })}`);
    if (this.called - seconds < CALL_EVERY_S) return;
    const first = this.called === Infinity;
    this.called = seconds;
    this.chime.call();
    if (first) this.chime.say(t("kiosk.still.title"), t.language);
  }

  hide() {
    if (!this.dialog.open) return;
    this.dialog.close();
    this.chime.hush();
  }
}
