/** What can be read from a model: the focus, how exhausted nodes are, histories of signals, how near the end is. Pure. */

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").GraphNode} GraphNode */
/** @typedef {import("./model.js").Slot} Slot */
/** @typedef {import("./model.js").Turn} Turn */
/** @typedef {import("./model.js").SignalValue} SignalValue */
/** @typedef {import("./model.js").Candidate} Candidate */

/** Signals whose values are words, from little to much. @type {Record<string, string[]>} */
const SCALES = {
  "llm.response_depth": ["surface", "shallow", "moderate", "deep"],
  "llm.hedging_language": ["none", "low", "medium", "high"],
  "llm.global_response_trend": ["fatigued", "shallowing", "stable", "deepening"],
  "meta.interview.phase": ["early", "mid", "late"],
};

/** The signals shown first, in this order. */
const FIRST = [
  "llm.engagement", "llm.response_depth", "llm.intellectual_engagement", "llm.specificity", "llm.certainty", "llm.valence",
  "llm.hedging_language", "llm.global_response_trend", "meta.conversation.saturation", "meta.canonical.saturation",
  "graph.node_count", "graph.edge_count", "graph.max_depth", "graph.avg_depth", "graph.chain_completion.ratio",
];

/**
 * @param {string} signal
 * @param {SignalValue | undefined} value
 * @returns {number | null} where it stands on the signal's axis; null where there is no value.
 */
export function height(signal, value) {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string") return null;
  const at = (SCALES[signal] ?? []).indexOf(value);
  return at < 0 ? null : at;
}

/** @param {string} signal @returns {string[] | null} the words of its axis, from bottom to top. */
export const wordsOf = (signal) => SCALES[signal] ?? null;

/**
 * @param {Model} model
 * @returns {{signal: string, turns: number[], heights: (number | null)[], values: SignalValue[], top: number}[]} one
 *   per global signal that can be drawn, over all turns; `top` is the upper end of its axis, which begins at 0.
 */
export function histories(model) {
  const names = new Set(model.turns.flatMap((turn) => Object.keys(turn.signals)));
  const ordered = [...FIRST.filter((name) => names.delete(name)), ...[...names].sort()];
  const turns = model.turns.map((turn) => turn.turn_number);
  return ordered.map((signal) => {
    const values = model.turns.map((turn) => turn.signals[signal] ?? null);
    const heights = values.map((value) => height(signal, value));
    const words = SCALES[signal];
    const most = Math.max(0, ...heights.map((value) => value ?? 0));
    return { signal, turns, values, heights, top: words ? words.length - 1 : most <= 1 ? 1 : most };
  }).filter((history) => history.heights.some((value) => value !== null));
}

/** @param {Model} model @returns {Turn | null} */
export const latest = (model) => model.turns.at(-1) ?? null;

/** Keys under which a node's signals may be found. @param {GraphNode} node */
const keysOf = (node) => [node.slot_id, node.id].filter((key) => key !== null);

/**
 * @param {Model} model
 * @param {GraphNode} node
 * @returns {{focused: boolean, times: number, exhaustion: number, exhausted: boolean}} `exhaustion` in [0, 1].
 */
export function standing(model, node) {
  const keys = keysOf(node);
  const last = latest(model);
  const signals = keys.map((key) => last?.nodes[key]).find((row) => row !== undefined) ?? {};
  const mine = (/** @type {Turn} */ turn) => turn.node_id === node.id || (turn.node_key !== null && keys.includes(turn.node_key));
  const score = signals["graph.node.exhaustion_score"];
  return {
    focused: last !== null && mine(last),
    times: model.turns.filter(mine).length,
    exhaustion: typeof score === "number" ? score : 0,
    exhausted: signals["graph.node.exhausted"] === true,
  };
}

/** @param {Model} model @param {Slot} slot @returns {ReturnType<typeof standing>} of its nodes together. */
export function slotStanding(model, slot) {
  const members = new Set(slot.surface_nodes.map((member) => member.id));
  const each = model.nodes.filter((node) => members.has(node.id)).map((node) => standing(model, node));
  return {
    focused: each.some((one) => one.focused),
    times: Math.max(0, ...each.map((one) => one.times)),
    exhaustion: Math.max(0, ...each.map((one) => one.exhaustion)),
    exhausted: each.some((one) => one.exhausted),
  };
}

