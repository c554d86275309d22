/** What has been understood so far, and what of it is news. */

/**
 * @typedef {{firm: string, soft: string, whole: string}} Caption what is shown: `firm` does not change any more, `soft`
 *   may at any time; `whole` is the text as it was read last, which may be another one than is shown.
 */

/** @type {Caption} */
export const NO_CAPTION = { firm: "", soft: "", whole: "" };

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
  return { firm: text.slice(0, units), soft: text.slice(units), whole: text };
}

/** What was understood, as it was read last. @param {Caption} caption @returns {string} */
export const captionText = (caption) => caption.whole.trim();

/** @param {Caption} caption @returns {string} */
export const shownText = (caption) => (caption.firm + caption.soft).trim();

/**
 * Words that were shown as firm stay as they are, also when the sound is read anew at a pause: the new reading is shown
 * from behind them. The answer is what was read last.
 *
 * @param {Caption} shown
 * @param {Caption} read
 * @returns {Caption}
 */
export function steady(shown, read) {
  const { firm } = shown;
  const { whole } = read;
  if (whole.startsWith(firm) && !cut(firm, whole.charAt(firm.length))) {
    const length = Math.max(firm.length, read.firm.length);
    return { firm: whole.slice(0, length), soft: whole.slice(length), whole };
  }
  const [known, said] = [tokens(firm), tokens(whole)];
  const from = behind(known.map(plain), said.map(plain));
  const until = Math.max(from, tokens(read.firm).length);
  const space = from < said.length && !/\s$/.test(firm) && !UNSPACED.test(firm.slice(-1)) ? " " : "";
  const [sure, rest] = [said.slice(from, until).join(""), said.slice(until).join("")];
  const end = sure.trimEnd().length;
  return { firm: end === 0 ? firm : firm + space + sure.slice(0, end), soft: (end === 0 ? space : "") + sure.slice(end) + rest, whole };
}

/** Whether a word that ends the text goes on with that character. @param {string} text @param {string} next */
const cut = (text, next) => /[\p{L}\p{N}]$/u.test(text) && /^[\p{L}\p{N}]/u.test(next) && !UNSPACED.test(next);

/** Scripts that put no space between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Words with the space behind them; characters where no space parts the words. @param {string} text @returns {string[]} */
function tokens(text) {
  return (text.match(/\S+\s*/g) ?? []).flatMap((word) => (UNSPACED.test(word) ? [...word] : [word]));
}

/** @param {string} token */
const plain = (token) => words(token).join("") || token.trim();

/**
 * How many tokens of a new reading stand for what is known: the start of it that is closest to that, in insertions,
 * deletions and substitutions; of several the one whose length is closest.
 * @param {readonly string[]} known @param {readonly string[]} said
 */
function behind(known, said) {
  let row = said.map((_, index) => index + 1);
  row.unshift(0);
  for (const [index, one] of known.entries()) {
    const above = row;
    row = [index + 1];
    said.forEach((other, at) => {
      row.push(Math.min((above[at] ?? 0) + (one === other ? 0 : 1), (above[at + 1] ?? 0) + 1, (row[at] ?? 0) + 1));
    });
  }
  const away = (/** @type {number} */ at) => Math.abs(at - known.length);
  const least = Math.min(...row);
  return row.reduce((best, cost, at) => (cost === least && (best < 0 || away(at) < away(best)) ? at : best), -1);
}

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
