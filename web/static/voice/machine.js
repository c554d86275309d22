/** Speaking as one function: an event comes in, the next state and what to do about it come out. */

import { NO_CAPTION, captionOf, captionText, isEcho, newsOf } from "./captions.js";
import { wishes } from "./settings.js";
import { interruptible, mayBegin } from "./state.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("./state.js").VoiceStep} VoiceStep
 * @typedef {import("./state.js").VoiceEffect} VoiceEffect
 * @typedef {import("./state.js").Interview} Interview
 * @typedef {import("./obstacles.js").Obstacle} Obstacle
 * @typedef {import("../core/messages.js").ServerMessage} ServerMessage
 *
 * Fresh turn keys come in with the events that may begin an answer.
 * @typedef {{type: "choose"} | {type: "kept", key: string} | {type: "opened", key: string}
 *   | {type: "refused", obstacle: Obstacle} | {type: "leave"}
 *   | {type: "interview", interview: Interview, key: string} | {type: "message", message: ServerMessage, key: string}
 *   | {type: "done"} | {type: "wait"} | {type: "mute", key: string}
 *   | {type: "press", latch: boolean, key: string} | {type: "release"}
 *   | {type: "review", text: string} | {type: "review_send"} | {type: "review_again", key: string}
 *   | {type: "settings", settings: import("./settings.js").Settings, key: string}
 *   | {type: "asleep", asleep: boolean, key: string} | {type: "deaf", deaf: boolean}
 *   | {type: "verdict", verdict: import("./levels.js").Verdict} | {type: "sound", key: string} | {type: "full"}
 *   | {type: "reading"} | {type: "read", how: "finished" | "stopped" | "failed", key: string} | {type: "hush"}
 *   | {type: "kept_send", key: string}
 *   | {type: "read_again"} | {type: "retry"} | {type: "skipped"}
 *   | {type: "timer", name: "stalled" | "again" | "hold", key: string}} VoiceEvent
 */

/** No answer of a server takes longer to become words. */
const STALLED_MS = 20_000;
/** The server waits long after a wish for patience, but not for ever: the wish is said again this often. */
const HOLD_MS = 8_000;
const MOST_GAPS = 5;
const AGAIN_MS = 1_000;
const BUSY_MS = 4_000;

/** @param {VoiceState} voice @param {VoiceEvent} event @returns {VoiceStep} */
export function voiceReduce(voice, event) {
  switch (event.type) {
    case "choose": return [{ ...voice, stage: "asking", obstacle: null, notice: "" }, [{ type: "open" }]];
    case "kept": return [{ ...voice, stage: "kept", answer: { key: event.key, open: false, stopping: false, worded: true } }, []];
    case "opened": return opened(voice, event.key);
    case "refused": return [{ ...voice, stage: "blocked", obstacle: event.obstacle, hearing: false, push: "up" }, [{ type: "close" }, { type: "hush" }, { type: "focus" }]];
    case "leave": return leave(voice);
    case "interview": return interviewed(voice, event.interview, event.key);
    case "message": return hear(voice, event.message, event.key);
    case "done": return done(voice);
    case "wait": return wait(voice);
    case "mute": return begun({ ...voice, muted: !voice.muted, hearing: false }, event.key);
    case "press": return press(voice, event.latch, event.key);
    case "release": return release(voice);
    case "review": return [voice.review ? { ...voice, review: { ...voice.review, text: event.text } } : voice, []];
    case "review_send": return reviewSend(voice);
    case "review_again": return again({ ...voice, review: null, answer: null }, event.key, false);
    case "settings": return settings(voice, event.settings, event.key);
    case "asleep": return begun({ ...voice, asleep: event.asleep, hearing: voice.hearing && !event.asleep }, event.key);
    case "deaf": return [{ ...voice, deaf: event.deaf }, []];
    case "verdict": return [{ ...voice, verdict: event.verdict }, []];
    case "sound": return begun(voice, event.key, [], true);
    case "full": return tooLong(voice);
    case "reading": return [{ ...voice, reading: true }, [{ type: "send", message: { type: "playback", state: "started" } }]];
    case "read": return read(voice, event.how, event.key);
    case "kept_send": return resumed({ ...voice, answer: voice.answer && { ...voice.answer, stopping: true } }, event.key, [{ type: "stop" }]);
    case "hush": return voice.reading ? [voice, [{ type: "hush" }]] : [voice, []];
    case "read_again": {
      const { question } = voice.interview;
      return question ? [{ ...voice, read: question.key }, [{ type: "read", text: question.text }]] : [voice, []];
    }
    case "retry": return [{ ...voice, notice: "" }, [{ type: "knock" }, ...stalling(voice)]];
    case "skipped": return skipped(voice);
    case "timer": return timer(voice, event.name, event.key);
  }
}

