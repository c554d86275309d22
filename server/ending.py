"""Whether a task has been told to end."""

from __future__ import annotations

import asyncio


def told_to_end() -> bool:
    """Whether this task was cancelled, also if a library has swallowed it: `asyncio.wait_for` of 3.11 can."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
