"""What an interview does by itself after a reply: it completes a stop, or is erased as the respondent wished."""

from __future__ import annotations

import asyncio

import structlog

from server.hot.errors import HotError
from server.lean_event import LeanEvent
from server.session import rules
from server.session.commands import Commands
from server.session.context import SessionContext
from server.session.events import SessionCommitted, SessionEvent
from server.session.problems import Moved, SessionProblem

log = structlog.get_logger("askwell.session")
AGAIN_S = 1.0
"""Wait before another attempt, where storage was away."""


class Aftermath:
    """Completes stops, and erases interviews that are being withdrawn, of one session.

    Args:
        session: the session.
        commands: commit what is due.
    """

    def __init__(self, session: SessionContext, commands: Commands) -> None:
        self._session = session
        self._commands = commands
        self._changed = LeanEvent()
        self._changed.set()
        session.observers.append(self._observe)

    def _observe(self, event: SessionEvent) -> None:
        if isinstance(event, SessionCommitted) and event.before.conduct != event.after.conduct:
            self._changed.set()

    async def run(self) -> None:
        """Wait for what is due and do it, until cancelled."""
        while self._session.worker.leaving is None:
            due_s = self._due_s()
            self._changed.clear()
            try:
                async with asyncio.timeout(due_s):
                    await self._changed.wait()
                continue
            except TimeoutError:
                pass
            try:
                await self._settle()
            except (SessionProblem, Moved, HotError) as exc:
                log.info("stop.not_now", session=self._session.session_id, reason=str(exc))
                await asyncio.sleep(AGAIN_S)

    def _due_s(self) -> float | None:
        """Seconds until something is due; None where nothing is."""
        state = self._session.state
        if state.conduct.withdrawing:
            return 0.0
        until = state.conduct.stopping_until
        if until is None or rules.is_over(state):
            return None
        return max(0.0, (until - self._session.services.now()).total_seconds())

    async def _settle(self) -> None:
        session = self._session
        if session.state.conduct.withdrawing:
            await session.services.hot.erase(session.session_id)
            await session.worker.erased()
            return
        await self._commands.apply(
            "stop", lambda: rules.complete_stop(session.state, session.services.now()), ends=True
        )
