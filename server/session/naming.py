"""Names for canonical slots, found after the question is out, so that nobody waits for them."""

from __future__ import annotations

import asyncio

import structlog

from pipeline.calls import recording
from pipeline.errors import PipelineError
from server.hot.errors import HotError
from server.lean_event import LeanEvent
from server.session import rules
from server.session.change import Change
from server.session.context import SessionContext
from server.session.events import SessionCommitted, SessionEvent
from server.session.problems import SessionProblem

log = structlog.get_logger("askwell.session")


class SlotNaming:
    """Has a session's backlog of unnamed slots named after each commit, where the pipeline defers that.

    Names that are found wait in the context for the next turn, which applies them. Names that are lost, with this
    process or because the model failed, are asked for again after the next commit: the backlog is part of the state.

    Args:
        session: whose slots.
    """

    def __init__(self, session: SessionContext) -> None:
        self._session = session
        self._wanted = LeanEvent()
        self._running = False
        session.observers.append(self._observe)

    @property
    def busy(self) -> bool:
        """Whether names are being found."""
        return self._running or self._wanted.is_set()

    def _observe(self, event: SessionEvent) -> None:
        if isinstance(event, SessionCommitted):
            self.check()

    def check(self) -> None:
        """Forget names that were applied, and have missing ones found."""
        session = self._session
        waiting = set(session.state.slot_backlog)
        session.slot_names[:] = [name for name in session.slot_names if waiting & set(name.node_ids)]
        due = waiting - self._named() or (session.slot_names and rules.is_over(session.state))
        if due and session.pipeline.defers_naming(session.configuration):
            self._wanted.set()

    async def run(self) -> None:
        """Find names whenever they are missing, until cancelled."""
        ledger = self._session.ledger
        self.check()
        while True:
            await self._wanted.wait()
            self._running = True
            self._wanted.clear()
            try:
                with recording(ledger.calls, ledger.state.turn_count):
                    await self._find()
                await ledger.record_calls()
            except (HotError, SessionProblem) as exc:
                log.info("slots.not_kept", session=ledger.session_id, error=repr(exc))
            finally:
                self._running = False

    async def _find(self) -> None:
        try:
            await self._find_all()
        except (PipelineError, TimeoutError) as exc:
            log.warning("slots.unnamed", session=self._session.session_id, error=repr(exc))
        except (HotError, SessionProblem):
            raise
        except Exception:
            # The session goes on without names; they are asked for again after the next commit.
            log.exception("slots.defect", session=self._session.session_id)

    async def _find_all(self) -> None:
        session = self._session
        while True:
            async with asyncio.timeout(session.deadline_s):
                found = await session.pipeline.name_slots(session.state, session.configuration, named=self._named())
            if not found:
                break
            session.slot_names += found
        if rules.is_over(session.state) and session.slot_names:
            await session.worker.do("settle", self._settle)
            session.slot_names.clear()

    async def _settle(self) -> None:
        """Apply the names to an interview that is over: no turn will."""
        session = self._session
        await session.worker.fresh()
        if not rules.is_over(session.state):
            return
        outcome = await session.pipeline.settle(
            session.state,
            session.configuration,
            tuple(session.slot_names),
            embeddings=await session.ledger.embeddings(),
        )
        if outcome is not None:
            key = f"settle:{session.services.new_id()}"
            await session.commit(key, Change.of_outcome(outcome), pending="keep", repeat=True)

    def _named(self) -> set[str]:
        return {node_id for name in self._session.slot_names for node_id in name.node_ids}
