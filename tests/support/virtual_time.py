"""An event loop whose clock does not depend on the machine."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVarTuple, Unpack

import pytest

Arguments = TypeVarTuple("Arguments")
QUIET_S = 0.01
"""Real time in which what was sent on this machine arrives."""


class _Selector(selectors.DefaultSelector):
    """Waits for files, but never for a timer."""

    skip: Callable[[float], None]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        found = super().select(QUIET_S)
        if not found:
            self.skip(timeout)
        return found


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Its clock stands still while there is work, also in threads, and goes on to the next timer when there is none.

    Both sides of every connection must be of this loop.
    """

    def __init__(self) -> None:
        selector = _Selector()
        selector.skip = self._skip
        super().__init__(selector)
        self._now_s = 1000.0
        self._threads = 0

    def time(self) -> float:
        """Seconds."""
        return self._now_s

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Arguments]], Any], *args: *Arguments
    ) -> asyncio.Future[Any]:
        """Run in a thread, and let no time pass meanwhile."""

        def done(_: asyncio.Future[Any]) -> None:
            self._threads -= 1

        self._threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(done)
        return future

    def _skip(self, seconds: float) -> None:
        if not self._threads:
            self._now_s += seconds


class _Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        return VirtualTimeLoop()


@pytest.fixture(scope="module")
def event_loop_policy() -> asyncio.AbstractEventLoopPolicy:
    """Gives every test of the module that imports it such a loop."""
    return _Policy()


VIRTUAL_TIME = pytest.mark.filterwarnings("ignore:Overriding the .event_loop_policy. fixture")
"""The mark of such a module; what pytest-asyncio has instead changes the names of all tests."""
