/**
 * An element of a concept test; `comprehension` in [0, 1], `connected` null where it need not be.
 * @typedef {{element_id: string, label: string, mentioned: number, reactions: string[], comprehension: number | null,
 *   understood: boolean, connected: boolean | null, unconnected_to: string[], focused: number, exhausted: boolean,
 *   declined: boolean, gaps: string[]}} ElementRow
 * @typedef {{momentum: "high" | "neutral" | "low" | null, mean: number, low_in_a_row: number, fatigued: boolean,
 *   ambiguity: "none" | "productive" | "terminal" | null}} Spirits
 */

/**
 * One interview as a moderator sees it: made from a snapshot (or from stored rows), changed by messages, and cut at any
 * turn for looking back. No browser in here; nothing is changed in place.
 *
 * @typedef {{id: string, turn_number: number, speaker: string, kind: string, text: string, recorded_at?: string | null,
 *   strategy?: string | null, fallback?: boolean, spoken?: boolean, by?: string,
 *   corrected_by?: string | null, second_reading?: string | null, replies_to?: string | null, acts?: {act: string}[]}} Line
 * @typedef {{utterance_id: string, quote: string}} Quote
 * @typedef {{id: string, label: string, node_type: string, level: number | null, created_turn: number,
 *   mention_count: number, stance?: number, confidence?: number, quotes: Quote[], superseded_by: string | null,
 *   slot_id: string | null, slot_name: string | null}} GraphNode
 * @typedef {{id: string, source_id: string, target_id: string, edge_type: string, basis?: string, created_turn: number,
 *   quotes: Quote[]}} GraphEdge
 * @typedef {{id: string, slot_name: string, description: string, node_type: string, status: string,
 *   support_count: number, first_seen_turn: number, promoted_turn: number | null,
 *   surface_nodes: {id: string, assigned_turn: number}[]}} Slot
 * @typedef {{id: string, source_slot_id: string, target_slot_id: string, edge_type: string, support_count: number,
 *   surface_edge_ids?: string[]}} SlotEdge
 * @typedef {number | string | boolean | null} SignalValue
 * @typedef {{kind: string, ids: string[], label: string}} Target
 * @typedef {{kind: string, name: string, signal?: string | null, value: SignalValue, weight: number | null, amount: number, reason: string}} Term
 * @typedef {{strategy: string, target: Target | null, tactic: string, terms: Term[], final_score: number | null,
 *   rank: number, selected: boolean}} Candidate
 * @typedef {{chao1_ratio: number, new_info_rate: number, consecutive_low_info: number, consecutive_shallow: number,
 *   consecutive_depth_plateau: number, is_saturated?: boolean}} Saturation
 *
 * What was found and decided in one turn. `nodes` holds the signals of each node by its key.
 * @typedef {{turn_number: number, strategy: string | null, node_key: string | null, node_id: string | null,
 *   phase: string | null, reason: string, candidates: Candidate[], candidate_count: number,
 *   rationales: Record<string, string>, saturation: Saturation | null, stages_ms: Record<string, number>,
 *   signals: Record<string, SignalValue>, nodes: Record<string, Record<string, SignalValue>>,
 *   fallbacks: string[], directive: {kind: string, question?: string | null, strategy?: string | null} | null}} Turn
 *
 * @typedef {{low_info_limit: number, shallow_limit: number, depth_plateau_limit: number,
 *   min_turn_for_saturation: number}} Limits
 * @typedef {{command_id?: string, action: string, moderator: string, turn_number: number | null, recorded_at: string,
 *   details?: Record<string, unknown>}} Action
 * @typedef {{id: string, label: string, status: string, turn: number | null, reason: string}} Topic
 * @typedef {{elements: {id: string, label: string}[],
 *   constructs: {id: string, emergent: string, contrast: string | null, turn?: number, ratings: Record<string, number>}[]}} Grid
 * @typedef {{name: string, level: number | null, terminal: boolean}} NodeType
 * @typedef {{calls: number, failed: number, discarded: number, input_tokens: number, output_tokens: number,
 *   cached_tokens: number, cost: Record<string, number>, unpriced_calls: number, latency_ms: number,
 *   by_role: Record<string, {calls: number, input_tokens: number, output_tokens: number, cost: Record<string, number>}>,
 *   fallback_questions: number, fallback_tasks: Record<string, number>}} Usage
 *
 * @typedef {object} Model
 * @property {string} id
 * @property {string} state
 * @property {string} reason
 * @property {string} conceptId
 * @property {string} concept
 * @property {string} methodology
 * @property {string} engine
 * @property {string} language
 * @property {string | null} respondentRef
 * @property {number} turnCount
 * @property {number} maxTurns
 * @property {string | null} pausedBy
 * @property {string | null} claimedBy
 * @property {boolean} heldBack whether it is kept from exports because somebody seemed to be under age.
 * @property {string | null} createdAt
 * @property {string | null} updatedAt
 * @property {string | null} patience
 * @property {Line[]} lines
 * @property {GraphNode[]} nodes
 * @property {GraphEdge[]} edges
 * @property {Slot[]} slots
 * @property {SlotEdge[]} slotEdges
 * @property {{turn: number, source: string, target: string, type: string, quote: string, reason: string}[]} tensions
 * @property {Turn[]} turns oldest first.
 * @property {Usage | null} usage
 * @property {Action[]} actions oldest first.
 * @property {Topic[]} guide what the interview should speak of, and how far that is.
 * @property {ElementRow[]} elements of a concept test, and how far each was spoken of.
 * @property {Spirits | null} spirits how the respondent is doing.
 * @property {Grid | null} grid the repertory grid so far; null where the method has none.
 * @property {Limits} limits
 * @property {NodeType[]} ontology
 * @property {{name: string, description: string}[]} strategies
 * @property {string[]} watchers
 * @property {{connected: boolean, activity: string} | null} respondent
 * @property {{code: string, since: string}[]} alerts
 * @property {{turn: number, attempt: number, text: string} | null} stream the question being written.
 * @property {{text: string, stable: number} | null} partial what is being said.
 * @property {string | null} failed code of the failure of the running turn.
 * @property {string | null} held an answer that waits for a moderator.
 */