/**
 * How near each rule of ending is.
 * @param {Model} model
 * @returns {{rule: string, have: number, limit: number}[]}
 */
export function stopping(model) {
  const saturation = latest(model)?.saturation;
  const limits = model.limits;
  const rules = [{ rule: "turns", have: model.turnCount, limit: model.maxTurns }];
  if (!saturation) return rules;
  return [
    ...rules,
    { rule: "low_info", have: saturation.consecutive_low_info ?? 0, limit: limits.low_info_limit },
    { rule: "shallow", have: saturation.consecutive_shallow ?? 0, limit: limits.shallow_limit },
    { rule: "plateau", have: saturation.consecutive_depth_plateau ?? 0, limit: limits.depth_plateau_limit },
    ...spent(model),
  ];
}

/** Subjects that had the focus and give nothing new any more. @param {Model} model */
function spent(model) {
  const nodes = latest(model)?.nodes ?? {};
  const focused = [...new Set(model.turns.map((turn) => turn.node_key))].flatMap((key) => {
    const node = key === null ? undefined : nodes[key];
    return node ? [node] : [];
  });
  const dry = focused.filter((node) => node["graph.node.yield_stagnation"] === true);
  return focused.length ? [{ rule: "spent", have: dry.length, limit: focused.length }] : [];
}

/** @param {Model} model @returns {{name: string, share: number}[]} shares in [0, 1] that tell how complete the picture is. */
export function completeness(model) {
  const last = latest(model);
  if (!last) return [];
  const shares = [
    { name: "chains", value: last.signals["graph.chain_completion.ratio"] },
    { name: "saturation", value: last.signals["meta.conversation.saturation"] },
    { name: "canonical", value: last.signals["meta.canonical.saturation"] },
    { name: "estimate", value: last.saturation?.chao1_ratio },
    { name: "new_info", value: last.saturation?.new_info_rate },
  ];
  return shares.flatMap(({ name, value }) => (typeof value === "number" ? [{ name, share: Math.min(1, Math.max(0, value)) }] : []));
}

/**
 * @param {Candidate} candidate
 * @returns {{moving: import("./model.js").Term[], still: import("./model.js").Term[], base: number,
 *   after: import("./model.js").Term[]}} the weighted terms that moved its score, the strongest first, and those that did
 *   not; their sum; and what came after them: factors, bonuses, vetoes.
 */
export function decomposed(candidate) {
  const weighted = candidate.terms.filter((term) => term.kind === "weighted");
  const moving = weighted.filter((term) => term.amount !== 0);
  moving.sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
  return {
    moving,
    still: weighted.filter((term) => term.amount === 0),
    base: weighted.reduce((sum, term) => sum + term.amount, 0),
    after: candidate.terms.filter((term) => term.kind !== "weighted"),
  };
}

/** How many reasons a sentence names. */
const NAMED = 3;

/**
 * What a term did for its candidate: what a signal added, what a scorer added beyond neutral (1), how a factor moved the
 * rest.
 * @param {import("./model.js").Term} term
 */
function gain(term) {
  if (term.kind === "multiplied") return term.amount > 0 ? Math.log(term.amount) : -Infinity;
  return term.kind === "weighted" && !term.signal ? term.amount - (term.weight ?? term.amount) : term.amount;
}

/** @param {Candidate} candidate @returns {import("./model.js").Term[]} what spoke for it, the strongest first. */
export function reasons(candidate) {
  const speaking = candidate.terms.filter((term) => term.kind !== "veto" && gain(term) > 1e-9);
  return speaking.sort((a, b) => gain(b) - gain(a)).slice(0, NAMED);
}

/**
 * @param {Turn} turn
 * @returns {Candidate | null} the candidate that was asked: the engine's choice, or another that the language model took.
 */
export function askedOf(turn) {
  const taken = turn.candidates.filter((candidate) => {
    const key = candidate.target?.kind === "node" ? candidate.target.ids[0] : null;
    return candidate.strategy === turn.strategy && key === turn.node_key;
  });
  return taken.find((candidate) => candidate.selected) ?? taken[0] ?? turn.candidates.find((candidate) => candidate.selected) ?? null;
}

/** @param {Candidate[]} candidates @returns {Candidate[]} best first; the chosen one first of equals. */
export function ranked(candidates) {
  return [...candidates].sort((a, b) => a.rank - b.rank || Number(b.selected) - Number(a.selected));
}
