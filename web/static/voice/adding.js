/** "I wasn't finished": an ending is taken back, or what is said next is put behind the answer that was taken. */

import { begun, holding, wait } from "./answering.js";
import { NO_CAPTION } from "./captions.js";
import { belongs, mayAdd, wished } from "./state.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("./state.js").VoiceStep} VoiceStep
 * @typedef {import("./state.js").VoiceEffect} VoiceEffect
 */

/** The word that takes an ending back may cross the one that the answer was taken. */
const CROSSING_MS = 2_000;

/**
 * While the answer may still be gone on with, the server keeps it open; what it has taken already is added to.
 * @param {VoiceState} voice @param {string} key a fresh turn key. @returns {VoiceStep}
 */
export function unfinished(voice, key) {
  const { answer, adding, interview } = voice;
  if (adding) return answer?.worded ? [voice, []] : without(voice);
  if (answer?.stopping) return [{ ...voice, disputed: voice.disputed === answer.key ? "" : answer.key }, []];
  if (answer && voice.ring?.over) {
    const [next, effects] = wait({ ...voice, patient: false });
    return [{ ...next, disputed: answer.key }, [...effects, { type: "timer", name: "disputed", delayMs: CROSSING_MS }]];
  }
  return interview.last && mayAdd(voice) ? addTo(voice, interview.last, key) : [voice, []];
}

/**
 * What is said from now on is put behind that answer. No silence ends it, as the last one did.
 * @param {VoiceState} voice @param {{text: string}} last
 * @param {string} key @param {VoiceEffect[]} [before] @returns {VoiceStep}
 */
export function addTo(voice, last, key, before = []) {
  /** @type {VoiceState} */
  const next = { ...voice, adding: last, disputed: "", patient: voice.settings.mode === "hands", notice: "", ring: null };
  /** @type {VoiceEffect[]} */
  const effects = [...before, { type: "send", message: wished(next) }, { type: "tell", what: "adding" }];
  if (voice.reading) effects.push({ type: "hush" });
  if (next.answer) return [next, [...effects, ...holding(next)]];
  return begun(next, key, effects, true);
}

/** The words that are being said belong to the answer before, or do not. @param {VoiceState} voice @param {string} key @returns {VoiceStep} */
export function moved(voice, key) {
  if (belongs(voice) === "part") return without(voice);
  return belongs(voice) === "join" && voice.interview.last ? addTo(voice, voice.interview.last, key) : [voice, []];
}

/** What is said answers the question after all. @param {VoiceState} voice @returns {VoiceStep} */
export function without(voice) {
  if (!voice.adding) return [voice, []];
  const next = { ...voice, adding: null, patient: false };
  return [next, [{ type: "untimer", name: "hold" }, { type: "send", message: wished(next) }]];
}

/** The words are there. @param {VoiceState} voice @param {string} key of theirs. @param {string} text @returns {VoiceStep} */
export function addOn(voice, key, text) {
  const [plain, effects] = without({ ...voice, answer: null, review: null, caption: NO_CAPTION, told: "", hearing: false, ring: null, push: "up", notice: "" });
  return [plain, [
    ...effects, { type: "add", text, key }, { type: "over", next: null }, { type: "untimer", name: "stalled" },
    { type: "cue", name: "taken" }, { type: "tell", what: "added", text },
  ]];
}
