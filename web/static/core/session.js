/** What the server's messages do to the page's state. */

import { reactionTo } from "./errors.js";
import { alive } from "./link.js";
import { answer, answerKey, ask, folded, fromTranscript, lastQuestion, put, question, questionKey, replied } from "./log.js";
import { pendingKey } from "./messages.js";
import { parseRated, ratedWords } from "./ratings.js";
import { ENDED, ERASED, PAUSED, busy, correctable, openQuestion, scene } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Step} Step */
/** @typedef {import("./state.js").Effect} Effect */
/** @typedef {import("./state.js").Detail} Detail */
/** @typedef {import("./messages.js").ServerMessage} ServerMessage */

/** No session is silent this long; if one is, the respondent may knock. */
export const SILENCE_MS = 20_000;

const REFETCH_MS = 2_000;

/** @type {Effect} */
const LISTEN = { type: "timer", name: "silence", delayMs: SILENCE_MS };
/** @type {Effect} */
const HUSH = { type: "cancel", name: "silence" };

/**
 * @param {State} state
 * @param {ServerMessage} message
 * @returns {Step}
 */
export function received(state, message) {
  if ("id" in message) {
    const asked = "turn_key" in message && message.turn_key === state.pending?.turnKey;
    if (message.id <= state.lastEventId && !asked) return [state, alive(state)];
    state = { ...state, lastEventId: Math.max(message.id, state.lastEventId) };
  }
  const [next, effects] = apply(state, message);
  const [settled, more] = settle(next);
  return [settled, [...alive(settled), ...effects, ...more]];
}

/** @param {State} state @param {ServerMessage} message @returns {Step} */
function apply(state, message) {
  switch (message.type) {
    case "ready": return ready(state, message);
    case "question.started":
      return [{ ...state, stream: { turn: message.turn_number, attempt: message.attempt, text: "" } }, [HUSH]];
    case "question.delta": return delta(state, message);
    case "question.withdrawn":
      return state.stream?.turn === message.turn_number ? [{ ...state, stream: null }, []] : [state, []];
    case "question.completed": return completed(state, message);
    case "transcript.final": return transcribed(state, message);
    case "turn.started": return turnStarted(state, message);
    case "turn.completed": return turnCompleted(state, message);
    case "interviewer.replied": return repliedTo(state, message);
    case "turn.failed": return turnFailed(state, message);
    case "session.state": return sessionState(state, message);
    case "notice": return [{ ...state, notice: { code: message.code, text: message.text ?? "" } }, state.running === null ? [] : [LISTEN]];
    case "error": return refused(state, message);
    default: return [state, []];
  }
}

/** @param {State} state @param {import("./messages.js").Ready} message @returns {Step} */
function ready(state, message) {
  const moved = state.epoch !== message.epoch;
  const first = state.epoch === null;
  const fetch = (moved || ENDED.has(message.state)) && !(first && state.detail?.state === "created" && message.state === "created");
  const fetching = fetch || state.fetching;
  /** @type {State} */
  const next = {
    ...state,
    link: "ready", welcomed: true, failures: 0, synced: false,
    epoch: message.epoch ?? "", session: message.state, stream: null, rephrasing: false,
    lastEventId: moved && !first ? message.last_event_id : state.lastEventId,
    syncTo: moved ? 0 : message.last_event_id,
    running: pendingKey(message.pending), fetching,
    pausedBy: PAUSED.has(message.state) ? state.pausedBy ?? "you" : null,
  };
  if (!state.pending?.failed) next.problem = null;
  if (ERASED.has(message.state)) return erased(next);
  return [next, fetch && !state.fetching ? [LISTEN, { type: "fetch" }] : [LISTEN]];
}

/**
 * The running question. A higher attempt starts it afresh, a lower one is late news.
 * @param {State} state @param {import("./messages.js").QuestionDelta} message @returns {Step}
 */
function delta(state, message) {
  const { turn_number: turn, attempt, text } = message;
  const stream = state.stream;
  if (stream && (turn < stream.turn || (turn === stream.turn && attempt < stream.attempt))) return [state, []];
  const goesOn = stream && stream.turn === turn && stream.attempt === attempt;
  return [{ ...state, stream: { turn, attempt, text: (goesOn ? stream.text : "") + text } }, [HUSH]];
}

