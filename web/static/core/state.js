/** Everything the interview page knows, and what can be read from it. No browser in here. */

import { folded, lastAnswer, lastQuestion } from "./log.js";

/**
 * @typedef {import("./log.js").Entry} Entry
 * @typedef {import("./log.js").TranscriptRow} TranscriptRow
 * @typedef {import("./messages.js").ServerMessage} ServerMessage
 * @typedef {import("./messages.js").ClientMessage} ClientMessage
 * @typedef {import("./pending.js").Kept} Kept
 *
 * @typedef {"idle" | "connecting" | "greeting" | "ready" | "waiting" | "offline" | "taken" | "closed"} LinkStatus
 * @typedef {"pause" | "resume" | "rephrase" | "finish" | "withdraw"} Wish
 * @typedef {"reconnect" | "deadline" | "heartbeat" | "silence" | "refetch"} Timer
 *
 * An answer on its way: what is kept on the device, and whether it went out over the present connection.
 * @typedef {Kept & {sent: boolean, failed: {code: string, retryable: boolean} | null}} Pending
 *
 * The public detail of a session, `GET /api/sessions/{id}`.
 * @typedef {{state: string, reason?: string, concept: {id: string, name: string, title?: string},
 *   language?: string,
 *   consent?: {text: string, version: string, required?: boolean, given?: boolean} | null, max_turns?: number,
 *   progress?: number | null, closing_text?: string | null, withdrawn_text?: string | null,
 *   offers?: import("./messages.js").Offer[], helpline_text?: string | null, stimulus?: string | null,
 *   stimulus_image?: {url: string, width: number, height: number, alt: string} | null, transcript?: TranscriptRow[],
 *   ratings?: import("./ratings.js").RatingForm | null,
 *   speech?: SpeechOffer | null}} Detail
 *
 * Whether and how the server can listen, and whether it has a `voice` to read with; all times in seconds; `pauses_s` by patience.
 * @typedef {{available: boolean, voice?: boolean, reason?: string | null, patience?: string | null, max_answer_s?: number | null,
 *   reopen_s?: number, pauses_s?: Record<string, number>, review_transcript?: boolean, record_audio?: boolean, barge_in?: boolean, echo_cancellation?: boolean | null,
 *   noise_suppression?: boolean | null, auto_gain_control?: boolean | null}} SpeechOffer
 *
 * @typedef {object} State
 * @property {LinkStatus} link
 * @property {number} failures connections lost in a row without a `ready` between.
 * @property {boolean} welcomed whether this connection has had its `ready`.
 * @property {string | null} epoch
 * @property {number} lastEventId newest durable event seen; 0 before the first.
 * @property {number} syncTo durable events up to here belong to the replay.
 * @property {boolean} synced replay and transcript are in; what waited may be sent.
 * @property {Detail | null} detail
 * @property {boolean} fetching
 * @property {string | null} session the session's state, as last heard.
 * @property {"you" | "moderator" | null} pausedBy
 * @property {boolean} agreed consent given on this page.
 * @property {Entry[]} log
 * @property {{turn: number, attempt: number, text: string} | null} stream the question being written.
 * @property {string | null} running turn key the server is working on; "" when it did not say which.
 * @property {number} progress in [0, 1].
 * @property {string} draft
 * @property {import("./ratings.js").RatingForm | null} rating what the open question asks to rate.
 * @property {import("./ratings.js").Rated} rated the ratings given so far, not sent yet.
 * @property {Pending | null} pending
 * @property {{utteranceId: string, key: string, text: string} | null} editing the answer being corrected.
 * @property {import("./pending.js").Correcting | null} reopening a correction that was being written when the page was left.
 * @property {boolean} rephrasing
 * @property {"finish" | "withdraw" | "stimulus" | null} dialog
 * @property {boolean} presented whether the stimulus was shown before the first question, or need not be.
 * @property {string} image the image of the stimulus as a URL of its data; "" before it is here.
 * @property {"finish" | "withdraw" | null} leaving asked for, not yet confirmed by the server.
 * @property {boolean} erased
 * @property {string | null} blocked error code of a link that opens nothing.
 * @property {{code: string, at: "answer" | "edit" | "page", retry: boolean} | null} problem
 * @property {{code: string, text: string} | null} notice
 * @property {import("./messages.js").Offer[]} offers what can be chosen now instead of writing.
 * @property {string} help where to find help, kept in sight once it was given.
 * @property {boolean} stopping whether the respondent wanted to stop and may still take it back.
 * @property {boolean} speaking whether the respondent answers by voice.
 * @property {{text: string, count: number}} spoken the newest finished question, for assistive technology.
 *
 * @typedef {{type: "connect"} | {type: "disconnect"} | {type: "send", message: ClientMessage} | {type: "greet"}
 *   | {type: "timer", name: Timer, delayMs: number} | {type: "cancel", name: Timer}
 *   | {type: "fetch"} | {type: "fetch_image", url: string} | {type: "erase"} | {type: "save"} | {type: "wipe"}
 *   | {type: "focus", on: "answer" | "edit" | "correct" | "heading"}} Effect
 *
 * @typedef {[State, Effect[]]} Step
 */

