/**
 * What each error code of the protocol means to this page.
 *
 * - `answer`: something is wrong with the text; it goes back into the box.
 * - `wait`: nothing is wrong with the text, the moment is; it goes back into the box.
 * - `retry`: the server could not; the same answer may be sent again under the same key.
 * - `state`: the page and the server disagree about where the interview is; the page follows.
 * - `fatal`: this link does not open an interview.
 * - `tell`: say so and go on.
 *
 * @typedef {"answer" | "wait" | "retry" | "state" | "fatal" | "tell"} Reaction
 */

/** @type {Record<string, Reaction>} */
const REACTIONS = {
  invalid_message: "tell",
  unauthorised: "fatal",
  forbidden: "tell",
  not_found: "tell",
  invalid_input: "answer",
  answer_too_long: "answer",
  consent_required: "state",
  turn_in_progress: "wait",
  session_completed: "state",
  session_paused: "state",
  audio_format: "tell",
  audio_gap: "tell",
  audio_too_long: "tell",
  rate_limited: "retry",
  llm_unavailable: "retry",
  transcriber_unavailable: "tell",
  storage_unavailable: "retry",
  too_many_sessions: "retry",
  language_unsupported: "tell",
  internal: "retry",
};

export const ERROR_CODES = Object.keys(REACTIONS);

/**
 * @param {string} code
 * @param {boolean} retryable as the server says; it decides for codes this page does not know.
 * @param {boolean} welcomed whether the server had said `ready`: before that, a closed door is fatal.
 * @returns {Reaction}
 */
export function reactionTo(code, retryable, welcomed) {
  if (!welcomed && (code === "forbidden" || code === "not_found")) return "fatal";
  return (Object.hasOwn(REACTIONS, code) && REACTIONS[code]) || (retryable ? "retry" : "tell");
}

/** What this page itself finds out. */
const OWN = new Set(["silent", "consent_changed", "voice_failed"]);

/** @param {string} code @returns {string} the key of the sentence that explains it. */
export function errorText(code) {
  return Object.hasOwn(REACTIONS, code) || OWN.has(code) ? `error.${code}` : "error.internal";
}
