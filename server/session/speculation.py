"""Speculative turns: the first half of a turn, up to the question, run before the end of a spoken answer is certain.

A speculative turn writes nothing. One that is withdrawn leaves only its calls of language models, which were paid for
and are recorded as discarded. A session has at most one, and certain turns have precedence over all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import structlog

from pipeline.calls import CallLog, recording
from pipeline.context import Answer, TurnContext
from pipeline.errors import PipelineError
from pipeline.ports import QuestionSink
from pipeline.state import InterviewState

log = structlog.get_logger("askwell.session")

TURNS_AT_ONCE = 2


class SpeculationLimiter:
    """Makes speculative turns of one node wait while other turns run.

    Args:
        most: turns of both kinds that may run together; a speculative one waits until there are fewer. Certain turns
            never wait.
    """

    def __init__(self, most: int = TURNS_AT_ONCE) -> None:
        self._most = most
        self._certain = 0
        self._speculative = 0
        self._changed = asyncio.Event()

    @contextmanager
    def certain(self) -> Iterator[None]:
        """Around a turn whose answer is certain."""
        self._certain += 1
        try:
            yield
        finally:
            self._certain -= 1
            self._changed.set()

    @asynccontextmanager
    async def speculative(self) -> AsyncIterator[None]:
        """Around a speculative turn; waits until it may run."""
        while self._certain + self._speculative >= self._most:
            self._changed.clear()
            await self._changed.wait()
        self._speculative += 1
        try:
            yield
        finally:
            self._speculative -= 1
            self._changed.set()


class _NoSink:
    """The sink of a speculative turn, which ends before its question."""

    async def started(self, turn_number: int) -> None:
        raise AssertionError("a speculative turn makes no question")

    async def delta(self, text: str) -> None:
        raise AssertionError("a speculative turn makes no question")

    async def retracted(self) -> None:
        raise AssertionError("a speculative turn makes no question")


Decide = Callable[[Answer, QuestionSink], Awaitable[TurnContext]]
"""Runs the stages up to the question for an answer, on the session's present state."""


class SpeculativeTurn:
    """The decision on an answer that may not be complete yet.

    Args:
        answer: as it stands.
        decide: runs the stages.
        limiter: says when they may run.
        calls: where calls of language models are put: as they are if the turn is confirmed, else as discarded.
        turn_number: of the turn it would be.
    """

    def __init__(
        self, answer: Answer, decide: Decide, limiter: SpeculationLimiter, calls: CallLog, turn_number: int
    ) -> None:
        self.answer = answer
        self._decide = decide
        self._limiter = limiter
        self._session_calls = calls
        self._turn_number = turn_number
        self._calls = CallLog()
        self._task: asyncio.Task[TurnContext | None] | None = None
        self._running = False
        self._settled = False

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """Run it in the background, as a task of that group."""
        self._task = tasks.create_task(self._run(), name="speculative turn")

    async def _run(self) -> TurnContext | None:
        try:
            async with self._limiter.speculative():
                self._running = True
                with recording(self._calls, self._turn_number):
                    return await self._decide(self.answer, _NoSink())
        except PipelineError as exc:
            log.info("speculation.failed", error=repr(exc))
        except Exception:
            log.exception("speculation.defect")
        finally:
            if self._settled:
                # Withdrawn while it ran: its last calls are complete only now.
                self._discard()
        return None

    async def confirmed(
        self, state: InterviewState, answer: Answer, calls: CallLog | None = None
    ) -> TurnContext | None:
        """The decision, if it was made for exactly this answer in exactly this state; else None.

        Its calls of language models are put into `calls`, if given.

        Waits for a speculative turn that runs. One that still waits for the limiter is withdrawn, because running the
        turn anew is faster.
        """
        task = self._task
        if task is None or self._settled:
            return None
        if answer != self.answer or not (self._running or task.done()):
            self.discard()
            return None
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            self.discard()
            raise
        context = None if task.cancelled() else task.result()
        if context is None or context.state is not state:
            self.discard()
            return None
        self._settled = True
        for call in self._calls.peek():
            (self._session_calls if calls is None else calls).add(call)
        return context

    def discard(self) -> None:
        """Discard it; its calls are recorded."""
        if self._settled:
            return
        self._settled = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            return
        self._discard()

    def _discard(self) -> None:
        discard_calls(self._calls, self._session_calls)


def discard_calls(calls: CallLog, session_calls: CallLog) -> None:
    """Move calls of language models to those of the session, as discarded: they were paid for."""
    wasted = calls.peek()
    calls.settle(wasted)
    for call in wasted:
        discarded = call.model_copy(update={"outcome": "discarded"}) if call.outcome == "completed" else call
        session_calls.add(discarded)
