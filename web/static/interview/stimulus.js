/** The stimulus of a concept test, in a dialog: before the first question, and again whenever the respondent wants. */

import { scene } from "../core/state.js";
import { hasStimulus } from "../core/stimulus.js";
import { byId, show, write, writeProse } from "./dom.js";

/** @typedef {import("../core/state.js").State} State */
/** @typedef {import("../texts/index.js").Texts} Texts */
/** @typedef {import("./conversation.js").Dispatch} Dispatch */

export class StimulusDialog {
  /** @param {Texts} t @param {Dispatch} dispatch */
  constructor(t, dispatch) {
    this.t = t;
    this.dialog = /** @type {HTMLDialogElement} */ (byId("stimulus"));
    this.image = /** @type {HTMLImageElement} */ (byId("stimulus-image"));
    this.again = byId("stimulus-again");
    byId("stimulus-close").addEventListener("click", () => dispatch({ type: "stay" }));
    this.dialog.addEventListener("cancel", () => dispatch({ type: "stay" }));
    this.again.addEventListener("click", () => dispatch({ type: "show_stimulus" }));
  }

  get open() {
    return this.dialog.open;
  }

  /** @param {State} state */
  render(state) {
    const { dialog, t } = this;
    const detail = state.detail;
    show(this.again, hasStimulus(state));
    if (state.dialog !== "stimulus" || !detail || scene(state) !== "talk") {
      if (dialog.open) dialog.close();
      return;
    }
    const fresh = !state.log.some(({ speaker }) => speaker === "respondent");
    write(byId("stimulus-title"), detail.concept.title || detail.concept.name);
    write(byId("stimulus-lead"), t(fresh ? "stimulus.lead" : "stimulus.lead.again"));
    write(byId("stimulus-close"), t(fresh ? "stimulus.begin" : "stimulus.back"));
    const text = byId("stimulus-text");
    writeProse(text, detail.stimulus ?? "");
    text.lang = byId("stimulus-title").lang = detail.language ?? "";
    this.#renderImage(state);
    if (dialog.open) return;
    dialog.showModal();
    dialog.scrollTop = 0;
    byId("stimulus-title").focus();
  }

  /** @param {State} state */
  #renderImage(state) {
    const { image } = this;
    const shown = state.detail?.stimulus_image;
    show(image, shown != null);
    if (!shown) return;
    image.alt = shown.alt;
    image.width = shown.width;
    image.height = shown.height;
    if (state.image !== "" && image.src !== state.image) image.src = state.image;
  }
}
