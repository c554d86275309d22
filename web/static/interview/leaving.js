/** Asks back before an interview is finished or erased. */

import { byId, write } from "./dom.js";

/** @typedef {import("../texts/index.js").Texts} Texts */
/** @typedef {import("./conversation.js").Dispatch} Dispatch */

export class LeaveDialog {
  /** @param {Texts} t @param {Dispatch} dispatch */
  constructor(t, dispatch) {
    this.t = t;
    const dialog = this.dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
    byId("dialog-confirm").addEventListener("click", () => dispatch({ type: "leave" }));
    byId("dialog-stay").addEventListener("click", () => dispatch({ type: "stay" }));
    dialog.addEventListener("cancel", () => dispatch({ type: "stay" }));
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dispatch({ type: "stay" });
    });
  }

  get open() {
    return this.dialog.open;
  }

  /** @param {"finish" | "withdraw" | "decline" | "stimulus" | null} kind what is asked; null for nothing, the stimulus is another dialog. */
  render(kind) {
    const { dialog, t } = this;
    if (!kind || kind === "stimulus") {
      if (dialog.open) dialog.close();
      return;
    }
    write(byId("dialog-title"), t(`${kind}.title`));
    write(byId("dialog-text"), t(`${kind}.text`));
    write(byId("dialog-confirm"), t(`${kind}.confirm`));
    byId("dialog-confirm").classList.toggle("danger", kind === "withdraw");
    if (!dialog.open) {
      dialog.showModal();
      byId("dialog-stay").focus();
    }
  }
}
