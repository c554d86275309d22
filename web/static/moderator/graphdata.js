/** The surface and the canonical graph in one form, for drawing and for the table. No browser in here. */

import { slotStanding, standing } from "./insight.js";

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("./model.js").Quote} Quote
 * @typedef {{id: string, label: string, type: string, level: number | null, lane: number, colour: number, turn: number,
 *   mentions: number, quotes: Quote[], focused: boolean, times: number, exhaustion: number, exhausted: boolean,
 *   faded: boolean, also: string | null, status: string}} Item `colour` counts from 1 to 8; `also`: the slot of a
 *   surface node, `faded`: superseded, or a slot that is not active yet.
 * @typedef {{id: string, source: string, target: string, type: string, turn: number, basis: string, quotes: Quote[]}} Line
 * @typedef {{items: Item[], lines: Line[]}} Graph
 */

const COLOURS = 8;

/** @param {Model} model @returns {{name: string, level: number | null, terminal: boolean}[]} types in order, those of the methodology first. */
export function typesOf(model) {
  const known = new Set(model.ontology.map((type) => type.name));
  const others = [...new Set([...model.nodes, ...model.slots].map((node) => node.node_type))].filter((name) => !known.has(name)).sort();
  return [...model.ontology, ...others.map((name) => ({ name, level: null, terminal: false }))];
}

/** @param {Model} model @param {"surface" | "canonical"} which @returns {Graph} */
export function graphOf(model, which) {
  const types = typesOf(model);
  const at = new Map(types.map((type, index) => [type.name, index]));
  const common = (/** @type {string} */ type) => {
    const index = at.get(type) ?? 0;
    const level = types[index]?.level ?? null;
    // Where there are levels they are the rungs; else types stand below each other in the order they are told in.
    return { type, level, lane: level ?? types.length - index, colour: (index % COLOURS) + 1 };
  };
  return which === "surface" ? surface(model, common) : canonical(model, common);
}

/** @param {Model} model @param {(type: string) => {type: string, level: number | null, lane: number, colour: number}} common @returns {Graph} */
function surface(model, common) {
  const items = model.nodes.map((node) => ({
    ...common(node.node_type), ...standing(model, node), id: node.id, label: node.label, turn: node.created_turn,
    mentions: Math.max(node.quotes.length, 1), quotes: node.quotes, faded: node.superseded_by !== null, also: node.slot_name,
    status: node.superseded_by === null ? "" : "superseded",
  }));
  const there = new Set(items.map((item) => item.id));
  const lines = model.edges.filter((edge) => there.has(edge.source_id) && there.has(edge.target_id)).map((edge) => ({
    id: edge.id, source: edge.source_id, target: edge.target_id, type: edge.edge_type, turn: edge.created_turn, basis: edge.basis ?? "unrecorded",
    quotes: edge.quotes,
  }));
  return { items, lines };
}

/** @param {Model} model @param {(type: string) => {type: string, level: number | null, lane: number, colour: number}} common @returns {Graph} */
function canonical(model, common) {
  const quotes = new Map(model.nodes.map((node) => [node.id, node.quotes]));
  const items = model.slots.map((slot) => ({
    ...common(slot.node_type), ...slotStanding(model, slot), id: slot.id, label: slot.slot_name.replaceAll("_", " "), turn: slot.first_seen_turn,
    mentions: slot.support_count, quotes: slot.surface_nodes.flatMap((member) => quotes.get(member.id) ?? []), faded: slot.status !== "active",
    also: slot.description || null, status: slot.status,
  }));
  const there = new Set(items.map((item) => item.id));
  const lines = model.slotEdges.filter((edge) => there.has(edge.source_slot_id) && there.has(edge.target_slot_id)).map((edge) => ({
    id: edge.id, source: edge.source_slot_id, target: edge.target_slot_id, type: edge.edge_type, turn: 0, basis: "", quotes: [],
  }));
  return { items, lines };
}
