/** Shows the state: which scene, what stands in it, where the focus goes. */

import { errorText } from "../core/errors.js";
import { folded } from "../core/log.js";
import { scene, title } from "../core/state.js";
import { transcriptMarkdown, transcriptName, transcriptText } from "../core/transcript.js";
import { Conversation } from "./conversation.js";
import { byId, enable, isCoarse, show, write, writeProse } from "./dom.js";
import { LeaveDialog } from "./leaving.js";
import { Talk } from "./talk.js";

/** @typedef {import("../core/state.js").State} State */
/** @typedef {import("../core/state.js").Scene} Scene */
/** @typedef {import("../texts/index.js").Texts} Texts */
/** @typedef {import("./conversation.js").Dispatch} Dispatch */

/** @type {Scene[]} */
const SCENES = ["loading", "consent", "talk", "done", "goodbye", "blocked"];
/** @type {Record<Scene, string>} */
const SECTION = { loading: "loading", consent: "consent", talk: "talk", done: "thanks", goodbye: "goodbye", blocked: "blocked" };
/** @type {Record<Scene, string>} */
const HEADING = {
  loading: "", consent: "consent-heading", talk: "talk-heading", done: "thanks-heading",
  goodbye: "goodbye-heading", blocked: "blocked-heading",
};

export class View {
  /**
   * @param {Texts} t
   * @param {Dispatch} dispatch
   * @param {() => string} freshKey
   */
  constructor(t, dispatch, freshKey) {
    this.t = t;
    this.dispatch = dispatch;
    this.talk = new Talk(t, dispatch, freshKey);
    this.finalLog = new Conversation(byId("thanks-log"), t, dispatch, freshKey);
    this.leaving = new LeaveDialog(t, dispatch);
    /** @type {State | null} */
    this.state = null;
    /** @type {Scene} */
    this.scene = "loading";
    this.#listen();
  }

  #listen() {
    const { dispatch } = this;
    byId("consent-agree").addEventListener("click", () => dispatch({ type: "agree" }));
    byId("consent-decline").addEventListener("click", () => dispatch({ type: "ask_to_leave", dialog: "withdraw" }));
    byId("withdraw-late").addEventListener("click", () => dispatch({ type: "ask_to_leave", dialog: "withdraw" }));
    byId("transcript-download").addEventListener("click", () => this.#download("txt"));
    byId("transcript-download-md").addEventListener("click", () => this.#download("md"));
    byId("transcript-copy").addEventListener("click", () => void this.#copy());
  }

  /** @param {State} state */
  render(state) {
    this.state = state;
    const now = scene(state);
    const held = document.activeElement;
    const name = title(state);
    for (const other of SCENES) show(byId(SECTION[other]), other === now);
    document.body.dataset["scene"] = now;
    document.title = name ? `${name} · ${this.t("app.name")}` : this.t("app.name");
    write(byId("concept"), now === "talk" ? name : "");
    show(byId("controls"), now === "talk");
    show(byId("progress"), now === "talk");
    show(byId("skip-link"), now === "talk");
    if (now === "loading") write(byId("loading-text"), this.t(loadingText(state)));
    if (now === "consent") this.#consent(state, name);
    if (now === "talk") {
      write(byId("talk-heading"), name);
      this.talk.render(state);
    }
    if (now === "done") this.#thanks(state);
    if (now === "goodbye") {
      const words = state.detail?.withdrawn_text ?? "";
      write(byId("goodbye-words"), words);
      show(byId("goodbye-words"), words !== "");
    }
    if (now === "blocked") write(byId("blocked-text"), this.t(errorText(state.blocked ?? "internal")));
    this.leaving.render(state.dialog === "withdraw" && now === "consent" ? "decline" : state.dialog);
    this.talk.stimulus.render(state);
    if (now !== this.scene) {
      this.scene = now;
      window.scrollTo({ top: now === "talk" ? document.documentElement.scrollHeight : 0, behavior: "instant" });
      this.focus(now === "talk" ? "answer" : "heading");
    } else if (now === "talk") this.#regain(held);
  }

  /**
   * Where the control that had the focus is gone: on to what can be done now, so that a keyboard need not begin anew.
   * @param {Element | null} held
   */
  #regain(held) {
    const gone = held instanceof HTMLElement && held !== document.body && (!held.isConnected || held.closest("[hidden]") !== null);
    if (!gone || this.leaving.open || this.talk.stimulus.open) return;
    const next = [byId("resume"), byId("offers").querySelector("button")].find((one) => one && !one.closest("[hidden]"));
    if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    else this.focus("answer");
  }

  /** @param {State} state @param {string} name */
  #consent(state, name) {
    const consent = state.detail?.consent;
    write(byId("consent-heading"), name);
    writeProse(byId("consent-text"), consent?.text ?? "");
    byId("consent-text").lang = state.detail?.language ?? "";
    write(byId("consent-version"), this.t("consent.version", { version: consent?.version ?? "" }));
    enable(byId("consent-agree"), !state.leaving);
    write(byId("consent-error"), state.problem ? this.t(errorText(state.problem.code)) : "");
    show(byId("consent-error"), state.problem !== null);
  }

