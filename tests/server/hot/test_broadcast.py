"""What nodes tell each other: to one or to all, nothing kept, a gap known as one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from server.hot.errors import StorageUnavailable
from server.hot.redis import HotStore
from tests.support.patience import PATIENCE_S
from tests.support.redis_store import connect_store


async def test_letters_reach_the_node_they_are_for_and_all_if_for_all(hot: HotStore) -> None:
    heard: dict[str, list[bytes]] = {"one": [], "two": []}
    ready = {name: asyncio.Event() for name in heard}

    async def listen(name: str) -> None:
        async with aclosing(hot.broadcasts.receive(name)) as letters:
            async for letter in letters:
                if letter is None:
                    ready[name].set()
                    continue
                heard[name].append(letter)
                if letter == b"end":
                    return

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        for name in heard:
            tasks.create_task(listen(name))
        for event in ready.values():
            await event.wait()
        await hot.broadcasts.send([("one", b"first"), ("two", b"second"), (None, b"\xff any bytes\n"), (None, b"end")])
    assert heard == {
        "one": [b"first", b"\xff any bytes\n", b"end"],
        "two": [b"second", b"\xff any bytes\n", b"end"],
    }


async def test_beginning_is_told_once_the_server_has_confirmed_it(hot: HotStore) -> None:
    """What is published before that goes past."""
    async with asyncio.timeout(PATIENCE_S), aclosing(hot.broadcasts.receive("one")) as letters:
        await hot.connection.client.execute_command("CLIENT", "PAUSE", 300)
        async with asyncio.TaskGroup() as tasks:
            begun = tasks.create_task(begins(letters))
            await asyncio.sleep(0.1)
            assert not begun.done()


async def begins(letters: AsyncGenerator[bytes | None, None]) -> None:
    assert await anext(letters) is None


async def test_gap_is_told_once_the_server_is_heard_again(hot: HotStore) -> None:
    async with asyncio.timeout(PATIENCE_S), aclosing(hot.broadcasts.receive("one")) as letters:
        assert await anext(letters) is None
        await hot.connection.client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        assert await anext(letters) is None
        await hot.broadcasts.send([("one", b"after")])
        assert await anext(letters) == b"after"


async def test_letters_that_can_not_be_sent_are_told(embedded_url: str) -> None:
    away = connect_store("unix:///nowhere/at/all.sock")
    with pytest.raises(StorageUnavailable):
        await away.broadcasts.send([(None, b"lost")])
    await away.close()


async def test_first_is_true_once_for_all_nodes(hot: HotStore, embedded_url: str) -> None:
    other = connect_store(embedded_url)
    assert await hot.broadcasts.is_first("alert:s1:stuck", 60)
    assert not await other.broadcasts.is_first("alert:s1:stuck", 60)
    assert await other.broadcasts.is_first("alert:s1:fatigue", 60)
    await other.close()


async def test_device_is_remembered_for_a_while(hot: HotStore) -> None:
    assert await hot.broadcasts.last_seen("d1") is None
    await hot.broadcasts.set_last_seen("d1", 1_700_000_000_123, 60)
    assert await hot.broadcasts.last_seen("d1") == 1_700_000_000_123
