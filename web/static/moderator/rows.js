/**
 * The rows of the overview: kept, filtered, sorted; which of them need a person. No browser in here.
 *
 * @typedef {{code: string, since: string}} Alert
 * @typedef {{session_id: string, concept_id: string, concept_name?: string, state: string, phase?: string | null,
 *   turn_number: number, max_turns: number, engagement?: (number | null)[], depth?: (number | null)[],
 *   saturation?: number | null, last_question?: string | null, last_answer?: string | null, watchers?: string[],
 *   alerts?: Alert[], connected?: boolean | null, activity?: string | null, llm?: string | null, kiosk?: string | null,
 *   claimed_by?: string | null, paused_by?: string | null, waiting?: boolean, respondent_ref?: string | null, created_at?: string,
 *   updated_at: string}} Row
 *
 * @typedef {"attention" | "updated" | "started" | "concept" | "turn" | "engagement" | "depth" | "saturation"} SortKey
 * @typedef {{text: string, concept: string, state: string, alone: boolean}} Wish `alone`: only rows with an alert.
 */

/** @type {SortKey[]} */
export const SORTS = ["attention", "updated", "started", "concept", "turn", "engagement", "depth", "saturation"];

/** States that are watched live, in the order of the filter. */
export const LIVE_STATES = ["active", "paused", "closing", "created", "abandoned"];

/** How pressing each alert is; higher first. @type {Record<string, number>} */
const WEIGHTS = {
  risk: 9, distress: 8, minor: 7,
  waiting_for_moderator: 6, model_failing: 5, stuck: 5, kiosk_offline: 4, disconnected: 3, fatigue: 2, shallow_answers: 2,
};

/** @param {Row} row @returns {number} 0 when nothing needs a person. */
export function pressing(row) {
  return Math.max(0, ...(row.alerts ?? []).map((alert) => WEIGHTS[alert.code] ?? 1));
}

/** @param {readonly (number | null)[] | undefined} history @returns {number | null} its newest value. */
export const newest = (history) => history?.findLast((value) => value !== null) ?? null;

/** How rows compare, the first first. @type {Record<SortKey, (a: Row, b: Row) => number>} */
const ORDERS = {
  attention: (a, b) => pressing(b) - pressing(a) || sinceOf(a).localeCompare(sinceOf(b)) || later(a, b),
  updated: later,
  started: (a, b) => (b.created_at ?? "").localeCompare(a.created_at ?? ""),
  concept: (a, b) => nameOf(a).localeCompare(nameOf(b)) || later(a, b),
  turn: (a, b) => b.turn_number - a.turn_number,
  engagement: (a, b) => (newest(a.engagement) ?? 2) - (newest(b.engagement) ?? 2),
  depth: (a, b) => (newest(a.depth) ?? 9) - (newest(b.depth) ?? 9),
  saturation: (a, b) => (b.saturation ?? -1) - (a.saturation ?? -1),
};

/** @param {Row} a @param {Row} b */
function later(a, b) {
  return b.updated_at.localeCompare(a.updated_at);
}

/** @param {Row} row @returns {string} since when it needs a person. */
function sinceOf(row) {
  return (row.alerts ?? []).map((alert) => alert.since).sort()[0] ?? "";
}

/** @param {Row} row */
export const nameOf = (row) => row.concept_name || row.concept_id;

/**
 * @param {Iterable<Row>} rows
 * @param {Wish} wish
 * @param {SortKey} sort
 * @param {boolean} backwards
 * @returns {Row[]} what is to be shown, in order; rows that compare alike stay in the order of their ids.
 */
export function chosen(rows, wish, sort, backwards) {
  const words = wish.text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const kept = [...rows].filter((row) => (!wish.concept || row.concept_id === wish.concept)
    && (!wish.state || row.state === wish.state) && (!wish.alone || pressing(row) > 0) && words.every((word) => has(row, word)));
  const order = ORDERS[sort];
  kept.sort((a, b) => (backwards ? order(b, a) : order(a, b)) || a.session_id.localeCompare(b.session_id));
  return kept;
}

/** @param {Row} row @param {string} word in lower case. */
function has(row, word) {
  return [row.session_id, row.concept_id, row.concept_name, row.respondent_ref, row.kiosk, row.last_question, row.last_answer,
    ...(row.watchers ?? [])].some((text) => text?.toLocaleLowerCase().includes(word));
}

/**
 * @param {ReadonlyMap<string, Row>} rows
 * @param {any} message of the socket.
 * @returns {ReadonlyMap<string, Row>} the rows after it; the same ones if it is about something else.
 */
export function rowsAfter(rows, message) {
  if (message.type === "overview.rows") {
    return new Map(message.rows.map((/** @type {Row} */ row) => [row.session_id, row]));
  }
  if (message.type === "overview.row") return new Map(rows).set(message.session_id, message);
  if (message.type !== "overview.gone" || !rows.has(message.session_id)) return rows;
  const left = new Map(rows);
  left.delete(message.session_id);
  return left;
}

/**
 * Alerts that were not there before, for whoever is not looking.
 * @param {ReadonlyMap<string, Row>} before
 * @param {ReadonlyMap<string, Row>} after
 * @returns {{row: Row, alert: Alert}[]} most pressing first.
 */
export function newAlerts(before, after) {
  /** @type {{row: Row, alert: Alert}[]} */
  const found = [];
  for (const row of after.values()) {
    const known = before.get(row.session_id);
    if (known === row) continue;
    for (const alert of row.alerts ?? []) {
      if (!known?.alerts?.some((other) => other.code === alert.code && other.since === alert.since)) found.push({ row, alert });
    }
  }
  return found.sort((a, b) => (WEIGHTS[b.alert.code] ?? 1) - (WEIGHTS[a.alert.code] ?? 1));
}

/** @param {Iterable<Row>} rows @returns {{live: number, alerts: number}} */
export function counted(rows) {
  let live = 0;
  let alerts = 0;
  for (const row of rows) {
    if (LIVE_STATES.includes(row.state)) live += 1;
    if (pressing(row) > 0) alerts += 1;
  }
  return { live, alerts };
}

/** @param {Row} row @param {number} before milliseconds. @returns {boolean} whether it ended before then. */
export function isGone(row, before) {
  return !LIVE_STATES.includes(row.state) && Date.parse(row.updated_at) < before;
}
