/** Everything the voice part of the page knows, and what can be read from it. No browser in here. */

import { NO_CAPTION } from "./captions.js";
import { interruptOf, patienceOf, wishes } from "./settings.js";

/**
 * @typedef {import("./captions.js").Caption} Caption
 * @typedef {import("./levels.js").Verdict} Verdict
 * @typedef {import("./obstacles.js").Obstacle} Obstacle
 * @typedef {import("./settings.js").Settings} Settings
 * @typedef {import("../core/messages.js").ClientMessage} ClientMessage
 * @typedef {import("../core/state.js").SpeechOffer} SpeechOffer
 *
 * Where the interview is, as far as speaking goes. `floor`: may the respondent answer (`free`), is their answer being
 * worked on (`thinking`), or neither. `last`: the answer before, while something may be added to it. `editing`: it is
 * being corrected in writing.
 * @typedef {{online: boolean, floor: "free" | "thinking" | "closed", paused: boolean, editing: boolean,
 *   question: {key: string, text: string, turn: number} | null, last: {text: string} | null, language: string}} Interview
 *
 * `open`: announced over the present connection. `stopping`: its speaker is done. `worded`: words have come of it.
 * `replayed`: it was sent a second time from its start, because the server failed. `close`: its first words came so soon
 * after the answer before that they may be part of that.
 * @typedef {{key: string, open: boolean, stopping: boolean, worded: boolean, replayed?: boolean, close?: boolean}} Answer
 *
 * How an answer comes to its end: within `ms` of silence it is over; or it is `over` and may be gone on with for `ms`.
 * @typedef {{ms: number, over: boolean}} Ring
 *
 * Trying whether one is heard, before the first answer: what was understood so far, and the turn key of the last of it.
 * @typedef {{words: string, key: string}} Check
 *
 * @typedef {"stalled" | "again" | "hold" | "disputed" | "fresh"} Timer
 *
 * @typedef {object} VoiceState
 * @property {"off" | "kept" | "asking" | "blocked" | "on"} stage `kept`: speech of before a reload waits for a word.
 * @property {Obstacle | null} obstacle
 * @property {Check | null} check
 * @property {Settings} settings
 * @property {SpeechOffer | null} offer
 * @property {Interview} interview
 * @property {boolean} muted by the respondent.
 * @property {boolean} asleep the browser has stopped the audio; a gesture wakes it.
 * @property {boolean} deaf the track is muted by the device or the system.
 * @property {"up" | "held" | "latched"} push
 * @property {Answer | null} answer
 * @property {boolean} hearing
 * @property {Ring | null} ring
 * @property {Caption} caption
 * @property {{key: string, text: string} | null} review
 * @property {boolean} reading a question is being read aloud.
 * @property {boolean} aloud the server was told that a question is being read, and not yet that it is over.
 * @property {string} read key of the question read last, or passed over.
 * @property {number | null} early turn of a question that is read, or was, while it is still written.
 * @property {"" | "didnt_catch" | "almost_up" | "too_long" | "stalled" | "no_voice" | "busy"} notice
 * @property {{key: string, text: string, from: "caption" | "offer" | "review"} | null} drafted the answer that went into the box last.
 * @property {boolean} patient "take your time" is in force.
 * @property {number | null} pauseMs the silence that ends an answer, as the server said last; it grows with who needs it.
 * @property {{text: string} | null} adding the answer before, while what is said is going to be put behind it.
 * @property {boolean} fresh an answer was taken just now.
 * @property {string} disputed turn key of an answer whose end its speaker does not agree to; "" for none.
 * @property {Verdict} verdict
 * @property {number} gaps parts that did not arrive, in a row.
 * @property {string} told what of the caption has been announced.
 *
 * @typedef {{type: "open"} | {type: "close"} | {type: "enable", on: boolean} | {type: "send", message: ClientMessage}
 *   | {type: "begin", key: string} | {type: "stop"} | {type: "over", next: number | null} | {type: "taken"} | {type: "cancel"}
 *   | {type: "lost"} | {type: "rewind"} | {type: "replay"}
 *   | {type: "read", text: string, turn: number, again?: boolean} | {type: "written", text: string} | {type: "hush"} | {type: "cue", name: "begin" | "taken" | "unheard"}
 *   | {type: "say", text: string, key: string} | {type: "add", text: string, key: string} | {type: "draft", text: string, instead: string, once: boolean} | {type: "save"} | {type: "reopen"}
 *   | {type: "timer", name: Timer, delayMs: number} | {type: "untimer", name: Timer}
 *   | {type: "heard"} | {type: "unheard"} | {type: "knock"} | {type: "announce", text: string}
 *   | {type: "tell", what: "listening" | "didnt_catch" | "almost_up" | "too_long" | "stalled" | "understood" | "over" | "adding" | "added" | "check" | "check_heard", text?: string}
 *   | {type: "focus"}} VoiceEffect
 *
 * @typedef {[VoiceState, VoiceEffect[]]} VoiceStep
 */

