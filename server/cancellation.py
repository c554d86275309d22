"""Cancellation of tasks: noticing a request for it, and work that has to be completed in spite of it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def cancel_requested() -> bool:
    """Whether this task was cancelled, also where a library lost the exception, as `asyncio.wait_for` of 3.11 can."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def run_to_completion(work: Coroutine[Any, Any, T], *, within_s: float) -> T:
    """Complete the work also if this task is cancelled meanwhile, once or several times.

    Args:
        work: what has to be completed.
        within_s: how long it may still take after the first cancellation, which is raised then.

    Returns:
        What the work returns; what it raises is raised.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(work)  # noqa: TID251 - a group would hand the cancellation on; it ends here in any case
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        end = loop.time() + within_s
        while not task.done() and (left_s := end - loop.time()) > 0:
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task}, timeout=left_s)
        task.cancel()
        if task.done() and not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it
        raise
    return task.result()
