/** One interview in the moderator's page: snapshot, messages, and any turn of its past. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { askedOf, completeness, decomposed, height, histories, ranked, reasons, slotStanding, standing, stopping } from "../static/moderator/insight.js";
import { applied, asOf, fromMessage, fromSnapshot, isOver, lastTurn, turnAt } from "../static/moderator/model.js";
import { graphOf } from "../static/moderator/graphdata.js";
import { laid } from "../static/moderator/layout.js";

const utterance = (/** @type {number} */ turn, /** @type {string} */ speaker, /** @type {string} */ text) => ({ id: `${speaker[0]}${turn}`, turn_number: turn, speaker, kind: speaker === "respondent" ? "answer" : "question", text });
const node = (/** @type {string} */ id, /** @type {number} */ turn, more = {}) => ({ id, label: id, node_type: "attribute", level: 1, created_turn: turn, mention_count: 1, quotes: [{ utterance_id: `r${turn}`, quote: id }], superseded_by: null, slot_id: `slot-${id}`, slot_name: id, ...more });
const candidate = (/** @type {string} */ strategy, /** @type {number} */ rank, /** @type {number} */ score, selected = false) => ({ strategy, target: { kind: "node", ids: ["slot-a"], label: "a" }, tactic: "", terms: [], final_score: score, rank, selected });
const STATE = {
  id: "s", state: "active", concept_id: "c", concept_name: "coffee", turn_count: 2, max_turns: 15, watchers: ["Anna"],
  transcript: [utterance(0, "interviewer", "Q0"), utterance(1, "respondent", "A1"), utterance(1, "interviewer", "Q1"), utterance(2, "respondent", "A2"), utterance(2, "interviewer", "Q2")],
  graph: { nodes: [node("a", 1), node("b", 2, { superseded_by: null })], edges: [{ id: "e", source_id: "a", target_id: "b", edge_type: "leads_to", created_turn: 2, quotes: [] }], tensions: [] },
  canonical: { slots: [{ id: "slot-a", slot_name: "a", description: "", node_type: "attribute", status: "active", support_count: 2, first_seen_turn: 1, promoted_turn: 2, surface_nodes: [{ id: "a", assigned_turn: 1 }, { id: "b", assigned_turn: 2 }] }], edges: [] },
  turns: [
    { turn_number: 2, strategy: "explore", node_key: "slot-b", node_id: "b", phase: "early", candidates: [candidate("explore", 1, 1, true)], candidate_count: 1, saturation: { consecutive_low_info: 1, consecutive_shallow: 3, consecutive_depth_plateau: 0, chao1_ratio: 0.5, new_info_rate: 0.25 }, signals: { values: { "llm.response_depth": "deep", "llm.engagement": 0.75, "graph.node_count": 2 }, nodes: { keys: ["slot-a", "slot-b"], labels: ["a", "b"], signals: { "graph.node.exhaustion_score": [0.5, 0.06], "graph.node.exhausted": [true, false] } } } },
    { turn_number: 1, strategy: "deepen", node_key: "slot-a", node_id: "a", phase: "early", candidates: [], candidate_count: 0, signals: { values: { "llm.response_depth": "surface", "llm.engagement": 0.25, "graph.node_count": 1 }, nodes: { "slot-a": { label: "a", node_type: "attribute", signals: { "graph.node.exhaustion_score": 0.06 } } } } },
  ],
};
const model = () => fromSnapshot(STATE);

test("snapshot_turns_are_in_order_and_nodes_signals_in_rows", () => {
  const whole = model();
  assert.deepEqual(whole.turns.map((turn) => turn.turn_number), [1, 2]);
  assert.equal(turnAt(whole, 2)?.nodes["slot-b"]?.["graph.node.exhaustion_score"], 0.06);
  assert.equal(turnAt(whole, 1)?.nodes["slot-a"]?.["graph.node.exhaustion_score"], 0.06);
  assert.equal(lastTurn(whole), 2);
});