/** Begins an answer if one may begin. @param {VoiceState} voice @param {string} key @param {VoiceEffect[]} [before] @param {boolean} [sounding] @returns {VoiceStep} */
function begun(voice, key, before = [], sounding = false) {
  if (!mayBegin(voice, sounding)) return [voice, before];
  /** @type {VoiceEffect[]} */
  const first = voice.patient ? [{ type: "send", message: wishes(voice.settings, voice.offer) }] : [];
  const next = { ...voice, patient: false, answer: { key, open: true, stopping: false, worded: false }, caption: NO_CAPTION, told: "" };
  return [next, [...before, ...first, { type: "begin", key }, { type: "cue", name: "begin" }, ...holding(next)]];
}

/** Silence must not end what a held button or "take your time" keeps open. @param {VoiceState} voice @returns {VoiceEffect[]} */
function holding(voice) {
  const held = voice.patient || voice.settings.mode === "push";
  if (!held || !voice.answer?.open || voice.answer.stopping) return [];
  return [{ type: "send", message: { type: "set", patience: "patient" } }, { type: "timer", name: "hold", delayMs: HOLD_MS }];
}

/** @param {VoiceState} voice @param {string} key @returns {VoiceStep} */
function opened(voice, key) {
  /** @type {VoiceState} */
  const on = { ...voice, stage: "on", obstacle: null, deaf: false, verdict: "ok", answer: voice.answer && { ...voice.answer, open: false } };
  /** @type {VoiceEffect[]} */
  const effects = on.interview.online ? [{ type: "send", message: wishes(on.settings, on.offer) }] : [];
  const [next, more] = announced(on, on.interview);
  return resumed(next, key, [...effects, ...more, { type: "tell", what: "listening" }, { type: "focus" }]);
}

/** Goes on with an answer over the present connection, or begins one. @param {VoiceState} voice @param {string} key @param {VoiceEffect[]} before @returns {VoiceStep} */
function resumed(voice, key, before) {
  const { answer, interview } = voice;
  const waits = answer !== null && !answer.open && interview.online && interview.floor !== "closed" && !interview.paused && !voice.review;
  if (!answer || !waits) return begun(voice, key, before);
  const next = { ...voice, answer: { ...answer, open: true } };
  return [next, [...before, { type: "begin", key: answer.key }, ...holding(next), ...stalling(next)]];
}

/** @param {VoiceState} voice @returns {VoiceEffect[]} */
function stalling(voice) {
  return voice.answer?.stopping ? [{ type: "timer", name: "stalled", delayMs: STALLED_MS }] : [];
}

