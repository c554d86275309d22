"""A whole session for a watcher who begins to look, or who lost what came in between."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.signals.nodes import STAGNATION_TURNS
from pipeline.state import InterviewState
from server.api.reading import Sources, load_configuration, plain, session_view
from server.export.material import Row, utterance_rows
from server.hot.errors import Gone, SessionNotHot
from server.protocol.codec import encode
from server.protocol.watched import RunningQuestion, Snapshot
from server.session.problems import SessionProblem
from server.watch.exchange import Exchange
from server.watch.graphs import canonical_view, surface_view
from server.watch.reporter import Reporter

FULL_TURNS = 20
FEW_CANDIDATES = 3
KEPT_CONFIGURATIONS = 64
NOBODY: Mapping[str, Any] = {
    "respondent": {"connected": False, "activity": "idle"},
    "partial": None,
    "alerts": [],
    "waiting": False,
    "held_answer": None,
}


class Snapshots:
    """Makes snapshots.

    Args:
        sources: where sessions are read from.
        exchange: knows who watches, and what lives here.
        on_taken: told of every snapshot.
    """

    def __init__(self, sources: Sources, exchange: Exchange, on_taken: Callable[[], None] = lambda: None) -> None:
        self._sources = sources
        self._exchange = exchange
        self._on_taken = on_taken
        self._configurations: OrderedDict[str, SessionConfiguration] = OrderedDict()

    async def state(self, session_id: str) -> InterviewState:
        """The latest committed state. Raises SessionProblem `not_found`."""
        try:
            data = (await self._sources.hot.read(session_id)).state
        except (Gone, SessionNotHot) as exc:
            stored = None if isinstance(exc, Gone) else await self._sources.store.stored_session(session_id)
            if stored is None:
                raise SessionProblem("not_found") from exc
            data = stored.state
        return await asyncio.to_thread(InterviewState.load, data)

    async def configuration(self, state: InterviewState) -> SessionConfiguration:
        """What the session is pinned to."""
        known = self._configurations.get(state.config_hash)
        if known is None:
            known = await load_configuration(self._sources, state)
            self._configurations[state.config_hash] = known
            if len(self._configurations) > KEPT_CONFIGURATIONS:
                self._configurations.popitem(last=False)
        return known

    async def take(self, session_id: str) -> tuple[int, str]:
        """The revision and the frame of a session. Raises SessionProblem `not_found`."""
        state = await self.state(session_id)
        configuration = await self.configuration(state)
        store = self._sources.store
        turns = await store.scores(session_id)
        actions = await store.moderator_actions(session_id)
        usage = (await store.usage(session_id)).model_dump()
        source = self._exchange.source(session_id)
        live, question = NOBODY, None
        if isinstance(source, Reporter):
            live, question = source.live(), source.question
        watchers = self._exchange.names(session_id)
        text = await asyncio.to_thread(
            _frame, state, configuration, turns, actions, usage, {**live, "watchers": watchers}, question
        )
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
        "usage": usage,
        "moderator_actions": plain(actions),
        "transcript": utterance_rows(state),
        "graph": surface_view(state, configuration),
        "canonical": canonical_view(state),
        "turns": _turns(plain(turns)),
        **about(configuration),
        **live,
    }
    return encode(Snapshot(session_id=state.session_id, state=view, question=question))


def about(configuration: SessionConfiguration) -> dict[str, Any]:
    """What a page needs of the configuration: the stopping rule, the types of nodes, the strategies."""
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
            for strategy in methodology.strategies
        ],
    }


def _turns(rows: Sequence[Row]) -> list[Row]:
    """All turns; of older ones only the best candidates."""
    older = len(rows) - FULL_TURNS
    return [
        {**row, "candidates": row["candidates"][:FEW_CANDIDATES]} if position < older else row
        for position, row in enumerate(rows)
    ]
