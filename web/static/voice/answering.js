/** How an answer begins, goes on over another connection, and ends. */

import { NO_CAPTION, captionText } from "./captions.js";
import { interruptible, mayBegin, readByServer, readingWish, wished } from "./state.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("./state.js").VoiceStep} VoiceStep
 * @typedef {import("./state.js").VoiceEffect} VoiceEffect
 */

/** No answer of a server takes longer to become words. */
const STALLED_MS = 20_000;
/** The server waits long after a wish for patience, but not for ever: the wish is said again this often. */
const HOLD_MS = 8_000;

/** Begins an answer if one may begin. @param {VoiceState} voice @param {string} key @param {VoiceEffect[]} [before] @param {boolean} [sounding] @returns {VoiceStep} */
export function begun(voice, key, before = [], sounding = false) {
  if (!mayBegin(voice, sounding)) return [voice, before];
  /** @type {VoiceEffect[]} */
  const first = voice.patient && !voice.adding ? [{ type: "send", message: wished(voice) }] : [];
  const next = { ...voice, patient: voice.patient && voice.adding !== null, ring: null, answer: { key, open: true, stopping: false, worded: false }, caption: NO_CAPTION, told: "" };
  return [next, [...before, ...first, { type: "begin", key }, { type: "cue", name: "begin" }, ...holding(next)]];
}

/** Silence must not end what a held button or "take your time" keeps open. @param {VoiceState} voice @returns {VoiceEffect[]} */
export function holding(voice) {
  const held = voice.patient || (voice.settings.mode === "push" && !voice.check);
  if (!held || !voice.answer?.open || voice.answer.stopping) return [];
  return [{ type: "send", message: { type: "set", take_your_time: true } }, { type: "timer", name: "hold", delayMs: HOLD_MS }];
}

/** Goes on with an answer over the present connection, or begins one. @param {VoiceState} voice @param {string} key @param {VoiceEffect[]} before @returns {VoiceStep} */
export function resumed(voice, key, before) {
  const { answer, interview } = voice;
  const waits = answer !== null && !answer.open && interview.online && interview.floor !== "closed" && !interview.paused && !voice.review;
  if (!answer || !waits) return begun(voice, key, before);
  const next = { ...voice, answer: { ...answer, open: true } };
  return [next, [...before, { type: "begin", key: answer.key }, ...holding(next), ...stalling(next)]];
}

/** A question that is new is read aloud, if that is wished. @param {VoiceState} voice @param {import("./state.js").Interview} now @returns {VoiceStep} */
export function announced(voice, now) {
  const { question } = now;
  if (!question || question.key === voice.read || now.floor !== "free" || !now.online || now.paused || voice.check) return [voice, []];
  const next = { ...voice, read: question.key, early: null, notice: voice.notice === "no_voice" ? voice.notice : /** @type {const} */ ("") };
  if (voice.early === question.turn) return [next, [{ type: "written", text: question.text }]];
  if (!voice.settings.read || voice.answer?.worded) return [next, []];
  return [{ ...next, reading: true }, [{ type: "read", text: question.text, turn: question.turn }]];
}

/**
 * The first words of a question can be heard while the rest of it is written, unless somebody may still speak.
 * @param {VoiceState} voice @param {number} turn @returns {VoiceStep}
 */
export function audible(voice, turn) {
  const { interview, answer, adding, check, reading } = voice;
  const free = interview.online && !interview.paused && interview.floor === "thinking" && !answer && !adding && !check;
  if (!readByServer(voice) || !free || reading || interruptible(voice)) return [voice, []];
  return [{ ...voice, reading: true, early: turn }, [{ type: "read", text: "", turn }]];
}

/** @param {VoiceState} voice @returns {VoiceEffect[]} */
export function stalling(voice) {
  return voice.answer?.stopping ? [{ type: "timer", name: "stalled", delayMs: STALLED_MS }] : [];
}

