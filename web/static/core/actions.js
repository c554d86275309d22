/** What the respondent does, as changes of the page's state. */

import { answerFault, cleanAnswer } from "./answer.js";
import { connect } from "./link.js";
import { folded } from "./log.js";
import { countRated, fitting, withRating } from "./ratings.js";
import { consentMessage, sendPending } from "./session.js";
import { canAnswer, correctable, online, openEnded } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Step} Step */
/** @typedef {import("./state.js").Effect} Effect */

/** @param {State} state @returns {Step} */
export function agree(state) {
  /** @type {State} */
  const next = { ...state, agreed: true, problem: null };
  return [next, online(state) ? consentMessage(next) : []];
}

/** @param {State} state @param {string} text @returns {Step} */
export function draft(state, text) {
  const problem = state.problem?.at === "answer" ? null : state.problem;
  return [{ ...state, draft: text, problem }, []];
}

/** @param {State} state @param {string} turnKey a fresh UUID. @returns {Step} */
export function submit(state, turnKey) {
  if (!canAnswer(state)) return [state, []];
  const fault = answerFault(state.draft);
  if (fault) return [{ ...state, problem: { code: fault, at: "answer", retry: false } }, [{ type: "focus", on: "answer" }]];
  return sendPending({
    ...state, draft: "", problem: null,
    pending: { kind: "answer", text: cleanAnswer(state.draft), turnKey, accepted: false, sent: false, failed: null },
  });
}

/** A spoken answer, read through by the respondent; what stands in the box stays there. @param {State} state @param {string} text @param {string} turnKey @returns {Step} */
export function say(state, text, turnKey) {
  if (!canAnswer(state) || answerFault(text)) return [state, []];
  return sendPending({
    ...state, problem: null,
    pending: { kind: "answer", text: cleanAnswer(text), turnKey, accepted: false, sent: false, failed: null },
  });
}

/**
 * More of the last answer: put behind it, as a correction. Where that can't be corrected any more, it is an answer of
 * its own; where none can be taken now, it waits in the box.
 * @param {State} state @param {string} text @param {string} turnKey @returns {Step}
 */
export function add(state, text, turnKey) {
  if (!canAnswer(state) || answerFault(text)) return draft(state, `${state.draft.trimEnd()} ${text}`.trimStart());
  const entry = correctable(state);
  const whole = entry && entry.key === openEnded(state)?.key ? cleanAnswer(`${entry.text} ${text}`) : "";
  if (!entry || whole === "" || answerFault(whole)) return say(state, text, turnKey);
  return sendPending({
    ...state, problem: null,
    pending: { kind: "correct", text: whole, turnKey, utteranceId: entry.utteranceId ?? "", accepted: false, sent: false, failed: null },
  });
}

/**
 * Something that was offered: its label is sent as an answer; a stop is taken back, or everything deleted, by a wish.
 * @param {State} state @param {string} name @param {string} turnKey @returns {Step}
 */
export function choose(state, name, turnKey) {
  const offer = state.offers.find((one) => one.name === name);
  if (!offer) return [state, []];
  if (name === "withdraw") return askToLeave(state, "withdraw");
  if (name === "resume") return pauseOrResume(state, "resume");
  return say(state, offer.label, turnKey);
}

/** "Rather not say": a turn of its own; what stands in the box stays there. @param {State} state @param {string} turnKey @returns {Step} */
export function skip(state, turnKey) {
  if (!canAnswer(state)) return [state, []];
  return sendPending({
    ...state, problem: null,
    pending: { kind: "skip", text: "", turnKey, accepted: false, sent: false, failed: null },
  });
}

/** @param {State} state @param {string} construct @param {string} element @param {number | null} value @returns {Step} */
export function rated(state, construct, element, value) {
  if (!state.rating) return [state, []];
  return [{ ...state, rated: withRating(state.rated, construct, element, value), problem: null }, []];
}

/** The ratings given so far, as they are. @param {State} state @param {string} turnKey @returns {Step} */
export function rate(state, turnKey) {
  if (!canAnswer(state) || !state.rating) return [state, []];
  const given = fitting(state.rated, state.rating);
  if (countRated(given) === 0) return [state, []];
  return sendPending({
    ...state, rated: {}, problem: null,
    pending: { kind: "rate", text: JSON.stringify(given), turnKey, accepted: false, sent: false, failed: null },
  });
}

