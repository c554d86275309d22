/** Fetches the voice part where speaking is offered, and stands between it and the page. */

import { canSpeak } from "../core/state.js";

/**
 * @typedef {import("../core/state.js").State} State
 * @typedef {import("../core/reduce.js").Event} Event
 * @typedef {import("../core/messages.js").ServerMessage} ServerMessage
 * @typedef {import("../voice/main.js").Voice} Voice
 * @typedef {import("./runtime.js").Runtime} Runtime
 */

export class Speaking {
  /**
   * @param {object} options
   * @param {string} options.sessionId
   * @param {import("../core/pending.js").Keeping | null} options.shelf
   * @param {string} options.language of the page's own words.
   * @param {() => Runtime} options.runtime
   * @param {() => State} options.state
   * @param {(event: Event) => void} options.dispatch
   * @param {() => string} options.freshKey
   */
  constructor({ sessionId, shelf, language, runtime, state, dispatch, freshKey }) {
    this.language = language;
    this.host = {
      sessionId, shelf, state, dispatch, freshKey, received: () => this.received, buffered: () => runtime().buffered,
      send: (/** @type {import("../core/messages.js").ClientMessage} */ message) => runtime().send(message),
      sendBytes: (/** @type {Uint8Array<ArrayBuffer>} */ bytes) => runtime().sendBytes(bytes),
    };
    /** @type {Voice | null} */
    this.voice = null;
    /** @type {Promise<Voice> | null} */
    this.coming = null;
    /** First audio frame that the server does not have, as of its last greeting. */
    this.received = 0;
    /** A text that waits to be looked at and came before there was a voice. @type {ServerMessage | null} */
    this.offered = null;
    /** Whether the interview is to be finished once what is being said has become words. */
    this.finishing = false;
  }

  /** @returns {Promise<Voice>} */
  #summon() {
    this.coming ??= (async () => {
      const { Voice } = await import("../voice/main.js");
      const voice = await Voice.create(this.host, this.language);
      this.voice = voice;
      voice.changed(this.host.state());
      return voice;
    })();
    this.coming.catch(() => { this.coming = null; });
    return this.coming;
  }

  /** Whether an earlier visit left speech behind. */
  get #kept() {
    return this.host.shelf?.getItem(`askwell:${this.host.sessionId}:spoken`) != null;
  }

  /** The respondent's wish; where the voice is here already, still within their gesture. */
  choose() {
    if (this.voice) return this.voice.choose();
    void this.#summon().then((voice) => voice.choose()).catch(() => this.host.dispatch({ type: "voice_failed" }));
  }

  /** @param {ServerMessage} message @returns {ServerMessage} what is left of it for the rest of the page. */
  heard(message) {
    if (message.type === "ready") this.received = message.first_unreceived_seq ?? 0;
    if (!this.voice && message.type === "transcript.partial" && message.turn_key) this.offered = message;
    return this.voice?.heard(message) ? { type: "pong" } : message;
  }

  /** Finishing waits for the words of an answer that is being spoken. @param {Event} event @returns {Event} */
  before(event) {
    if (event.type !== "leave" || this.host.state().dialog !== "finish" || !this.voice?.owing) return event;
    this.finishing = true;
    this.voice.finish();
    return { type: "stay" };
  }

  /** @param {State} before @param {State} after */
  changed(before, after) {
    const { voice } = this;
    voice?.changed(after);
    if (this.finishing && !voice?.owing) this.#finish();
    const typing = after.draft !== before.draft && after.draft !== "";
    if (typing && after.speaking) this.host.dispatch({ type: "speaking", on: false });
    if (before.speaking && !after.speaking) voice?.leave();
    if (canSpeak(after) && !this.coming) this.#fetch();
  }

  #finish() {
    this.finishing = false;
    if (this.voice?.state.review) return;
    this.host.dispatch({ type: "ask_to_leave", dialog: "finish" });
    this.host.dispatch({ type: "leave" });
  }

  #fetch() {
    const kept = this.#kept;
    const ready = this.#summon().then(async (voice) => {
      if (kept) await voice.recall();
      if (this.offered) voice.heard(this.offered);
    });
    ready.catch(() => undefined);
  }

  /** Nothing of what was said stays on the device, also where no voice was fetched in this visit. */
  forget() {
    if (this.voice) this.voice.wipe();
    else if (this.#kept) void this.#summon().then((voice) => voice.wipe()).catch(() => undefined);
  }
}
