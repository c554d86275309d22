"""Every operation on a cluster: a script that crossed slots, or touched a key it did not name, would be refused."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from server.hot.embedded import find_binary
from server.hot.journal import START, Journal
from server.hot.redis import HotStore
from server.hot.values import Accepted, Erasure, StoredReceipt
from tests.support.patience import PATIENCE_S
from tests.support.redis_model import play, random_operations
from tests.support.redis_store import connect_store


@pytest.fixture
def cluster_url(tmp_path: Path) -> Iterator[str]:
    """A cluster of one server, which owns every slot."""
    with socket.socket() as probe, socket.socket() as bus_probe:
        probe.bind(("127.0.0.1", 0))
        bus_probe.bind(("127.0.0.1", 0))
        port, bus_port = probe.getsockname()[1], bus_probe.getsockname()[1]
    arguments = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path), "--save", ""]
    arguments += ["--cluster-enabled", "yes", "--cluster-port", str(bus_port)]
    with subprocess.Popen([str(find_binary()), *arguments], stdout=subprocess.DEVNULL) as server:
        client = Redis(port=port)
        wait_until_it_answers(client, server)
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)  # type: ignore[no-untyped-call]
        client.close()
        yield f"redis://127.0.0.1:{port}"
        server.kill()


def wait_until_it_answers(client: Redis, server: subprocess.Popen[bytes]) -> None:
    for _ in range(500):
        try:
            client.ping()
            return
        except RedisError:
            assert server.poll() is None, "the server ended"
            time.sleep(0.01)
    raise AssertionError("the server does not answer")


@pytest.fixture
async def cluster(cluster_url: str) -> AsyncIterator[HotStore]:
    store = connect_store(cluster_url, cluster=True)
    async with asyncio.timeout(PATIENCE_S):
        await store.checks.prepare(embedded=False)
    yield store
    await store.close()


async def test_every_operation_works_on_a_cluster(cluster: HotStore, cluster_url: str) -> None:
    await cluster.create("s1", state=b"x" * 5_000, events=[{"type": "a"}])
    await cluster.claim("s1", "anna")
    accepted = await cluster.accept(
        "s1",
        owner="anna",
        rev=0,
        turn_key="k1",
        payload=b"tea",
        digest="d",
        turn_number=1,
        event={"type": "turn.started"},
    )
    assert isinstance(accepted, Accepted)
    await cluster.fail("s1", owner="anna", turn_key="k1", event={"type": "turn.failed"})
    await cluster.accept(
        "s1", owner="anna", rev=0, turn_key="k1", payload=b"tea", digest="d", turn_number=1, event={"type": "x"}
    )
    await cluster.commit("s1", owner="anna", rev=0, turn_key="k1", state=b"y", embeddings={"n": b"1"})
    await cluster.note("s1", owner="anna", record=b"{}")
    assert [event.id for event in await cluster.events_after("s1", 0)] == [1, 2, 3, 4]
    assert await cluster.embeddings("s1") == {"n": b"1"}
    assert await cluster.owner_of("s1") == "anna"
    journal = Journal.connect(cluster_url, cluster.keys, cluster=True)
    partition = cluster.keys.partition_of("s1")
    records = await journal.read(partition, START)
    assert [record.kind for record in records] == ["create", "accept", "fail", "accept", "commit", "note"]
    assert await journal.read(partition, records[-1].id, wait_ms=5) == []
    assert await journal.length(partition) == 6
    oldest = await journal.oldest(partition)
    assert oldest is not None and oldest[0] == records[0].id and 0 <= oldest[1] < 60
    assert await journal.lock(partition, "one", 5)
    await journal.unlock(partition, "one")
    await journal.continue_after(partition, "99999999999999-0")
    moved = await journal.read(partition, "99999999999999-0")
    assert [record.kind for record in moved] == [record.kind for record in records]
    await journal.trim(partition, moved[-1].id)
    assert await journal.last_id(partition) == moved[-1].id
    assert abs(await cluster.checks.time_s() - time.time()) < 60
    assert await cluster.expire_stored("s1", moved[-1].id)
    await cluster.inbox.push("s1", b"pause")
    assert await cluster.inbox.read("s1") == [b"pause"]
    await cluster.inbox.drop("s1", b"pause")
    await cluster.inbox.reply("s1", "c", b"done")
    assert await cluster.inbox.reply_to("s1", "c") == b"done"
    await cluster.restore("s2", state=b"z", rev=3, receipts=[StoredReceipt("k", "d", 2, b"")])
    await cluster.erase("s1")
    await cluster.confirm_erased("s1", "1-1")
    assert await cluster.erasure("s1") is Erasure.ERASED
    await cluster.checks.forget_deleted()
    await journal.close()


async def test_sequences_on_a_cluster_do_what_the_model_says(cluster: HotStore) -> None:
    await play(cluster, "s1", random_operations(7, 40))


async def test_wakes_are_heard_on_a_cluster(cluster: HotStore) -> None:
    wakes = cluster.inbox.wakes()
    async with asyncio.timeout(PATIENCE_S):
        assert (await anext(wakes)).kind == "resync"
        await cluster.inbox.push("s1", b"pause")
        assert (await anext(wakes)).kind == "inbox"
    await wakes.aclose()


async def test_letters_between_nodes_travel_over_a_cluster(cluster: HotStore) -> None:
    async with asyncio.timeout(PATIENCE_S), aclosing(cluster.broadcasts.receive("one")) as letters:
        assert await anext(letters) is None
        await cluster.broadcasts.send([("two", b"not ours"), ("one", b"ours"), (None, b"everybody's")])
        assert {await anext(letters), await anext(letters)} == {b"ours", b"everybody's"}
    assert await cluster.broadcasts.is_first("alert:s1:stuck", 60)
    assert not await cluster.broadcasts.is_first("alert:s1:stuck", 60)
    await cluster.broadcasts.set_last_seen("d1", 5, 60)
    assert await cluster.broadcasts.last_seen("d1") == 5
