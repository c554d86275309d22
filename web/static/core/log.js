/**
 * The conversation so far, oldest first: one question per turn number, and under it the answers.
 *
 * The answer to question *n* is turn *n + 1*; the opening question is turn 0. What was said to question *n* without
 * answering it (`aside`), and what the interviewer replied to that (`reply`), have its turn, too. Entries are replaced by
 * key, never repeated, so replayed events and a fetched transcript can be laid over what is already there.
 */

/**
 * @typedef {{key: string, speaker: "interviewer" | "respondent", turn: number, text: string,
 *   kind: "question" | "closing" | "reply" | "answer" | "aside" | "skip" | "correction" | "rate", utteranceId: string | null,
 *   turnKey: string | null, edited: boolean, again?: boolean}} Entry
 * @typedef {{id?: string, turn_number: number, speaker: string, text: string, kind?: string | null}} TranscriptRow
 */

/** @param {number} turn */
export const questionKey = (turn) => `q${turn}`;
/** @param {number} turn */
export const answerKey = (turn) => `a${turn}`;

/** Whether it was said beside the questions and their answers. @param {Entry} entry */
const beside = (entry) => entry.kind === "aside" || entry.kind === "reply";

/**
 * A turn's answer comes before the question it led to; what was said beside it, and the question asked once more, after
 * that, in the order in which they came.
 * @param {Entry} entry
 */
const rank = (entry) => entry.turn * 2 + (beside(entry) || entry.again ? 1.5 : entry.speaker === "respondent" ? 0 : 1);

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

/**
 * The log with a question. One that is asked once more stands behind what was said beside it meanwhile.
 *
 * @param {readonly Entry[]} log
 * @param {Entry} entry
 * @returns {Entry[]}
 */
export function ask(log, entry) {
  const at = log.findIndex((old) => old.key === entry.key);
  const later = at >= 0 && log.slice(at + 1).some((old) => old.kind === "reply" && old.turn === entry.turn);
  if (later) return put(log.filter((old) => old.key !== entry.key), { ...entry, again: true });
  return put(log, log[at]?.again ? { ...entry, again: true } : entry);
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
 * @param {"answer" | "skip" | "correction" | "rate"} kind
 * @param {string} turnKey
 * @returns {Entry}
 */
export function answer(turn, text, kind, turnKey) {
  return {
    key: answerKey(turn), speaker: "respondent", turn, text, kind, utteranceId: null, turnKey, edited: false,
  };
}

/**
 * The log with a message that was no answer, and the reply to it.
 *
 * @param {readonly Entry[]} log
 * @param {{turn: number, turnKey: string, text: string}} reply `turn` of the message, one after that of the question.
 * @returns {Entry[]}
 */
export function replied(log, { turn, turnKey, text }) {
  const mine = log.find((entry) => entry.turnKey === turnKey);
  const rest = log.filter((entry) => entry !== mine);
  /** @type {Entry[]} */
  const said = mine ? [{ ...mine, key: `m${turnKey}`, kind: "aside", turn: turn - 1, text: ownWords(mine, rest) }] : [];
  /** @type {Entry} */
  const reply = {
    key: `r${turnKey}`, speaker: "interviewer", turn: turn - 1, text, kind: "reply", utteranceId: null, turnKey: null,
    edited: false,
  };
  return [...said, reply].reduce((all, entry) => put(all, entry), rest);
}

/** What was said: of words that were put behind an answer, only those. @param {Entry} entry @param {readonly Entry[]} before */
function ownWords(entry, before) {
  const amended = entry.kind === "correction" ? lastAnswer(folded(before))?.text ?? "" : "";
  return amended !== "" && entry.text.startsWith(amended) ? entry.text.slice(amended.length).trim() || entry.text : entry.text;
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
  for (const [at, row] of rows.entries()) {
    const mine = row.speaker === "respondent";
    const kind = row.kind === "reply" ? "reply" : mine && rows[at + 1]?.kind === "reply" ? "aside" : null;
    if (kind) {
      log = put(log, {
        key: `t${row.id ?? at}`, speaker: mine ? "respondent" : "interviewer", turn: row.turn_number - 1, text: row.text, kind,
        utteranceId: row.id ?? null, turnKey: null, edited: false,
      });
      continue;
    }
    const key = mine ? answerKey(row.turn_number) : questionKey(row.turn_number);
    const old = known.find((entry) => entry.key === key);
    const twin = log.find((entry) => entry.key === key);
    log = (mine ? put : ask)(log, {
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
    if (beside(entry) && log.some((other) => other.kind === entry.kind && other.turn === entry.turn && other.text === entry.text)) continue;
    if (entry.turn >= last && !log.some((other) => other.key === entry.key)) log = put(log, entry);
  }
  return log;
}

/** @param {TranscriptRow} row @param {Entry | undefined} old @returns {Entry["kind"]} */
function kindOf(row, old) {
  const kind = row.kind ?? "";
  if (row.speaker === "respondent") {
    if (kind === "skip" || row.text === "") return "skip";
    return kind === "correct" ? "correction" : kind === "rate" ? "rate" : "answer";
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

/** @param {readonly Entry[]} log @returns {Entry | null} the newest question, reply or closing words. */
export function lastQuestion(log) {
  return log.findLast((entry) => entry.speaker === "interviewer") ?? null;
}

/** @param {readonly Entry[]} log @returns {Entry | null} the respondent's newest answer. */
export function lastAnswer(log) {
  return log.findLast((entry) => entry.speaker === "respondent" && entry.kind !== "aside") ?? null;
}