test("snapshot_with_a_running_question_goes_on_with_its_deltas", () => {
  let whole = fromMessage({ session_id: "s", state: STATE, question: { turn_number: 3, attempt: 1, text: "Why do " } });
  whole = applied(whole, /** @type {any} */ ({ type: "question.delta", turn_number: 3, attempt: 1, text: "you?" }));
  assert.equal(whole.stream?.text, "Why do you?");
  whole = applied(whole, /** @type {any} */ ({ type: "question.delta", turn_number: 3, attempt: 2, text: "What" }));
  assert.equal(whole.stream?.text, "What", "another attempt begins anew");
  const void_ = applied(whole, /** @type {any} */ ({ type: "question.withdrawn", turn_number: 3, attempt: 2 }));
  assert.equal(void_.stream, null, "the answer goes on");
  whole = applied(whole, /** @type {any} */ ({ type: "question.completed", turn_number: 3, text: "What for?", fallback: false, by: "moderator" }));
  assert.equal(whole.stream, null);
  assert.deepEqual([whole.lines.at(-1)?.text, whole.lines.at(-1)?.by], ["What for?", "moderator"]);
});

test("messages_that_come_twice_change_nothing_twice", () => {
  let whole = model();
  for (let time = 0; time < 2; time += 1) {
    whole = applied(whole, /** @type {any} */ ({ type: "transcript.final", turn_number: 3, text: "A3" }));
    whole = applied(whole, /** @type {any} */ ({ type: "action", action: { command_id: "x", action: "pause", moderator: "Anna", turn_number: 3, recorded_at: "" } }));
    whole = applied(whole, /** @type {any} */ ({ type: "graph.delta", nodes_added: [node("c", 3)], nodes_changed: [node("a", 1, { label: "A" })], edges_added: [], slots: [], canonical_edges: [] }));
  }
  assert.equal(whole.lines.length, 6);
  assert.equal(whole.actions.length, 1);
  assert.deepEqual(whole.nodes.map((one) => one.label), ["A", "b", "c"]);
});

test("what_leaves_the_graphs_leaves_the_picture", () => {
  const edge = { id: "e1", source_id: "a", target_id: "b", edge_type: "leads_to" };
  const grown = applied(model(), /** @type {any} */ ({ type: "graph.delta", edges_added: [edge], slots: [{ id: "s1" }], canonical_edges: [{ id: "c1" }] }));
  const before = [grown.edges.length, grown.slots.length, grown.slotEdges.length];
  const less = applied(grown, /** @type {any} */ ({ type: "graph.delta", edges_removed: ["e1"], slots_removed: ["s1"], canonical_edges_removed: ["c1"] }));
  assert.deepEqual([less.edges.length, less.slots.length, less.slotEdges.length], before.map((count) => count - 1));
});

test("partial_words_end_with_the_answer_and_unknown_messages_change_nothing", () => {
  const before = model();
  const speaking = applied(before, /** @type {any} */ ({ type: "transcript.partial", text: "I th", stable: 1 }));
  assert.equal(speaking.partial?.text, "I th");
  assert.equal(applied(speaking, /** @type {any} */ ({ type: "transcript.final", turn_number: 3, text: "I think" })).partial, null);
  assert.equal(applied(before, { type: "toString" }), before);
});

test("second_reading_stands_beside_the_spoken_answer_of_its_turn_until_that_is_corrected", () => {
  let whole = applied(model(), /** @type {any} */ ({ type: "transcript.final", turn_number: 3, text: "I think", spoken: true }));
  whole = applied(whole, /** @type {any} */ ({ type: "transcript.second_reading", turn_number: 3, text: "I drink" }));
  assert.deepEqual([whole.lines.at(-1)?.text, whole.lines.at(-1)?.second_reading], ["I think", "I drink"]);
  const typed = applied(whole, /** @type {any} */ ({ type: "transcript.second_reading", turn_number: 2, text: "A3" }));
  assert.deepEqual(typed.lines, whole.lines, "a typed answer has none");
  whole = applied(whole, /** @type {any} */ ({ type: "transcript.second_reading", turn_number: 3, text: null }));
  assert.equal(whole.lines.at(-1)?.second_reading, null);
});

test("signals_scores_latency_and_continuation_make_one_turn", () => {
  let whole = model();
  for (const message of [
    { type: "signals", turn_number: 3, phase: "mid", global: { "llm.engagement": 1 }, nodes: { k: { label: "k", node_type: "t", signals: { "graph.node.exhausted": false } } } },
    { type: "scores", turn_number: 3, strategy: "clarify", node_key: "k", node_id: "a", candidates: [candidate("clarify", 1, 2, true)], candidate_count: 9 },
    { type: "latency", turn_number: 3, stages_ms: { question: 12 } },
    { type: "continuation", turn_number: 3, reason: "graph_saturated", metrics: { consecutive_low_info: 5 } },
  ]) whole = applied(whole, message);
  const turn = turnAt(whole, 3);
  assert.deepEqual([turn?.phase, turn?.strategy, turn?.node_id, turn?.candidate_count, turn?.stages_ms["question"], turn?.reason], ["mid", "clarify", "a", 9, 12, "graph_saturated"]);
  assert.equal(stopping(whole).find((rule) => rule.rule === "low_info")?.have, 5);
});

