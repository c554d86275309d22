"""An event wakes all who wait, and keeps nobody who has gone."""

from __future__ import annotations

import asyncio

from server.lean_event import LeanEvent


async def test_all_who_wait_go_on_and_later_ones_do_not_wait() -> None:
    event = LeanEvent()
    async with asyncio.timeout(2), asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(event.wait()) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting) and not event.is_set()
        event.set()
    assert event.is_set()
    async with asyncio.timeout(2):
        await event.wait()


async def test_who_waits_after_it_was_taken_back_waits_for_the_next_time() -> None:
    event = LeanEvent()
    event.set()
    event.clear()
    async with asyncio.timeout(2), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(event.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        event.set()
        event.clear()  # It was set in between.


async def test_who_stops_waiting_is_forgotten_and_others_still_wake() -> None:
    event = LeanEvent()
    async with asyncio.timeout(2), asyncio.TaskGroup() as tasks:
        gone, stays = tasks.create_task(event.wait()), tasks.create_task(event.wait())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait({gone})
        assert gone.cancelled() and not stays.done()
        event.set()


async def test_timeout_while_waiting_is_a_timeout() -> None:
    event = LeanEvent()
    try:
        async with asyncio.timeout(0.01):
            await event.wait()
    except TimeoutError:
        pass
    else:
        raise AssertionError("nobody set it")
    event.set()
    await event.wait()
