"""Both graphs as rows by id, with what the interview did with each node."""

from __future__ import annotations

from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.signals.nodes import exhausted, exhaustion_score
from pipeline.state import InterviewState
from server.export.material import Row, edge_rows, node_rows, slot_rows, tension_rows


def node_rows_of(state: InterviewState, configuration: SessionConfiguration) -> dict[str, Row]:
    """Nodes of the surface graph; `exhaustion` in [0, 1], `focus_count` and `declined` are of the tracked identity."""
    canonical = state.canonical_graph()
    tracked = {known.key: known for known in state.tracker.states}
    rows: dict[str, Row] = {}
    for row in node_rows(state, configuration):
        known = tracked.get(canonical.key_of(row["id"]))
        rows[row["id"]] = {
            **row,
            "key": known.key if known is not None else row["id"],
            "exhaustion": round(exhaustion_score(known), 4) if known is not None else 0.0,
            "exhausted": exhausted(known) if known is not None else False,
            "focus_count": known.focus_count if known is not None else 0,
            "declined": known.declined if known is not None else False,
        }
    return rows


def edge_rows_of(state: InterviewState) -> dict[str, Row]:
    """Edges of the surface graph."""
    return {row["id"]: row for row in edge_rows(state)}


def canonical_edge_rows(state: InterviewState) -> dict[str, Row]:
    """Edges of the canonical graph."""
    return {edge.id: edge.model_dump(mode="json") for edge in state.canonical_edges}


def changed_slots(before: InterviewState, after: InterviewState) -> tuple[list[Row], list[str]]:
    """Canonical slots that are new or changed, and the ids of those that are gone."""
    known = {row["id"]: row for row in slot_rows(before)}
    rows = {row["id"]: row for row in slot_rows(after)}
    return [row for name, row in rows.items() if known.get(name) != row], [name for name in known if name not in rows]


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
