"""Tasks that are told to end: noticing it, and finishing what must not be left half done."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def told_to_end() -> bool:
    """Whether this task was cancelled, also if a library has swallowed it: `asyncio.wait_for` of 3.11 can."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def to_the_end(work: Coroutine[Any, Any, T], *, within_s: float) -> T:
    """Do the work, all of it, also if this task is cancelled meanwhile, once or often.

    Args:
        work: what must not be left half done.
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
            task.exception()  # nobody is left to hear of it
        raise
    return task.result()