/** @type {Limits} */
export const USUAL_LIMITS = { low_info_limit: 5, shallow_limit: 6, depth_plateau_limit: 6, min_turn_for_saturation: 5 };

const OVER = new Set(["completed", "failed", "withdrawn", "erased"]);

/** @param {string} state whether nothing can be done to such an interview any more. */
export const isOver = (state) => OVER.has(state);

/** @param {any} rows @returns {any[]} */
const list = (rows) => (Array.isArray(rows) ? rows : []);

/**
 * A model of the parts a snapshot, or the API, gives.
 *
 * @param {any} state as `snapshot.state`, or as `GET /api/sessions/{id}` with the other calls beside it.
 * @param {string} [id]
 * @returns {Model}
 */
export function fromSnapshot(state, id = "") {
  const graph = state.graph ?? {};
  const canonical = state.canonical ?? {};
  return {
    id: state.id ?? state.session_id ?? id,
    state: state.state ?? "created",
    reason: state.reason ?? "",
    conceptId: state.concept_id ?? "",
    concept: state.concept_title ?? state.concept_name ?? state.concept_id ?? "",
    methodology: state.methodology ?? "",
    engine: state.engine ?? "",
    language: state.language ?? "en",
    respondentRef: state.respondent_ref ?? null,
    turnCount: state.turn_count ?? 0,
    maxTurns: state.max_turns ?? 0,
    pausedBy: state.paused_by ?? null,
    claimedBy: state.claimed_by ?? null,
    heldBack: state.held_back === true,
    createdAt: state.created_at ?? null,
    updatedAt: state.updated_at ?? null,
    patience: state.settings?.patience ?? null,
    lines: list(state.transcript).map((row) => ({ ...row })),
    nodes: list(graph.nodes).map(nodeOf),
    edges: list(graph.edges),
    slots: list(canonical.slots),
    slotEdges: list(canonical.edges),
    tensions: list(graph.tensions),
    turns: list(state.turns).map(turnOf).sort((a, b) => a.turn_number - b.turn_number),
    usage: state.usage ?? null,
    actions: list(state.moderator_actions),
    guide: list(state.guide),
    elements: list(state.elements),
    spirits: state.spirits ?? null,
    grid: state.grid ?? null,
    limits: { ...USUAL_LIMITS, ...state.limits },
    ontology: list(state.ontology?.nodes),
    strategies: list(state.strategies),
    watchers: list(state.watchers),
    respondent: state.respondent ?? null,
    alerts: list(state.alerts),
    stream: null,
    partial: partialOf(state.partial),
    held: state.held_answer ?? null,
    failed: null,
  };
}

