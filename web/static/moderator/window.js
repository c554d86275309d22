/** Which rows of a long list have to exist, and where the keyboard goes in it. No browser in here. */

/** Rows beyond each edge that exist without being seen, so that scrolling shows no holes. */
const SPARE = 6;

/**
 * @param {{count: number, rowHeight: number, top: number, height: number}} view `top`: how far the list is above the
 *   upper edge of what is seen, `height` of what is seen; all lengths in px.
 * @returns {{first: number, end: number}} rows [first, end) have to exist.
 */
export function windowOf({ count, rowHeight, top, height }) {
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE);
  return { first: Math.min(first, Math.max(0, end)), end: Math.max(0, end) };
}

/**
 * @param {string} key as in `KeyboardEvent.key`.
 * @param {number} at the row the keyboard is on.
 * @param {number} count
 * @param {number} page rows that fit in what is seen.
 * @returns {number | null} the row to go to; null when the key is not for the list.
 */
export function rowAfterKey(key, at, count, page) {
  const moves = /** @type {Record<string, number>} */ ({
    ArrowDown: at + 1, ArrowUp: at - 1, j: at + 1, k: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: count - 1,
  });
  const to = moves[key];
  return to === undefined || count === 0 ? null : Math.min(count - 1, Math.max(0, to));
}
