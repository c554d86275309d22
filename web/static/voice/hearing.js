/** What the server's messages do to speaking. */

import { addOn, addTo, without } from "./adding.js";
import { again, drafted, leave, tooLong } from "./answering.js";
import { NO_CAPTION, captionOf, captionText, isEcho, newsOf, steady } from "./captions.js";
import { reviewOf } from "./settings.js";
import { checkHeard } from "./soundcheck.js";
import { interruptible } from "./state.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("./state.js").VoiceStep} VoiceStep
 * @typedef {import("./state.js").VoiceEffect} VoiceEffect
 * @typedef {import("../core/messages.js").ServerMessage} ServerMessage
 */

const MOST_GAPS = 5;
const AGAIN_MS = 1_000;
const BUSY_MS = 4_000;
/** Words that come so soon after an answer was taken may be part of it. */
const FRESH_MS = 4_000;

/** @param {VoiceState} voice @param {ServerMessage} message @param {string} key @returns {VoiceStep} */
export function hear(voice, message, key) {
  switch (message.type) {
    case "speech.started": {
      const past = voice.notice === "didnt_catch" || voice.notice === "busy" || voice.notice === "too_long";
      const disputed = voice.answer?.stopping ? voice.disputed : "";
      return [{ ...voice, hearing: voice.answer !== null, ring: null, disputed, notice: past ? "" : voice.notice }, [{ type: "heard" }]];
    }
    case "speech.stopped": {
      const news = newsOf(voice.told, voice.caption.firm);
      const quiet = voice.settings.mode === "hands" || news === "";
      // What comes again in the same pause is the rest of a longer silence, and no other pause than usual.
      const usual = voice.hearing && voice.settings.mode === "hands";
      const pauseMs = usual && typeof message.ends_ms === "number" ? message.ends_ms : voice.pauseMs;
      return [{ ...voice, hearing: false, pauseMs, ring: ringOf(voice, message.ends_ms), told: quiet ? voice.told : voice.caption.firm }, quiet ? [] : [{ type: "announce", text: news }]];
    }
    case "answer.ending":
      if (voice.answer?.key !== message.turn_key) return [voice, []];
      return [{ ...voice, hearing: false, patient: false, ring: { ms: message.left_ms, over: true } }, [{ type: "untimer", name: "hold" }, { type: "tell", what: "over" }]];
    case "question.withdrawn": return [{ ...voice, ring: null, early: null }, []];
    case "turn.failed": return [{ ...voice, early: null }, voice.early !== null && voice.reading ? [{ type: "hush" }] : []];
    case "transcript.partial": return partial(voice, message);
    case "transcript.final":
    case "turn.started": return taken(voice, message, key);
    case "notice": return noticed(voice, message.code, key);
    case "error": return refused(voice, message, key);
    default: return [voice, []];
  }
}

/** @param {VoiceState} voice @param {number | null | undefined} ms @returns {import("./state.js").Ring | null} nothing where no silence ends the answer. */
function ringOf(voice, ms) {
  if (typeof ms !== "number" || voice.patient || voice.check || voice.settings.mode === "push") return null;
  return voice.answer && !voice.answer.stopping ? { ms, over: false } : null;
}

/** @param {VoiceState} voice @param {import("../core/messages.js").TranscriptPartial} message @returns {VoiceStep} */
function partial(voice, message) {
  if (message.turn_key) return understood(voice, message.turn_key, message.text);
  if (!voice.answer) return [voice, []];
  const worded = voice.answer.worded || message.text.trim() !== "";
  /** @type {VoiceEffect[]} */
  const effects = worded && !voice.answer.worded ? [{ type: "heard" }] : [];
  /** @type {VoiceState} */
  const next = { ...voice, caption: steady(voice.caption, captionOf(message.text, message.stable)), answer: { ...voice.answer, worded, close: voice.answer.close || (worded && voice.fresh) }, gaps: 0 };
  if (voice.reading && interruptible(voice) && !isEcho(message.text, voice.interview.question?.text ?? "")) {
    effects.push({ type: "hush" });
  }
  return [next, effects];
}

/** The text stands to be read through before it counts. @param {VoiceState} voice @param {string} key @param {string} text @returns {VoiceStep} */
function understood(voice, key, text) {
  if (voice.review?.key === key) return [voice, []];
  if (voice.check && voice.stage === "on") return checkHeard(voice, key, text);
  const asked = reviewOf(voice.settings, voice.offer) || voice.interview.floor !== "free";
  if (voice.adding && voice.stage === "on" && !asked) return addOn(voice, key, text);
  if (voice.stage !== "on") {
    const [next, effects] = drafted({ ...voice, stage: "off", answer: null }, key, text, "offer");
    return [next, [{ type: "over", next: null }, ...effects]];
  }
  return [
    { ...voice, review: { key, text }, hearing: false, ring: null, push: "up", notice: "", patient: false, answer: { key, open: true, stopping: true, worded: true } },
    [{ type: "stop" }, { type: "untimer", name: "stalled" }, { type: "untimer", name: "hold" }, { type: "cue", name: "taken" }, { type: "focus" }],
  ];
}

