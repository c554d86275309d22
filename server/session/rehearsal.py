"""A whole turn made before its answer is certain: its question is sent while it is made, and nothing is written.

It is committed as it is once the answer is certain, or withdrawn: then it leaves only its calls of language models,
which were paid for and are recorded as discarded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import structlog

from pipeline.calls import CallLog, recording
from pipeline.errors import PipelineError
from pipeline.state import InterviewState
from pipeline.turn import Answer, Outcome
from server.hot.errors import HotError
from server.session.audience import QuestionStream
from server.session.context import SessionContext
from server.session.speculation import SpeculativeTurn, discard_calls

log = structlog.get_logger("askwell.session")


class Rehearsal:
    """The turn of an answer that may still go on.

    Args:
        session: whose answer it is.
        answer: as it stands.
        stream: where its question is sent to.
        speculative: what was decided on the same answer already, if anything.
    """

    def __init__(
        self,
        session: SessionContext,
        answer: Answer,
        stream: QuestionStream,
        speculative: SpeculativeTurn | None = None,
    ) -> None:
        self.answer = answer
        self.stream = stream
        self._session = session
        self._state = session.state
        self._speculative = speculative
        self._calls = CallLog()
        self._task: asyncio.Task[Outcome | None] | None = None
        self._settled = False

    def begin(self, tasks: asyncio.TaskGroup, done: Callable[[], None]) -> None:
        """Make it in the background, as a task of that group; `done` is called when it is made, or will not be."""
        self._task = tasks.create_task(self._run(), name="rehearsal")
        self._task.add_done_callback(lambda task: done())

    @property
    def running(self) -> bool:
        """Whether it is still being made."""
        return self._task is not None and not self._task.done()

    async def over(self) -> None:
        """Wait until it is made, or will not be."""
        if self._task is not None:
            await asyncio.wait({self._task})

    @property
    def alarming(self) -> bool:
        """Whether it would raise an alert of care, which must not wait."""
        outcome = self._outcome()
        return outcome is not None and outcome.state.conduct.alerts != self._state.conduct.alerts

    async def fits(self, state: InterviewState, answer: Answer) -> bool:
        """Whether it was made for exactly this answer in exactly this state. Waits until it is made."""
        if self._task is None or self._settled or answer != self.answer or state is not self._state:
            return False
        try:
            await asyncio.wait({self._task})
        except asyncio.CancelledError:
            self.discard()
            raise
        return self._outcome() is not None

    def confirm(self) -> Outcome:
        """Its outcome, which is going to be committed; only after it was found to fit."""
        outcome = self._outcome()
        assert outcome is not None, "a rehearsal that fits has an outcome"
        self._settled = True
        for call in self._calls.peek():
            self._session.ledger.calls.add(call)
        return outcome

    async def withdraw(self) -> None:
        """Discard it, and tell the respondent that its question is void."""
        self.discard()
        told = self.stream.withdrawal()
        self._session.audience.end_question()
        if told is not None:
            await self._session.audience.broadcast(told)

    def discard(self) -> None:
        """The answer goes on, or comes to nothing; calls are recorded."""
        if self._settled:
            return
        self._settled = True
        if self._speculative is not None:
            self._speculative.discard()
        if self.running and self._task is not None:
            self._task.cancel()
            return
        discard_calls(self._calls, self._session.ledger.calls)

    def _outcome(self) -> Outcome | None:
        task = self._task
        return task.result() if task is not None and task.done() and not task.cancelled() else None

    async def _run(self) -> Outcome | None:
        session, state = self._session, self._state
        try:
            async with asyncio.timeout(session.deadline_s):
                with recording(self._calls, state.turn_count + 1), session.services.speculation.certain():
                    return await self._made()
        except (PipelineError, HotError, TimeoutError) as exc:
            log.info("rehearsal.failed", session=session.session_id, error=repr(exc))
        except Exception:
            log.exception("rehearsal.defect", session=session.session_id)
        finally:
            if self._settled:
                # Withdrawn while it ran: its last calls are complete only now.
                discard_calls(self._calls, session.ledger.calls)
        return None

    async def _made(self) -> Outcome:
        session, state = self._session, self._state
        if self._speculative is not None:
            context = await self._speculative.confirmed(state, self.answer, self._calls)
            if context is not None:
                return await session.pipeline.speak(replace(context, sink=self.stream))
        return await session.pipeline.run(
            state,
            self.answer,
            session.configuration,
            now=session.services.now(),
            sink=self.stream,
            embeddings=await session.ledger.embeddings(),
            names=lambda: tuple(session.slot_names),
        )
