/** The interview inside the kiosk: what of the interview's state the kiosk shows, and what it makes of the rest. */

import { lastQuestion } from "../core/log.js";
import { scene } from "../core/state.js";
import { byId, show, write, writeProse } from "../interview/dom.js";
import { LeaveDialog } from "../interview/leaving.js";
import { Talk } from "../interview/talk.js";

/**
 * @typedef {import("../core/state.js").State} State
 * @typedef {import("../texts/index.js").Texts} Texts
 *
 * What happens to an interview, as the flow sees it.
 * @typedef {object} Told
 * @property {(consent: {text: string, version: string}) => void} consent is still wanted, to this text.
 * @property {() => void} talking
 * @property {() => void} over
 * @property {() => void} withdrawn
 * @property {(code: string) => void} shut it can't be opened any more.
 */

export class TalkingView {
  /**
   * @param {Texts} t
   * @param {import("../interview/conversation.js").Dispatch} dispatch
   * @param {() => string} freshKey
   * @param {Told} told
   * @param {boolean} resumed whether an earlier life of the page began it: what was said in that one is not shown.
   */
  constructor(t, dispatch, freshKey, told, resumed) {
    this.t = t;
    this.told = told;
    this.talk = new Talk(t, dispatch, freshKey);
    this.leaving = new LeaveDialog(t, dispatch);
    this.scene = "loading";
    this.resumed = resumed;
    /** Turn of the question from which on the conversation is shown, once that is known. @type {number | null} */
    this.from = null;
    byId("withdraw-late").addEventListener("click", () => dispatch({ type: "ask_to_leave", dialog: "withdraw" }));
  }

  /** @param {State} state */
  render(state) {
    const now = scene(state);
    this.leaving.render(state.dialog);
    this.talk.stimulus.render(state);
    if (now === "talk") {
      write(byId("talk-heading"), state.detail?.concept.title || state.detail?.concept.name || "");
      this.talk.render(this.#recent(state));
      if (state.epoch !== null) this.told.talking();
    }
    if (now === "done") this.#thanks(state);
    const consent = state.detail?.consent;
    if (now === "consent" && consent && state.session === "created") this.told.consent(consent);
    if (now === this.scene) return;
    this.scene = now;
    if (now === "done") this.told.over();
    if (now === "goodbye") this.told.withdrawn();
    if (now === "blocked") this.told.shut(state.blocked ?? "internal");
  }

  /** Somebody else may have touched "go on". @param {State} state @returns {State} */
  #recent(state) {
    if (!this.resumed) return state;
    const from = this.from ?? lastQuestion(state.log)?.turn ?? 0;
    if (state.synced) this.from = from;
    const log = state.log.filter(({ speaker, turn }) => (speaker === "interviewer" ? turn >= from : turn > from));
    return { ...state, log };
  }

  /** No word of the interview: the next person may be looking over the shoulder. @param {State} state */
  #thanks(state) {
    const failed = state.session === "failed";
    const closing = state.log.findLast((entry) => entry.kind === "closing");
    write(byId("thanks-heading"), this.t(failed ? "thanks.failed.title" : "thanks.title"));
    write(byId("thanks-text"), failed ? this.t("thanks.failed.text") : closing?.text || state.detail?.closing_text || this.t("thanks.text"));
    const helpline = state.detail?.helpline_text ?? "";
    show(byId("thanks-helpline"), helpline !== "");
    writeProse(byId("thanks-helpline"), helpline);
  }

  /** @param {"answer" | "edit" | "correct" | "heading"} on */
  focus(on) {
    if (this.leaving.open || this.talk.stimulus.open || this.scene !== "talk" || on === "heading" || on === "answer") return;
    document.getElementById(on)?.focus();
  }

  focusProblem() {
    if (document.activeElement instanceof HTMLTextAreaElement || this.leaving.open || this.talk.stimulus.open) return;
    byId("error").focus({ preventScroll: true });
  }
}
