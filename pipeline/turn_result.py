"""The full result of one turn, put together on demand from what its commit leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.engines.base import ScoredCandidate
from pipeline.graph.canonical import CanonicalGraph
from pipeline.graph.metrics import CanonicalGraphState, GraphState, measure, measure_canonical
from pipeline.graph.surface import SurfaceGraph
from pipeline.records import Record
from pipeline.signals.base import SignalMatrix
from pipeline.state import InterviewState

PHASE_NAMES = {"early": "exploratory", "mid": "focused", "late": "closing"}
"""The phases of methodologies as the graph state of a result names them; engines name their own as they are."""
KNOWLEDGE_LANE = ("srl", "extraction", "graph", "slots")
"""Stages that run beside the rating."""
STRATEGY_HISTORY = 30
"""Strategies of earlier turns that a result lists at most, oldest first."""


class TurnResult(Record):
    """Everything one turn did, in values that can be written as JSON.

    `graph_state` are the measures of the surface graph after the turn, with `depth_achieved` (nodes), `current_phase`
    (by PHASE_NAMES, or as the engine calls it), `turn_count`, and the `strategy_history` before the turn. `scoring`
    holds `depth` and `saturation`, each in [0, 1] or None. `canonical_graph` and `graph_comparison` are None where the
    canonical graph is switched off. `strategy_alternatives` and `score_decomposition` are the candidates of the
    decision, best first, and empty where nothing was decided. `stages_ms` and `latency_ms` are milliseconds and end
    with stage `response`.
    """

    turn_number: int
    graph_state: dict[str, Any]
    scoring: dict[str, float | None]
    strategy_selected: str | None
    next_question: str
    should_continue: bool
    latency_ms: float
    stages_ms: dict[str, float]
    signals: dict[str, Any]
    strategy_alternatives: tuple[dict[str, Any], ...]
    termination_reason: str | None
    canonical_graph: dict[str, Any] | None
    graph_comparison: dict[str, Any] | None
    nodes_added: tuple[dict[str, Any], ...]
    edges_added: tuple[dict[str, Any], ...]
    saturation_metrics: dict[str, Any]
    node_signals: dict[str, dict[str, Any]]
    score_decomposition: tuple[ScoredCandidate, ...]
    has_llm_fallback: bool


def turn_result(
    before: InterviewState, after: InterviewState, record: TurnRecord, configuration: SessionConfiguration
) -> TurnResult:
    """The full result of a turn. O(nodes + edges).

    Args:
        before: the state that the turn started from.
        after: the state that its commit wrote, not a later one.
        record: of this turn.
        configuration: of the session.
    Raises:
        ValueError: record and states are not of the same turn.
    """
    if (before.turn_count + 1, after.turn_count) != (record.turn_number, record.turn_number):
        raise ValueError(
            f"record of turn {record.turn_number} between states of turns {before.turn_count} and {after.turn_count}"
        )
    graph = after.surface_graph()
    surface = measure(graph, configuration.methodology.ontology)
    canonical = comparison = None
    if configuration.settings.enable_canonical_slots:
        slots = after.canonical_graph()
        canonical = measure_canonical(slots)
        comparison = _comparison(graph, surface, slots, canonical, unmapped=len(after.slot_backlog))
    matrix = record.signals if record.signals is not None else SignalMatrix()
    nodes_before = {node.id for node in before.nodes}
    edges_before = {edge.id for edge in before.edges}
    return TurnResult(
        turn_number=record.turn_number,
        graph_state={
            **surface.model_dump(mode="json"),
            "depth_achieved": surface.max_depth,
            "current_phase": PHASE_NAMES.get(record.phase or "", record.phase),
            "turn_count": record.turn_number,
            "strategy_history": list(before.strategy_history[-STRATEGY_HISTORY:]),
        },
        scoring={"depth": record.depth_score, "saturation": record.saturation_score},
        strategy_selected=record.strategy,
        next_question=_interviewer_text(after, record.turn_number),
        should_continue=record.should_continue,
        latency_ms=_latency_ms(record.stages_ms),
        stages_ms=record.stages_ms,
        signals={**matrix.values, **{name: dict(values) for name, values in matrix.strategies.items()}},
        strategy_alternatives=tuple(
            {"strategy": c.strategy, "node_id": c.node_key, "score": c.final_score} for c in record.candidates
        ),
        termination_reason=None if record.should_continue else record.reason or None,
        canonical_graph=canonical.model_dump() if canonical is not None else None,
        graph_comparison=comparison,
        nodes_added=tuple(node.model_dump(mode="json") for node in after.nodes if node.id not in nodes_before),
        edges_added=tuple(edge.model_dump(mode="json") for edge in after.edges if edge.id not in edges_before),
        saturation_metrics=record.saturation.model_dump(),
        node_signals=matrix.by_node(),
        score_decomposition=record.candidates,
        has_llm_fallback=record.fallback or bool(record.fallbacks),
    )


def _comparison(
    graph: SurfaceGraph, surface: GraphState, slots: CanonicalGraph, canonical: CanonicalGraphState, *, unmapped: int
) -> dict[str, Any]:
    """The surface graph and the canonical graph side by side; `reduction_ratio` is at most 1."""
    live = {node.id for node in graph.live_nodes()}
    supported = sum(slot.support_count > 0 for slot in slots.slots.values())
    return {
        "surface_nodes": surface.node_count,
        "canonical_slots": canonical.concept_count,
        "candidate_slots": canonical.candidate_count,
        "reduction_ratio": 1 - supported / surface.node_count if surface.node_count else 0.0,
        "surface_edges": surface.edge_count,
        "canonical_edges": canonical.edge_count,
        "mapped_nodes": sum(node_id in live for node_id in slots.mappings),
        "unmapped_nodes": unmapped,
        "orphan_difference": surface.orphan_count - canonical.orphan_count,
        "depth_difference": surface.max_depth - canonical.max_depth,
    }


def _interviewer_text(state: InterviewState, turn_number: int) -> str:
    """What the interviewer said in that turn, before anybody asked for other words."""
    for utterance in reversed(state.utterances):
        if (utterance.speaker, utterance.turn_number) == ("interviewer", turn_number) and utterance.kind != "rephrase":
            return utterance.text
    return ""


def _latency_ms(stages_ms: Mapping[str, float]) -> float:
    """Time of the whole turn: of the two parallel lanes the longer one counts."""
    knowledge = sum(stages_ms.get(name, 0.0) for name in KNOWLEDGE_LANE)
    return sum(stages_ms.values()) - min(knowledge, stages_ms.get("rating", 0.0))
