"""Builds the frames that moderators get from events, states and turn records of a session."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.state import InterviewState
from server.export.grid import grid_of
from server.protocol.base import Message
from server.protocol.outbound import QuestionDelta, QuestionStarted, QuestionWithdrawn, RatedElement, TranscriptPartial
from server.protocol.watched import (
    Action,
    ActionView,
    Continuation,
    GraphDelta,
    GridConstruct,
    GridView,
    GuideItem,
    Latency,
    NodeSignals,
    Scores,
    Signals,
    WatchedQuestionCompleted,
    WatchedQuestionDelta,
    WatchedQuestionStarted,
    WatchedQuestionWithdrawn,
    WatchedReply,
    WatchedSecondReading,
    WatchedState,
    WatchedTranscriptPartial,
    WatchedTurnFailed,
    WatchedTurnStarted,
)
from server.watch.graphs import changed_nodes, changed_slots, edge_rows_of, node_rows_of

CHAIN = "graph.chain_completion."


def of_message(session_id: str, message: Message) -> Message | None:
    """The frame for an ephemeral message to the respondent; None for messages that moderators don't get."""
    match message:
        case QuestionStarted():
            return WatchedQuestionStarted(
                session_id=session_id, turn_number=message.turn_number, attempt=message.attempt
            )
        case QuestionDelta():
            return WatchedQuestionDelta(
                session_id=session_id, turn_number=message.turn_number, attempt=message.attempt, text=message.text
            )
        case QuestionWithdrawn(turn_number=number, attempt=attempt):
            return WatchedQuestionWithdrawn(session_id=session_id, turn_number=number, attempt=attempt)
        case TranscriptPartial():
            return WatchedTranscriptPartial(session_id=session_id, text=message.text, stable=message.stable)
    return None


def of_event(session_id: str, event: Mapping[str, Any]) -> Message | None:
    """The frame for a durable event; None for events whose content other frames carry."""
    match event.get("type"):
        case "question.completed":
            return WatchedQuestionCompleted(
                session_id=session_id,
                turn_number=event["turn_number"],
                text=event["text"],
                fallback=event["fallback"],
                closing=event.get("closing", False),
            )
        case "interviewer.replied":
            return WatchedReply(
                session_id=session_id,
                turn_number=event["turn_number"],
                act=event["act"],
                text=event["text"],
                open=event["open"],
            )
        case "turn.started":
            return WatchedTurnStarted(session_id=session_id, turn_number=event["turn_number"], attempt=event["attempt"])
        case "turn.failed":
            return WatchedTurnFailed(session_id=session_id, code=event["code"], retryable=event["retryable"])
    return None


def of_state(state: InterviewState) -> WatchedState:
    """The frame with the session's state, who paused or claimed it, and its guide."""
    return WatchedState(
        session_id=state.session_id,
        state=state.status,
        reason=state.status_reason,
        turn_number=state.turn_count,
        max_turns=state.max_turns,
        paused_by=state.paused_by,
        claimed_by=state.claimed_by,
        guide=tuple(GuideItem(**item.model_dump(exclude={"node_ids"})) for item in state.guide),
        grid=_grid(state),
    )


def _grid(state: InterviewState) -> GridView | None:
    found = grid_of(state.grid)
    if found is None:
        return None
    return GridView(
        elements=tuple(RatedElement(**element) for element in found["elements"]),
        constructs=tuple(
            GridConstruct(**{name: construct[name] for name in ("id", "emergent", "contrast", "ratings")})
            for construct in found["constructs"]
        ),
    )


def of_second_readings(before: InterviewState, after: InterviewState) -> list[WatchedSecondReading]:
    """Second readings of answers that are new or gone."""
    known = {u.id: u.second_reading for u in before.utterances}
    return [
        WatchedSecondReading(session_id=after.session_id, turn_number=u.turn_number, text=u.second_reading)
        for u in after.utterances
        if u.second_reading != known.get(u.id)
    ]


def of_action(session_id: str, action: Mapping[str, Any]) -> Action:
    """What a moderator did."""
    known = ("command_id", "type", "who", "turn_number", "at")
    return Action(
        session_id=session_id,
        action=ActionView(
            command_id=action["command_id"],
            action=action["type"],
            moderator=action["who"],
            turn_number=action.get("turn_number"),
            recorded_at=action["at"],
            details={name: value for name, value in action.items() if name not in known},
        ),
    )


