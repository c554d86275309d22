"""Work of one session, one piece after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from server.session.problems import SessionProblem

T = TypeVar("T")


def quiet_future() -> asyncio.Future[Any]:
    """A future whose error nobody has to ask for."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.add_done_callback(_look)
    return future


def _look(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


@dataclass(slots=True)
class Job(Generic[T]):
    """One piece of work and where its result goes. Whoever waits may go away; the work is done all the same."""

    name: str
    work: Callable[[], Awaitable[T]]
    done: asyncio.Future[T] = field(default_factory=quiet_future)

    def succeed(self, result: T) -> None:
        """Give the result to whoever waits."""
        if not self.done.done():
            self.done.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Give the error to whoever waits."""
        if not self.done.done():
            self.done.set_exception(error)


class JobQueue:
    """A bounded queue; full, it refuses.

    Args:
        bound: jobs that may wait.
    """

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._jobs: deque[Job[Any]] = deque()
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        return len(self._jobs)

    def put(self, job: Job[T]) -> Job[T]:
        """Last in line. Raises SessionProblem `rate_limited` when too many wait."""
        if len(self._jobs) >= self._bound:
            raise SessionProblem("rate_limited")
        self._jobs.append(job)
        self._changed.set()
        return job

    def put_first(self, job: Job[T]) -> Job[T]:
        """Ahead of everything that waits; for the owner's own work, which has no bound."""
        self._jobs.appendleft(job)
        self._changed.set()
        return job

    def wake(self) -> None:
        """Let a waiting `next` look again."""
        self._changed.set()

    async def next(self, leaving: Callable[[], bool]) -> Job[Any] | None:
        """The next job, or None when it is time to leave."""
        while not leaving():
            if self._jobs:
                return self._jobs.popleft()
            self._changed.clear()
            await self._changed.wait()
        return None

    def fail_all(self, error: BaseException) -> None:
        """Nothing of what waits will be done."""
        while self._jobs:
            self._jobs.popleft().fail(error)
