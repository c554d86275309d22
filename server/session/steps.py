"""Commands on a session: each decided and committed in its place among the turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pipeline.turn import Outcome
from server.session import machine
from server.session.audience import Audience
from server.session.ledger import Ledger
from server.session.surroundings import Surroundings
from server.session.witness import Witness
from server.session.worker import Worker

Decide = Callable[[], machine.Step]


class Steps:
    """Applies commands to one session.

    Args:
        around: what owners share.
        ledger: the session.
        worker: does the work.
        audience: who is told.
        on_commit: called after each commit.
        witness: told of each.
    """

    def __init__(
        self,
        around: Surroundings,
        ledger: Ledger,
        worker: Worker,
        audience: Audience,
        on_commit: Callable[[], None],
        witness: Witness,
    ) -> None:
        self._around = around
        self._ledger = ledger
        self._worker = worker
        self._audience = audience
        self._on_commit = on_commit
        self._witness = witness

    async def apply(
        self, command_id: str, decide: Decide, *, moderator: Mapping[str, Any] | None = None, ends: bool = False
    ) -> int:
        """Apply a command in a commit of its own; the number of the turn it applies to."""

        async def work() -> int:
            await self._worker.fresh()
            known = self._ledger.state.command(command_id)
            if known is not None:
                return known.turn_number
            await self.commit(command_id, decide(), moderator=moderator, ends=ends)
            return self._ledger.state.turn_count + 1

        return await self._worker.do("command", work)

    async def command(self, name: str, decide: Decide, *, ends: bool = False) -> None:
        """Apply a command of the respondent's, under an id of its own."""

        async def work() -> None:
            await self._worker.fresh()
            await self.commit(f"{name}:{self._around.new_id()}", decide(), ends=ends)

        await self._worker.do(name, work)

    async def commit(
        self, command_id: str, step: machine.Step, *, moderator: Mapping[str, Any] | None = None, ends: bool = False
    ) -> None:
        """Commit a step, unless it changes nothing and nobody is to be named for it."""
        before = self._ledger.state
        if step.state is before and moderator is None:
            return
        if step.state is before:
            step = machine.Step(machine.touched(step.state))
        if moderator is not None:
            obeyed = machine.obeyed(step.state, command_id, step.state.turn_count + 1)
            step = machine.Step(obeyed, step.events)
        self._ledger.stale = True
        events = await self._ledger.commit_step(command_id, step, moderator=moderator, ends=ends)
        self._ledger.stale = False
        await self._audience.publish(events)
        self._witness.committed(before, self._ledger.state)
        if moderator is not None:
            self._witness.acted(moderator)
        self._on_commit()

    async def settle(self, make: Callable[[], Awaitable[Outcome | None]]) -> None:
        """Commit what names lead to, once the session takes no more answers."""

        async def work() -> None:
            await self._worker.fresh()
            outcome = await make() if machine.is_over(self._ledger.state) else None
            if outcome is not None:
                command_id = f"settle:{self._around.new_id()}"
                await self._worker.insist(lambda: self._ledger.commit_outcome(command_id, outcome))

        await self._worker.do("settle", work)
