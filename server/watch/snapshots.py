"""Snapshots: a whole session in one frame, for moderators who begin to watch it or who lost updates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.engines.registry import strategies_of
from pipeline.signals.nodes import STAGNATION_TURNS
from pipeline.state import InterviewState
from server.export.material import Row, utterance_rows
from server.protocol.codec import encode
from server.protocol.watched import RunningQuestion, Snapshot
from server.reading import SessionReader, public_rows, session_view
from server.watch.elements import coverage_view
from server.watch.exchange import LiveExchange
from server.watch.graphs import canonical_view, surface_view

FULL_TURNS = 20
FEW_CANDIDATES = 3
NOT_LIVE: Mapping[str, Any] = {
    "respondent": {"connected": False, "activity": "idle"},
    "partial": None,
    "alerts": [],
    "waiting": False,
    "held_answer": None,
}


class SnapshotMaker:
    """Makes snapshots.

    Args:
        reader: reads sessions.
        exchange: knows the watchers, and the sessions that run on this node.
        on_taken: called after every snapshot.
    """

    def __init__(self, reader: SessionReader, exchange: LiveExchange, on_taken: Callable[[], None]) -> None:
        self._reader = reader
        self._exchange = exchange
        self._on_taken = on_taken

    async def take(self, session_id: str) -> tuple[int, str]:
        """The revision and the frame of a session. Raises ApiError `not_found`, StoreError, HotError."""
        state = await self._reader.state(session_id)
        configuration = await self._reader.configuration(state)
        store = self._reader.store
        turns = await store.scores(session_id)
        actions = await store.moderator_actions(session_id)
        usage = (await store.usage(session_id)).model_dump()
        live = self._exchange.session(session_id)
        shown = {**(NOT_LIVE if live is None else live.snapshot()), "watchers": self._exchange.names(session_id)}
        question = live.question if live is not None else None
        text = await asyncio.to_thread(_frame, state, configuration, turns, actions, usage, shown, question)
        self._on_taken()
        return state.rev, text


def _frame(
    state: InterviewState,
    configuration: SessionConfiguration,
    turns: Sequence[Row],
    actions: Sequence[Row],
    usage: Mapping[str, Any],
    live: Mapping[str, Any],
    question: RunningQuestion | None,
) -> str:
    view = {
        **session_view(state),
        **coverage_view(state, configuration),
        "usage": usage,
        "moderator_actions": public_rows(actions),
        "transcript": utterance_rows(state),
        "graph": surface_view(state, configuration),
        "canonical": canonical_view(state),
        "turns": _turns(public_rows(turns)),
        **configuration_view(state.engine, configuration),
        **live,
    }
    return encode(Snapshot(session_id=state.session_id, state=view, question=question))


def configuration_view(engine: str, configuration: SessionConfiguration) -> dict[str, Any]:
    """The stopping rule, node types and strategies of an interview with that engine and configuration."""
    settings, methodology = configuration.settings, configuration.methodology
    return {
        "limits": {
            "low_info_limit": settings.low_info_limit,
            "shallow_limit": settings.shallow_limit,
            "depth_plateau_limit": settings.depth_plateau_limit,
            "stagnation_turns": STAGNATION_TURNS,
            "min_turn_for_saturation": settings.min_turn_for_saturation,
        },
        "ontology": {
            "nodes": [
                {"name": kind.name, "level": kind.level, "terminal": kind.terminal}
                for kind in methodology.ontology.nodes
            ]
        },
        "strategies": [
            {
                "name": strategy.name,
                "description": strategy.description,
                "node_binding": strategy.node_binding,
                "closing": strategy.generates_closing_question,
            }
            for strategy in strategies_of(engine, configuration)
        ],
    }


def _turns(rows: Sequence[Row]) -> list[Row]:
    """The rows of all turns; older ones have only their best candidates."""
    older = len(rows) - FULL_TURNS
    return [
        {**row, "candidates": row["candidates"][:FEW_CANDIDATES]} if position < older else row
        for position, row in enumerate(rows)
    ]
