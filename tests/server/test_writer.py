"""The loop from journal to store: order, races, crashes, dead records, erasing."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from server.hot.errors import StorageUnavailable
from server.hot.journal import START, Journal, JournalRecord
from server.hot.redis import HotStore
from server.hot.values import Erasure, HotSettings
from server.store.engine import Database
from server.store.errors import StalePosition
from server.store.grouped import GroupedApplier
from server.store.rebuilding import Rebuilding
from server.store.repository import Repository
from server.writer import Lag, Writer, WriterHooks, WriterSettings
from tests.support.patience import PATIENCE_S
from tests.support.redis_fixtures import database, embedded_url, hot, sqlite_file
from tests.support.redis_interview import HotInterview
from tests.support.redis_keys import leaked_keys
from tests.support.redis_rows import all_rows, assert_projected
from tests.support.redis_store import connect_store

__all__ = ["database", "embedded_url", "hot", "sqlite_file"]

FAST = WriterSettings(
    gather_s=0.01,
    wait_ms=20,
    lock_ttl_s=5.0,
    lock_retry_s=0.01,
    first_pause_s=0.001,
    longest_pause_s=0.01,
    measure_every_s=0.01,
)


@pytest.fixture
async def journal(hot: HotStore, embedded_url: str) -> AsyncIterator[Journal]:
    opened = Journal.connect(embedded_url, hot.keys)
    yield opened
    await opened.close()


@pytest.fixture
def writer(hot: HotStore, journal: Journal, database: Database) -> Writer:
    return Writer(hot, journal, GroupedApplier(database), FAST)


async def until(condition: Callable[[], Awaitable[bool]], deadline_s: float = PATIENCE_S) -> None:
    """Ask again and again until it is so. Raises TimeoutError."""
    async with asyncio.timeout(deadline_s):
        while not await condition():
            await asyncio.sleep(0.005)


async def talk(hot: HotStore, session_id: str, turns: int) -> HotInterview:
    interview = HotInterview(hot, session_id)
    await interview.begin()
    await interview.say_all(turns)
    return interview


class Lockless(Journal):
    """A journal whose locks everybody gets, as when one ran out while its writer was busy."""

    async def lock(self, partition: int, holder: str, ttl_s: float) -> bool:
        return True


async def test_drain_stores_everything_trims_and_lets_keys_expire(
    hot: HotStore, writer: Writer, journal: Journal, database: Database
) -> None:
    interviews = [await talk(hot, f"s{number}", 2) for number in range(5)]
    assert await writer.drain(PATIENCE_S)
    for interview in interviews:
        await assert_projected(database, interview.interview.state)
        assert await journal.length(hot.keys.partition_of(interview.session_id)) == 0
        ttl_s = await hot.connection.client.execute_command("TTL", hot.keys.session(interview.session_id).state)
        assert 86_000 < ttl_s <= 86_400
    assert await leaked_keys(hot) == []
    assert writer.degraded is None


async def test_run_stores_what_comes_while_it_runs(hot: HotStore, writer: Writer, database: Database) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())
        interview = await talk(hot, "s1", 3)
        repository = Repository(database)

        async def stored() -> bool:
            found = await repository.stored_session("s1")
            return found is not None and found.rev == interview.interview.state.rev

        await until(stored)
        assert await writer.drain(PATIENCE_S)
        running.cancel()
    await assert_projected(database, interview.interview.state)


async def test_run_cancelled_gives_its_locks_back(hot: HotStore, writer: Writer, journal: Journal) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())

        async def locked() -> bool:
            return bool(await hot.connection.client.execute_command("EXISTS", hot.keys.writer_lock(0)))

        await until(locked)
        assert not await journal.lock(0, "somebody else", 5)
        running.cancel()
    assert await journal.lock(0, "somebody else", 5)
    await journal.unlock(0, "somebody else")


class Slow(Journal):
    """A journal on a slow machine: what is sent arrives later, whether or not its sender still waits for it."""

    late_s = 0.05
    network: asyncio.TaskGroup

    async def lock(self, partition: int, holder: str, ttl_s: float) -> bool:
        async def arrive() -> bool:
            await asyncio.sleep(self.late_s)
            return await super(Slow, self).lock(partition, holder, ttl_s)

        return await asyncio.shield(self.network.create_task(arrive()))

    async def unlock(self, partition: int, holder: str) -> None:
        await asyncio.sleep(self.late_s)
        await super().unlock(partition, holder)


async def held(hot: HotStore) -> list[int]:
    """The partitions whose lock somebody has."""
    keys = [hot.keys.writer_lock(partition) for partition in range(hot.keys.partitions)]
    return [number for number, key in enumerate(keys) if await hot.connection.client.execute_command("EXISTS", key)]


@pytest.mark.parametrize("wait_s", [0.0, 0.02, 0.06, 0.2], ids=["asking", "on its way", "again", "working"])
@pytest.mark.parametrize("times", [1, 20], ids=["once", "again and again"])
async def test_slow_writer_cancelled_leaves_no_lock(
    hot: HotStore, embedded_url: str, database: Database, wait_s: float, times: int
) -> None:
    journal = Slow.connect(embedded_url, hot.keys)
    async with asyncio.TaskGroup() as journal.network:
        running = journal.network.create_task(Writer(hot, journal, GroupedApplier(database), FAST).run())
        await asyncio.sleep(wait_s)
        for _ in range(times):
            running.cancel()
            await asyncio.wait({running}, timeout=0.02)
    assert running.cancelled()
    assert await held(hot) == []
    await journal.close()


async def test_session_in_use_keeps_its_keys(hot: HotStore, writer: Writer) -> None:
    interview = await talk(hot, "s1", 1)
    assert await writer.drain(PATIENCE_S)
    await interview.accept("next", "an answer")
    keys = hot.keys.session("s1")
    assert await hot.connection.client.execute_command("TTL", keys.state) == -1
    assert await writer.drain(PATIENCE_S)
    assert await hot.connection.client.execute_command("TTL", keys.state) > 0


async def test_session_forgotten_by_hot_storage_goes_on_from_its_snapshot(
    hot: HotStore, writer: Writer, database: Database
) -> None:
    interview = await talk(hot, "s1", 2)
    await interview.accept("key-3", "the third answer")
    assert await writer.drain(PATIENCE_S)
    epoch = (await hot.read("s1")).epoch
    await hot.connection.client.execute_command("FLUSHALL")
    stored = await Repository(database).stored_session("s1")
    assert stored is not None
    await hot.restore("s1", state=stored.state, rev=stored.rev, pending=stored.pending, receipts=stored.receipts)
    again = await hot.claim("s1", "bert")
    assert again.epoch != epoch
    assert again.state == interview.interview.state.dump()
    assert again.pending is not None
    assert again.pending.payload == b"the third answer"
    interview.owner = "bert"
    outcome = await interview.interview.say("the third answer")
    await interview.commit(outcome, "key-3")
    assert await writer.drain(PATIENCE_S)
    await assert_projected(database, interview.interview.state)


async def test_two_writers_racing_store_everything_once(hot: HotStore, embedded_url: str, database: Database) -> None:
    """Both believe that they have every lock; the positions alone keep the rows right."""
    other = Database(database.url.render_as_string(hide_password=False), busy_timeout_ms=200)
    journals = [Lockless.connect(embedded_url, hot.keys) for _ in range(2)]
    writers = [
        Writer(hot, journal, GroupedApplier(store), FAST)
        for journal, store in zip(journals, (database, other), strict=True)
    ]
    interviews: list[HotInterview] = []
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(writer.run()) for writer in writers]
        for number in range(6):
            interviews.append(await talk(hot, f"s{number}", 2))

        async def stored() -> bool:
            return not any(lag.records for lag in (await writers[0].measure()).values())

        await until(stored)
        for task in running:
            task.cancel()
    for interview in interviews:
        await assert_projected(database, interview.interview.state)
        scores = await Repository(database).scores(interview.session_id)
        assert [row["turn_number"] for row in scores] == [1, 2]
    assert await Repository(database).dead_letter_count() == 0
    for journal in journals:
        await journal.close()
    await other.close()


class Overtaken(GroupedApplier):
    """Another writer stores what waits between what this one reads and what it writes."""

    def __init__(self, database: Database, overtake: Callable[[], Awaitable[object]]) -> None:
        super().__init__(database)
        self._overtake = overtake

    async def write(self, connection: AsyncConnection, record: JournalRecord) -> None:
        await self._overtake()
        await super().write(connection, record)


async def test_writer_that_read_the_position_too_early_takes_no_session_back(
    hot: HotStore, journal: Journal, writer: Writer, database: Database
) -> None:
    """It believes that the store lacks what another writer has stored meanwhile, and fills it in from hot storage."""
    interview = await talk(hot, "s1", 1)
    partition = hot.keys.partition_of("s1")
    early = await GroupedApplier(database).position(partition)
    assert await writer.drain(PATIENCE_S)

    async def overtake() -> None:
        await interview.say_all(1)
        await writer.drain(1.0)

    rebuilding = Rebuilding(hot, journal, Overtaken(database, overtake))
    with pytest.raises(StalePosition):
        await rebuilding.fill(partition, early)
    assert await writer.drain(PATIENCE_S)
    await assert_projected(database, interview.interview.state)


async def test_writer_cancelled_at_any_moment_loses_and_doubles_nothing(
    hot: HotStore, journal: Journal, database: Database
) -> None:
    interviews = [HotInterview(hot, f"s{number}") for number in range(3)]
    for interview in interviews:
        await interview.begin()
    for number in range(24):
        writer = Writer(hot, journal, GroupedApplier(database), FAST)
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            running = group.create_task(writer.run())
            await interviews[number % 3].say_all(1)
            await asyncio.sleep(number * 0.001)
            running.cancel()
    assert await Writer(hot, journal, GroupedApplier(database), FAST).drain(PATIENCE_S)
    for interview in interviews:
        await assert_projected(database, interview.interview.state)
        answers = (await all_rows(database))["answers"]
        mine = [row["status"] for row in answers if row["session_id"] == interview.session_id]
        assert mine == ["committed"] * 8
    assert await Repository(database).dead_letter_count() == 0
    assert await leaked_keys(hot) == []


async def test_locked_database_is_waited_for(
    hot: HotStore, journal: Journal, database: Database, sqlite_file: Path
) -> None:
    writer = Writer(hot, journal, GroupedApplier(database), FAST)
    interview = await talk(hot, "s1", 1)
    blocker = sqlite3.connect(sqlite_file, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())

        async def degraded() -> bool:
            return writer.degraded is not None

        await until(degraded)
        assert "locked" in str(writer.degraded)
        blocker.execute("ROLLBACK")
        blocker.close()

        async def well() -> bool:
            return writer.degraded is None and await Repository(database).stored_session("s1") is not None

        await until(well)
        assert await writer.drain(PATIENCE_S)
        running.cancel()
    await assert_projected(database, interview.interview.state)


class Counting(GroupedApplier):
    """Counts how often the record `bad` is tried alone."""

    tries = 0

    async def apply(self, partition: int, expected: str, records: Sequence[JournalRecord]) -> None:
        self.tries += [record.turn_key for record in records] == ["bad"]
        await super().apply(partition, expected, records)


async def test_record_that_can_not_be_written_is_buried_and_the_next_state_counts(
    hot: HotStore, journal: Journal, database: Database
) -> None:
    buried: list[JournalRecord] = []
    applier = Counting(database)
    writer = Writer(hot, journal, applier, FAST, WriterHooks(dead_letter=buried.append))
    interview = await talk(hot, "s1", 1)
    state = interview.interview.state
    await hot.commit("s1", owner="anna", rev=state.rev, turn_key="bad", state=b"not a state", keep_pending=True)
    other = await talk(hot, "s2", 1)
    assert await writer.drain(PATIENCE_S)
    assert [record.turn_key for record in buried] == ["bad"]
    assert applier.tries == FAST.attempts
    await assert_projected(database, state)
    await assert_projected(database, other.interview.state)
    after = state.model_copy(update={"rev": state.rev + 2, "status_reason": "repaired"})
    await hot.commit("s1", owner="anna", rev=state.rev + 1, turn_key="good", state=after.dump(), keep_pending=True)
    assert await writer.drain(PATIENCE_S)
    await assert_projected(database, after)
    assert await Repository(database).dead_letter_count() == 1


async def test_damaged_entry_in_the_stream_does_not_stop_the_others(
    hot: HotStore, writer: Writer, database: Database
) -> None:
    partition = hot.keys.partition_of("s1")
    await hot.connection.client.execute_command(
        "XADD", hot.keys.journal(partition), "*", "kind", "commit", "rev", "many"
    )
    interview = await talk(hot, "s1", 1)
    assert await writer.drain(PATIENCE_S)
    await assert_projected(database, interview.interview.state)
    assert [row["kind"] for row in (await all_rows(database))["journal_dead"]] == ["damaged"]


async def test_writer_that_died_between_storing_and_finishing_is_made_good(
    hot: HotStore, writer: Writer, journal: Journal, database: Database
) -> None:
    """The rows are there; expiry, trimming and the confirmation of an erasure are not."""
    interview = await talk(hot, "s1", 1)
    await talk(hot, "s2", 1)
    await hot.erase("s2")
    applier = GroupedApplier(database)
    for partition in range(hot.keys.partitions):
        records = await journal.read(partition, START, count=1000)
        if records:
            await applier.position(partition)
            await applier.apply(partition, START, records)
    assert await hot.erasure("s2") is Erasure.ERASING
    assert await writer.drain(PATIENCE_S)
    assert await hot.erasure("s2") is Erasure.ERASED
    assert await leaked_keys(hot) == []
    assert await journal.length(hot.keys.partition_of("s1")) == 0
    await assert_projected(database, interview.interview.state)


async def test_erase_removes_rows_files_keys_and_then_says_so(
    hot: HotStore, journal: Journal, database: Database
) -> None:
    erased: list[str] = []

    async def erase_files(session_id: str) -> None:
        assert await hot.erasure(session_id) is Erasure.ERASING
        erased.append(session_id)

    writer = Writer(hot, journal, GroupedApplier(database), FAST, WriterHooks(erase_files=erase_files))
    await talk(hot, "s1", 2)
    bystander = await talk(hot, "s2", 1)
    assert await writer.drain(PATIENCE_S)
    await hot.erase("s1")
    assert await hot.erasure("s1") is Erasure.ERASING
    assert await writer.drain(PATIENCE_S)
    assert erased == ["s1"]
    assert await hot.erasure("s1") is Erasure.ERASED
    assert '"s1"' not in json.dumps(await all_rows(database), default=str)
    keys = [key.decode() for key in await hot.connection.client.execute_command("KEYS", "*:s1:*")]
    assert keys == [hot.keys.session("s1").tombstone]
    await assert_projected(database, bystander.interview.state)


async def test_erase_whose_files_can_not_be_removed_is_tried_again(
    hot: HotStore, journal: Journal, database: Database
) -> None:
    failures = 3

    async def erase_files(_: str) -> None:
        nonlocal failures
        if failures:
            failures -= 1
            raise OSError("the disk is busy")

    writer = Writer(hot, journal, GroupedApplier(database), FAST, WriterHooks(erase_files=erase_files))
    await talk(hot, "s1", 1)
    await hot.erase("s1")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())

        async def confirmed() -> bool:
            return await hot.erasure("s1") is Erasure.ERASED

        await until(confirmed)
        running.cancel()
    assert failures == 0


async def test_position_ahead_of_a_lost_journal_is_not_in_the_way(
    hot: HotStore, writer: Writer, journal: Journal, database: Database
) -> None:
    partition = hot.keys.partition_of("s1")
    applier = GroupedApplier(database)
    await applier.position(partition)
    mark = JournalRecord(partition, "99999999999999-0", "erase", "nobody", 0)
    await applier.apply(partition, START, [mark])
    assert await writer.drain(PATIENCE_S)
    interview = await talk(hot, "s1", 1)
    assert await writer.drain(PATIENCE_S)
    await assert_projected(database, interview.interview.state)


async def test_lag_is_measured(hot: HotStore, writer: Writer) -> None:
    partition = hot.keys.partition_of("s1")
    ninety_s_ago = f"{int((time.time() - 90) * 1000)}-0"
    await hot.connection.client.execute_command(
        "XADD", hot.keys.journal(partition), ninety_s_ago, "kind", "erase", "session", "nobody"
    )
    await talk(hot, "s1", 1)
    lag = await writer.measure()
    assert lag[partition].records == 5
    assert 90 <= lag[partition].seconds < 120
    assert sum(entry.records for entry in lag.values()) == 5
    assert await writer.drain(PATIENCE_S)
    assert (await writer.measure())[partition] == Lag(0, 0.0)


async def test_journal_lost_with_the_clock_set_back_is_stored(
    hot: HotStore, writer: Writer, journal: Journal, database: Database
) -> None:
    applier, repository = GroupedApplier(database), Repository(database)
    partition = hot.keys.partition_of("s1")
    await applier.position(partition)
    await applier.apply(partition, START, [JournalRecord(partition, "99999999999999-0", "erase", "nobody", 0)])
    async with asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())

        async def taken_up() -> bool:
            return await journal.last_id(partition) != START

        await until(taken_up)
        await hot.connection.client.execute_command("FLUSHALL")
        interview = await talk(hot, "s1", 1)

        async def stored() -> bool:
            found = await repository.stored_session("s1")
            return found is not None and found.rev == interview.interview.state.rev

        await until(stored)
        running.cancel()
    await assert_projected(database, interview.interview.state)


async def test_lag_of_a_record_from_the_future_grows(hot: HotStore, journal: Journal, database: Database) -> None:
    partition = hot.keys.partition_of("s1")
    await hot.connection.client.execute_command(
        "XADD", hot.keys.journal(partition), "99999999999999-0", "kind", "erase", "session", "s1"
    )
    writer = Writer(hot, journal, GroupedApplier(database), replace(FAST, degraded_after_s=0.02))
    await writer.measure()
    assert writer.degraded is None
    await asyncio.sleep(0.05)
    await writer.measure()
    assert "behind" in str(writer.degraded)
    assert await writer.drain(PATIENCE_S)


async def test_old_lag_is_degraded(hot: HotStore, journal: Journal, database: Database) -> None:
    partition = hot.keys.partition_of("s1")
    await hot.connection.client.execute_command(
        "XADD", hot.keys.journal(partition), "1000-0", "kind", "erase", "session", "s1"
    )
    writer = Writer(hot, journal, GroupedApplier(database), FAST)
    await writer.measure()
    assert "behind" in str(writer.degraded)
    assert await writer.drain(PATIENCE_S)
    await writer.measure()
    assert writer.degraded is None


async def test_drain_with_another_writer_at_work_waits_for_nothing(
    hot: HotStore, journal: Journal, database: Database
) -> None:
    settings = replace(FAST, lock_ttl_s=20 * PATIENCE_S)
    writer = Writer(hot, journal, GroupedApplier(database), settings)
    await talk(hot, "s1", 1)
    partition = hot.keys.partition_of("s1")
    assert await journal.lock(partition, "somebody else", settings.lock_ttl_s)
    async with asyncio.timeout(PATIENCE_S):
        assert not await writer.drain(10 * PATIENCE_S)
    await journal.unlock(partition, "somebody else")
    assert await writer.drain(PATIENCE_S)


async def test_drain_without_server_is_false(database: Database) -> None:
    settings = HotSettings(op_deadline_s=0.05, attempt_timeout_s=0.05)
    nowhere = connect_store("unix:///nonexistent/askwell.sock", settings)
    gone = Journal.connect("unix:///nonexistent/askwell.sock", nowhere.keys, settings)
    writer = Writer(nowhere, gone, GroupedApplier(database), FAST)
    assert not await writer.drain(2)
    with pytest.raises(StorageUnavailable):
        await writer.measure()
    await nowhere.close()
    await gone.close()


class Swallowing(Journal):
    """A journal whose reads swallow a cancellation, as `asyncio.wait_for` can."""

    waiting = 0

    async def read(
        self, partition: int, after: str, *, count: int = 100, wait_ms: int | None = None
    ) -> list[JournalRecord]:
        self.waiting += wait_ms is not None
        try:
            return await super().read(partition, after, count=count, wait_ms=wait_ms)
        except asyncio.CancelledError:
            return []


async def test_writer_whose_cancellation_is_swallowed_ends_all_the_same(
    hot: HotStore, embedded_url: str, database: Database
) -> None:
    journal = Swallowing.connect(embedded_url, hot.keys)
    writer = Writer(hot, journal, GroupedApplier(database), FAST)

    async def reads() -> bool:
        return journal.waiting >= 2 * hot.keys.partitions

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(writer.run())
        await until(reads)
        running.cancel()
    await journal.close()


async def test_note_is_stored_before_the_keys_of_its_session_may_go(
    hot: HotStore, writer: Writer, database: Database
) -> None:
    interview = await talk(hot, "s1", 1)
    assert await writer.drain(PATIENCE_S)
    keys = hot.keys.session("s1")
    assert await hot.connection.client.execute_command("TTL", keys.state) > 0
    record = json.dumps({"turn_number": 1, "calls": [{"id": "c1", "role": "scoring", "task": "slots"}]}).encode()
    await hot.note("s1", owner=None, record=record)
    assert await hot.connection.client.execute_command("TTL", keys.state) == -1
    assert await leaked_keys(hot) == []
    assert await writer.drain(PATIENCE_S)
    assert await hot.connection.client.execute_command("TTL", keys.state) > 0
    assert await leaked_keys(hot) == []
    [row] = await Repository(database).llm_calls("s1")
    assert (row["id"], row["turn_number"]) == ("c1", 1)
    await assert_projected(database, interview.interview.state)


async def test_note_among_erasures_is_neither_stored_nor_buried(
    hot: HotStore, writer: Writer, database: Database
) -> None:
    """A note on the way when its session is erased, and one that was written by a program without the guard."""
    await talk(hot, "s1", 1)
    record = json.dumps({"turn_number": 1, "calls": [{"id": "c1"}]}).encode()
    await hot.note("s1", owner="anna", record=record)
    await hot.erase("s1")
    journal = hot.keys.session("s1").journal
    late = ("kind", "note", "session", "s1", "rev", "1", "data", b"r" + record)
    await hot.connection.client.execute_command("XADD", journal, "*", *late)
    assert await writer.drain(PATIENCE_S)
    assert await hot.erasure("s1") is Erasure.ERASED
    assert '"s1"' not in json.dumps(await all_rows(database), default=str)
    assert await Repository(database).dead_letter_count() == 0
    assert await leaked_keys(hot) == []