/** @param {any} partial @returns {Model["partial"]} */
function partialOf(partial) {
  if (!partial) return null;
  return typeof partial === "string" ? { text: partial, stable: 0 } : { text: partial.text ?? "", stable: partial.stable ?? 0 };
}

/** @param {any} row @returns {GraphNode} */
function nodeOf(row) {
  return { ...row, quotes: list(row.quotes), superseded_by: row.superseded_by ?? null, slot_id: row.slot_id ?? null };
}

/** @param {any} row of `/scores`, or of a snapshot. @returns {Turn} */
export function turnOf(row) {
  return {
    turn_number: row.turn_number,
    strategy: row.strategy ?? null,
    node_key: row.node_key ?? null,
    node_id: row.node_id ?? null,
    phase: row.phase ?? row.signals?.phase ?? null,
    reason: row.should_continue ? "" : row.reason ?? "",
    candidates: list(row.candidates),
    candidate_count: row.candidate_count ?? list(row.candidates).length,
    rationales: row.ratings?.rationales ?? {},
    saturation: row.saturation ?? null,
    stages_ms: row.stages_ms ?? {},
    signals: row.signals?.values ?? {},
    nodes: nodesOf(row.signals?.nodes),
    fallbacks: list(row.fallbacks),
    directive: row.directive ?? null,
  };
}

/** Signals of nodes come as columns from the store and as rows from the socket. @param {any} nodes @returns {Turn["nodes"]} */
function nodesOf(nodes) {
  if (!nodes) return {};
  /** @type {Turn["nodes"]} */
  const rows = {};
  if (!Array.isArray(nodes.keys)) {
    for (const [key, row] of Object.entries(nodes)) rows[key] = { label: row.label ?? "", ...(row.signals ?? row) };
    return rows;
  }
  nodes.keys.forEach((/** @type {string} */ key, /** @type {number} */ at) => {
    /** @type {Record<string, SignalValue>} */
    const row = { label: nodes.labels?.[at] ?? "" };
    for (const [signal, column] of Object.entries(nodes.signals ?? {})) row[signal] = column[at] ?? null;
    rows[key] = row;
  });
  return rows;
}

/** @param {number} number @returns {Turn} */
const blankTurn = (number) => turnOf({ turn_number: number });

/** @param {Model} model @param {number} number @param {Partial<Turn>} change @returns {Model} */
function withTurn(model, number, change) {
  const known = model.turns.find((turn) => turn.turn_number === number) ?? blankTurn(number);
  const turns = model.turns.filter((turn) => turn.turn_number !== number);
  turns.push({ ...known, ...change });
  turns.sort((a, b) => a.turn_number - b.turn_number);
  return { ...model, turns };
}

/**
 * Rows by id: new ones at the end, changed ones in their place.
 * @template {{id: string}} T
 * @param {T[]} known @param {T[]} changed @returns {T[]}
 */
function merged(known, changed) {
  if (changed.length === 0) return known;
  const byId = new Map(known.map((row) => [row.id, row]));
  for (const row of changed) byId.set(row.id, { ...byId.get(row.id), ...row });
  return [...byId.values()];
}

/** @template {{id: string}} T @param {T[]} rows @param {string[] | undefined} gone @returns {T[]} the rows that are left. */
function without(rows, gone) {
  if (!gone?.length) return rows;
  const names = new Set(gone);
  return rows.filter((row) => !names.has(row.id));
}

/** @param {Model} model @param {Line} line @returns {Line[]} the lines with one more, unless it is there already. */
function withLine(model, line) {
  const there = model.lines.some((known) => known.turn_number === line.turn_number && known.speaker === line.speaker
    && known.text === line.text);
  return there ? model.lines : [...model.lines, line];
}

