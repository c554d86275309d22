"""What a turn leads to: the next state, the events, and the record."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from pipeline.conduct.memory import remembered
from pipeline.conduct.move import Move
from pipeline.context import Answer, TurnContext
from pipeline.contracts import (
    ContextOutput,
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
from pipeline.grid.rating import form_of
from pipeline.ports import Vectors
from pipeline.state import InterviewState, Receipt, SessionStatus, Utterance

Event = dict[str, Any]
STOPPING = "stopping"
"""The respondent wants to stop, and may still take it back."""
STOPPED = "stopped_by_respondent"
HELD_BACK = "under_age"
WITHDRAWN = "withdrawn"


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
    """The outcome of a turn, or of a reply that uses none, whose stages have all run."""
    move = context.get(StrategyOutput).move
    counts = move is None or move.counts
    state = _next_state(context, move, counts=counts)
    said = context.get(UtteranceOutput).utterance
    public = {
        "should_continue": state.status != "completed" and state.conduct.stopping_until is None,
        "turn_number": state.turn_count,
        "max_turns": state.max_turns,
        "progress": progress(state.turn_count, state.max_turns, state.status),
        "utterance_id": said.id if counts and said.text else (state.last_answer() or said).id,
    }
    receipt = Receipt(
        turn_key=context.answer.turn_key,
        turn_number=state.turn_count if counts else said.turn_number,
        digest=answer_digest(context.answer),
        result=public,
    )
    state = state.model_copy(update={"receipts": (*state.receipts, receipt)})
    events = _turn_events(context, state, public) if counts else [_replied(context, state, public)]
    if state.status != context.state.status:
        events.append({"type": "session.state", "state": state.status, "reason": state.status_reason})
    slots = context.get(SlotsOutput)
    return Outcome(
        state=state,
        events=tuple(events),
        record=context.get(ScoringOutput).record if counts else None,
        embeddings={**context.get(GraphOutput).embeddings, **slots.embeddings},
    )


def _turn_events(context: TurnContext, state: InterviewState, public: dict[str, Any]) -> list[Event]:
    question = context.get(QuestionOutput)
    asked: Event = {
        "type": "question.completed",
        "turn_number": state.turn_count,
        "text": question.text,
        "fallback": question.fallback,
    }
    ratings = form_of(state.grid, state.question.target if state.question is not None else None)
    if ratings is not None:
        asked["ratings"] = ratings
    return [
        {**asked, "closing": True} if state.status == "completed" else asked,
        {
            "type": "turn.completed",
            "turn_number": state.turn_count,
            "turn_key": context.answer.turn_key,
            "result": public,
        },
    ]


def _replied(context: TurnContext, state: InterviewState, public: dict[str, Any]) -> Event:
    """The event of a reply that uses no turn; `open` says whether a question waits for an answer."""
    move = context.get(StrategyOutput).move
    assert move is not None
    return {
        "type": "interviewer.replied",
        "turn_number": context.get(UtteranceOutput).utterance.turn_number,
        "turn_key": context.answer.turn_key,
        "act": move.act,
        "text": context.get(QuestionOutput).text,
        "help": move.help,
        "offers": _offers(context, state),
        "open": state.question is not None,
        "result": public,
    }


def _offers(context: TurnContext, state: InterviewState) -> list[dict[str, str]]:
    policy = context.configuration.conduct
    labels = policy.texts.offers if policy is not None else {}
    return [{"name": name, "label": labels[name]} for name in state.conduct.offers if name in labels]


def _next_state(context: TurnContext, move: Move | None, *, counts: bool) -> InterviewState:
    before = context.state
    said = context.get(UtteranceOutput).utterance
    changed = context.get(GraphOutput)
    slots = context.get(SlotsOutput)
    going = context.get(ContinuationOutput)
    response = context.get(ResponseOutput)
    entry = context.get(ScoringOutput).focus_entry
    chosen = context.get(StrategyOutput)
    followed = chosen.directive.command_id if chosen.directive else None
    update: dict[str, Any] = {
        "rev": before.rev + 1,
        "updated_at": context.now,
        "utterances": (*(_put_right(u, said) for u in before.utterances), said, response.utterance),
        "question": response.asked,
        "directives": tuple(d for d in before.directives if d.command_id != followed),
        "nodes": tuple(changed.graph.nodes.values()),
        "edges": tuple(changed.graph.edges.values()),
        "tensions": tuple(changed.graph.tensions),
        "slot_backlog": slots.backlog,
        "tracker": going.tracker.snapshot(),
        "strategy_history": (*before.strategy_history, going.strategy) if going.strategy else before.strategy_history,
        "focus_history": (*before.focus_history, entry) if entry else before.focus_history,
        **_status(before, going, move, reopened=context.get(ContextOutput).reopened),
        **(_measured(context) if counts else {}),
    }
    if slots.canonical is not None:
        update |= {
            "slots": tuple(slots.canonical.slots.values()),
            "mappings": tuple(slots.canonical.mappings.values()),
            "canonical_edges": tuple(slots.canonical.edges.values()),
        }
    policy = context.configuration.conduct
    if policy is not None:
        turn = context.get(UtteranceOutput).utterance.turn_number
        update["conduct"] = remembered(before.conduct, move, turn_number=turn, now=context.now, policy=policy)
    return before.model_copy(update=update)


def _put_right(earlier: Utterance, said: Utterance) -> Utterance:
    """An earlier utterance; where it is corrected now, nobody needs its second reading any more."""
    if earlier.id != said.corrects or earlier.second_reading is None:
        return earlier
    return earlier.model_copy(update={"second_reading": None})


def _status(before: InterviewState, going: ContinuationOutput, move: Move | None, *, reopened: bool) -> dict[str, Any]:
    """Status and its reason after the turn, and what is kept for a stop that is taken back."""
    if move is not None and move.then == "stop":
        kept = {"stopped_question": before.question, "resume_status": before.status}
        return {"status": "closing", "status_reason": STOPPING, "directives": (), **kept}
    if move is not None and move.then in ("hold", "withdraw"):
        return {
            "status": "completed",
            "status_reason": HELD_BACK if move.then == "hold" else WITHDRAWN,
            "directives": (),
        }
    if reopened and not (going.complete or going.ask_closing):
        return {"status": "active", "status_reason": ""}
    status: SessionStatus = "completed" if going.complete else "closing" if going.ask_closing else before.status
    reason = before.status_reason if before.status == "closing" else going.reason or before.status_reason
    return {"status": status, "status_reason": reason}


def _measured(context: TurnContext) -> dict[str, Any]:
    """What only a turn changes: its number, and the measures of the answer."""
    before = context.state
    measured, chosen = context.get(StateOutput), context.get(StrategyOutput)
    rated = context.get(RatingOutput).rated
    return {
        "turn_count": before.turn_count + 1,
        "depths": chosen.depths,
        "engagements": before.engagements if rated is None else (*before.engagements, rated.engagement),
        "phase": chosen.phase,
        "saturation_score": context.get(ScoringOutput).record.saturation_score,
        "surface_velocity": measured.surface_velocity,
        "canonical_velocity": measured.canonical_velocity,
        "saturation": measured.saturation,
        "qualities": measured.qualities,
        "momentum": measured.momentum,
        "coverage": measured.coverage,
        "threads": context.get(ContinuationOutput).threads,
        "guide": context.get(ContinuationOutput).guide,
        "grid": context.get(ContinuationOutput).grid,
        "engine_state": chosen.decision.engine_state if chosen.decision is not None else before.engine_state,
    }