test("state_of_a_session_follows_and_an_end_ends_what_was_under_way", () => {
  let whole = applied(model(), /** @type {any} */ ({ type: "session.state", state: "paused", reason: "", paused_by: "moderator", claimed_by: "Anna", max_turns: 18 }));
  assert.deepEqual([whole.state, whole.pausedBy, whole.claimedBy, whole.maxTurns], ["paused", "moderator", "Anna", 18]);
  whole = applied({ ...whole, partial: { text: "x", stable: 0 } }, /** @type {any} */ ({ type: "session.state", state: "completed", reason: "moderator" }));
  assert.equal(whole.partial, null);
  assert.ok(isOver(whole.state) && !isOver("abandoned"));
});

test("the_past_shows_only_what_was_known_then", () => {
  const then = asOf(model(), 1);
  assert.deepEqual(then.lines.map((line) => line.text), ["Q0", "A1", "Q1"]);
  assert.deepEqual([then.nodes.length, then.edges.length, then.turns.length], [1, 0, 1]);
  assert.deepEqual(then.slots.map((slot) => [slot.status, slot.support_count]), [["candidate", 1]]);
  assert.equal(standing(then, /** @type {any} */ (then.nodes[0])).focused, true);
  const opening = asOf(model(), 0);
  assert.deepEqual([opening.lines.length, opening.nodes.length, opening.turns.length], [1, 0, 0]);
});

test("a_node_taken_back_later_still_stood_before", () => {
  const whole = fromSnapshot({ ...STATE, graph: { ...STATE.graph, nodes: [node("a", 1, { superseded_by: "b" }), node("b", 2)] } });
  assert.equal(asOf(whole, 1).nodes[0]?.superseded_by, null);
  assert.equal(asOf(whole, 2).nodes[0]?.superseded_by, "b");
});

test("standing_of_a_node_counts_its_focus_and_reads_its_exhaustion", () => {
  const whole = model();
  const [a, b] = whole.nodes.map((one) => standing(whole, one));
  assert.deepEqual([a?.focused, a?.times, a?.exhaustion, a?.exhausted], [false, 1, 0.5, true]);
  assert.deepEqual([b?.focused, b?.times, b?.exhaustion], [true, 1, 0.06]);
  const slot = slotStanding(whole, /** @type {any} */ (whole.slots[0]));
  assert.deepEqual([slot.focused, slot.exhaustion], [true, 0.5]);
});

test("histories_put_words_on_a_scale_and_leave_out_what_cannot_be_drawn", () => {
  const found = histories({ ...model(), turns: model().turns.map((turn) => ({ ...turn, signals: { ...turn.signals, "odd.text": "x" } })) });
  assert.deepEqual(found.map((one) => one.signal), ["llm.engagement", "llm.response_depth", "graph.node_count"]);
  assert.deepEqual(found[1]?.heights, [0, 3]);
  assert.deepEqual(found.map((one) => one.top), [1, 3, 2]);
  assert.deepEqual([height("x", true), height("x", "word"), height("x", undefined)], [1, null, null]);
});

test("completeness_and_stopping_are_shares_and_counts", () => {
  const whole = model();
  assert.deepEqual(stopping(whole).map(({ rule, have, limit }) => [rule, have, limit]), [["turns", 2, 15], ["low_info", 1, 5], ["shallow", 3, 6], ["plateau", 0, 6], ["spent", 0, 2]]);
  assert.deepEqual(completeness(whole).map((one) => [one.name, one.share]), [["estimate", 0.5], ["new_info", 0.25]]);
  assert.deepEqual(completeness(fromSnapshot({ id: "x" })), []);
});

test("scores_are_taken_apart_strongest_first_and_ranked_best_first", () => {
  const terms = [0.1, 0, -0.6, 0.3].map((amount, at) => ({ kind: "weighted", name: `w${at}`, value: 1, weight: 1, amount, reason: "" }));
  const phase = { kind: "multiplied", name: "phase", value: null, weight: null, amount: 2, reason: "" };
  const { moving, still, base, after } = decomposed({ ...candidate("x", 1, 1), terms: [...terms, phase] });
  assert.deepEqual(moving.map((term) => term.amount), [-0.6, 0.3, 0.1]);
  assert.equal(still.length, 1);
  assert.ok(Math.abs(base + 0.2) < 1e-9);
  assert.deepEqual(after, [phase]);
  assert.deepEqual(ranked([candidate("b", 2, 1), candidate("a", 1, 2, true)]).map((one) => one.strategy), ["a", "b"]);
});

