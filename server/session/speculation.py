"""Running ahead of time on a guess: the deciding half of a turn, before the answer is certain.

Nothing of it is ever written: a guess that is withdrawn leaves only the calls of language models that were paid for,
put on record as discarded. Guesses use what confirmed work leaves free, and a session has one at most.
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

GUESSES_AT_ONCE = 2


class Lanes:
    """Room for guesses beside confirmed work on one node.

    Args:
        slots: turns that may be worked on together; a guess waits until there are fewer. Confirmed work never waits.
    """

    def __init__(self, slots: int = GUESSES_AT_ONCE) -> None:
        self._slots = slots
        self._confirmed = 0
        self._guesses = 0
        self._changed = asyncio.Event()

    @contextmanager
    def confirmed(self) -> Iterator[None]:
        """Around work whose result is wanted for certain."""
        self._confirmed += 1
        try:
            yield
        finally:
            self._confirmed -= 1
            self._changed.set()

    @asynccontextmanager
    async def guess(self) -> AsyncIterator[None]:
        """Around work on a guess; waits for room."""
        while self._confirmed + self._guesses >= self._slots:
            self._changed.clear()
            await self._changed.wait()
        self._guesses += 1
        try:
            yield
        finally:
            self._guesses -= 1
            self._changed.set()


class _NoSink:
    """A question is never made on a guess."""

    async def started(self, turn_number: int) -> None:
        raise AssertionError("a guess has no question")

    async def delta(self, text: str) -> None:
        raise AssertionError("a guess has no question")

    async def retracted(self) -> None:
        raise AssertionError("a guess has no question")


Decide = Callable[[Answer, QuestionSink], Awaitable[TurnContext]]
"""The stages up to the question for an answer, on the session's present state."""


class Guess:
    """What an answer would lead to, worked out before it is certain.

    Args:
        answer: the answer as guessed.
        decide: does the work.
        lanes: when it may.
        calls: where calls of language models go: as they are once confirmed, as discarded else.
        turn_number: of the turn it would be.
    """

    def __init__(self, answer: Answer, decide: Decide, lanes: Lanes, calls: CallLog, turn_number: int) -> None:
        self.answer = answer
        self._decide = decide
        self._lanes = lanes
        self._into = calls
        self._turn_number = turn_number
        self._calls = CallLog()
        self._task: asyncio.Task[TurnContext | None] | None = None
        self._working = False
        self._settled = False

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """Have it worked out in the background, as a task of that group."""
        self._task = tasks.create_task(self._run(), name="guess")

    async def _run(self) -> TurnContext | None:
        try:
            async with self._lanes.guess():
                self._working = True
                with recording(self._calls, self._turn_number):
                    return await self._decide(self.answer, _NoSink())
        except PipelineError as exc:
            log.info("guess.failed", error=repr(exc))
        except Exception:
            log.exception("guess.defect")
        finally:
            if self._settled:
                # Withdrawn while it ran: what its last calls cost is known only now.
                self._discard()
        return None

    async def confirmed(self, state: InterviewState, answer: Answer) -> TurnContext | None:
        """The decision, if it was made for exactly this answer in exactly this state; None where there is none.

        Waits for a guess that is being worked on. One that waits for its turn is given up: confirmed work is faster.
        """
        task = self._task
        if task is None or self._settled:
            return None
        if answer != self.answer or not (self._working or task.done()):
            self.withdraw()
            return None
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            self.withdraw()
            raise
        context = None if task.cancelled() else task.result()
        if context is None or context.state is not state:
            self.withdraw()
            return None
        self._settled = True
        for call in self._calls.peek():
            self._into.add(call)
        return context

    def withdraw(self) -> None:
        """It does not count: leave no trace but what it cost."""
        if self._settled:
            return
        self._settled = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            return
        self._discard()

    def _discard(self) -> None:
        calls = self._calls.peek()
        self._calls.settle(calls)
        for call in calls:
            self._into.add(call.model_copy(update={"outcome": "discarded"}) if call.outcome == "completed" else call)
