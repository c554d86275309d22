/** What has been understood so far, and what of it is news. */

/** @typedef {{firm: string, soft: string}} Caption `firm` changes no more before a pause, `soft` may at any time. */

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
 * @returns {string} from the first word that is another one than was read; empty when there is nothing new.
 */
export function newsOf(told, firm) {
  const known = told.split(/\s+/).filter(Boolean);
  const said = firm.split(/\s+/).filter(Boolean);
  const at = said.findIndex((word, index) => words(word).join() !== words(known[index] ?? "").join() || index >= known.length);
  return at < 0 ? "" : said.slice(at).join(" ");
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

/** Share of a question that must come back before it is taken for the loudspeaker's. */
const WHOLE = 0.6;

/**
 * Whether a question that was read to its end has come back from the loudspeaker: most of its words, in their order.
 * Fewer may be a short answer that is made of them.
 *
 * @param {string} heard while it was read.
 * @param {string} question
 */
export function cameBack(heard, question) {
  const asked = words(question);
  return isEcho(heard, question) && inOrder(words(heard), asked) > WHOLE * asked.length;
}

/** Length of the longest common row of words. @param {readonly string[]} left @param {readonly string[]} right */
function inOrder(left, right) {
  let row = right.map(() => 0);
  for (const word of left) {
    const above = row;
    row = [];
    right.forEach((other, index) => {
      row.push(word === other ? (above[index - 1] ?? 0) + 1 : Math.max(row[index - 1] ?? 0, above[index] ?? 0));
    });
  }
  return row.at(-1) ?? 0;
}
