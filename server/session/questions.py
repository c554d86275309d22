"""Questions outside the turns: the opening, and a question in other words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from pipeline.calls import recording
from pipeline.concept import SessionConfiguration
from pipeline.errors import PipelineError
from pipeline.turn import Outcome
from server.session.audience import Audience
from server.session.ledger import Ledger
from server.session.problems import SessionProblem
from server.session.stream import QuestionStream
from server.session.surroundings import Surroundings
from server.session.witness import Witness
from server.session.worker import Worker

log = structlog.get_logger("askwell.session")


class QuestionMaker:
    """Makes, streams and commits questions that no answer led to.

    Args:
        around: what owners share.
        ledger: the session.
        configuration: what it is pinned to.
        worker: copes with storage.
        audience: who listens.
        witness: told of commits.
    """

    def __init__(
        self,
        around: Surroundings,
        ledger: Ledger,
        configuration: SessionConfiguration,
        worker: Worker,
        audience: Audience,
        witness: Witness,
    ) -> None:
        self._witness = witness
        self._around = around
        self._ledger = ledger
        self._configuration = configuration
        self._worker = worker
        self._audience = audience

    async def open(self) -> None:
        """The opening question. Raises SessionProblem."""
        around, ledger = self._around, self._ledger
        await self._make(
            "open",
            lambda stream: around.pipeline.open(ledger.state, self._configuration, now=around.now(), sink=stream),
            attempts=around.settings.opening_attempts,
        )

    async def rephrase(self) -> None:
        """The waiting question in other words. Raises SessionProblem."""
        around, ledger = self._around, self._ledger
        await self._make(
            "rephrase",
            lambda stream: around.pipeline.rephrase(ledger.state, self._configuration, now=around.now(), sink=stream),
        )

    async def _make(
        self, name: str, write: Callable[[QuestionStream], Awaitable[Outcome]], *, attempts: int = 1
    ) -> None:
        command_id, before = f"{name}:{self._around.new_id()}", self._ledger.state
        stream = self._audience.begin_question(1)
        try:
            outcome = await self._tried(name, write, stream, attempts)
            events = await self._worker.insist(lambda: self._ledger.commit_outcome(command_id, outcome))
        finally:
            self._audience.end_question()
        await self._audience.publish(events)
        self._witness.committed(before, self._ledger.state)

    async def _tried(
        self, name: str, write: Callable[[QuestionStream], Awaitable[Outcome]], stream: QuestionStream, attempts: int
    ) -> Outcome:
        for attempt in range(1, attempts + 1):
            try:
                async with asyncio.timeout(self._around.deadline_s(self._configuration)):
                    with recording(self._ledger.calls, self._ledger.state.turn_count):
                        return await write(stream)
            except (PipelineError, TimeoutError) as exc:
                log.warning(
                    "question.failed", session=self._ledger.session_id, kind=name, attempt=attempt, error=repr(exc)
                )
                retryable = not isinstance(exc, PipelineError) or exc.retryable
                if attempt == attempts or not retryable:
                    raise SessionProblem("llm_unavailable", retryable=retryable) from exc
        raise AssertionError("unreachable")
