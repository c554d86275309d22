"""Sessions as they are now, read without taking them over."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pipeline.concept import SessionConfiguration
from pipeline.outcome import progress
from pipeline.state import InterviewState
from server.auth import Principal
from server.errors import ApiError
from server.export.grid import grid_of
from server.export.material import Material, Row, iso, session_row
from server.hot.errors import SessionErased, SessionNotHot
from server.hot.redis import HotStore
from server.store.repository import Repository

KEPT_CONFIGURATIONS = 64


@dataclass(frozen=True)
class SessionReader:
    """Reads sessions.

    Args:
        hot: sessions that run or ran lately.
        store: all sessions.
    """

    hot: HotStore
    store: Repository
    _configurations: OrderedDict[str, SessionConfiguration] = field(default_factory=OrderedDict)

    async def state(self, session_id: str) -> InterviewState:
        """The latest committed state, from hot storage or the store.

        Raises:
            ApiError: `not_found`, there is no such session or it was erased.
        """
        try:
            data = (await self.hot.read(session_id)).state
        except (SessionErased, SessionNotHot) as exc:
            stored = None if isinstance(exc, SessionErased) else await self.store.stored_session(session_id)
            if stored is None:
                raise ApiError("not_found", "There is no such interview, or it was erased.") from None
            data = stored.state
        return await asyncio.to_thread(InterviewState.load, data)

    async def visible(self, session_id: str, principal: Principal) -> InterviewState:
        """The same, for a moderator within whose scope the session's concept is. Raises ApiError `forbidden`."""
        state = await self.state(session_id)
        if principal.kind == "moderator" and not principal.may_see(state.concept_id):
            raise ApiError("forbidden", "This concept is not within the scope of the token.")
        return state

    async def configuration(self, state: InterviewState) -> SessionConfiguration:
        """The configuration that the session is pinned to. Raises ApiError `internal` where it is missing."""
        known = self._configurations.get(state.config_hash)
        if known is None:
            known = await self.store.load_configuration(state.config_hash)
            if known is None:
                raise ApiError("internal", "The configuration of this interview is missing.")
            self._configurations[state.config_hash] = known
            if len(self._configurations) > KEPT_CONFIGURATIONS:
                self._configurations.popitem(last=False)
        return known

    async def material(self, session_id: str, principal: Principal) -> Material:
        """Everything about a session. Raises ApiError, as `visible`."""
        state = await self.visible(session_id, principal)
        return Material(
            state=state,
            configuration=await self.configuration(state),
            turns=public_rows(await self.store.scores(session_id)),
            actions=public_rows(await self.store.moderator_actions(session_id)),
            calls=public_rows(await self.store.llm_calls(session_id)),
            usage=await self.store.usage(session_id),
        )


def public_rows(rows: Iterable[Row]) -> list[Row]:
    """Rows without the session's id, moments as text."""
    return [
        {
            name: iso(value) if isinstance(value, datetime) else value
            for name, value in row.items()
            if name != "session_id"
        }
        for row in rows
    ]


def session_view(state: InterviewState) -> dict[str, Any]:
    """What a moderator sees of one session's state, graphs and transcript apart."""
    return {
        **session_row(state),
        "progress": progress(state.turn_count, state.max_turns, state.status),
        "config_hash": state.config_hash,
        "seed": str(state.seed),
        "consent": state.consent.model_dump(mode="json") if state.consent else None,
        "paused_by": state.paused_by,
        "claimed_by": state.claimed_by,
        "question": state.question.model_dump(mode="json") if state.question else None,
        "focus_history": [entry.model_dump(mode="json") for entry in state.focus_history],
        "strategy_history": list(state.strategy_history),
        "saturation": state.saturation.model_dump(mode="json"),
        "depths": list(state.depths),
        "engagements": list(state.engagements),
        "phase": state.phase,
        "saturation_score": state.saturation_score,
        "settings": state.settings,
        "guide": [item.model_dump(mode="json") for item in state.guide],
        "threads": [thread.model_dump(mode="json") for thread in state.threads],
        "coverage": [entry.model_dump(mode="json") for entry in state.coverage],
        "grid": grid_of(state.grid),
    }
