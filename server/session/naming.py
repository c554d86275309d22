"""Names for slots, found while nobody waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from pipeline.calls import recording
from pipeline.concept import SessionConfiguration
from pipeline.errors import PipelineError
from pipeline.ports import SlotProposal
from pipeline.turn import Outcome
from server.hot.errors import HotError
from server.session import machine
from server.session.ledger import Ledger
from server.session.problems import SessionProblem
from server.session.surroundings import Surroundings

log = structlog.get_logger("askwell.session")

Settle = Callable[[Callable[[], Awaitable[Outcome | None]]], Awaitable[None]]


class Naming:
    """Has a session's backlog named after each turn, where the pipeline defers that.

    What is found is kept here for the next turn. Names that are lost, with this process or because the model failed,
    are asked for again after the next turn: the backlog is part of the session's state.

    Args:
        around: what owners share.
        ledger: the session.
        configuration: what it is pinned to.
        settle: commits what the names lead to, for a session that takes no more answers.
    """

    def __init__(
        self, around: Surroundings, ledger: Ledger, configuration: SessionConfiguration, settle: Settle
    ) -> None:
        self._around = around
        self._ledger = ledger
        self._configuration = configuration
        self._settle = settle
        self._wanted = asyncio.Event()
        self._names: list[SlotProposal] = []
        self._busy = False

    @property
    def busy(self) -> bool:
        """Whether names are being found."""
        return self._busy or self._wanted.is_set()

    def arrived(self) -> tuple[SlotProposal, ...]:
        """The names that have come and were not applied yet."""
        return tuple(self._names)

    def want(self) -> None:
        """The session has changed: forget names that were applied, look for those that are missing."""
        waiting = set(self._ledger.state.slot_backlog)
        self._names = [proposal for proposal in self._names if waiting & set(proposal.node_ids)]
        due = waiting - self._named() or (self._names and machine.is_over(self._ledger.state))
        if due and self._around.pipeline.defers_naming(self._configuration):
            self._wanted.set()

    async def run(self) -> None:
        """Find names whenever they are wanted, until cancelled."""
        self.want()
        while True:
            await self._wanted.wait()
            self._busy = True
            self._wanted.clear()
            try:
                with recording(self._ledger.calls, self._ledger.state.turn_count):
                    await self._name_what_can_be()
                await self._ledger.note_calls()
            except (HotError, SessionProblem) as exc:
                log.info("slots.not_kept", session=self._ledger.session_id, error=repr(exc))
            finally:
                self._busy = False

    async def _name_what_can_be(self) -> None:
        try:
            await self._name_all()
        except (PipelineError, TimeoutError) as exc:
            log.warning("slots.unnamed", session=self._ledger.session_id, error=repr(exc))
        except (HotError, SessionProblem):
            raise
        except Exception:
            # Names are no reason to lose the session: they are looked for again after the next turn.
            log.exception("slots.defect", session=self._ledger.session_id)

    async def _name_all(self) -> None:
        pipeline, ledger = self._around.pipeline, self._ledger
        while True:
            async with asyncio.timeout(self._around.deadline_s(self._configuration)):
                found = await pipeline.name_slots(ledger.state, self._configuration, named=self._named())
            if not found:
                break
            self._names += found
        if machine.is_over(ledger.state) and self._names:
            await self._settle(self._settled)
            self._names.clear()

    async def _settled(self) -> Outcome | None:
        return await self._around.pipeline.settle(
            self._ledger.state, self._configuration, self.arrived(), embeddings=await self._ledger.embeddings()
        )

    def _named(self) -> set[str]:
        return {node_id for proposal in self._names for node_id in proposal.node_ids}
