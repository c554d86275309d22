/** Plays a server and a respondent against the reducer; reads like the wire. */

import { reduce } from "../static/core/reduce.js";
import { initialState } from "../static/core/state.js";

/** @typedef {import("../static/core/state.js").Effect} Effect */
/** @typedef {import("../static/core/reduce.js").Event} Event */
/** @typedef {import("../static/core/messages.js").ServerMessage} ServerMessage */
/** @typedef {import("../static/core/state.js").Detail} Detail */

export const CONSENT = { text: "May we?", version: "v1", required: true };

export class Page {
  /** @param {Partial<import("../static/core/pending.js").Saved>} [saved] */
  constructor(saved = {}) {
    this.state = initialState({ ...saved, draft: saved.draft ?? "", pending: saved.pending ?? null });
    /** @type {Effect[]} effects of the last event. */
    this.effects = [];
    /** @type {import("../static/core/messages.js").ClientMessage[]} everything sent. */
    this.sent = [];
    this.id = 0;
  }

  /** @param {Event} event */
  do(event) {
    const [state, effects] = reduce(this.state, event);
    this.state = state;
    this.effects = effects;
    for (const effect of effects) if (effect.type === "send") this.sent.push(effect.message);
    return this;
  }

  /** @param {ServerMessage} message */
  hear(message) {
    return this.do({ type: "message", message });
  }

  /** A durable message under the next id. @param {any} message */
  durable(message) {
    this.id += 1;
    return this.hear({ ...message, id: this.id });
  }

  /** @param {Partial<import("../static/core/messages.js").Ready>} [over] */
  ready(over = {}) {
    return this.hear({
      type: "ready", session_id: "s", state: "active", epoch: "e1", last_event_id: this.id, turn_number: 0, pending: null, ...over,
    });
  }

  /** @param {Partial<Detail>} [over] */
  fetched(over = {}) {
    return this.do({ type: "fetched", detail: { state: "active", concept: { id: "c", name: "Coffee" }, language: "en", transcript: [], ...over } });
  }

  /** Open, greeted, in the middle of an interview: the opening question waits. */
  static talking() {
    const page = new Page();
    page.do({ type: "start" }).do({ type: "opened" }).ready().fetched();
    return page.durable({ type: "question.completed", turn_number: 0, text: "Why coffee?" });
  }

  /** @param {string} text @param {string} key */
  say(text, key) {
    return this.do({ type: "draft", text }).do({ type: "submit", turnKey: key });
  }

  /** The server takes a turn and asks on. @param {number} turn @param {string} key @param {string} next */
  turn(turn, key, next) {
    this.durable({ type: "turn.started", turn_number: turn, turn_key: key });
    this.durable({ type: "question.completed", turn_number: turn, text: next });
    return this.durable({
      type: "turn.completed", turn_number: turn, turn_key: key,
      result: { should_continue: true, turn_number: turn, max_turns: 15, progress: turn / 10, utterance_id: `u${turn}` },
    });
  }

  /** Drops the connection and comes back as far as the open socket. @param {number} [code] */
  reconnect(code = 1006) {
    return this.do({ type: "closed", code, random: 0 }).do({ type: "timer", name: "reconnect", now: 0, random: 0 }).do({ type: "opened" });
  }

  /** @param {string} type */
  sentOf(type) {
    return this.sent.filter((message) => message.type === type);
  }

  /** @param {Effect["type"]} type */
  effect(type) {
    return this.effects.find((effect) => effect.type === type);
  }
}
