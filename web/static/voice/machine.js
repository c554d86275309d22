/** Speaking as one function: an event comes in, the next state and what to do about it come out. */

import { addOn, moved, unfinished, without } from "./adding.js";
import { again, announced, audible, begun, done, holding, leave, resumed, stalling, tooLong, wait } from "./answering.js";
import { NO_CAPTION, cameBack, captionText } from "./captions.js";
import { hear } from "./hearing.js";
import { NO_CHECK, checkKept, checkOver } from "./soundcheck.js";
import { readByServer, readingWish, wished } from "./state.js";

/**
 * @typedef {import("./state.js").VoiceState} VoiceState
 * @typedef {import("./state.js").VoiceStep} VoiceStep
 * @typedef {import("./state.js").VoiceEffect} VoiceEffect
 * @typedef {import("./state.js").Interview} Interview
 * @typedef {import("./obstacles.js").Obstacle} Obstacle
 * @typedef {import("../core/messages.js").ServerMessage} ServerMessage
 *
 * Fresh turn keys come in with the events that may begin an answer.
 * @typedef {{type: "choose", check?: boolean} | {type: "check_over", key: string} | {type: "check_kept"} | {type: "kept", key: string} | {type: "opened", key: string}
 *   | {type: "refused", obstacle: Obstacle} | {type: "leave"}
 *   | {type: "interview", interview: Interview, key: string} | {type: "message", message: ServerMessage, key: string}
 *   | {type: "done"} | {type: "wait"} | {type: "unfinished", key: string} | {type: "moved", key: string} | {type: "mute", key: string}
 *   | {type: "press", latch: boolean, key: string} | {type: "release"}
 *   | {type: "review", text: string} | {type: "review_send"} | {type: "review_again", key: string}
 *   | {type: "settings", settings: import("./settings.js").Settings, key: string}
 *   | {type: "asleep", asleep: boolean, key: string} | {type: "deaf", deaf: boolean}
 *   | {type: "verdict", verdict: import("./levels.js").Verdict} | {type: "sound", key: string} | {type: "full"}
 *   | {type: "reading"} | {type: "audible", turn: number} | {type: "read", how: "finished" | "stopped" | "failed", key: string} | {type: "hush"}
 *   | {type: "kept_send", key: string}
 *   | {type: "read_again"} | {type: "retry"} | {type: "skipped"}
 *   | {type: "timer", name: import("./state.js").Timer, key: string}} VoiceEvent
 */

/** @param {VoiceState} voice @param {VoiceEvent} event @returns {VoiceStep} */
export function voiceReduce(voice, event) {
  switch (event.type) {
    case "choose": {
      const check = voice.check ?? (event.check && voice.stage === "off" ? NO_CHECK : null);
      return [{ ...voice, stage: "asking", obstacle: null, notice: "", check }, [{ type: "open" }]];
    }
    case "check_over": return checkOver(voice, event.key);
    case "check_kept": return checkKept(voice);
    case "kept": return [{ ...voice, stage: "kept", answer: { key: event.key, open: false, stopping: false, worded: true } }, []];
    case "opened": return opened(voice, event.key);
    case "refused": return [{ ...voice, stage: "blocked", obstacle: event.obstacle, hearing: false, push: "up" }, [{ type: "close" }, { type: "hush" }, { type: "focus" }]];
    case "leave": return leave(voice);
    case "interview": return interviewed(voice, event.interview, event.key);
    case "message": return hear(voice, event.message, event.key);
    case "done": return done(voice);
    case "wait": return wait(voice);
    case "unfinished": return unfinished(voice, event.key);
    case "moved": return moved(voice, event.key);
    case "mute": return begun({ ...voice, muted: !voice.muted, hearing: false }, event.key, [{ type: "enable", on: voice.muted }]);
    case "press": return press(voice, event.latch, event.key);
    case "release": return release(voice);
    case "review": return [voice.review ? { ...voice, review: { ...voice.review, text: event.text } } : voice, []];
    case "review_send": return reviewSend(voice);
    case "review_again": return again({ ...voice, review: null, answer: null }, event.key, "over");
    case "settings": return settings(voice, event.settings, event.key);
    case "asleep": return begun({ ...voice, asleep: event.asleep, hearing: voice.hearing && !event.asleep }, event.key);
    case "deaf": return [{ ...voice, deaf: event.deaf }, []];
    case "verdict": return [{ ...voice, verdict: event.verdict }, []];
    case "sound": return begun(voice, event.key, [], true);
    case "full": return tooLong(voice);
    case "reading": return [{ ...voice, reading: true, aloud: true }, [{ type: "send", message: { type: "playback", state: "started" } }]];
    case "audible": return audible(voice, event.turn);
    case "read": return read(voice, event.how, event.key);
    case "kept_send": return resumed({ ...voice, answer: voice.answer && { ...voice.answer, stopping: true } }, event.key, [{ type: "stop" }]);
    case "hush": return voice.reading ? [voice, [{ type: "hush" }]] : [voice, []];
    case "read_again": {
      const { question } = voice.interview;
      return question ? [{ ...voice, read: question.key }, [{ type: "read", text: question.text, turn: question.turn, again: true }]] : [voice, []];
    }
    case "retry": return [{ ...voice, notice: "" }, [{ type: "knock" }, ...stalling(voice)]];
    case "skipped": return skipped(voice);
    case "timer": return timer(voice, event.name, event.key);
  }
}

