/** Where the nodes of a graph stand: a lane for each type, the ladder's rungs from bottom to top. No browser in here. */

/** @typedef {{id: string, lane: number}} Spot */
/** @typedef {{source: string, target: string}} Link */

const ROW_GAP = 84;
const LANE_GAP = 30;
const COLUMN = 116;
const SWEEPS = 4;

/**
 * @param {readonly Spot[]} spots in order of appearance; `lane` 0 is at the bottom.
 * @param {readonly Link[]} links
 * @param {number} columns nodes side by side at most; a fuller lane goes on in the next row.
 * @returns {Map<string, {x: number, y: number}>} centred about x = 0, growing upwards (negative y).
 */
export function laid(spots, links, columns) {
  const lanes = [...new Set(spots.map((spot) => spot.lane))].sort((a, b) => a - b);
  const order = new Map(lanes.map((lane) => [lane, spots.filter((spot) => spot.lane === lane).map((spot) => spot.id)]));
  const near = neighbours(links);
  /** @type {Map<string, number>} the relative place across, in [0, 1]. */
  const across = new Map();
  const place = (/** @type {string[]} */ ids) => ids.forEach((id, at) => across.set(id, (at + 0.5) / ids.length));
  for (const ids of order.values()) place(ids);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const lane of sweep % 2 ? [...lanes].reverse() : lanes) {
      const ids = order.get(lane) ?? [];
      const middle = new Map(ids.map((id) => [id, mean((near.get(id) ?? []).map((other) => across.get(other) ?? 0.5)) ?? across.get(id) ?? 0.5]));
      ids.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0));
      place(ids);
    }
  }
  const found = new Map();
  let y = 0;
  for (const lane of lanes) {
    const ids = order.get(lane) ?? [];
    const rows = Math.ceil(ids.length / columns);
    const perRow = Math.ceil(ids.length / rows);
    ids.forEach((id, at) => {
      // Neighbours in order alternate between the rows of a lane, so that each row keeps the order across.
      const row = at % rows;
      const column = Math.floor(at / rows);
      const inRow = Math.min(perRow, Math.ceil((ids.length - row) / rows));
      found.set(id, { x: (column - (inRow - 1) / 2) * COLUMN + (rows > 1 ? (row - (rows - 1) / 2) * (COLUMN / rows) : 0), y: y - row * ROW_GAP });
    });
    y -= rows * ROW_GAP + LANE_GAP;
  }
  return found;
}

/** @param {readonly Link[]} links @returns {Map<string, string[]>} */
function neighbours(links) {
  /** @type {Map<string, string[]>} */
  const near = new Map();
  for (const { source, target } of links) {
    near.set(source, [...(near.get(source) ?? []), target]);
    near.set(target, [...(near.get(target) ?? []), source]);
  }
  return near;
}

/** @param {number[]} values @returns {number | null} */
const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
