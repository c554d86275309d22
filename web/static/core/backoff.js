/** When to knock again. */

const FIRST_MS = 400;
const LONGEST_MS = 12_000;
const RESTART_SPREAD_MS = 1_500;

/**
 * @param {number} failures attempts failed in a row, at least 1.
 * @param {number} random in [0, 1): spreads many pages that lost the same server.
 * @returns {number} milliseconds; between half and all of 400 · 2^(failures − 1), at most 12 000.
 */
export function backoffMs(failures, random) {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(ceiling * (0.5 + random / 2));
}

/**
 * @param {number} random in [0, 1).
 * @returns {number} milliseconds to wait after the server said it is restarting.
 */
export function restartMs(random) {
  return Math.round(250 + RESTART_SPREAD_MS * random);
}