/** What each message does. @type {Record<string, (model: Model, message: any) => Model>} */
const CHANGES = {
  "question.started": (model, { turn_number: turn, attempt }) => ({ ...model, stream: { turn, attempt, text: "" } }),
  "question.delta": (model, { turn_number: turn, attempt, text }) => {
    const goes = model.stream && model.stream.turn === turn && model.stream.attempt === attempt;
    return { ...model, stream: { turn, attempt, text: (goes && model.stream ? model.stream.text : "") + text } };
  },
  "question.withdrawn": (model, { turn_number: turn }) => (model.stream?.turn === turn ? { ...model, stream: null } : model),
  "question.completed": (model, message) => ({
    ...model,
    stream: null,
    held: null,
    failed: null,
    lines: withLine(model, {
      id: message.utterance_id ?? `q${message.turn_number}.${model.lines.length}`, turn_number: message.turn_number,
      speaker: "interviewer", kind: message.turn_number === 0 ? "opening" : "question", text: message.text,
      fallback: message.fallback === true, by: message.by ?? "engine",
    }),
  }),
  "interviewer.replied": (model, message) => ({
    ...model,
    stream: null,
    held: null,
    failed: null,
    lines: withLine(model, {
      id: `r${message.turn_number}.${model.lines.length}`, turn_number: message.turn_number, speaker: "interviewer",
      kind: "reply", text: message.text, replies_to: message.act,
    }),
  }),
  "transcript.partial": (model, { text, stable }) => ({ ...model, partial: text ? { text, stable } : null }),
  "transcript.final": (model, message) => ({
    ...model,
    partial: null,
    turnCount: Math.max(model.turnCount, message.turn_number),
    lines: withLine(model, {
      id: message.utterance_id ?? `a${message.turn_number}.${model.lines.length}`, turn_number: message.turn_number,
      speaker: "respondent", kind: message.text === "" ? "skip" : "answer", text: message.text,
      spoken: message.spoken === true,
    }),
  }),
  "transcript.second_reading": (model, { turn_number: turn, text }) => {
    const of = model.lines.findLast((line) => line.turn_number === turn && line.speaker === "respondent" && (text ? line.spoken : line.second_reading));
    return of ? { ...model, lines: model.lines.map((line) => (line === of ? { ...line, second_reading: text } : line)) } : model;
  },
  signals: (model, message) => withTurn(model, message.turn_number, {
    signals: message.global ?? {}, nodes: nodesOf(message.nodes),
    phase: message.phase ?? message.global?.["meta.interview.phase"] ?? null,
  }),
  scores: (model, message) => {
    const chosen = list(message.candidates).find((candidate) => candidate.selected);
    return withTurn(model, message.turn_number, {
      candidates: list(message.candidates),
      candidate_count: message.candidate_count ?? list(message.candidates).length,
      strategy: message.strategy ?? chosen?.strategy ?? null,
      node_key: message.node_key ?? (chosen?.target?.kind === "node" ? chosen.target.ids[0] : null) ?? null,
      node_id: message.node_id ?? null,
      directive: message.directive ?? null,
    });
  },
  "graph.delta": (model, message) => ({
    ...model,
    nodes: merged(model.nodes, [...list(message.nodes_added), ...list(message.nodes_changed)].map(nodeOf)),
    edges: without(merged(model.edges, [...list(message.edges_added), ...list(message.edges_changed)]), message.edges_removed),
    slots: without(merged(model.slots, list(message.slots)), message.slots_removed),
    slotEdges: without(merged(model.slotEdges, list(message.canonical_edges)), message.canonical_edges_removed),
    tensions: [...model.tensions, ...list(message.tensions)],
  }),
  continuation: (model, message) => withTurn(model, message.turn_number, {
    reason: message.reason ?? "", saturation: message.metrics?.saturation ?? message.metrics ?? null,
  }),
  latency: (model, message) => withTurn(model, message.turn_number, { stages_ms: message.stages_ms ?? {} }),
  "turn.failed": (model, message) => ({ ...model, stream: null, failed: message.code }),
  usage: (model, message) => ({ ...model, usage: { ...model.usage, ...message } }),
  "session.state": (model, message) => ({
    ...model, state: message.state, reason: message.reason ?? "",
    pausedBy: message.paused_by !== undefined ? message.paused_by : message.state === "paused" ? model.pausedBy : null,
    claimedBy: message.claimed_by !== undefined ? message.claimed_by : model.claimedBy,
    maxTurns: message.max_turns ?? model.maxTurns,
    guide: Array.isArray(message.guide) ? message.guide : model.guide,
    grid: message.grid ?? model.grid,
    partial: isOver(message.state) ? null : model.partial, stream: isOver(message.state) ? null : model.stream,
  }),
  coverage: (model, message) => ({ ...model, elements: list(message.elements), spirits: message.spirits ?? model.spirits }),
  watchers: (model, message) => ({ ...model, watchers: list(message.names) }),
  respondent: (model, message) => ({ ...model, respondent: { connected: message.connected, activity: message.activity ?? "idle" } }),
  alerts: (model, message) => ({ ...model, alerts: list(message.alerts) }),
  action: (model, message) => withAction(model, message.action),
};

