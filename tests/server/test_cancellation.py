"""Work that is done to its end although its task is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from server.cancellation import run_to_completion
from tests.support.patience import PATIENCE_S


class Work:
    """Waits until it is let go, and knows how it ended."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.ended = ""

    async def do(self) -> int:
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        self.ended = "done"
        return 7


async def test_run_to_completion_returns_and_raises_what_the_work_does() -> None:
    async def fails() -> None:
        raise ValueError("no")

    work = Work()
    work.go.set()
    assert await run_to_completion(work.do(), within_s=1.0) == 7
    with pytest.raises(ValueError, match="no"):
        await run_to_completion(fails(), within_s=1.0)


async def test_run_to_completion_cancelled_twice_waits_for_the_work_and_is_cancelled_then() -> None:
    work = Work()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run_to_completion(work.do(), within_s=60.0))
        for _ in range(3):
            await asyncio.wait({task}, timeout=0.01)
            task.cancel()
        await asyncio.wait({task}, timeout=0.01)
        assert not task.done()
        work.go.set()
    assert (work.ended, task.cancelled()) == ("done", True)


async def test_run_to_completion_cancelled_gives_work_that_does_not_end_so_much_time_only() -> None:
    work = Work()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run_to_completion(work.do(), within_s=0.05))
        await asyncio.wait({task}, timeout=0.01)
        task.cancel()
    await asyncio.wait({task}, timeout=0.01)
    assert (work.ended, task.cancelled()) == ("cancelled", True)
