"""What a turn leads to: the next state, the events, and the record."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pipeline.context import Answer, TurnContext
from pipeline.contracts import (
    ContinuationOutput,
    GraphOutput,
    QuestionOutput,
    RatingOutput,
    ResponseOutput,
    ScoringOutput,
    SlotsOutput,
    StateOutput,
    StrategyOutput,
    TurnRecord,
    UtteranceOutput,
)
from pipeline.ports import Vectors
from pipeline.state import InterviewState, Receipt, SessionStatus

Event = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What one commit writes. `events` are durable and get their ids from the commit."""

    state: InterviewState
    events: tuple[Event, ...]
    record: TurnRecord | None = None
    embeddings: dict[str, Vectors] = field(default_factory=dict)


def answer_digest(answer: Answer) -> str:
    """SHA-256 of an answer, to detect another answer with the same turn_key."""
    return sha256(f"{answer.kind}\0{answer.corrects or ''}\0{answer.text}".encode("utf-8", "surrogatepass")).hexdigest()


def progress(turn_count: int, max_turns: int, status: SessionStatus) -> float:
    """Lower bound of how much of the interview is done, in [0, 1]; it may end before the last turn."""
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
        record=context.get(ScoringOutput).record,
        embeddings={**context.get(GraphOutput).embeddings, **slots.embeddings},
    )


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
        "saturation_score": context.get(ScoringOutput).record.saturation_score,
        "surface_velocity": measured.surface_velocity,
        "canonical_velocity": measured.canonical_velocity,
        "saturation": measured.saturation,
        "qualities": measured.qualities,
        "momentum": measured.momentum,
        "engine_state": chosen.decision.engine_state if chosen.decision is not None else before.engine_state,
    }
    if slots.canonical is not None:
        update |= {
            "slots": tuple(slots.canonical.slots.values()),
            "mappings": tuple(slots.canonical.mappings.values()),
            "canonical_edges": tuple(slots.canonical.edges.values()),
        }
    return before.model_copy(update=update)
