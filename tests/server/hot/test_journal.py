"""Reading and trimming a partition's stream."""

from __future__ import annotations

import asyncio
import re

import pytest

from server.hot.connection import load_scripts
from server.hot.journal import START, Journal, position_key
from server.hot.keys import KeySpace
from server.hot.redis import HotStore
from tests.support.patience import PATIENCE_S


@pytest.fixture
def journal(hot: HotStore) -> Journal:
    return Journal(hot.connection)


async def test_read_goes_on_after_a_position(hot: HotStore, journal: Journal) -> None:
    partition = hot.keys.partition_of("s1")
    await hot.create("s1", state=b"{}", record=b'{"a":1}')
    await hot.claim("s1", "anna")
    for rev in range(3):
        await hot.commit("s1", owner="anna", rev=rev, turn_key=f"c{rev}", state=b"{}", keep_pending=True)
    records = await journal.read(partition, START)
    assert [(r.kind, r.rev) for r in records] == [("create", 0), ("commit", 1), ("commit", 2), ("commit", 3)]
    assert records[0].data == b'{"a":1}'
    assert [position_key(r.id) for r in records] == sorted(position_key(r.id) for r in records)
    assert [r.rev for r in await journal.read(partition, records[1].id)] == [2, 3]
    assert [r.rev for r in await journal.read(partition, records[1].id, count=1)] == [2]
    oldest = await journal.oldest(partition)
    assert oldest is not None and oldest[0] == records[0].id and 0 <= oldest[1] < 60


async def test_trim_removes_what_was_applied(hot: HotStore, journal: Journal) -> None:
    partition = hot.keys.partition_of("s1")
    created = await hot.create("s1", state=b"{}")
    await hot.erase("s1")
    await journal.trim(partition, created.journal_id)
    [left] = await journal.read(partition, START)
    assert left.kind == "erase"
    await journal.trim(partition, left.id)
    assert await journal.length(partition) == 0
    assert await journal.last_id(partition) == left.id
    assert await journal.oldest(partition) is None


async def test_waiting_read_returns_as_soon_as_there_is_a_record(hot: HotStore, journal: Journal) -> None:
    partition = hot.keys.partition_of("s1")
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        reading = group.create_task(journal.read(partition, START, wait_ms=120_000))
        await hot.create("s1", state=b"{}")
    assert [record.session_id for record in reading.result()] == ["s1"]
    assert await journal.read(partition, reading.result()[0].id, wait_ms=1) == []


@pytest.mark.parametrize("with_records", [False, True])
async def test_lost_journal_continues_after_the_known_position(
    hot: HotStore, journal: Journal, with_records: bool
) -> None:
    partition = hot.keys.partition_of("s1")
    if with_records:
        await hot.create("s1", state=b"{}")
    future = "99999999999999-7"
    await journal.continue_after(partition, future)
    if with_records:
        await hot.claim("s1", "a")
        await hot.commit("s1", owner="a", rev=0, turn_key="c", state=b"{}", keep_pending=True)
    else:
        await hot.create("s1", state=b"{}")
    *_, record = await journal.read(partition, future)
    assert position_key(record.id) > position_key(future)
    await journal.continue_after(partition, START)
    assert await journal.last_id(partition) == record.id


async def test_lock_has_one_holder(hot: HotStore, journal: Journal) -> None:
    assert await journal.lock(3, "one", 10)
    assert await journal.lock(3, "one", 10)
    assert not await journal.lock(3, "two", 10)
    await journal.unlock(3, "two")
    assert not await journal.lock(3, "two", 10)
    await journal.unlock(3, "one")
    assert await journal.lock(3, "two", 10)


async def test_lock_left_behind_before_the_clock_was_set_back_is_free(hot: HotStore, journal: Journal) -> None:
    await hot.connection.client.execute_command("SET", hot.keys.writer_lock(3), "one", "PX", 3_600_000)
    assert await journal.lock(3, "two", 10)
    assert not await journal.lock(3, "one", 10)
    await journal.unlock(3, "two")


async def test_journal_begun_anew_with_the_clock_behind_keeps_its_records(hot: HotStore, journal: Journal) -> None:
    partition = hot.keys.partition_of("s1")
    future = "99999999999999-7"
    await hot.create("s1", state=b"{}")
    await hot.claim("s1", "a")
    await hot.commit("s1", owner="a", rev=0, turn_key="c", state=b"{}", keep_pending=True)
    await journal.continue_after(partition, future)
    records = await journal.read(partition, future)
    assert [(record.kind, record.rev) for record in records] == [("create", 0), ("commit", 1)]
    assert await journal.length(partition) == 2
    assert await hot.expire_stored("s1", records[-1].id)


async def test_journal_that_lost_its_end_gives_stored_records_no_new_ids(hot: HotStore, journal: Journal) -> None:
    partition = hot.keys.partition_of("s1")
    future = "99999999999999-7"
    created = await hot.create("s1", state=b"{}")
    await hot.claim("s1", "a")
    await hot.commit("s1", owner="a", rev=0, turn_key="c", state=b"{}", keep_pending=True)
    await journal.trim(partition, created.journal_id)
    await journal.continue_after(partition, future)
    assert await journal.read(partition, future) == []
    await hot.erase("s1")
    assert [record.kind for record in await journal.read(partition, future)] == ["erase"]


def test_partition_is_the_same_on_every_machine() -> None:
    keys = KeySpace()
    assert keys.partition_of("123456789") == 0xCBF43926 % 16  # the published check value of CRC-32
    assert keys.session("abc").journal == f"askwell:{{p{keys.partition_of('abc'):02d}}}:journal"
    assert {keys.partition_of(str(n)) for n in range(1000)} == set(range(16))


def test_every_operation_writes_a_kind_that_is_known() -> None:
    """The kinds that `Applier` handles are those that the scripts write, no more and no fewer."""
    written = {kind for text in load_scripts().values() for kind in re.findall(r"journal\('(\w+)'", text)}
    assert written == {"create", "accept", "superseded", "fail", "commit", "note", "erase"}
