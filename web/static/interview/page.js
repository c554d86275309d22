/** One interview in a page: state, reducer, view, connection and voice held together. The page decides what it looks like. */

import { loadSaved } from "../core/pending.js";
import { reduce } from "../core/reduce.js";
import { initialState } from "../core/state.js";
import { Runtime } from "./runtime.js";
import { Speaking } from "./speaking.js";

/**
 * @typedef {import("../core/state.js").State} State
 * @typedef {import("../core/reduce.js").Event} Event
 * @typedef {import("../core/messages.js").ServerMessage} ServerMessage
 * @typedef {(event: Event) => void} Dispatch
 *
 * What shows the state.
 * @typedef {object} Show
 * @property {(state: State) => void} render
 * @property {(on: "answer" | "edit" | "correct" | "heading") => void} focus
 * @property {() => void} focusProblem
 *
 * @typedef {object} PageOptions
 * @property {string} sessionId
 * @property {string} token the respondent's; "" shows that this link opens nothing.
 * @property {import("../core/pending.js").Keeping | null} shelf null where the browser keeps nothing.
 * @property {string} language of the page's own words.
 * @property {(dispatch: Dispatch, freshKey: () => string) => Show} view
 * @property {boolean} [keepsAccepted] whether an answer stays on the device from `turn.started` until its turn is done.
 * @property {(before: State, after: State) => void} [changed] told after each change.
 * @property {(message: ServerMessage) => void} [heard] told of each message.
 */

/** @returns {Storage | null} null where the browser forbids it. */
export function shelfOf() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

/** A random UUID (version 4), also where the page is not served over a secure connection. @returns {string} */
export function freshKey() {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export class InterviewPage {
  /** @param {PageOptions} options */
  constructor({ sessionId, token, shelf, language, view, keepsAccepted = true, changed, heard }) {
    this.sessionId = sessionId;
    this.token = token;
    this.shelf = shelf;
    this.told = changed ?? (() => undefined);
    this.overheard = heard ?? (() => undefined);
    /** @type {State} */
    this.state = initialState(loadSaved(shelf, sessionId));
    /** @type {Event[]} */
    this.queue = [];
    this.working = false;
    const dispatch = (/** @type {Event} */ event) => this.dispatch(event);
    this.view = view(dispatch, freshKey);
    this.runtime = new Runtime({
      sessionId, token, shelf, keepsAccepted, dispatch, state: () => this.state, focus: (on) => this.view.focus(on),
      sound: (frame) => this.speaking.voice?.sounded(frame),
    });
    this.speaking = new Speaking({ sessionId, shelf, language, dispatch, freshKey, state: () => this.state, runtime: () => this.runtime });
    this.ended = new AbortController();
    this.#listen();
  }

  #listen() {
    const { signal } = this.ended;
    window.addEventListener("online", () => this.dispatch({ type: "nudged" }), { signal });
    window.addEventListener("offline", () => this.dispatch({ type: "offline" }), { signal });
    window.addEventListener("pageshow", (event) => event.persisted && this.dispatch({ type: "nudged" }), { signal });
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.dispatch({ type: "nudged" });
    }, { signal });
  }

  /** Shows what there is and connects. @param {import("../core/state.js").Detail | null} [detail] what is known of the session already. */
  start(detail = null) {
    this.view.render(this.state);
    if (this.token !== "") return this.dispatch({ type: "start", detail });
    this.state = { ...this.state, blocked: "unauthorised" };
    this.view.render(this.state);
  }

  /** Takes over from another tab: what was kept there counts. */
  continueHere() {
    this.dispatch({ type: "continue", saved: loadSaved(this.shelf, this.sessionId) });
  }

  /** Events are taken one by one, also those that an effect gives rise to. @param {Event} event */
  dispatch(event) {
    const { speaking, view, runtime } = this;
    if (this.ended.signal.aborted) return;
    this.queue.push(speaking.before(event));
    if (this.working) return;
    this.working = true;
    for (let next = this.queue.shift(); next; next = this.queue.shift()) {
      const before = this.state;
      if (next.type === "message") this.overheard(next.message);
      if (next.type === "draft" && next.text.trim() !== "") runtime.typing();
      const event = next.type === "message" ? { ...next, message: speaking.heard(next.message) } : next;
      const [after, effects] = reduce(before, event);
      this.state = after;
      if (after !== before) view.render(after);
      for (const effect of effects) {
        runtime.run(effect);
        if (effect.type === "wipe") speaking.forget();
      }
      if (after !== before) {
        speaking.changed(before, after);
        this.told(before, after);
      }
      if (after.problem?.at === "page" && after.problem !== before.problem) view.focusProblem();
    }
    this.working = false;
  }

  /** Lets go of connection, microphone and listeners; nothing is sent or kept any more. */
  close() {
    this.speaking.voice?.leave();
    this.ended.abort();
    this.runtime.close();
  }
}
