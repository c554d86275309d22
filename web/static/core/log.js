/**
 * The conversation so far, oldest first: one question per turn number, and under it the answers.
 *
 * The answer to question *n* is turn *n + 1*; the opening question is turn 0. Entries are replaced by key, never
 * repeated, so replayed events and a fetched transcript can be laid over what is already there.
 */

/**
 * @typedef {{key: string, speaker: "interviewer" | "respondent", turn: number, text: string,
 *   kind: "question" | "closing" | "answer" | "skip" | "correction", utteranceId: string | null,
 *   turnKey: string | null, edited: boolean}} Entry
 * @typedef {{id?: string, turn_number: number, speaker: string, text: string, kind?: string | null}} TranscriptRow
 */

/** @param {number} turn */
export const questionKey = (turn) => `q${turn}`;
/** @param {number} turn */
export const answerKey = (turn) => `a${turn}`;

/** A turn's answer comes before the question it led to. @param {Entry} entry */
const rank = (entry) => entry.turn * 2 + (entry.speaker === "respondent" ? 0 : 1);

/**
 * @param {readonly Entry[]} log
 * @param {Entry} entry
 * @returns {Entry[]} the log with the entry in its place, or in place of the one with its key.
 */
export function put(log, entry) {
  const at = log.findIndex((old) => old.key === entry.key);
  if (at >= 0) return log.map((old, index) => (index === at ? entry : old));
  const before = log.findIndex((old) => rank(old) > rank(entry));
  return before < 0 ? [...log, entry] : [...log.slice(0, before), entry, ...log.slice(before)];
}

/** @param {number} turn @param {string} text @param {boolean} closing whether nobody answers it. @returns {Entry} */
export function question(turn, text, closing) {
  return {
    key: questionKey(turn), speaker: "interviewer", turn, text, kind: closing ? "closing" : "question",
    utteranceId: null, turnKey: null, edited: false,
  };
}

/**
 * @param {number} turn
 * @param {string} text
 * @param {"answer" | "skip" | "correction"} kind
 * @param {string} turnKey
 * @returns {Entry}
 */
export function answer(turn, text, kind, turnKey) {
  return {
    key: answerKey(turn), speaker: "respondent", turn, text, kind, utteranceId: null, turnKey, edited: false,
  };
}

/**
 * The log as the server has it. What only this page knows (turn keys, a closing mark) is carried over.
 *
 * @param {readonly TranscriptRow[]} rows oldest first; several rows of one turn and speaker: the last one stands.
 * @param {readonly Entry[]} known
 * @returns {Entry[]} rows and, where a newer event has already arrived, the entries they do not have yet.
 */
export function fromTranscript(rows, known) {
  /** @type {Entry[]} */
  let log = [];
  for (const row of rows) {
    const mine = row.speaker === "respondent";
    const key = mine ? answerKey(row.turn_number) : questionKey(row.turn_number);
    const old = known.find((entry) => entry.key === key);
    const twin = log.find((entry) => entry.key === key);
    log = put(log, {
      key,
      speaker: mine ? "respondent" : "interviewer",
      turn: row.turn_number,
      text: row.text,
      kind: kindOf(row, old),
      utteranceId: row.id ?? old?.utteranceId ?? null,
      turnKey: old?.turnKey ?? null,
      edited: (mine && twin !== undefined) || (old?.edited ?? false),
    });
  }
  const last = log.at(-1)?.turn ?? -1;
  for (const entry of known) {
    if (entry.turn >= last && !log.some((other) => other.key === entry.key)) log = put(log, entry);
  }
  return log;
}

/** @param {TranscriptRow} row @param {Entry | undefined} old @returns {Entry["kind"]} */
function kindOf(row, old) {
  const kind = row.kind ?? "";
  if (row.speaker === "respondent") {
    if (kind === "skip" || row.text === "") return "skip";
    return kind === "correct" ? "correction" : "answer";
  }
  return kind === "closing" || old?.kind === "closing" ? "closing" : "question";
}

/**
 * The conversation as it reads: a correction stands in place of the answer it corrects, and the question that was
 * asked in between, and never answered, is gone.
 *
 * @param {readonly Entry[]} log
 * @returns {Entry[]}
 */
export function folded(log) {
  /** @type {Entry[]} */
  const read = [];
  for (const entry of log) {
    const at = entry.kind === "correction" ? read.findLastIndex((old) => old.speaker === "respondent") : -1;
    const old = read[at];
    if (!old) {
      read.push(entry);
      continue;
    }
    read.splice(at, read.length - at, {
      ...old, kind: "answer", text: entry.text, edited: true, utteranceId: entry.utteranceId, turnKey: entry.turnKey,
    });
  }
  return read;
}

/** @param {readonly Entry[]} log @returns {Entry | null} the newest question or closing words. */
export function lastQuestion(log) {
  return log.findLast((entry) => entry.speaker === "interviewer") ?? null;
}

/** @param {readonly Entry[]} log @returns {Entry | null} the respondent's newest entry. */
export function lastAnswer(log) {
  return log.findLast((entry) => entry.speaker === "respondent") ?? null;
}