/** @param {Model} model @param {any} action @returns {Model} */
function withAction(model, action) {
  const known = action.command_id && model.actions.some((other) => other.command_id === action.command_id);
  if (known) return model;
  return { ...model, actions: [...model.actions, action] };
}

/**
 * @param {{session_id: string, state: any, question: any}} message a `snapshot`.
 * @returns {Model}
 */
export function fromMessage(message) {
  const { state, question } = message;
  const stream = question && typeof question === "object" && typeof question.text === "string"
    ? { turn: question.turn_number, attempt: question.attempt ?? 1, text: question.text } : null;
  return { ...fromSnapshot(state, message.session_id), stream };
}

/**
 * @param {Model} model
 * @param {{type: string}} message of the moderator socket; one of another kind changes nothing.
 * @returns {Model}
 */
export function applied(model, message) {
  const change = Object.hasOwn(CHANGES, message.type) ? CHANGES[message.type] : undefined;
  return change ? change(model, message) : model;
}

/** @param {Model} model @returns {number} the last turn that was decided, or 0. */
export function lastTurn(model) {
  return Math.max(0, model.turns.at(-1)?.turn_number ?? 0, model.lines.at(-1)?.turn_number ?? 0);
}

/** @param {Model} model @param {number} number @returns {Turn | null} */
export function turnAt(model, number) {
  return model.turns.find((turn) => turn.turn_number === number) ?? null;
}

/**
 * The interview as it stood when a turn's question was out.
 * @param {Model} model @param {number} turn @returns {Model}
 */
export function asOf(model, turn) {
  const lines = model.lines.filter((line) => line.turn_number <= turn);
  const said = new Set(lines.map((line) => line.id));
  const upTo = (/** @type {Quote[]} */ quotes) => quotes.filter((quote) => said.has(quote.utterance_id));
  const nodes = model.nodes.filter((node) => node.created_turn <= turn).map((node) => ({ ...node, quotes: upTo(node.quotes) }));
  const there = new Set(nodes.map((node) => node.id));
  const edges = model.edges.filter((edge) => edge.created_turn <= turn).map((edge) => ({ ...edge, quotes: upTo(edge.quotes) }));
  const drawn = new Set(edges.map((edge) => edge.id));
  const slots = model.slots.filter((slot) => slot.first_seen_turn <= turn).map((slot) => {
    const members = slot.surface_nodes.filter((member) => member.assigned_turn <= turn);
    const active = slot.promoted_turn !== null && slot.promoted_turn <= turn;
    return { ...slot, surface_nodes: members, support_count: members.length, status: active ? slot.status : "candidate" };
  });
  const named = new Set(slots.map((slot) => slot.id));
  return {
    ...model, lines, edges, slots, turnCount: turn, stream: null, partial: null,
    nodes: nodes.map((node) => (node.superseded_by && !there.has(node.superseded_by) ? { ...node, superseded_by: null } : node)),
    slotEdges: model.slotEdges.filter((edge) => named.has(edge.source_slot_id) && named.has(edge.target_slot_id)
      && (!edge.surface_edge_ids || edge.surface_edge_ids.some((id) => drawn.has(id)))),
    tensions: model.tensions.filter((tension) => tension.turn <= turn),
    turns: model.turns.filter((known) => known.turn_number <= turn),
    actions: model.actions.filter((action) => (action.turn_number ?? 0) <= turn),
    guide: model.guide.map((topic) => (topic.status === "left" || (topic.turn ?? 0) > turn ? { ...topic, status: "open", turn: null, reason: "" } : topic)),
  };
}