/** @param {VoiceState} voice @returns {VoiceStep} what was understood so far goes into the box. */
function leave(voice) {
  const text = voice.review?.text ?? (voice.answer ? captionText(voice.caption) : "");
  /** @type {VoiceEffect[]} */
  const effects = [{ type: "cancel" }, { type: "hush" }, { type: "close" }, { type: "untimer", name: "stalled" }, { type: "untimer", name: "again" }, { type: "untimer", name: "hold" }];
  if (voice.patient) effects.push({ type: "send", message: wishes(voice.settings, voice.offer) });
  return [
    {
      ...voice, stage: "off", obstacle: null, answer: null, review: null, hearing: false, caption: NO_CAPTION, told: "",
      notice: "", push: "up", patient: false, muted: false, asleep: false, reading: false,
    },
    text ? [...effects, { type: "draft", text }] : effects,
  ];
}

/** @param {VoiceState} voice @param {Interview} now @param {string} key @returns {VoiceStep} */
function interviewed(voice, now, key) {
  const before = voice.interview;
  /** @type {VoiceState} */
  let next = { ...voice, interview: now };
  /** @type {VoiceEffect[]} */
  const effects = [];
  if (before.online && !now.online) {
    next = { ...next, hearing: false, answer: next.answer && { ...next.answer, open: false } };
    effects.push({ type: "lost" }, { type: "untimer", name: "stalled" });
  }
  if (next.stage !== "on" && !(next.stage === "kept" && next.answer?.stopping)) return [next, effects];
  if (!before.online && now.online) effects.push({ type: "send", message: wishes(next.settings, next.offer) });
  if (now.floor === "closed" && before.floor !== "closed" && next.reading) effects.push({ type: "hush" });
  const [told, more] = announced(next, now);
  return resumed(told, key, [...effects, ...more]);
}

/** A question that is new is read aloud, if that is wished. @param {VoiceState} voice @param {Interview} now @returns {VoiceStep} */
function announced(voice, now) {
  const { question } = now;
  if (!question || question.key === voice.read || now.floor !== "free" || !now.online || now.paused) return [voice, []];
  const next = { ...voice, read: question.key, notice: voice.notice === "no_voice" ? voice.notice : /** @type {const} */ ("") };
  if (!voice.settings.read || voice.answer?.worded) return [next, []];
  return [{ ...next, reading: true }, [{ type: "read", text: question.text }]];
}

/** @param {VoiceState} voice @param {"finished" | "stopped" | "failed"} how @param {string} key @returns {VoiceStep} */
function read(voice, how, key) {
  const next = { ...voice, reading: false, notice: how === "failed" ? /** @type {const} */ ("no_voice") : voice.notice };
  /** @type {VoiceEffect[]} */
  const effects = how === "failed" ? [] : [{ type: "send", message: { type: "playback", state: how } }];
  const echo = voice.answer && isEcho(captionText(voice.caption), voice.interview.question?.text ?? "");
  if (how === "finished" && voice.answer?.worded && echo) return again({ ...next, answer: null }, key, true, effects);
  return begun(next, key, effects);
}

/** @param {VoiceState} voice @returns {VoiceStep} */
function done(voice) {
  if (!voice.answer || voice.answer.stopping) return [voice, []];
  const next = { ...voice, answer: { ...voice.answer, stopping: true }, push: /** @type {const} */ ("up"), hearing: false, notice: /** @type {const} */ ("") };
  return [next, [{ type: "stop" }, ...stalling(next)]];
}

/** @param {VoiceState} voice @returns {VoiceStep} */
function tooLong(voice) {
  const [next, effects] = done(voice);
  return [{ ...next, notice: "too_long" }, [...effects, { type: "tell", what: "too_long" }]];
}

/** @param {VoiceState} voice @returns {VoiceStep} */
function wait(voice) {
  if (!voice.answer || voice.answer.stopping) return [voice, []];
  const next = { ...voice, patient: !voice.patient };
  if (next.patient) return [next, holding(next)];
  return [next, [{ type: "untimer", name: "hold" }, { type: "send", message: wishes(voice.settings, voice.offer) }]];
}

