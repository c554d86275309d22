"""How late the event loop is, all the time, and what held it when it was held for long."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import structlog

log = structlog.get_logger()

BEAT_S = 0.05
"""How often the loop says that it runs: twenty samples a second."""
QUIET_S = 10.0
"""After a line that says what held the loop, others wait that long and are counted meanwhile."""
SHORTEST_WAIT_S = 0.005
DEEPEST = 24
"""Innermost frames of a stack that are kept."""
_ROOT = str(Path(__file__).parents[1]) + "/"


@dataclass(frozen=True, slots=True)
class Held:
    """The loop while it is held.

    Args:
        ms: for how long so far, in milliseconds.
        stack: what runs in its thread, outermost first, a phrase `module.py:12 function` each.
        starved: whether the watching thread came late as well: the process got no processor, or native code did not let
            other threads run.
        more: times that the loop was held since the last one that was told, and that were not told.
    """

    ms: float
    stack: tuple[str, ...]
    starved: bool
    more: int


def log_held(held: Held) -> None:
    """Log what holds the loop, without what respondents say: a stack names code only."""
    log.warning("loop.held", held_ms=round(held.ms), starved=held.starved, more=held.more, stack=" > ".join(held.stack))


def stack_of(frame: FrameType | None) -> tuple[str, ...]:
    """The innermost DEEPEST frames, outermost first, a phrase `module.py:12 function` each."""
    found: list[str] = []
    while frame is not None and len(found) < DEEPEST:
        code = frame.f_code
        path = code.co_filename.removeprefix(_ROOT).rpartition("site-packages/")[2]
        found.append(f"{path}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return tuple(reversed(found))


class LoopLag:
    """Measures how late the event loop is, and looks from a thread of its own at what holds it.

    Args:
        observe: called BEAT_S after BEAT_S with how late the loop was, in milliseconds.
        told: called, in the thread that watches, with a loop that is held, at most once per QUIET_S.
        held_ms: how long the loop may be held before that; 0 looks at nothing.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        observe: Callable[[float], None],
        *,
        held_ms: float,
        told: Callable[[Held], None] = log_held,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._observe = observe
        self._told = told
        self._held_s = held_ms / 1000
        self._clock = clock
        self._due = 0.0
        self._thread_id = 0
        self._end = threading.Event()
        self._quiet_until = float("-inf")
        self._untold = 0

    async def run(self) -> None:
        """Measure until cancelled."""
        self._thread_id = threading.get_ident()
        self._due = self._clock() + BEAT_S
        watching = threading.Thread(target=self._watch, name="loop-lag", daemon=True)
        if self._held_s > 0:
            watching.start()
        try:
            while True:
                # The loop's own clock stands still while something holds it.
                await asyncio.sleep(self._due - self._clock())
                now = self._clock()
                self._observe(max(0.0, now - self._due) * 1000)
                self._due = now + BEAT_S
        finally:
            self._end.set()

    def _watch(self) -> None:
        """Look at the loop whenever it is late by what it may be held, once until it runs again."""
        seen: float | None = None
        while True:
            due = self._due
            wake_at = (self._clock() if due == seen else due) + self._held_s
            if self._end.wait(max(SHORTEST_WAIT_S, wake_at - self._clock())):
                return
            if due == seen or due != self._due:
                continue
            stack, now = stack_of(sys._current_frames().get(self._thread_id)), self._clock()
            if due == self._due:  # else the stack may be of what came after
                seen = due
                self._tell(now - due, stack, starved=now - wake_at > self._held_s)

    def _tell(self, late_s: float, stack: tuple[str, ...], *, starved: bool) -> None:
        now = self._clock()
        if now < self._quiet_until:
            self._untold += 1
            return
        more, self._untold, self._quiet_until = self._untold, 0, now + QUIET_S
        self._told(Held(late_s * 1000, stack, starved, more))
