"""What a turn leads to: the next state, the events, the record, the full result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pipeline.context import Answer, TurnContext
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    ExtractionOutput,
    GraphOutput,
    QuestionOutput,
    RatingOutput,
    ResponseOutput,
    ScoringOutput,
    SlotsOutput,
    StateOutput,
    StrategyOutput,
    TurnRecord,
    TurnResult,
    UtteranceOutput,
)
from pipeline.ports import Vectors
from pipeline.stages.strategy import full_signals
from pipeline.state import InterviewState, Receipt, SessionStatus

Event = dict[str, Any]
PHASE_NAMES = {"early": "exploratory", "mid": "focused", "late": "closing"}
"""The phases as the graph state calls them."""
KNOWLEDGE_LANE = ("srl", "extraction", "graph", "slots")


@dataclass(frozen=True)
class Outcome:
    """Everything one commit makes true. `events` are durable and get their ids from the commit."""

    state: InterviewState
    events: tuple[Event, ...]
    result: TurnResult | None = None
    record: TurnRecord | None = None
    embeddings: dict[str, Vectors] = field(default_factory=dict)


def answer_digest(answer: Answer) -> str:
    """Tells apart two answers with the same turn_key."""
    return sha256(f"{answer.kind}\0{answer.corrects or ''}\0{answer.text}".encode("utf-8", "surrogatepass")).hexdigest()


def progress(turn_count: int, max_turns: int, status: SessionStatus) -> float:
    """How far the interview is at the least, in [0, 1]; it may end earlier."""
    return 1.0 if status == "completed" else min(0.99, turn_count / max_turns)


def outcome_of(context: TurnContext) -> Outcome:
    """The outcome of a turn whose stages have all run."""
    state = _next_state(context)
    said = state.last_answer()
    public = {
        "should_continue": state.status != "completed",
        "turn_number": state.turn_count,
        "max_turns": state.max_turns,
        "progress": progress(state.turn_count, state.max_turns, state.status),
        "utterance_id": (said or context.get(UtteranceOutput).utterance).id,
    }
    receipt = Receipt(
        turn_key=context.answer.turn_key,
        turn_number=state.turn_count,
        digest=answer_digest(context.answer),
        result=public,
    )
    state = state.model_copy(update={"receipts": (*state.receipts, receipt)})
    question = context.get(QuestionOutput)
    asked: Event = {
        "type": "question.completed",
        "turn_number": state.turn_count,
        "text": question.text,
        "fallback": question.fallback,
    }
    events: list[Event] = [
        {**asked, "closing": True} if state.status == "completed" else asked,
        {
            "type": "turn.completed",
            "turn_number": state.turn_count,
            "turn_key": context.answer.turn_key,
            "result": public,
        },
    ]
    if state.status != context.state.status:
        events.append({"type": "session.state", "state": state.status, "reason": state.status_reason})
    slots = context.get(SlotsOutput)
    return Outcome(
        state=state,
        events=tuple(events),
        result=_result(context),
        record=context.get(ScoringOutput).record,
        embeddings={**context.get(GraphOutput).embeddings, **slots.embeddings},
    )


def _latency_ms(stages_ms: Mapping[str, float]) -> float:
    """Time of the whole turn: of the two parallel lanes the longer one counts."""
    knowledge = sum(stages_ms.get(name, 0.0) for name in KNOWLEDGE_LANE)
    return sum(stages_ms.values()) - min(knowledge, stages_ms.get("rating", 0.0))


def _next_state(context: TurnContext) -> InterviewState:
    before = context.state
    said = context.get(UtteranceOutput).utterance
    changed = context.get(GraphOutput)
    slots = context.get(SlotsOutput)
    measured = context.get(StateOutput)
    chosen = context.get(StrategyOutput)
    going = context.get(ContinuationOutput)
    response = context.get(ResponseOutput)
    entry = context.get(ScoringOutput).focus_entry
    rated = context.get(RatingOutput).rated
    followed = chosen.directive.command_id if chosen.directive else None
    status: SessionStatus = "completed" if going.complete else "closing" if going.ask_closing else before.status
    update: dict[str, Any] = {
        "status": status,
        "status_reason": before.status_reason if before.status == "closing" else going.reason or before.status_reason,
        "rev": before.rev + 1,
        "turn_count": before.turn_count + 1,
        "updated_at": context.now,
        "utterances": (*before.utterances, said, response.utterance),
        "question": response.asked,
        "directives": tuple(d for d in before.directives if d.command_id != followed),
        "nodes": tuple(changed.graph.nodes.values()),
        "edges": tuple(changed.graph.edges.values()),
        "tensions": tuple(changed.graph.tensions),
        "slot_backlog": slots.backlog,
        "tracker": going.tracker.snapshot(),
        "strategy_history": (*before.strategy_history, going.strategy) if going.strategy else before.strategy_history,
        "focus_history": (*before.focus_history, entry) if entry else before.focus_history,
        "depths": chosen.depths,
        "engagements": before.engagements if rated is None else (*before.engagements, rated.engagement),
        "phase": chosen.signals.phase,
        "saturation_score": context.get(ScoringOutput).saturation_score,
        "surface_velocity": measured.surface_velocity,
        "canonical_velocity": measured.canonical_velocity,
        "saturation": measured.saturation,
    }
    if slots.canonical is not None:
        update |= {
            "slots": tuple(slots.canonical.slots.values()),
            "mappings": tuple(slots.canonical.mappings.values()),
            "canonical_edges": tuple(slots.canonical.edges.values()),
        }
    return before.model_copy(update=update)


def _result(context: TurnContext) -> TurnResult:
    """The full result of a turn."""
    extraction = context.get(ExtractionOutput).extraction
    changed = context.get(GraphOutput)
    slots = context.get(SlotsOutput)
    measured = context.get(StateOutput)
    chosen = context.get(StrategyOutput)
    going = context.get(ContinuationOutput)
    question = context.get(QuestionOutput)
    scoring = context.get(ScoringOutput)
    surface, canonical = measured.graph_state, measured.canonical_state
    candidates = chosen.decision.candidates if chosen.decision else ()
    comparison = None
    if canonical is not None and slots.canonical is not None:
        live = {node.id for node in changed.graph.live_nodes()}
        mapped = sum(node_id in live for node_id in slots.canonical.mappings)
        supported = sum(slot.support_count > 0 for slot in slots.canonical.slots.values())
        comparison = {
            "surface_nodes": surface.node_count,
            "canonical_slots": canonical.concept_count,
            "candidate_slots": canonical.candidate_count,
            "reduction_ratio": 1 - supported / surface.node_count if surface.node_count else 0.0,
            "surface_edges": surface.edge_count,
            "canonical_edges": canonical.edge_count,
            "mapped_nodes": mapped,
            "unmapped_nodes": len(slots.backlog),
            "orphan_difference": surface.orphan_count - canonical.orphan_count,
            "depth_difference": surface.max_depth - canonical.max_depth,
        }
    matrix = chosen.signals
    return TurnResult.model_construct(
        turn_number=context.get(ContextOutput).turn_number,
        extracted={
            "concepts": [concept.model_dump() for concept in extraction.concepts],
            "relationships": [relationship.model_dump() for relationship in extraction.relationships],
            "dropped": [element.model_dump() for element in extraction.dropped],
        },
        graph_state={
            **surface.model_dump(),
            "depth_achieved": surface.max_depth,
            "current_phase": PHASE_NAMES[matrix.phase],
            "turn_count": context.get(ContextOutput).turn_number,
            "strategy_history": list(context.get(ContextOutput).strategy_history),
        },
        scoring={"depth": scoring.depth_score, "saturation": scoring.saturation_score},
        strategy_selected=going.strategy,
        next_question=question.text,
        should_continue=going.should_continue,
        latency_ms=_latency_ms(context.stages_ms),
        stages_ms=dict(context.stages_ms),
        signals=full_signals(matrix),
        strategy_alternatives=tuple(
            {"strategy": c.strategy, "node_id": c.node_key, "score": c.final_score} for c in candidates
        ),
        termination_reason=going.reason or None,
        canonical_graph=canonical.model_dump() if canonical else None,
        graph_comparison=comparison,
        nodes_added=tuple(node.model_dump(mode="json") for node in changed.nodes_added),
        edges_added=tuple(edge.model_dump(mode="json") for edge in changed.edges_added),
        saturation_metrics=measured.saturation.model_dump(),
        node_signals=matrix.by_node(),
        score_decomposition=candidates,
        has_llm_fallback=question.fallback or bool(scoring.record.fallbacks),
    )
