"""All objects are looked through when it is time and nobody waits, and in the end whoever waits."""

from __future__ import annotations

import asyncio
import gc

import pytest

from server import resident_memory
from server.garbage import AT_ONCE, GIVE_BACK_S, WORTH_IT, GarbageCollection


@pytest.mark.parametrize(
    ("pending", "quiet", "looked"),
    [
        (0, True, False),
        (WORTH_IT - 1, True, False),
        (WORTH_IT, True, True),
        (WORTH_IT, False, False),
        (AT_ONCE - 1, False, False),
        (AT_ONCE, False, True),
    ],
)
def test_garbage_is_looked_for_when_it_is_time(pending: int, quiet: bool, looked: bool) -> None:
    now, times = 5.0, 0
    took: list[float] = []

    def collect() -> None:
        nonlocal now, times
        now += 0.25
        times += 1

    collection = GarbageCollection(
        lambda: quiet, took.append, pending=lambda: pending, collect=collect, clock=lambda: now
    )
    assert collection.look() is looked
    assert times == looked
    assert took == ([250.0] if looked else [])


async def test_python_looks_through_all_again_when_it_ends() -> None:
    before = gc.get_threshold()
    collection = GarbageCollection(lambda: True, lambda _: None)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(collection.run())
        await asyncio.sleep(0)
        assert gc.get_threshold()[2] > 1000
        running.cancel()
    assert gc.get_threshold() == before


async def test_memory_is_given_back_now_and_then_while_nobody_waits() -> None:
    now, quiet, given = 100.0, True, 0

    def give() -> None:
        nonlocal given
        given += 1

    collection = GarbageCollection(lambda: quiet, lambda _: None, give_back=give, clock=lambda: now)
    assert not await collection.tidy()
    now += GIVE_BACK_S
    quiet = False
    assert not await collection.tidy()
    quiet = True
    assert await collection.tidy()
    assert not await collection.tidy()
    assert given == 1


def test_giving_back_is_nothing_where_the_library_has_no_such_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident_memory, "_trim", lambda: None)
    assert resident_memory.give_back() is False