/** @param {State} state @param {import("./messages.js").QuestionCompleted} message @returns {Step} */
function completed(state, message) {
  const { turn_number: turn, text } = message;
  const old = state.log.find((entry) => entry.key === questionKey(turn));
  const newest = (lastQuestion(state.log)?.turn ?? -1) <= turn;
  return [
    {
      ...state,
      log: ask(state.log, {
        ...question(turn, text, message.closing === true || old?.kind === "closing"),
        utteranceId: message.utterance_id ?? old?.utteranceId ?? null,
      }),
      rating: newest ? message.ratings ?? null : state.rating,
      stream: null, rephrasing: false, notice: null, problem: state.rephrasing ? null : state.problem,
      spoken: newest && state.synced ? { text, count: state.spoken.count + 1 } : state.spoken,
    },
    newest && state.synced ? [HUSH, { type: "focus", on: "answer" }] : [HUSH],
  ];
}

/**
 * What a spoken answer was understood as: from here on it is an answer like a written one.
 * @param {State} state @param {import("./messages.js").TranscriptFinal} message @returns {Step}
 */
function transcribed(state, message) {
  const { turn_key: turnKey, text } = message;
  if (state.pending && state.pending.turnKey !== turnKey) return [state, []];
  const pending = { kind: /** @type {const} */ ("answer"), text, turnKey, accepted: false, sent: true, failed: null };
  return [{ ...state, pending, notice: null }, [LISTEN]];
}

/** @param {State} state @param {import("./messages.js").TurnStarted} message @returns {Step} */
function turnStarted(state, message) {
  const { turn_number: turn, turn_key: key } = message;
  const mine = state.pending?.turnKey === key ? state.pending : null;
  /** @type {State} */
  const next = { ...state, running: key, problem: null, notice: null, offers: [] };
  if (!mine) return [next, [LISTEN]];
  next.pending = { ...mine, accepted: true, sent: true, failed: null };
  const text = mine.kind === "rate" ? ratedWords(parseRated(mine.text), state.rating) : mine.text;
  next.log = put(state.log, answer(turn, text, mine.kind === "correct" ? "correction" : mine.kind, key));
  return [next, [LISTEN]];
}

/** @param {State} state @param {import("./messages.js").TurnCompleted} message @returns {Step} */
function turnCompleted(state, message) {
  const { turn_number: turn, turn_key: key, result } = message;
  const log = state.log.map((entry) => {
    if (entry.key === questionKey(turn) && result.should_continue === false) {
      return { ...entry, kind: /** @type {const} */ ("closing") };
    }
    const theirs = entry.turnKey === key || (entry.key === answerKey(turn) && entry.turnKey === null);
    return theirs && result.utterance_id ? { ...entry, utteranceId: result.utterance_id } : entry;
  });
  return [
    {
      ...state, log, running: null, notice: null, problem: null,
      pending: state.pending?.turnKey === key ? null : state.pending,
      progress: typeof result.progress === "number" ? clamp(result.progress) : state.progress,
    },
    [HUSH],
  ];
}

/**
 * A reply that is no question of its own: what was sent under its key is done.
 * @param {State} state @param {import("./messages.js").InterviewerReplied} message @returns {Step}
 */
function repliedTo(state, message) {
  const { turn_number: turn, turn_key: key, text, result } = message;
  return [
    {
      ...state,
      log: replied(state.log, { turn, turnKey: key, text }),
      stream: null, running: null, rephrasing: false, notice: null, problem: null,
      pending: state.pending?.turnKey === key ? null : state.pending,
      progress: typeof result.progress === "number" ? clamp(result.progress) : state.progress,
      offers: message.offers ?? [], help: message.help || state.help, stopping: message.act === "wants_stop" && message.open === false,
      spoken: state.synced ? { text, count: state.spoken.count + 1 } : state.spoken,
    },
    state.synced ? [HUSH, { type: "focus", on: "answer" }] : [HUSH],
  ];
}

/** @param {State} state @param {import("./messages.js").TurnFailed} message @returns {Step} */
function turnFailed(state, message) {
  const { turn_key: key, code } = message;
  const retryable = message.retryable !== false;
  /** @type {State} */
  const next = { ...state, running: null, stream: null, rephrasing: false, notice: null };
  if (state.pending?.turnKey !== key) return [next, [HUSH]];
  next.pending = { ...state.pending, failed: { code, retryable } };
  next.log = state.log.filter((entry) => entry.turnKey !== key);
  next.problem = { code, at: "page", retry: retryable };
  return [next, [HUSH]];
}