  /** @param {State} state */
  #thanks(state) {
    const failed = state.session === "failed";
    const closing = state.log.findLast((entry) => entry.kind === "closing");
    write(byId("thanks-heading"), this.t(failed ? "thanks.failed.title" : "thanks.title"));
    write(byId("thanks-text"), failed ? this.t("thanks.failed.text") : closing?.text || state.detail?.closing_text || this.t("thanks.text"));
    const helpline = state.detail?.helpline_text ?? "";
    show(byId("thanks-helpline"), helpline !== "");
    writeProse(byId("thanks-helpline"), helpline);
    const unsent = [state.pending && !state.pending.accepted ? state.pending.text : "", state.draft].filter((text) => text.trim() !== "").join("\n\n");
    show(byId("unsent"), unsent !== "");
    write(byId("unsent-text"), unsent);
    const rows = folded(state.log).filter((entry) => entry !== closing);
    show(byId("copy"), rows.length > 0);
    this.finalLog.render(rows.map((entry) => ({
      ...entry, note: entry.edited ? this.t("talk.edited") : "", correct: false, edit: null, fault: "",
    })));
    write(byId("thanks-error"), state.problem ? this.t(errorText(state.problem.code)) : "");
    show(byId("thanks-error"), state.problem !== null);
  }

  /** @param {"answer" | "edit" | "correct" | "heading"} on */
  focus(on) {
    if (this.leaving.open || this.talk.stimulus.open) return;
    if (on === "heading") {
      const id = HEADING[this.scene];
      if (id) byId(id).focus({ preventScroll: true });
      return;
    }
    const active = document.activeElement;
    if (on === "answer") {
      const typing = active instanceof HTMLTextAreaElement;
      if (typing || this.scene !== "talk") return;
      if (isCoarse() && active?.id !== "send") return;
      byId(byId("composer").hidden ? "ratings" : "answer").focus({ preventScroll: true });
      return;
    }
    document.getElementById(on)?.focus();
  }

  /** Says that a problem needs a look, unless the respondent is writing. */
  focusProblem() {
    if (document.activeElement instanceof HTMLTextAreaElement || this.leaving.open || this.talk.stimulus.open) return;
    byId("error").focus({ preventScroll: true });
  }

  /** @param {State} state */
  #labels(state) {
    return {
      title: title(state) || this.t("interview.title"), interviewer: this.t("talk.interviewer"),
      you: this.t("talk.you"), skipped: this.t("answer.skip"),
    };
  }

  /** @param {"txt" | "md"} extension */
  #download(extension) {
    const state = this.state;
    if (!state) return;
    const labels = this.#labels(state);
    const text = extension === "md" ? transcriptMarkdown(folded(state.log), labels) : transcriptText(folded(state.log), labels);
    const url = URL.createObjectURL(new Blob([text], { type: extension === "md" ? "text/markdown" : "text/plain" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = transcriptName(labels.title, extension);
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  async #copy() {
    const state = this.state;
    if (!state) return;
    const status = byId("copy-status");
    try {
      await navigator.clipboard.writeText(transcriptText(folded(state.log), this.#labels(state)));
      write(status, this.t("thanks.copied"));
    } catch {
      write(status, this.t("thanks.not_copied"));
    }
  }
}


/** @param {State} state @returns {string} */
function loadingText(state) {
  if (state.problem) return errorText(state.problem.code);
  return state.failures > 1 ? "interview.loading.slow" : "interview.loading";
}