/** @param {State} state @returns {Step} the same question in other words. */
export function rephrase(state) {
  if (!canAnswer(state) || !online(state)) return [state, []];
  return [{ ...state, rephrasing: true, problem: null }, [
    { type: "send", message: { type: "rephrase" } }, { type: "timer", name: "silence", delayMs: 20_000 },
  ]];
}

/** @param {State} state @returns {Step} */
export function edit(state) {
  const entry = correctable(state);
  if (!entry) return [state, []];
  return [
    { ...state, editing: { utteranceId: entry.utteranceId ?? "", key: entry.key, text: entry.text }, problem: null },
    [{ type: "focus", on: "edit" }],
  ];
}

/** @param {State} state @param {string} text @returns {Step} */
export function editText(state, text) {
  if (!state.editing) return [state, []];
  return [{ ...state, editing: { ...state.editing, text }, problem: null }, []];
}

/** @param {State} state @returns {Step} */
export function editCancel(state) {
  return [{ ...state, editing: null, problem: state.problem?.at === "edit" ? null : state.problem }, [{ type: "focus", on: "correct" }]];
}

/** @param {State} state @param {string} turnKey a fresh UUID. @returns {Step} */
export function editSubmit(state, turnKey) {
  const editing = state.editing;
  if (!editing || state.pending) return [state, []];
  const text = cleanAnswer(editing.text);
  const before = folded(state.log).find((entry) => entry.key === editing.key)?.text;
  if (text === before) return editCancel(state);
  const fault = answerFault(text);
  if (fault) return [{ ...state, problem: { code: fault, at: "edit", retry: false } }, [{ type: "focus", on: "edit" }]];
  const [next, effects] = sendPending({
    ...state, editing: null, problem: null,
    pending: {
      kind: "correct", text, turnKey, utteranceId: editing.utteranceId, accepted: false, sent: false, failed: null,
    },
  });
  return [next, [...effects, { type: "focus", on: "answer" }]];
}

/** @param {State} state @param {"pause" | "resume"} wish @returns {Step} */
export function pauseOrResume(state, wish) {
  if (!online(state)) return [state, []];
  return [{ ...state, problem: null }, [{ type: "send", message: { type: wish } }]];
}

/** @param {State} state @param {"finish" | "withdraw"} dialog @returns {Step} */
export function askToLeave(state, dialog) {
  return [{ ...state, dialog }, []];
}

/** @param {State} state @returns {Step} */
export function stay(state) {
  return [{ ...state, dialog: null }, state.dialog === "stimulus" ? [{ type: "focus", on: "answer" }] : []];
}

/**
 * Finishing waits for the connection; erasing takes whichever way is open.
 * @param {State} state
 * @returns {Step}
 */
export function leave(state) {
  const leaving = state.dialog;
  if (!leaving || leaving === "stimulus") return [state, []];
  /** @type {State} */
  const next = { ...state, dialog: null, leaving, problem: null };
  if (online(state)) {
    return [next, [{ type: "send", message: { type: leaving } }, { type: "timer", name: "silence", delayMs: 20_000 }]];
  }
  return [next, leaving === "withdraw" ? [{ type: "erase" }] : []];
}

/** @param {State} state @param {string} code @returns {Step} */
export function eraseFailed(state, code) {
  const waits = code === "network" && state.link !== "closed" && state.link !== "taken";
  if (waits) return [state, []];
  return [{ ...state, leaving: null, problem: { code: "storage_unavailable", at: "page", retry: false } }, []];
}

/** The failed answer again, under its own key; without one, knock anew. @param {State} state @returns {Step} */
export function retry(state) {
  const pending = state.pending;
  const calm = { ...state, problem: null };
  if (pending?.failed && online(state)) {
    return sendPending({ ...calm, pending: { ...pending, failed: null, accepted: false, sent: false } });
  }
  /** @type {State} */
  const again = { ...calm, pending: pending && (pending.failed ? { ...pending, failed: null, accepted: false, sent: false } : pending) };
  const [next, effects] = connect(again);
  return [next, [{ type: "disconnect" }, ...effects]];
}