/** @param {VoiceState} voice @param {string} key @returns {VoiceStep} */
function opened(voice, key) {
  /** @type {VoiceState} */
  const on = { ...voice, stage: "on", obstacle: null, verdict: "ok", answer: voice.answer && { ...voice.answer, open: false } };
  /** @type {VoiceEffect[]} */
  const effects = on.interview.online ? [{ type: "send", message: wished(on) }, ...readingWish(on)] : [];
  const [next, more] = announced(on, on.interview);
  return resumed(next, key, [...effects, ...more, { type: "tell", what: on.check ? "check" : "listening" }, { type: "focus" }]);
}

/** @param {VoiceState} voice @param {Interview} now @param {string} key @returns {VoiceStep} */
function interviewed(voice, now, key) {
  const before = voice.interview;
  /** @type {VoiceState} */
  let next = { ...voice, interview: now };
  /** @type {VoiceEffect[]} */
  const effects = [];
  if (before.online && !now.online) {
    next = { ...next, hearing: false, ring: null, answer: next.answer && { ...next.answer, open: false } };
    effects.push({ type: "lost" }, { type: "untimer", name: "stalled" });
  }
  if (next.stage !== "on" && !(next.stage === "kept" && next.answer?.stopping)) return [next, effects];
  if (!before.online && now.online) {
    effects.push({ type: "send", message: wished(next) }, ...readingWish(next));
    if (next.aloud) effects.push({ type: "send", message: { type: "playback", state: "started" } });
  }
  if (now.floor === "closed" && before.floor !== "closed" && next.reading) effects.push({ type: "hush" });
  const [told, more] = announced(next, now);
  return resumed(told, key, [...effects, ...more]);
}

/** @param {VoiceState} voice @param {"finished" | "stopped" | "failed"} how @param {string} key @returns {VoiceStep} */
function read(voice, how, key) {
  const next = { ...voice, reading: false, aloud: false, notice: how === "failed" ? /** @type {const} */ ("no_voice") : voice.notice };
  /** @type {VoiceEffect[]} */
  const effects = voice.aloud ? [{ type: "send", message: { type: "playback", state: how === "failed" ? "stopped" : how } }] : [];
  const echo = cameBack(captionText(voice.caption), voice.interview.question?.text ?? "");
  if (how === "finished" && voice.answer?.worded && echo) return again({ ...next, answer: null }, key, "cancel", effects);
  return begun(next, key, effects);
}

/** @param {VoiceState} voice @param {boolean} latch @param {string} key @returns {VoiceStep} */
function press(voice, latch, key) {
  if (voice.settings.mode !== "push" || voice.answer?.stopping || voice.review) return [voice, []];
  if (voice.push === "latched") return release(voice);
  if (voice.interview.floor !== "free" && !voice.adding) return [voice, []];
  /** @type {VoiceState} */
  const next = { ...voice, push: latch ? "latched" : "held", notice: "" };
  return begun(next, key, voice.reading ? [{ type: "hush" }] : [], voice.adding !== null);
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
  if (voice.adding) return addOn(voice, review.key, review.text);
  return [{ ...voice, review: null, answer: null, caption: NO_CAPTION }, [{ type: "say", text: review.text, key: review.key }, { type: "over", next: null }]];
}

/** @param {VoiceState} voice @param {import("./settings.js").Settings} wanted @param {string} key @returns {VoiceStep} */
function settings(voice, wanted, key) {
  const old = voice.settings;
  /** @type {VoiceState} */
  const next = { ...voice, settings: wanted, push: "up", pauseMs: null };
  /** @type {VoiceEffect[]} */
  const effects = [{ type: "save" }];
  if (voice.interview.online) effects.push({ type: "send", message: wished(next) });
  if (voice.interview.online && readByServer(voice) !== readByServer(next)) effects.push(...readingWish(next));
  if (voice.reading && !wanted.read) effects.push({ type: "hush" });
  const microphone = [old, wanted].map((one) => JSON.stringify([one.device, one.echo ?? one.read, one.noise, one.gain]));
  if (microphone[0] !== microphone[1] && voice.stage === "on") effects.push({ type: "reopen" });
  if (old.mode !== wanted.mode && voice.answer && !voice.answer.worded && !voice.answer.stopping) {
    return again({ ...next, answer: null }, key, "cancel", effects);
  }
  return begun(next, key, effects);
}

/** "Rather not say" and the like: what was being said is not wanted. @param {VoiceState} voice @returns {VoiceStep} */
function skipped(voice) {
  const [plain, effects] = without({ ...voice, disputed: "" });
  return [{ ...plain, answer: null, review: null, caption: NO_CAPTION, hearing: false, ring: null, push: "up", notice: "" }, [{ type: "cancel" }, { type: "hush" }, { type: "untimer", name: "stalled" }, ...effects]];
}

/** @param {VoiceState} voice @param {import("./state.js").Timer} name @param {string} key @returns {VoiceStep} */
function timer(voice, name, key) {
  if (name === "fresh") return [{ ...voice, fresh: false }, []];
  if (name === "disputed") return [voice.answer?.stopping ? voice : { ...voice, disputed: "" }, []];
  if (name === "stalled") return voice.answer?.stopping ? [{ ...voice, notice: "stalled" }, [{ type: "tell", what: "stalled" }]] : [voice, []];
  return name === "hold" ? [voice, holding(voice)] : resumed(voice, key, []);
}