/** @param {VoiceState} voice @param {boolean} latch @param {string} key @returns {VoiceStep} */
function press(voice, latch, key) {
  if (voice.settings.mode !== "push" || voice.answer?.stopping || voice.review) return [voice, []];
  if (voice.push === "latched") return release(voice);
  if (voice.interview.floor !== "free") return [voice, []];
  /** @type {VoiceState} */
  const next = { ...voice, push: latch ? "latched" : "held", notice: "" };
  return begun(next, key, voice.reading ? [{ type: "hush" }] : []);
}

/** @param {VoiceState} voice @returns {VoiceStep} */
function release(voice) {
  if (voice.push === "up") return [voice, []];
  if (!voice.answer) return [{ ...voice, push: "up" }, []];
  return done(voice);
}

/** @param {VoiceState} voice @returns {VoiceStep} */
function reviewSend(voice) {
  const { review } = voice;
  if (!review || review.text.trim() === "" || voice.interview.floor !== "free") return [voice, []];
  return [{ ...voice, review: null, answer: null, caption: NO_CAPTION }, [{ type: "say", text: review.text, key: review.key }, { type: "over", next: null }]];
}

/**
 * Listens anew to the same question.
 * @param {VoiceState} voice without an answer. @param {string} key
 * @param {boolean} forget whether what was said is to be forgotten. @param {VoiceEffect[]} [before] @returns {VoiceStep}
 */
function again(voice, key, forget, before = []) {
  /** @type {VoiceEffect[]} */
  const effects = [...before, forget ? { type: "cancel" } : { type: "over", next: null }, { type: "untimer", name: "stalled" }];
  return begun({ ...voice, push: "up", caption: NO_CAPTION, told: "", hearing: false }, key, effects);
}

/** @param {VoiceState} voice @param {import("./settings.js").Settings} wanted @param {string} key @returns {VoiceStep} */
function settings(voice, wanted, key) {
  const old = voice.settings;
  /** @type {VoiceState} */
  const next = { ...voice, settings: wanted, push: "up" };
  /** @type {VoiceEffect[]} */
  const effects = [{ type: "save" }];
  if (voice.interview.online) effects.push({ type: "send", message: wishes(wanted, voice.offer) });
  if (voice.reading && !wanted.read) effects.push({ type: "hush" });
  const microphone = [old, wanted].map((one) => JSON.stringify([one.device, one.echo ?? one.read, one.noise, one.gain]));
  if (microphone[0] !== microphone[1] && voice.stage === "on") effects.push({ type: "reopen" });
  if (old.mode !== wanted.mode && voice.answer && !voice.answer.worded && !voice.answer.stopping) {
    return again({ ...next, answer: null }, key, true, effects);
  }
  return begun(next, key, effects);
}

/** "Rather not say" and the like: what was being said is not wanted. @param {VoiceState} voice @returns {VoiceStep} */
function skipped(voice) {
  return [{ ...voice, answer: null, review: null, caption: NO_CAPTION, hearing: false, push: "up", notice: "" }, [{ type: "cancel" }, { type: "hush" }, { type: "untimer", name: "stalled" }]];
}

/** @param {VoiceState} voice @param {"stalled" | "again" | "hold"} name @param {string} key @returns {VoiceStep} */
function timer(voice, name, key) {
  if (name === "stalled") return voice.answer?.stopping ? [{ ...voice, notice: "stalled" }, [{ type: "tell", what: "stalled" }]] : [voice, []];
  return name === "hold" ? [voice, holding(voice)] : resumed(voice, key, []);
}

/** @param {VoiceState} voice @param {ServerMessage} message @param {string} key @returns {VoiceStep} */
function hear(voice, message, key) {
  switch (message.type) {
    case "speech.started": {
      const past = voice.notice === "didnt_catch" || voice.notice === "busy" || voice.notice === "too_long";
      return [{ ...voice, hearing: voice.answer !== null, notice: past ? "" : voice.notice }, [{ type: "heard" }]];
    }
    case "speech.stopped": {
      const news = newsOf(voice.told, voice.caption.firm);
      const quiet = voice.settings.mode === "hands" || news === "";
      return [{ ...voice, hearing: false, told: quiet ? voice.told : voice.caption.firm }, quiet ? [] : [{ type: "announce", text: news }]];
    }
    case "transcript.partial": return partial(voice, message);
    case "transcript.final":
    case "turn.started": return taken(voice, message);
    case "notice": return noticed(voice, message.code, key);
    case "error": return refused(voice, message, key);
    default: return [voice, []];
  }
}

