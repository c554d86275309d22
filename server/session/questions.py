"""Questions outside the turns: the opening, and the present question in other words."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from pipeline.calls import recording
from pipeline.errors import PipelineError
from pipeline.turn import Outcome
from server.session.audience import QuestionStream
from server.session.change import Change
from server.session.context import SessionContext
from server.session.problems import SessionProblem

log = structlog.get_logger("askwell.session")


async def open_interview(session: SessionContext) -> None:
    """Make, stream and commit the opening question. Raises SessionProblem."""
    await _ask(
        session,
        "open",
        lambda stream: session.pipeline.open(
            session.state, session.configuration, now=session.services.now(), sink=stream
        ),
        attempts=session.services.settings.opening_attempts,
    )


async def rephrase(session: SessionContext) -> None:
    """Put the present question in other words. Raises SessionProblem."""
    await _ask(
        session,
        "rephrase",
        lambda stream: session.pipeline.rephrase(
            session.state, session.configuration, now=session.services.now(), sink=stream
        ),
    )


async def _ask(
    session: SessionContext, name: str, write: Callable[[QuestionStream], Awaitable[Outcome]], *, attempts: int = 1
) -> None:
    key = f"{name}:{session.services.new_id()}"
    stream = session.audience.begin_question(1)
    try:
        outcome = await _tried(session, name, lambda: write(stream), attempts)
        await session.commit(key, Change.of_outcome(outcome), pending="keep", repeat=True)
    finally:
        session.audience.end_question()


async def _tried(session: SessionContext, name: str, write: Callable[[], Awaitable[Outcome]], attempts: int) -> Outcome:
    for attempt in range(1, attempts + 1):
        try:
            async with asyncio.timeout(session.deadline_s):
                with recording(session.ledger.calls, session.state.turn_count):
                    return await write()
        except (PipelineError, TimeoutError) as exc:
            log.warning("question.failed", session=session.session_id, kind=name, attempt=attempt, error=repr(exc))
            retryable = not isinstance(exc, PipelineError) or exc.retryable
            if attempt == attempts or not retryable:
                raise SessionProblem("llm_unavailable", retryable=retryable) from exc
    raise AssertionError("unreachable")
