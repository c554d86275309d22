"""Records of several partitions are written in one transaction; one partition's don't depend on another's."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import event

from server.hot.journal import START, JournalRecord
from server.hot.redis import HotStore
from server.store.engine import Database
from server.store.errors import RecordRefused, StalePosition
from server.store.grouped import GroupedApplier
from server.store.repository import Repository
from tests.support.redis_interview import HotInterview
from tests.support.redis_rows import assert_projected, journal_of

Talk = tuple[HotInterview, list[JournalRecord]]


@pytest.fixture
async def talks(hot: HotStore) -> dict[int, Talk]:
    """An interview of two turns in each of three partitions, with its records."""
    found: dict[int, Talk] = {}
    number = 0
    while len(found) < 3:
        number += 1
        session_id = f"s{number}"
        partition = hot.keys.partition_of(session_id)
        if partition not in found:
            interview = HotInterview(hot, session_id)
            await interview.begin()
            await interview.say_all(2)
            found[partition] = (interview, await journal_of(hot, session_id))
    return found


@pytest.fixture
async def applier(database: Database, talks: dict[int, Talk]) -> GroupedApplier:
    made = GroupedApplier(database)
    for partition in talks:
        await made.position(partition)
    return made


def statements(database: Database) -> list[str]:
    """What the database is told from now on."""
    told: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        told.append(statement)

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    return told


async def together(
    applier: GroupedApplier, parts: dict[int, list[JournalRecord]], expected: str = START
) -> list[object]:
    """What became of each partition's records, None where they were written."""
    applying = (applier.apply(partition, expected, records) for partition, records in parts.items())
    return await asyncio.gather(*applying, return_exceptions=True)


async def test_partitions_are_written_in_one_transaction(
    applier: GroupedApplier, talks: dict[int, Talk], database: Database
) -> None:
    told = statements(database)
    assert await together(applier, {p: records for p, (_, records) in talks.items()}) == [None] * 3
    assert sum(statement.startswith("BEGIN") for statement in told) <= 1
    of_all = len(told)
    for interview, _ in talks.values():
        await assert_projected(database, interview.interview.state)
    for partition, (_, records) in talks.items():
        assert await applier.position(partition) == records[-1].id
    told.clear()
    (partition, (_, records)) = next(iter(talks.items()))
    await applier.apply(partition, records[-1].id, records)
    assert of_all < 2 * len(told)


async def test_record_that_is_refused_keeps_no_other_partition_from_being_stored(
    applier: GroupedApplier, talks: dict[int, Talk], database: Database
) -> None:
    bad, *good = talks
    parts = {p: records for p, (_, records) in talks.items()}
    parts[bad] = [
        replace(record, packed_state=b"rno state") if record.packed_state else record for record in parts[bad]
    ]
    refused, *written = await together(applier, parts)
    assert isinstance(refused, RecordRefused)
    assert written == [None, None]
    for partition in good:
        await assert_projected(database, talks[partition][0].interview.state)
    assert await applier.position(bad) == START
    assert await Repository(database).stored_session(talks[bad][0].session_id) is None


async def test_stale_partition_is_left_out(applier: GroupedApplier, talks: dict[int, Talk], database: Database) -> None:
    stale, *good = talks
    await applier.apply(stale, START, talks[stale][1])
    first, *others = await together(applier, {p: records for p, (_, records) in talks.items()})
    assert isinstance(first, StalePosition)
    assert others == [None, None]
    for partition in (stale, *good):
        await assert_projected(database, talks[partition][0].interview.state)


async def test_whoever_gathers_can_be_cancelled(database: Database, talks: dict[int, Talk]) -> None:
    applier = GroupedApplier(database, gather_s=0.01)
    (one, (_, own)), (other, (interview, records)), *_ = talks.items()
    for partition in (one, other):
        await applier.position(partition)
    async with asyncio.TaskGroup() as tasks:
        leading = tasks.create_task(applier.apply(one, START, own))
        await asyncio.sleep(0)
        following = tasks.create_task(applier.apply(other, START, records))
        await asyncio.sleep(0)
        leading.cancel()
        await following
    assert leading.cancelled()
    await assert_projected(database, interview.interview.state)
    assert await applier.position(one) == START