/** @type {Interview} */
export const NOWHERE = { online: false, floor: "closed", paused: false, editing: false, question: null, last: null, language: "en" };

/** @param {Settings} settings @param {SpeechOffer | null} offer @returns {VoiceState} */
export function initialVoice(settings, offer) {
  return {
    stage: "off", obstacle: null, check: null, settings, offer, interview: NOWHERE, muted: false, asleep: false, deaf: false,
    push: "up", answer: null, hearing: false, ring: null, caption: NO_CAPTION, review: null, reading: false, aloud: false, read: "", early: null, notice: "",
    patient: false, pauseMs: null, verdict: "ok", gaps: 0, told: "", drafted: null, adding: null, fresh: false, disputed: "",
  };
}

/** Whether the respondent could speak now and be heard. @param {VoiceState} voice */
function able(voice) {
  const { stage, muted, asleep, reading, review, interview } = voice;
  return stage === "on" && !muted && !asleep && !review && !interview.paused && !(reading && !interruptible(voice));
}

/** Whether what the microphone gives is kept. @param {VoiceState} voice */
export function collecting(voice) {
  if (!able(voice) || voice.interview.floor === "closed") return false;
  return voice.settings.mode === "hands" || voice.check !== null || voice.push !== "up";
}

/**
 * Whether an answer may begin now: to a question that stands, or, by going on speaking, to the one on its way.
 * @param {VoiceState} voice @param {boolean} sounding whether somebody may be speaking.
 */
export function mayBegin(voice, sounding) {
  const { online, floor } = voice.interview;
  if (voice.check?.key && !sounding) return false;
  return collecting(voice) && online && !voice.answer && (floor === "free" || (floor === "thinking" && sounding));
}

/** What the server is told of the respondent's wishes. @param {VoiceState} voice */
export const wished = (voice) => wishes(voice.settings, voice.offer, voice.adding !== null || voice.check !== null);

/** Whether the server's voice reads, and not this device's. @param {VoiceState} voice */
export const readByServer = (voice) => voice.stage === "on" && voice.settings.read && voice.offer?.voice === true && !voice.settings.deviceVoice;

/** What the server is told of that; nothing where it has no voice. @param {VoiceState} voice @returns {VoiceEffect[]} */
export function readingWish(voice) {
  return voice.offer?.voice ? [{ type: "send", message: { type: "read_aloud", on: readByServer(voice) } }] : [];
}

/** Whether what is said next may be put behind the answer before. @param {VoiceState} voice */
export function mayAdd(voice) {
  const { stage, interview, answer, adding, review, check } = voice;
  const waiting = stage === "on" && interview.online && !interview.paused && interview.floor !== "closed";
  return waiting && interview.last !== null && !adding && !review && !check && !answer?.worded && !answer?.stopping;
}