/** @param {State} state @param {import("./messages.js").SessionState} message @returns {Step} */
function sessionState(state, message) {
  const reason = message.reason ?? "";
  if (ERASED.has(message.state) || ERASED.has(reason)) return erased(state);
  /** @type {State} */
  const next = {
    ...state, session: message.state, stopping: state.stopping && reason !== "stop_taken_back",
    offers: reason === "stop_taken_back" || ENDED.has(message.state) ? [] : state.offers,
    pausedBy: PAUSED.has(message.state) ? pauser(reason) : null,
  };
  if (!ENDED.has(message.state)) return [next, []];
  return [
    { ...next, leaving: state.leaving === "withdraw" ? "withdraw" : null, running: null, stream: null, rephrasing: false, dialog: null, editing: null, problem: null, fetching: true },
    [HUSH, { type: "wipe" }, { type: "fetch" }, { type: "focus", on: "heading" }],
  ];
}

/** @param {string | undefined} reason @returns {"you" | "moderator"} */
const pauser = (reason) => (reason === "by_moderator" ? "moderator" : "you");

/** @param {State} state @returns {Step} */
export function erased(state) {
  return [
    { ...state, erased: true, leaving: null, dialog: null, draft: "", rating: null, rated: {}, pending: null, log: [], stream: null, problem: null },
    [HUSH, { type: "wipe" }, { type: "disconnect" }, { type: "focus", on: "heading" }],
  ];
}

/** @param {State} state @param {import("./messages.js").WireError} message @returns {Step} */
function refused(state, message) {
  const { code } = message;
  const gone = code === "not_found" || code === "unauthorised";
  if (gone && state.leaving === "withdraw") return erased(state);
  if (state.leaving === "withdraw") return [state, [{ type: "erase" }]];
  const reaction = reactionTo(code, message.retryable === true, state.welcomed);
  if (reaction === "fatal") {
    return [{ ...state, blocked: code, dialog: null }, [HUSH, { type: "disconnect" }, { type: "focus", on: "heading" }]];
  }
  const open = state.pending !== null && !state.pending.accepted && state.pending.sent;
  if (reaction === "state") return follow(open ? takeBack(state) : state, code, message.ref === "resume");
  if (state.session === "created" && state.agreed && reaction === "answer") {
    const asked = { ...state, agreed: false, fetching: true };
    return [{ ...asked, problem: { code: "consent_changed", at: "page", retry: false } }, [HUSH, { type: "fetch" }]];
  }
  /** @type {State} */
  const next = { ...state, rephrasing: false, leaving: null };
  if (open && reaction === "retry") {
    const failed = { code, retryable: true };
    return [{ ...next, pending: state.pending && { ...state.pending, failed }, problem: { code, at: "page", retry: true } }, [HUSH]];
  }
  if (open) {
    const editing = state.pending?.kind === "correct";
    const back = takeBack(next);
    return [{ ...back, problem: { code, at: editing ? "edit" : "answer", retry: false } }, [HUSH, { type: "focus", on: editing ? "edit" : "answer" }]];
  }
  const retry = reaction === "retry" && !state.pending && openQuestion(state) === null && state.running === null;
  return [{ ...next, problem: { code, at: "page", retry } }, []];
}

/**
 * The interview is somewhere else than this page thought.
 *
 * @param {State} state
 * @param {string} code
 * @param {boolean} resuming whether a wish to go on was refused: then it is not ours to grant.
 * @returns {Step}
 */
function follow(state, code, resuming) {
  if (code === "session_paused") {
    const session = PAUSED.has(state.session ?? "") ? state.session : "paused";
    return [{ ...state, session, rephrasing: false, pausedBy: resuming ? "moderator" : state.pausedBy ?? "you" }, [HUSH]];
  }
  if (code === "consent_required") return [{ ...state, session: "created", agreed: false }, [HUSH]];
  return [{ ...state, session: "completed", fetching: true }, [HUSH, { type: "fetch" }, { type: "focus", on: "heading" }]];
}

/**
 * An answer that was not taken goes back to where it was written, before whatever was typed since.
 * @param {State} state @returns {State}
 */
export function takeBack(state) {
  const pending = state.pending;
  if (!pending) return state;
  if (pending.kind === "skip") return { ...state, pending: null };
  if (pending.kind === "rate") return { ...state, pending: null, rated: parseRated(pending.text) };
  if (pending.kind === "correct") {
    const entry = folded(state.log).find((other) => other.utteranceId === pending.utteranceId);
    const editing = entry ? { utteranceId: entry.utteranceId ?? "", key: entry.key, text: pending.text } : null;
    return { ...state, pending: null, editing };
  }
  const draft = state.draft.trim() === "" ? pending.text : `${pending.text}\n\n${state.draft}`;
  return { ...state, pending: null, draft };
}