/** @param {VoiceState} voice @param {import("../core/messages.js").TranscriptPartial} message @returns {VoiceStep} */
function partial(voice, message) {
  if (message.turn_key) return understood(voice, message.turn_key, message.text);
  if (!voice.answer) return [voice, []];
  const worded = voice.answer.worded || message.text.trim() !== "";
  /** @type {VoiceState} */
  const next = { ...voice, caption: captionOf(message.text, message.stable), answer: { ...voice.answer, worded }, gaps: 0 };
  if (voice.reading && interruptible(voice) && !isEcho(message.text, voice.interview.question?.text ?? "")) {
    return [next, [{ type: "hush" }]];
  }
  return [next, []];
}

/** The text stands to be read through before it counts. @param {VoiceState} voice @param {string} key @param {string} text @returns {VoiceStep} */
function understood(voice, key, text) {
  if (voice.review?.key === key) return [voice, []];
  if (voice.stage !== "on") return [{ ...voice, stage: "off", answer: null }, [{ type: "over", next: null }, { type: "draft", text }]];
  return [
    { ...voice, review: { key, text }, hearing: false, push: "up", notice: "", patient: false, answer: { key, open: true, stopping: true, worded: true } },
    [{ type: "stop" }, { type: "untimer", name: "stalled" }, { type: "untimer", name: "hold" }, { type: "cue", name: "taken" }, { type: "focus" }],
  ];
}

/** @param {VoiceState} voice @param {{type: string, turn_key: string, text?: string, last_seq?: number | null}} message @returns {VoiceStep} */
function taken(voice, message) {
  if (voice.answer?.key !== message.turn_key) return [voice, []];
  /** @type {VoiceEffect[]} */
  const effects = [{ type: "over", next: typeof message.last_seq === "number" ? message.last_seq + 1 : null }, { type: "untimer", name: "stalled" }, { type: "cue", name: "taken" }];
  if (message.text) effects.push({ type: "tell", what: "understood", text: message.text });
  return [
    {
      ...voice, answer: null, review: null, hearing: false, caption: NO_CAPTION, told: "", push: "up", notice: "",
      stage: voice.stage === "kept" ? "off" : voice.stage, gaps: 0,
    },
    effects,
  ];
}

/** @param {VoiceState} voice @param {string} code @param {string} key @returns {VoiceStep} */
function noticed(voice, code, key) {
  if (!voice.answer) return [voice, []];
  if (code === "time_almost_up") return [{ ...voice, notice: "almost_up" }, [{ type: "tell", what: "almost_up" }]];
  if (code !== "didnt_catch") return [voice, []];
  if (voice.reading) return [voice, []];
  /** @type {VoiceState} */
  const next = { ...voice, notice: "didnt_catch", hearing: false, patient: false };
  /** @type {VoiceEffect[]} */
  const effects = [{ type: "tell", what: "didnt_catch" }, { type: "cue", name: "unheard" }];
  if (!voice.answer.stopping) return [next, effects];
  if (voice.stage === "kept") return [{ ...next, stage: "off", answer: null }, [...effects, { type: "over", next: null }]];
  return again({ ...next, answer: null }, key, false, effects);
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
    case "internal":
    case "storage_unavailable":
      return error.ref === answer.key ? again({ ...voice, answer: null }, key, false) : [voice, []];
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
    || (about && ["turn_in_progress", "rate_limited", "too_many_sessions", "invalid_message"].includes(error.code));
}