/** @param {VoiceState} voice @param {{type: string, turn_key: string, text?: string, last_seq?: number | null}} message @param {string} key @returns {VoiceStep} */
function taken(voice, message, key) {
  if (voice.answer?.key !== message.turn_key) return [voice, []];
  /** @type {VoiceEffect[]} */
  const effects = [{ type: "over", next: typeof message.last_seq === "number" ? message.last_seq + 1 : null }, { type: "untimer", name: "stalled" }, { type: "cue", name: "taken" }, { type: "timer", name: "fresh", delayMs: FRESH_MS }];
  if (message.text) effects.push({ type: "tell", what: "understood", text: message.text });
  const [plain, more] = without(voice);
  /** @type {VoiceState} */
  const next = {
    ...plain, check: null, disputed: "", fresh: true, answer: null, review: null, hearing: false, ring: null, caption: NO_CAPTION, told: "", push: "up", notice: "",
    stage: voice.stage === "kept" ? "off" : voice.stage, gaps: 0,
  };
  const text = message.text ?? captionText(voice.caption);
  if (voice.disputed === message.turn_key && next.stage === "on") return addTo(next, { text }, key, effects);
  return [next, [...effects, ...more]];
}

/** @param {VoiceState} voice @param {string} code @param {string} key @returns {VoiceStep} */
function noticed(voice, code, key) {
  if (!voice.answer) return [voice, []];
  if (code === "time_almost_up") return [{ ...voice, notice: "almost_up" }, [{ type: "tell", what: "almost_up" }]];
  if (code !== "didnt_catch") return [voice, []];
  /** @type {VoiceEffect[]} */
  const nothing = voice.answer.worded ? [] : [{ type: "unheard" }];
  if (voice.reading) return [voice, nothing];
  /** @type {VoiceState} */
  const next = { ...voice, notice: "didnt_catch", hearing: false, patient: false };
  /** @type {VoiceEffect[]} */
  const effects = [...nothing, { type: "tell", what: "didnt_catch" }, { type: "cue", name: "unheard" }];
  if (!voice.answer.stopping) return [next, effects];
  if (voice.stage === "kept") return [{ ...next, stage: "off", answer: null }, [...effects, { type: "over", next: null }]];
  const [plain, more] = without(next);
  return again({ ...plain, disputed: "", answer: null }, key, "over", [...effects, ...more]);
}

/** @param {VoiceState} voice @param {import("../core/messages.js").WireError} error @param {string} key @returns {VoiceStep} */
function refused(voice, error, key) {
  const { answer } = voice;
  if (!answer) return [voice, []];
  switch (error.code) {
    case "audio_gap": {
      if (voice.gaps >= MOST_GAPS) return [{ ...voice, notice: "stalled", gaps: 0 }, []];
      return [{ ...voice, gaps: voice.gaps + 1 }, [{ type: "rewind" }, { type: "begin", key: answer.key }]];
    }
    case "audio_too_long": return tooLong(voice);
    case "turn_in_progress":
    case "rate_limited":
    case "too_many_sessions": {
      const busy = error.code === "too_many_sessions";
      const next = { ...voice, notice: busy ? /** @type {const} */ ("busy") : voice.notice, answer: { ...answer, open: false } };
      return [next, [{ type: "lost" }, { type: "rewind" }, { type: "timer", name: "again", delayMs: busy ? BUSY_MS : AGAIN_MS }]];
    }
    case "internal": {
      if (error.ref !== answer.key) return [voice, []];
      if (answer.replayed) return again({ ...voice, answer: null }, key, "over");
      const next = { ...voice, hearing: false, answer: { ...answer, open: false, replayed: true } };
      return [next, [{ type: "lost" }, { type: "replay" }, { type: "timer", name: "again", delayMs: AGAIN_MS }]];
    }
    // What was understood follows, to be sent when it can be kept.
    case "storage_unavailable": return [voice, []];
    case "invalid_input":
      // It was taken, and the server has forgotten what came of it.
      return error.ref === answer.key ? again({ ...voice, answer: null, review: null }, key, "taken") : [voice, []];
    case "session_paused":
    case "consent_required": return [{ ...voice, answer: { ...answer, open: false } }, [{ type: "lost" }]];
    case "transcriber_unavailable":
    case "audio_format":
    case "language_unsupported": return leave(voice);
    default: return [voice, []];
  }
}

/** Errors that are about speech and mean nothing to the rest of the page. @param {VoiceState} voice @param {import("../core/messages.js").WireError} error */
export function isOurs(voice, error) {
  const about = error.ref === voice.answer?.key || (error.ref ?? "").startsWith("audio");
  return error.code === "audio_gap" || error.code === "audio_too_long"
    || (about && ["turn_in_progress", "rate_limited", "too_many_sessions", "invalid_message", "invalid_input"].includes(error.code));
}