/** @param {State} state @param {Detail} detail @returns {Step} */
export function fetched(state, detail) {
  const [next, effects] = settle({
    ...state,
    fetching: false, detail, pausedBy: PAUSED.has(detail.state) ? pauser(detail.reason) : state.pausedBy,
    session: state.welcomed ? state.session ?? detail.state : detail.state,
    log: fromTranscript(detail.transcript ?? [], state.log),
    rating: detail.ratings ?? null,
    offers: state.offers.length ? state.offers : detail.offers ?? [], stopping: state.stopping || detail.reason === "stopping",
    progress: Math.max(state.progress, clamp(detail.progress ?? 0)),
  });
  if (ERASED.has(detail.state)) return erased(next);
  // An interview that is over has no line that could carry the wish.
  return [next, next.leaving === "withdraw" && ENDED.has(detail.state) ? [...effects, { type: "erase" }] : effects];
}

/**
 * @param {State} state
 * @param {string} code of the problem, or "network".
 * @returns {Step}
 */
export function fetchFailed(state, code) {
  if (["unauthorised", "forbidden", "not_found"].includes(code)) {
    const next = { ...state, fetching: false };
    if (state.leaving === "withdraw") return erased(next);
    return [{ ...next, blocked: code }, [{ type: "disconnect" }, { type: "focus", on: "heading" }]];
  }
  return [state, [{ type: "timer", name: "refetch", delayMs: REFETCH_MS }]];
}

/**
 * Nothing was heard for too long: look again at what the server has, or offer to.
 * @param {State} state
 * @returns {Step}
 */
export function silent(state) {
  if (state.leaving === "withdraw") return [state, [{ type: "erase" }]];
  if (state.link !== "ready" || scene(state) !== "talk") return [state, []];
  if (!state.synced) return [{ ...state, syncTo: 0, fetching: true }, [{ type: "fetch" }]];
  if (state.stream || (openQuestion(state) && !busy(state) && !state.rephrasing && !state.leaving)) return [state, []];
  return [{ ...state, rephrasing: false, leaving: null, problem: { code: "silent", at: "page", retry: true } }, []];
}

/** Once replay and transcript are in: send what waited, each once. @param {State} state @returns {Step} */
function settle(state) {
  if (state.synced || state.link !== "ready" || state.fetching || !state.detail) return [state, []];
  if (state.lastEventId < state.syncTo) return [state, []];
  /** @type {Effect[]} */
  const effects = [];
  /** @type {State} */
  const next = { ...state, synced: true };
  if (next.agreed && next.session === "created") effects.push(...consentMessage(next));
  if (next.leaving) effects.push({ type: "send", message: { type: next.leaving } });
  const pending = next.pending;
  const known = pending !== null && (next.running === pending.turnKey || next.running === "");
  if (pending?.accepted && ENDED.has(next.session ?? "")) {
    next.pending = null;
  } else if (known) {
    next.pending = { ...pending, sent: true, accepted: true };
    effects.push(LISTEN);
  } else if (pending && !pending.failed && scene(next) === "talk") {
    const [sent, more] = sendPending(next);
    return [announce(sent), [...effects, ...more]];
  }
  return [announce(reopened(next)), effects];
}

/** The correction that was being written when the page was left, where it can still be made. @param {State} state @returns {State} */
function reopened(state) {
  if (!state.reopening) return state;
  const entry = correctable(state);
  const { utteranceId, text } = state.reopening;
  const editing = entry?.utteranceId === utteranceId ? { utteranceId, key: entry.key, text } : null;
  return { ...state, reopening: null, editing };
}

/** @param {State} state @returns {State} */
function announce(state) {
  const open = openQuestion(state);
  if (!open || open.text === state.spoken.text) return state;
  return { ...state, spoken: { text: open.text, count: state.spoken.count + 1 } };
}

/** @param {State} state @returns {Effect[]} */
export function consentMessage(state) {
  const version = state.detail?.consent?.version ?? "";
  return [{ type: "send", message: { type: "consent", version, choices: { agree: true } } }, LISTEN];
}

/** @param {State} state @returns {Step} the pending answer, on its way. */
export function sendPending(state) {
  const pending = state.pending;
  if (!pending || pending.sent || state.link !== "ready" || !state.synced) return [state, []];
  const { kind, text, turnKey } = pending;
  /** @type {import("./messages.js").ClientMessage} */
  const message =
    kind === "skip" ? { type: "skip", turn_key: turnKey }
    : kind === "rate" ? { type: "rate", ratings: parseRated(text), turn_key: turnKey }
    : kind === "correct" ? { type: "correct", utterance_id: pending.utteranceId ?? "", text, turn_key: turnKey }
    : { type: "answer", text, turn_key: turnKey };
  return [{ ...state, pending: { ...pending, sent: true } }, [{ type: "send", message }, LISTEN]];
}

/** @param {number} value */
const clamp = (value) => Math.min(1, Math.max(0, value));

