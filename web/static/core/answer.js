/** What counts as an answer, as the server counts it: in characters, not in UTF-16 units. */

export const MAX_ANSWER_CHARS = 8000;

/** From here on the counter is shown. */
export const COUNTER_FROM_CHARS = 7000;

/**
 * Text as it may be sent: no NUL, no half characters left by a cut emoji, no space around.
 * @param {string} text
 */
export function cleanAnswer(text) {
  return text.replaceAll("\u0000", "").toWellFormed().trim();
}

/** @param {string} text @returns {number} characters (code points). */
export function answerLength(text) {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/**
 * @param {string} text
 * @returns {"invalid_input" | "answer_too_long" | null} the code the server would refuse it with.
 */
export function answerFault(text) {
  const clean = cleanAnswer(text);
  if (clean === "") return "invalid_input";
  return answerLength(clean) > MAX_ANSWER_CHARS ? "answer_too_long" : null;
}