/**
 * Whether the words that are being said may belong to another answer than they are taken for.
 * @param {VoiceState} voice @returns {"" | "join" | "part"} they may belong to the answer before; they may answer the question.
 */
export function belongs(voice) {
  const { answer, adding, review, check, interview } = voice;
  if (voice.stage !== "on" || !answer?.worded || answer.stopping || review || check) return "";
  return adding ? "part" : answer.close === true && interview.last !== null ? "join" : "";
}

/**
 * What the button that asks for time means: keep silences from ending the answer, or take back an ending.
 * @param {VoiceState} voice @returns {"wait" | "more"}
 */
export function timeMeans(voice) {
  const { answer, adding, ring } = voice;
  const ended = answer !== null && (answer.stopping || ring?.over === true);
  return (adding && !answer?.worded) || (ended && !adding) || mayAdd(voice) ? "more" : "wait";
}

/** Whether it is in force. @param {VoiceState} voice */
export function timeGiven(voice) {
  if (timeMeans(voice) === "wait") return voice.patient && canEnd(voice);
  return voice.adding !== null || (voice.disputed !== "" && voice.disputed === voice.answer?.key);
}

/** Whether words stop a question that is being read aloud. @param {VoiceState} voice */
export const interruptible = (voice) => interruptOf(voice.settings, voice.offer);

/**
 * What the panel says, most pressing first.
 * @typedef {"off" | "kept" | "asking" | "blocked" | "connecting" | "reconnecting" | "paused" | "asleep" | "reading"
 *   | "review" | "check" | "stalled" | "transcribing" | "thinking" | "closed" | "correcting" | "adding" | "over" | "muted" | "almost_up" | "hearing" | "didnt_catch" | "held"
 *   | "ready" | "patient" | "listening"} VoiceMood
 *
 * @param {VoiceState} voice
 * @returns {VoiceMood}
 */
export function voiceMood(voice) {
  const { stage, interview, answer } = voice;
  if (stage === "kept" && answer?.stopping && interview.online) return voice.notice === "stalled" ? "stalled" : "transcribing";
  if (stage !== "on") return stage;
  if (!interview.online) return answer || voice.caption.firm || voice.caption.soft ? "reconnecting" : "connecting";
  if (interview.paused) return "paused";
  if (voice.review) return "review";
  if (voice.check && !voice.asleep) return "check";
  if (voice.notice === "stalled") return "stalled";
  if (answer?.stopping) return "transcribing";
  if (answer && voice.ring?.over) return "over";
  if (voice.adding && able(voice) && interview.floor !== "closed") return voice.hearing ? "hearing" : voice.notice === "almost_up" ? "almost_up" : "adding";
  if (interview.floor === "thinking") return voice.reading ? "reading" : "thinking";
  if (interview.floor === "closed") return interview.editing ? "correcting" : "closed";
  if (voice.asleep) return "asleep";
  if (voice.reading) return "reading";
  if (voice.muted) return "muted";
  if (voice.notice === "almost_up") return "almost_up";
  if (voice.hearing) return "hearing";
  if (voice.notice === "didnt_catch") return "didnt_catch";
  if (voice.settings.mode === "push") return voice.push === "up" ? "ready" : "held";
  return voice.patient ? "patient" : "listening";
}

/** About how many seconds of silence end an answer now. @param {VoiceState} voice @returns {number} */
export function pauseOf(voice) {
  if (voice.pauseMs === null) return silenceOf(voice, patienceOf(voice.settings, voice.offer));
  return Math.round(voice.pauseMs / 100) / 10;
}

/** About how many seconds of silence end an answer. @param {VoiceState} voice @param {import("./settings.js").Patience} patience */
export const silenceOf = (voice, patience) => voice.offer?.pauses_s?.[patience] ?? 0;

/** Whether "Done" would do something. @param {VoiceState} voice */
export function canEnd(voice) {
  return voice.stage === "on" && voice.answer !== null && !voice.answer.stopping && !voice.review;
}