def of_record(state: InterviewState, record: TurnRecord, committed_ms: int | None) -> list[Message]:
    """The frames with the decision of a turn and its reasons; `committed_ms` is in milliseconds since 1970."""
    session_id, number = state.session_id, record.turn_number
    frames: list[Message] = []
    if record.signals is not None:
        frames.append(_signals_frame(session_id, record))
    dumped = record.model_dump(mode="json", include={"candidates", "directive"})
    frames.append(
        Scores(
            session_id=session_id,
            turn_number=number,
            strategy=record.strategy,
            node_key=record.node_key,
            node_id=record.node_id,
            candidates=tuple(dumped["candidates"]),
            candidate_count=record.candidate_count,
            directive=dumped["directive"],
        )
    )
    frames.append(
        Continuation(
            session_id=session_id,
            turn_number=number,
            should_continue=record.should_continue,
            metrics=metrics_of(state, record),
            reason="" if record.should_continue else record.reason,
        )
    )
    frames.append(
        Latency(
            session_id=session_id,
            turn_number=number,
            stages_ms=record.stages_ms,
            committed_at=None if committed_ms is None else datetime.fromtimestamp(committed_ms / 1000, UTC).isoformat(),
            fallback=record.fallback,
            fallbacks=record.fallbacks,
        )
    )
    return frames


def metrics_of(state: InterviewState, record: TurnRecord) -> dict[str, Any]:
    """The values that the stopping rule uses, and how complete the chains are."""
    values: Mapping[str, Any] = record.signals.values if record.signals is not None else {}
    return {
        **record.saturation.model_dump(mode="json"),
        "saturation": record.saturation_score,
        "depth": record.depth_score,
        "chain_completion": values.get(f"{CHAIN}ratio"),
        "complete_chains": values.get(f"{CHAIN}has_complete"),
        "turns_remaining": max(0, state.max_turns - record.turn_number),
    }


def _signals_frame(session_id: str, record: TurnRecord) -> Signals:
    matrix = record.signals
    assert matrix is not None
    nodes = matrix.nodes
    by_node = matrix.by_node()
    found = {
        "session_id": session_id,
        "turn_number": record.turn_number,
        "phase": record.phase or matrix.phase,
        "global": dict(matrix.values),
        "nodes": {
            key: NodeSignals(label=label, node_type=kind, signals=dict(by_node.get(key, {})))
            for key, label, kind in zip(nodes.keys, nodes.labels, nodes.node_types, strict=True)
        },
        "strategies": {name: dict(values) for name, values in matrix.strategies.items()},
    }
    return Signals.model_validate(found)


def of_graphs(before: InterviewState, after: InterviewState, configuration: SessionConfiguration) -> GraphDelta:
    """What changed in both graphs between two states."""
    nodes_before = {node.id: node for node in before.nodes}
    edges_before = {edge.id: edge for edge in before.edges}
    added = {node.id for node in after.nodes if node.id not in nodes_before}
    changed = changed_nodes(before, after)
    rows = node_rows_of(after, configuration, added | changed)
    edges = edge_rows_of(after)
    slots, removed = changed_slots(before, after)
    known_edges = {edge.id: edge for edge in before.canonical_edges}
    focus = after.focus_history[-1] if len(after.focus_history) > len(before.focus_history) else None
    mentioned = [
        node.id
        for node in after.nodes
        if node.id in nodes_before and node.mention_count > nodes_before[node.id].mention_count
    ]
    return GraphDelta(
        session_id=after.session_id,
        turn_number=after.turn_count,
        nodes_added=tuple(row for name, row in rows.items() if name in added),
        nodes_changed=tuple(row for name, row in rows.items() if name in changed),
        edges_added=tuple(row for name, row in edges.items() if name not in edges_before),
        edges_changed=tuple(
            edges[edge.id] for edge in after.edges if edge.id in edges_before and edges_before[edge.id] != edge
        ),
        edges_removed=tuple(name for name in edges_before if name not in edges),
        mentions=tuple(mentioned),
        superseded=_superseded(before, after),
        slots=tuple(slots),
        slots_removed=tuple(removed),
        canonical_edges=tuple(
            edge.model_dump(mode="json") for edge in after.canonical_edges if known_edges.get(edge.id) != edge
        ),
        canonical_edges_removed=tuple(known_edges.keys() - {edge.id for edge in after.canonical_edges}),
        focus=focus.model_dump(mode="json") if focus is not None else None,
    )


def _superseded(before: InterviewState, after: InterviewState) -> tuple[str, ...]:
    already = {node.id for node in before.nodes if node.superseded_by is not None}
    return tuple(node.id for node in after.nodes if node.superseded_by is not None and node.id not in already)