/** @param {import("./pending.js").Saved} saved @returns {State} */
export function initialState(saved) {
  return {
    link: "idle", failures: 0, welcomed: false, epoch: null, lastEventId: 0, syncTo: 0, synced: false,
    detail: null, fetching: false, session: null, pausedBy: null, agreed: false,
    log: [], stream: null, running: null, progress: 0,
    draft: saved.draft, rating: null, rated: saved.rated ?? {}, pending: saved.pending && { ...saved.pending, sent: false, failed: null },
    editing: null, reopening: saved.correcting ?? null, rephrasing: false, dialog: null, presented: false, image: "",
    leaving: saved.withdrawing ? "withdraw" : null, erased: false,
    blocked: null, problem: null, notice: null, offers: [], help: "", stopping: false, speaking: false, spoken: { text: "", count: 0 },
  };
}

export const ENDED = new Set(["completed", "failed"]);
/** Waiting to be taken up again; an interview left alone for long is one. */
export const PAUSED = new Set(["paused", "abandoned"]);
export const ERASED = new Set(["withdrawn", "erased"]);

/** @typedef {"loading" | "consent" | "talk" | "done" | "goodbye" | "blocked"} Scene */

/** @param {State} state @returns {Scene} which page to show. */
export function scene(state) {
  if (state.erased) return "goodbye";
  if (state.blocked) return "blocked";
  if (!state.detail || state.session === null) return "loading";
  if (ENDED.has(state.session)) return "done";
  return needsConsent(state) ? "consent" : "talk";
}

/** @param {State} state */
export function needsConsent(state) {
  const consent = state.detail?.consent;
  if (!consent?.text || state.agreed || consent.given || state.session !== "created") return false;
  return consent.required !== false;
}

/** What the interview is called. @param {State} state */
export function title(state) {
  const concept = state.detail?.concept;
  return concept ? concept.title || concept.name : "";
}

/** Whether the connection can carry a wish right now. @param {State} state */
export function online(state) {
  return state.link === "ready" && state.synced;
}

/** The question to answer now, or the reply that leaves it open; null while one is being written. @param {State} state @returns {Entry | null} */
export function openQuestion(state) {
  if ((state.stream && !state.rephrasing) || state.stopping) return null;
  const question = lastQuestion(state.log);
  if (!question || question.kind === "closing") return null;
  const reply = lastAnswer(state.log);
  return reply && reply.turn > question.turn ? null : question;
}

/** Whether a grid to be rated stands where else an answer is written. @param {State} state */
export function asksForRatings(state) {
  return state.rating !== null && openQuestion(state) !== null;
}

/** What the interviewer said last, as long as it stands: the open question, or the words of a stop. @param {State} state @returns {Entry | null} */
export function standingWords(state) {
  return state.stopping ? lastQuestion(state.log) : openQuestion(state);
}

/** Whether an answer or a skip is on its way or being worked on. @param {State} state */
export function busy(state) {
  return state.running !== null || (state.pending !== null && !state.pending.failed);
}

/** @param {State} state whether the respondent may answer now. */
export function canAnswer(state) {
  return scene(state) === "talk" && !busy(state) && !state.pending && !state.leaving && !state.editing
    && !PAUSED.has(state.session ?? "") && !state.rephrasing && openQuestion(state) !== null;
}

/** Whether speaking may be offered. @param {State} state */
export function canSpeak(state) {
  return state.detail?.speech?.available === true;
}

/**
 * What the page says about itself, most pressing first.
 * @typedef {"taken" | "withdrawing" | "offline" | "reconnecting" | "connecting" | "leaving" | "paused_by_moderator" | "paused"
 *   | "stopping" | "failed" | "sending" | "writing" | "thinking" | "opening" | "rephrasing" | "yours"} Mood
 *
 * @param {State} state
 * @returns {Mood}
 */
export function mood(state) {
  if (state.link === "taken") return "taken";
  if (state.leaving === "withdraw" && state.link !== "ready") return "withdrawing";
  if (state.link === "offline") return "offline";
  if (state.link !== "ready") return state.epoch === null ? "connecting" : "reconnecting";
  if (state.leaving) return "leaving";
  if (PAUSED.has(state.session ?? "")) return state.pausedBy === "moderator" ? "paused_by_moderator" : "paused";
  if (state.rephrasing) return "rephrasing";
  if (state.stopping && !state.stream) return "stopping";
  if (state.stream) return "writing";
  if (state.pending?.failed) return "failed";
  if (state.running !== null || state.pending?.accepted) return "thinking";
  if (state.pending) return "sending";
  return openQuestion(state) ? "yours" : "opening";
}

/** The answer that may be corrected: the last one, and only while its utterance is known. @param {State} state */
export function correctable(state) {
  const entry = lastAnswer(folded(state.log));
  if (!entry || entry.kind === "skip" || entry.kind === "rate" || !entry.utteranceId || !canAnswer(state)) return null;
  return entry;
}

/**
 * The answer that more can be put behind: the newest, if it was given in this visit (before it, somebody else may have
 * sat here) and nothing was said after it that was none.
 * @param {State} state
 */
export function openEnded(state) {
  const newest = folded(state.log).findLast(({ speaker, kind }) => speaker === "respondent" || kind === "reply");
  return newest?.kind === "answer" && newest.turnKey !== null ? newest : null;
}

/** Its text, also while it is on its way. @param {State} state @returns {string | null} */
export function lastSaid(state) {
  const { pending } = state;
  return pending?.kind === "answer" || pending?.kind === "correct" ? pending.text : openEnded(state)?.text ?? null;
}