test("graph_has_lanes_by_level_colours_by_type_and_no_loose_ends", () => {
  const whole = fromSnapshot({ ...STATE, ontology: { nodes: [{ name: "attribute", level: 1, terminal: false }, { name: "value", level: 5, terminal: true }] }, graph: { nodes: [node("a", 1), node("b", 2, { node_type: "value" })], edges: [...STATE.graph.edges, { id: "loose", source_id: "a", target_id: "gone", edge_type: "leads_to", created_turn: 2, quotes: [] }] } });
  const { items, lines } = graphOf(whole, "surface");
  assert.deepEqual(items.map((item) => [item.lane, item.colour]), [[1, 1], [5, 2]]);
  assert.deepEqual(lines.map((line) => line.id), ["e"]);
  assert.equal(graphOf(whole, "canonical").items[0]?.quotes.length, 2);
});

test("layout_gives_every_node_its_own_place_and_keeps_lanes_apart", () => {
  const spots = Array.from({ length: 30 }, (_, at) => ({ id: `n${at}`, lane: at % 3 }));
  const links = spots.slice(3).map((spot, at) => ({ source: `n${at}`, target: spot.id }));
  const places = laid(spots, links, 4);
  assert.equal(places.size, 30);
  const seen = [...places.values()].map(({ x, y }) => `${x.toFixed(2)},${y}`);
  assert.equal(new Set(seen).size, 30);
  const heights = [0, 1, 2].map((lane) => spots.filter((spot) => spot.lane === lane).map((spot) => places.get(spot.id)?.y ?? 0));
  assert.ok(Math.max(...(heights[1] ?? [])) < Math.min(...(heights[0] ?? [])), "a higher level stands above");
  assert.deepEqual([...laid(spots, links, 4)], [...places], "the same graph stands the same");
});

test("candidate_that_was_asked_is_the_one_the_language_model_took", () => {
  const [first, second] = [candidate("deepen", 1, 2, true), { ...candidate("explore", 2, 1.5), target: { kind: "node", ids: ["slot-b"], label: "b" } }];
  const turn = (/** @type {string} */ strategy, /** @type {string | null} */ key) => /** @type {any} */ ({ strategy, node_key: key, candidates: [first, second] });
  assert.equal(askedOf(turn("deepen", "slot-a")), first);
  assert.equal(askedOf(turn("explore", "slot-b")), second);
  assert.equal(askedOf(turn("follow_guide", null)), first, "what no candidate is about");
  assert.equal(askedOf({ .../** @type {any} */ (turn("deepen", null)), candidates: [] }), null);
});

test("reasons_are_what_spoke_for_a_candidate_whatever_engine_chose_it", () => {
  const of = (/** @type {any[]} */ ...terms) => reasons({ ...candidate("x", 1, 1), terms }).map((term) => term.name);
  const signals = [
    { kind: "weighted", name: "guide.gap", signal: "guide.gap", value: 1, weight: 0.5, amount: 0.5 },
    { kind: "weighted", name: "temporal", signal: "temporal", value: 1, weight: -1, amount: -1 },
    { kind: "multiplied", name: "phase", amount: 1 },
    { kind: "bonus", name: "phase", amount: 0 },
  ];
  assert.deepEqual(of(...signals), ["guide.gap"]);
  const raw = (/** @type {string} */ name, /** @type {number} */ value) => ({ kind: "weighted", name, value, weight: 0.2, amount: 0.2 * value });
  assert.deepEqual(of(raw("coverage", 1.6), raw("neutral", 1), raw("novelty", 1.2), raw("worse", 0.4), { kind: "multiplied", name: "phase", amount: 1.1 }), ["coverage", "phase", "novelty"]);
  const factor = (/** @type {string} */ name, /** @type {number} */ amount) => ({ kind: "multiplied", name, amount });
  assert.deepEqual(of({ kind: "weighted", name: "base", amount: 1.2 }, factor("first", 2.5), factor("less", 0.5), factor("none", 0), factor("same", 1)), ["first"]);
  assert.deepEqual(of({ kind: "veto", name: "ceiling", amount: 0 }), []);
});
