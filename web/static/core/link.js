/** The connection's own rules: greet, keep alive, come back, step aside for another tab. */

import { backoffMs, restartMs } from "./backoff.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./state.js").Step} Step */
/** @typedef {import("./state.js").Effect} Effect */

const READY_DEADLINE_MS = 8_000;
const HEARTBEAT_MS = 20_000;
const PONG_DEADLINE_MS = 8_000;

/** Failures in a row after which the page asks over HTTP whether the link is any good. */
const ASK_AFTER_FAILURES = 2;

const TAKEN_OVER = 4001;
const RESTARTING = 1012;

/** Close codes some servers use for what `error unauthorised` and `error not_found` say. @type {Record<number, string>} */
const FATAL_CLOSES = { 4401: "unauthorised", 4403: "forbidden", 4404: "not_found" };

/** @param {State} state @returns {Step} */
export function connect(state) {
  return [
    { ...state, link: "connecting", welcomed: false, synced: false },
    [{ type: "cancel", name: "reconnect" }, { type: "connect" },
      { type: "timer", name: "deadline", delayMs: READY_DEADLINE_MS }],
  ];
}

/** @param {State} state @returns {Step} */
export function opened(state) {
  return [{ ...state, link: "greeting" }, [{ type: "greet" }]];
}

/** Any message is a sign of life. @param {State} state @returns {Effect[]} */
export function alive(state) {
  if (!state.welcomed) return [];
  return [{ type: "cancel", name: "deadline" }, { type: "timer", name: "heartbeat", delayMs: HEARTBEAT_MS }];
}

/** @param {State} state @param {number} now milliseconds, echoed by the server. @returns {Step} */
export function heartbeat(state, now) {
  if (state.link !== "ready") return [state, []];
  return [state, [
    { type: "send", message: { type: "ping", t: now } },
    { type: "timer", name: "deadline", delayMs: PONG_DEADLINE_MS },
  ]];
}

/**
 * @param {State} state
 * @param {number} code as the socket closed.
 * @param {number} random in [0, 1).
 * @returns {Step}
 */
export function closed(state, code, random) {
  /** @type {Effect[]} */
  const quiet = [{ type: "cancel", name: "deadline" }, { type: "cancel", name: "heartbeat" }];
  const down = {
    ...state, welcomed: false, synced: false, stream: null, rephrasing: false,
    pending: state.pending && { ...state.pending, sent: false },
  };
  if (state.erased || state.blocked) return [{ ...down, link: "closed" }, quiet];
  if (state.leaving === "withdraw" && state.synced && code === 1000) {
    return [{ ...down, link: "closed", erased: true }, [...quiet, { type: "wipe" }, { type: "focus", on: "heading" }]];
  }
  if (state.session === "completed" && code === 1000) return [{ ...down, link: "closed" }, quiet];
  if (code === TAKEN_OVER) return [{ ...down, link: "taken" }, quiet];
  const fatal = FATAL_CLOSES[code];
  if (fatal) return [{ ...down, link: "closed", blocked: fatal }, [...quiet, { type: "focus", on: "heading" }]];
  if (state.link === "offline") return [down, quiet];
  const failures = state.failures + 1;
  const delayMs = code === RESTARTING ? restartMs(random) : backoffMs(failures, random);
  const ask = failures >= ASK_AFTER_FAILURES && !state.fetching;
  return [
    { ...down, link: "waiting", failures, fetching: state.fetching || ask },
    [...quiet, { type: "timer", name: "reconnect", delayMs }, ...(ask ? [/** @type {Effect} */ ({ type: "fetch" })] : [])],
  ];
}

/** The device says it is on a network again, or the page is looked at again. @param {State} state @returns {Step} */
export function nudged(state) {
  if (state.link !== "waiting" && state.link !== "offline") return [state, []];
  return connect(state);
}

/** @param {State} state @returns {Step} */
export function wentOffline(state) {
  if (["taken", "closed"].includes(state.link)) return [state, []];
  return [
    { ...state, link: "offline", welcomed: false, synced: false, pending: state.pending && { ...state.pending, sent: false } },
    [{ type: "disconnect" }, { type: "cancel", name: "reconnect" }, { type: "cancel", name: "deadline" }],
  ];
}

/**
 * The respondent chose this tab: what the other one kept and said counts.
 *
 * @param {State} state
 * @param {import("./pending.js").Saved} saved
 * @returns {Step}
 */
export function continueHere(state, saved) {
  return connect({
    ...state, failures: 0, problem: null, epoch: null, lastEventId: 0, draft: saved.draft, rated: saved.rated ?? {}, editing: null,
    reopening: saved.correcting ?? null, leaving: saved.withdrawing ? "withdraw" : state.leaving,
    pending: saved.pending && { ...saved.pending, sent: false, failed: null },
  });
}
