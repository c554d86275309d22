"""The surface and the canonical graph as rows, and what changed between two states."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.graph.canonical import SlotMapping
from pipeline.signals.nodes import exhausted, exhaustion_score
from pipeline.state import InterviewState
from server.export.material import Row, edge_rows, node_rows, slot_rows, tension_rows


def node_rows_of(
    state: InterviewState, configuration: SessionConfiguration, only: Collection[str] | None = None
) -> dict[str, Row]:
    """Nodes of the surface graph, those of `only` if it is given; `exhaustion` in [0, 1], `exhausted`, `focus_count`
    and `declined` are of the identity that a node is tracked by, its `key`.
    """
    tracking = tracked(state)
    return {row["id"]: {**row, **tracking[row["id"]]} for row in node_rows(state, configuration, only)}


def tracked(state: InterviewState) -> dict[str, Row]:
    """By node: the key it is tracked by, its exhaustion, and how often it was asked about or declined."""
    canonical = state.canonical_graph()
    states = {known.key: known for known in state.tracker.states}
    found: dict[str, Row] = {}
    for node in state.nodes:
        known = states.get(canonical.key_of(node.id))
        found[node.id] = {
            "key": known.key if known is not None else node.id,
            "exhaustion": round(exhaustion_score(known), 4) if known is not None else 0.0,
            "exhausted": exhausted(known) if known is not None else False,
            "focus_count": known.focus_count if known is not None else 0,
            "declined": known.declined if known is not None else False,
        }
    return found


def changed_nodes(before: InterviewState, after: InterviewState) -> set[str]:
    """Nodes of both states whose rows differ."""
    old, new = {node.id: node for node in before.nodes}, {node.id: node for node in after.nodes}
    tracked_before, tracked_after = tracked(before), tracked(after)
    slots_before, slots_after = _slots_by_node(before), _slots_by_node(after)
    return {
        name
        for name in old.keys() & new.keys()
        if old[name] != new[name]
        or tracked_before[name] != tracked_after[name]
        or slots_before.get(name) != slots_after.get(name)
    }


def _slots_by_node(state: InterviewState) -> dict[str, tuple[str, str | None]]:
    names = {slot.id: slot.slot_name for slot in state.slots}
    return {m.surface_node_id: (m.canonical_slot_id, names.get(m.canonical_slot_id)) for m in state.mappings}


def edge_rows_of(state: InterviewState) -> dict[str, Row]:
    """Edges of the surface graph."""
    return {row["id"]: row for row in edge_rows(state.edges)}


def canonical_edge_rows(state: InterviewState) -> dict[str, Row]:
    """Edges of the canonical graph."""
    return {edge.id: edge.model_dump(mode="json") for edge in state.canonical_edges}


def changed_slots(before: InterviewState, after: InterviewState) -> tuple[list[Row], list[str]]:
    """Canonical slots that are new or changed, and the ids of those that were removed."""
    old, new = {slot.id: slot for slot in before.slots}, {slot.id: slot for slot in after.slots}
    members_before, members_after = _mappings_by_slot(before), _mappings_by_slot(after)
    changed = {
        name
        for name, slot in new.items()
        if old.get(name) != slot or members_before.get(name) != members_after.get(name)
    }
    return slot_rows(after, changed) if changed else [], [name for name in old if name not in new]


def _mappings_by_slot(state: InterviewState) -> dict[str, list[SlotMapping]]:
    found: dict[str, list[SlotMapping]] = {}
    for mapping in state.mappings:
        found.setdefault(mapping.canonical_slot_id, []).append(mapping)
    return found


def surface_view(state: InterviewState, configuration: SessionConfiguration) -> dict[str, Any]:
    """The surface graph, complete."""
    return {
        "nodes": list(node_rows_of(state, configuration).values()),
        "edges": list(edge_rows_of(state).values()),
        "tensions": tension_rows(state),
    }


def canonical_view(state: InterviewState) -> dict[str, Any]:
    """The canonical graph, complete."""
    return {
        "slots": slot_rows(state),
        "edges": list(canonical_edge_rows(state).values()),
        "backlog": list(state.slot_backlog),
    }
