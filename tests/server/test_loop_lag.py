"""The event loop's lag is measured, and what holds the loop is named."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable

from structlog.testing import capture_logs

from server.loop_lag import DEEPEST, Held, LoopLag, log_held, stack_of

LONGEST_S = 30


def hold_until(seen: threading.Event) -> None:
    """Hold the event loop as long as nobody has seen that."""
    assert seen.wait(LONGEST_S)


async def held_once(lag: LoopLag, hold: Callable[[], None]) -> None:
    """Run the monitor while the loop is held after its first sample, and until it has a sample after that."""
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(lag.run())
        await asyncio.sleep(0)
        hold()
        for _ in range(3):
            await asyncio.sleep(0.01)
        running.cancel()


async def test_loop_held_too_long_names_what_holds_it() -> None:
    seen = threading.Event()
    told: list[Held] = []
    late: list[float] = []

    def tell(held: Held) -> None:
        told.append(held)
        seen.set()

    await held_once(LoopLag(late.append, held_ms=20, told=tell), lambda: hold_until(seen))
    (held,) = told
    assert any(
        line.endswith(" hold_until") and line.startswith("tests/server/test_loop_lag.py:") for line in held.stack
    )
    assert held.ms >= 20
    assert held.more == 0
    assert max(late) >= held.ms


async def test_loop_held_again_soon_is_counted_and_not_told() -> None:
    now = 1000.0
    told: list[Held] = []
    lag = LoopLag(lambda _: None, held_ms=20, told=told.append, clock=lambda: now)
    for _ in range(3):
        lag._tell(0.5, ("a.py:1 f",), starved=False)
    now += 10
    lag._tell(0.7, ("b.py:1 g",), starved=True)
    assert told == [Held(500, ("a.py:1 f",), False, 0), Held(700, ("b.py:1 g",), True, 2)]


async def test_threshold_of_zero_measures_without_a_thread() -> None:
    late: list[float] = []
    before = {thread.name for thread in threading.enumerate()}
    lag = LoopLag(late.append, held_ms=0)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(lag.run())
        while not late:
            await asyncio.sleep(0.01)
        assert "loop-lag" not in {thread.name for thread in threading.enumerate()} - before
        running.cancel()
    assert late[0] >= 0


async def test_thread_ends_with_the_monitor() -> None:
    lag = LoopLag(lambda _: None, held_ms=20)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(lag.run())
        await asyncio.sleep(0)
        (watching,) = [thread for thread in threading.enumerate() if thread.name == "loop-lag"]
        running.cancel()
    await asyncio.to_thread(watching.join, LONGEST_S)
    assert not watching.is_alive()


def test_stack_keeps_its_innermost_frames() -> None:
    def deep(levels: int) -> tuple[str, ...]:
        return deep(levels - 1) if levels else stack_of(sys._getframe())

    stack = deep(DEEPEST + 5)
    assert len(stack) == DEEPEST
    assert all(line.endswith(" deep") for line in stack)
    assert stack_of(None) == ()


def test_line_says_what_held_the_loop() -> None:
    with capture_logs() as lines:
        log_held(Held(312.4, ("a.py:1 f", "b.py:2 g"), False, 3))
    assert lines == [
        {
            "event": "loop.held", "log_level": "warning", "held_ms": 312, "starved": False, "more": 3,
            "stack": "a.py:1 f > b.py:2 g",
        }
    ]  # fmt: skip
