/** Plays a respondent who speaks, and the server that hears them, against the voice's state machine; reads like the wire. */

import { voiceReduce } from "../static/voice/machine.js";
import { USUAL } from "../static/voice/settings.js";
import { initialVoice, voiceMood } from "../static/voice/state.js";

/** @typedef {import("../static/voice/state.js").VoiceEffect} VoiceEffect */
/** @typedef {import("../static/voice/machine.js").VoiceEvent} VoiceEvent */
/** @typedef {import("../static/voice/state.js").Interview} Interview */

/** @type {import("../static/core/state.js").SpeechOffer} */
export const OFFER = { available: true, voice: false, patience: "normal", max_answer_s: 300, pauses_s: { quick: 0.5, normal: 0.8, patient: 1.8 }, review_transcript: false };

export class Speaker {
  /** @param {Partial<import("../static/voice/settings.js").Settings>} [settings] @param {Partial<typeof OFFER>} [offer] */
  constructor(settings = {}, offer = {}) {
    this.state = initialVoice({ ...USUAL, ...settings }, { ...OFFER, ...offer });
    /** @type {VoiceEffect[]} effects of the last event. */
    this.effects = [];
    /** @type {VoiceEffect[]} all of them. */
    this.all = [];
    this.keys = 0;
  }

  /** A fresh turn key. */
  key() {
    this.keys += 1;
    return `k${this.keys}`;
  }

  /** @param {VoiceEvent} event */
  do(event) {
    const [state, effects] = voiceReduce(this.state, event);
    this.state = state;
    this.effects = effects;
    this.all.push(...effects);
    return this;
  }

  /** @param {any} message */
  hear(message) {
    return this.do({ type: "message", message, key: this.key() });
  }

  /** @param {Partial<Interview>} change */
  now(change) {
    return this.do({ type: "interview", interview: { ...this.state.interview, ...change }, key: this.key() });
  }

  /** Turn key of the answer being spoken. @returns {string | null} */
  get current() {
    return this.state.answer?.key ?? null;
  }

  get mood() {
    return voiceMood(this.state);
  }

  /** @param {VoiceEffect["type"]} type @returns {any} */
  effect(type) {
    return this.effects.find((effect) => effect.type === type);
  }

  /** Messages of a type that were sent. @param {string} type @returns {any[]} */
  sent(type) {
    return this.all.flatMap((effect) => (effect.type === "send" && effect.message.type === type ? [effect.message] : []));
  }

  /** The microphone runs and the first question waits. @param {Partial<import("../static/voice/settings.js").Settings>} [settings] @param {Partial<typeof OFFER>} [offer] */
  static listening(settings, offer) {
    const speaker = new Speaker(settings, offer);
    speaker.now({ online: true, floor: "free", question: { key: "q0", turn: 0, text: "What do you like about coffee?" }, language: "en" });
    return speaker.do({ type: "choose" }).do({ type: "opened", key: speaker.key() });
  }
}
