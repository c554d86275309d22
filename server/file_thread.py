"""A thread for what looks at configuration files, so that no slow file stops the event loop.

FilesSlow    the files were not read in time
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

DEADLINE_S = 20.0


class FilesSlow(Exception):
    """The configuration files were not read in time; what is reading them goes on, what waits for it is dropped."""

    code = "storage_unavailable"
    retryable = True


class FileThread:
    """Runs functions one after another in a thread of its own; only those who wait for one wait.

    Args:
        deadline_s: longest time that anybody waits.
    """

    def __init__(self, deadline_s: float = DEADLINE_S) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="files")
        self._deadline_s = deadline_s

    async def __call__(self, look: Callable[[], T]) -> T:
        """The result of `look`; what it raises is raised here. Raises FilesSlow."""
        running = asyncio.get_running_loop().run_in_executor(self._executor, look)
        deadline = asyncio.timeout(self._deadline_s)
        try:
            async with deadline:
                return await running
        except TimeoutError as exc:
            if not deadline.expired():
                raise  # the file system's own
            raise FilesSlow(f"the configuration files were not read within {self._deadline_s:.0f} s") from exc

    def close(self) -> None:
        """Take nothing more; what runs is not waited for."""
        self._executor.shutdown(wait=False, cancel_futures=True)