/** @param {VoiceState} voice @returns {VoiceStep} what was understood so far goes into the box. */
export function leave(voice) {
  const key = voice.review?.key ?? voice.answer?.key ?? "";
  const text = voice.review?.text ?? (voice.answer && !voice.check ? captionText(voice.caption) : "");
  /** @type {VoiceEffect[]} */
  const effects = [{ type: "cancel" }, { type: "hush" }, { type: "close" }, { type: "untimer", name: "stalled" }, { type: "untimer", name: "again" }, { type: "untimer", name: "hold" }];
  if (voice.patient || voice.adding || voice.check) effects.push({ type: "send", message: wished({ ...voice, adding: null, check: null }) });
  if (readByServer(voice)) effects.push(...readingWish({ ...voice, stage: "off" }));
  const [next, more] = drafted(voice, key, text, voice.review ? "review" : "caption");
  return [
    {
      ...next, stage: "off", obstacle: null, check: null, answer: null, review: null, hearing: false, ring: null, caption: NO_CAPTION, told: "",
      notice: "", push: "up", patient: false, adding: null, disputed: "", fresh: false, muted: false, asleep: false, reading: false, early: null,
    },
    [...effects, ...more],
  ];
}

/**
 * A text goes into the box; what is there of the same answer makes room for it.
 * @param {VoiceState} voice @param {string} key turn key of the answer. @param {string} text
 * @param {"caption" | "offer" | "review"} from what of it: an offer may have been made before the page was loaded anew,
 *   and a text that was read through stays as it is.
 * @returns {VoiceStep}
 */
export function drafted(voice, key, text, from) {
  const before = voice.drafted?.key === key ? voice.drafted : null;
  if (!text || text === before?.text || before?.from === "review") return [voice, []];
  return [{ ...voice, drafted: { key, text, from } }, [{ type: "draft", text, instead: before?.text ?? "", once: from === "offer" }]];
}

/**
 * @param {string} draft what is in the box.
 * @param {string} text what was understood: goes behind what was typed.
 * @param {string} instead what was understood before of the same answer.
 * @param {boolean} once it may be there already.
 * @returns {string}
 */
export function joined(draft, text, instead, once) {
  const typed = draft.trimEnd();
  if (once && typed.endsWith(text)) return draft;
  if (instead && typed.endsWith(instead)) return typed.slice(0, -instead.length) + text;
  return instead ? draft : `${typed} ${text}`.trimStart();
}

/** @param {VoiceState} voice @returns {VoiceStep} */
export function done(voice) {
  if (!voice.answer || voice.answer.stopping) return [voice, []];
  const next = { ...voice, answer: { ...voice.answer, stopping: true }, push: /** @type {const} */ ("up"), hearing: false, ring: null, notice: /** @type {const} */ ("") };
  return [next, [{ type: "stop" }, ...stalling(next)]];
}

/** No silence is to end the answer, or one is again. @param {VoiceState} voice @returns {VoiceStep} */
export function wait(voice) {
  if (!voice.answer || voice.answer.stopping) return [voice, []];
  const next = { ...voice, patient: !voice.patient, ring: null };
  if (next.patient) return [next, holding(next)];
  return [next, [{ type: "untimer", name: "hold" }, { type: "send", message: wished(next) }]];
}

/** @param {VoiceState} voice @returns {VoiceStep} */
export function tooLong(voice) {
  const [next, effects] = done(voice);
  return [{ ...next, notice: "too_long" }, [...effects, { type: "tell", what: "too_long" }]];
}

/**
 * Listens anew to the same question.
 * @param {VoiceState} voice without an answer. @param {string} key
 * @param {"over" | "cancel" | "taken"} how it became words, it is to be forgotten, or it was taken long ago.
 * @param {VoiceEffect[]} [before] @returns {VoiceStep}
 */
export function again(voice, key, how, before = []) {
  /** @type {VoiceEffect[]} */
  const effects = [...before, how === "over" ? { type: "over", next: null } : { type: how }, { type: "untimer", name: "stalled" }];
  const stage = voice.stage === "kept" ? /** @type {const} */ ("off") : voice.stage;
  return begun({ ...voice, stage, push: "up", caption: NO_CAPTION, told: "", hearing: false }, key, effects);
}
