/** How a question that arrives in bursts is shown at an even pace, never far behind. */

/** What has arrived is on the page this much later at most. */
export const MAX_LAG_MS = 400;

/** Reading pace when the text trickles in: characters per millisecond. */
const CALM_RATE = 0.09;

/**
 * How much of the text to show now.
 *
 * The backlog at the time of the newest arrival is spread over what is left of 400 ms, so a whole question in one
 * burst unfolds in 400 ms and a slow stream is shown as it comes.
 *
 * @param {number} shown characters on the page.
 * @param {number} target characters that have arrived.
 * @param {number} elapsedMs since the last frame.
 * @param {number} sinceArrivalMs since the newest characters arrived.
 * @returns {number} characters to show, in [shown, target].
 */
export function nextShown(shown, target, elapsedMs, sinceArrivalMs) {
  const left = MAX_LAG_MS - sinceArrivalMs;
  if (left <= elapsedMs) return target;
  const needed = ((target - shown) / left) * elapsedMs;
  return Math.min(target, Math.ceil(shown + Math.max(needed, CALM_RATE * elapsedMs)));
}
