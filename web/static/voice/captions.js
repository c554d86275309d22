/** What has been understood so far, and what of it is news. */

/** @typedef {{firm: string, soft: string}} Caption `firm` will not change any more, `soft` may. */

/** @type {Caption} */
export const NO_CAPTION = { firm: "", soft: "" };

/**
 * @param {string} text
 * @param {number} stable characters (code points, as the server counts) that will not change.
 * @returns {Caption}
 */
export function captionOf(text, stable) {
  let units = 0;
  let left = Math.max(0, stable);
  for (const char of text) {
    if (left === 0) break;
    units += char.length;
    left -= 1;
  }
  return { firm: text.slice(0, units), soft: text.slice(units) };
}

/** @param {Caption} caption @returns {string} */
export const captionText = (caption) => (caption.firm + caption.soft).trim();

/**
 * What to read to somebody who listens to the page: whole firm words not read before, at a pause only.
 *
 * @param {string} told what has been read of this answer.
 * @param {string} firm
 * @returns {string} empty when there is nothing new, or when it is not a continuation.
 */
export function newsOf(told, firm) {
  return firm.startsWith(told) ? firm.slice(told.length).trim() : firm.trim();
}

/** @param {string} text @returns {string[]} */
function words(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? [];
}

/**
 * Whether what was heard while a question was being read aloud is the question itself, back from the loudspeaker.
 *
 * @param {string} heard
 * @param {string} question
 * @returns {boolean} true also for nothing at all: only words count.
 */
export function isEcho(heard, question) {
  const said = words(heard);
  const asked = new Set(words(question));
  const own = said.filter((word) => !asked.has(word)).length;
  return own === 0 || (said.length >= 4 && own / said.length < 0.3);
}
