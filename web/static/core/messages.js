/**
 * The respondent socket's messages: their shapes, and the check at the door.
 *
 * Durable messages carry `id` (from 1, +1 each) and are replayed after a reconnect; the others are gone when missed.
 */

/**
 * Public view of a finished turn; `progress` lies in [0, 1].
 * @typedef {{should_continue?: boolean, turn_number?: number, max_turns?: number, progress?: number,
 *   utterance_id?: string}} TurnResult
 *
 * @typedef {{type: "ready", session_id: string, state: string, epoch: string, last_event_id: number,
 *   turn_number: number, pending?: unknown, first_unreceived_seq?: number}} Ready
 * @typedef {{type: "question.started", turn_number: number, attempt: number}} QuestionStarted
 * @typedef {{type: "question.delta", turn_number: number, attempt: number, text: string}} QuestionDelta
 * @typedef {{type: "question.withdrawn", turn_number: number, attempt: number}} QuestionWithdrawn
 * @typedef {{type: "answer.ending", turn_key: string, left_ms: number}} AnswerEnding
 * @typedef {{type: "question.completed", id: number, turn_number: number, text: string, closing?: boolean,
 *   utterance_id?: string | null, ratings?: import("./ratings.js").RatingForm | null}} QuestionCompleted
 * @typedef {{type: "turn.started", id: number, turn_number: number, turn_key: string}} TurnStarted
 * @typedef {{type: "transcript.final", id: number, turn_key: string, text: string, last_seq?: number | null}} TranscriptFinal
 * @typedef {{type: "turn.completed", id: number, turn_number: number, turn_key: string, result: TurnResult}} TurnCompleted
 * @typedef {{name: string, label: string}} Offer
 * @typedef {{type: "interviewer.replied", id: number, turn_number: number, turn_key: string, act: string, text: string,
 *   help?: string, offers?: Offer[], open?: boolean, result: TurnResult}} InterviewerReplied
 * @typedef {{type: "turn.failed", id: number, turn_key: string, code: string, retryable: boolean}} TurnFailed
 * @typedef {{type: "session.state", id: number, state: string, reason?: string | null}} SessionState
 * @typedef {{type: "reading.started", reading: number, turn_number: number, sample_rate: number}} ReadingStarted
 * @typedef {{type: "reading.completed", reading: number}} ReadingCompleted
 * @typedef {{type: "reading.failed", reading: number, at: number}} ReadingFailed
 * @typedef {{type: "speech.started" | "speech.stopped", at_ms?: number, ends_ms?: number | null}} Speech
 * @typedef {{type: "transcript.partial", text: string, stable: number, turn_key?: string | null}} TranscriptPartial
 * @typedef {{type: "audio.ack", seq: number}} AudioAck
 * @typedef {{type: "notice", code: string, text?: string}} Notice
 * @typedef {{type: "error", code: string, message?: string, retryable?: boolean, ref?: string | null}} WireError
 * @typedef {{type: "pong"}} Pong
 *
 * @typedef {Ready | QuestionStarted | QuestionDelta | QuestionWithdrawn | AnswerEnding | QuestionCompleted | TurnStarted | TurnCompleted | TurnFailed | InterviewerReplied |
 *   SessionState | TranscriptFinal | ReadingStarted | ReadingCompleted | ReadingFailed | Speech | TranscriptPartial | AudioAck | Notice | WireError | Pong} ServerMessage
 *
 * @typedef {{type: "hello", token: string, last_event_id: number, epoch?: string}} Hello
 * @typedef {Hello
 *   | {type: "consent", version: string, choices: Record<string, boolean>}
 *   | {type: "answer", text: string, turn_key: string}
 *   | {type: "skip", turn_key: string}
 *   | {type: "rate", ratings: import("./ratings.js").Rated, turn_key: string}
 *   | {type: "correct", utterance_id: string, text: string, turn_key: string}
 *   | {type: "rephrase"} | {type: "pause"} | {type: "resume"} | {type: "typing"} | {type: "finish"} | {type: "withdraw"}
 *   | {type: "audio.start", codec: "pcm_s16le", sample_rate: 16000, turn_key: string, first_seq: number}
 *   | {type: "audio.stop"} | {type: "audio.cancel"}
 *   | {type: "set", patience?: string, spoken?: boolean, review_transcript?: boolean, take_your_time?: boolean}
 *   | {type: "playback", state: "started" | "paused" | "finished" | "stopped"}
 *   | {type: "read_aloud", on: boolean, now?: boolean}
 *   | {type: "ping", t: number}} ClientMessage
 */

/** Fields each message must have to be usable, by type of value. @type {Record<string, Record<string, string>>} */
const REQUIRED = {
  ready: { state: "string", last_event_id: "number" },
  "question.started": { turn_number: "number", attempt: "number" },
  "question.delta": { turn_number: "number", attempt: "number", text: "string" },
  "question.withdrawn": { turn_number: "number", attempt: "number" },
  "answer.ending": { turn_key: "string", left_ms: "number" },
  "question.completed": { id: "number", turn_number: "number", text: "string" },
  "turn.started": { id: "number", turn_number: "number", turn_key: "string" },
  "turn.completed": { id: "number", turn_number: "number", turn_key: "string", result: "object" },
  "interviewer.replied": { id: "number", turn_number: "number", turn_key: "string", text: "string", result: "object" },
  "turn.failed": { id: "number", turn_key: "string", code: "string" },
  "session.state": { id: "number", state: "string" },
  "transcript.final": { id: "number", turn_key: "string", text: "string" },
  "transcript.partial": { text: "string", stable: "number" },
  "reading.started": { reading: "number", turn_number: "number", sample_rate: "number" },
  "reading.completed": { reading: "number" },
  "reading.failed": { reading: "number", at: "number" },
  "speech.started": {},
  "speech.stopped": {},
  "audio.ack": { seq: "number" },
  notice: { code: "string" },
  error: { code: "string" },
  pong: {},
};

/**
 * @param {unknown} data one frame as the browser gives it.
 * @returns {ServerMessage | null} null for what this page does not know or cannot use.
 */
export function parseMessage(data) {
  if (typeof data !== "string") return null;
  let value;
  try {
    value = JSON.parse(data);
  } catch {
    return null;
  }
  if (value === null || typeof value !== "object") return null;
  const fields = Object.hasOwn(REQUIRED, value.type) ? REQUIRED[value.type] : undefined;
  if (!fields) return null;
  for (const [name, kind] of Object.entries(fields)) {
    if (typeof value[name] !== kind || value[name] === null) return null;
  }
  return value;
}

/**
 * The key of the answer the server holds, whichever way `ready.pending` says it.
 *
 * @param {unknown} pending
 * @returns {string | null} the turn key, "" when one is held but not named, null when none is.
 */
export function pendingKey(pending) {
  if (pending === null || pending === undefined || pending === false) return null;
  if (typeof pending === "string") return pending;
  if (typeof pending === "object" && "turn_key" in pending) return String(pending.turn_key);
  return "";
}
