"""Connections, transactions, schema."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import JSON, Column, Connection, inspect, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from server.store.engine import Database
from server.store.errors import RecordRefused, SchemaTooNew, StoreMisconfigured, StoreUnavailable
from server.store.tables import METADATA
from tests.support.patience import PATIENCE_S


def other_default(
    context: MigrationContext,
    inspected_column: object,
    column: Column[Any],
    inspected: str | None,
    default: object,
    rendered: str | None,
) -> bool | None:
    """Whether the default of a JSON column is another one: PostgreSQL can't compare JSON. None leaves it to Alembic."""
    if not isinstance(column.type, JSON) or inspected is None or rendered is None:
        return None
    return inspected.removesuffix("::json") != rendered


async def test_migrated_schema_equals_the_tables(database: Database) -> None:
    def differences(connection: Connection) -> object:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": other_default}
        )
        return compare_metadata(context, METADATA)

    async with database.read() as connection:
        assert await connection.run_sync(differences) == []


async def test_migrated_foreign_keys_equal_the_tables(database: Database) -> None:
    def found(connection: Connection) -> set[tuple[object, ...]]:
        inspector = inspect(connection)
        return {
            (table, key["name"], tuple(key["constrained_columns"]), key["referred_table"], key["options"]["ondelete"])
            for table in inspector.get_table_names()
            for key in inspector.get_foreign_keys(table)
        }

    declared = {
        (table.name, key.name, tuple(key.column_keys), key.referred_table.name, key.ondelete)
        for table in METADATA.sorted_tables
        for key in table.foreign_key_constraints
    }
    async with database.read() as connection:
        assert await connection.run_sync(found) == declared
    assert {ondelete for *_, ondelete in declared} == {"CASCADE"}


async def test_migrate_again_changes_nothing(database: Database) -> None:
    await database.migrate()
    assert await database.is_usable()


async def test_migrate_by_several_at_once_works(tmp_path: Path) -> None:
    several = [Database.file(tmp_path / "a.db") for _ in range(4)]
    async with asyncio.TaskGroup() as group:
        for one in several:
            group.create_task(one.migrate())
    for one in several:
        assert await one.is_usable()
        await one.close()


async def test_schema_of_a_newer_version_is_refused(database: Database) -> None:
    async with database.write() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match="newer askwell"):
        await database.migrate()


def test_tables_can_be_made_on_postgresql() -> None:
    statements = [
        str(CreateTable(table).compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
        for table in METADATA.sorted_tables
    ]
    assert all("CREATE TABLE" in statement for statement in statements)
    names = [key.name for t in METADATA.sorted_tables for key in t.foreign_key_constraints]
    names += [index.name for t in METADATA.sorted_tables for index in t.indexes]
    assert all(len(str(name)) <= 63 for name in names)


async def test_connections_have_their_pragmas(database: Database, sqlite_file: Path) -> None:
    async with database.read() as connection:
        found = {
            name: (await connection.execute(text(f"PRAGMA {name}"))).scalar_one()
            for name in ("foreign_keys", "journal_mode", "synchronous", "busy_timeout", "secure_delete")
        }
    assert found == {
        "foreign_keys": 1,
        "journal_mode": "wal",
        "synchronous": 2,
        "busy_timeout": 200,
        "secure_delete": 1,
    }


async def test_write_while_another_process_writes_is_unavailable(database: Database, sqlite_file: Path) -> None:
    other = sqlite3.connect(sqlite_file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"):
        async with database.write():
            pass
    other.execute("ROLLBACK")
    other.close()
    async with database.write() as connection:
        await connection.execute(text("DELETE FROM configurations"))


async def test_write_somebody_waits_for_fails_in_bounded_time_among_patient_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database = Database.file(path, busy_timeout_ms=100, write_wait_s=0.25)
    await database.migrate()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    tries = 0

    async def write_for_ever() -> None:
        nonlocal tries
        while True:
            with suppress(StoreUnavailable):
                async with database.write(patient=True):
                    pass
            tries += 1

    async def write_once() -> None:
        with pytest.raises(StoreUnavailable):
            async with database.write():
                pass

    async with asyncio.TaskGroup() as group:
        patient = [group.create_task(write_for_ever()) for _ in range(8)]
        try:
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*(write_once() for _ in range(6)))
            assert tries < 5, "each takes 0.1 s at the least"
        finally:
            for task in patient:
                task.cancel()
    other.execute("ROLLBACK")
    other.close()
    async with database.write():
        pass
    await database.close()


async def test_write_somebody_waits_for_goes_before_all_but_one_patient_one(
    database: Database, sqlite_file: Path
) -> None:
    """Where one writes at a time; on PostgreSQL ten do, and nothing queues for long."""
    order: list[str] = []

    async def write(name: str, *, patient: bool) -> None:
        async with database.write(patient=patient):
            order.append(name)

    async with asyncio.TaskGroup() as group, database.write(patient=True):
        for number in range(8 * 3):
            group.create_task(write(f"patient {number}", patient=True))
        await asyncio.sleep(0)
        group.create_task(write("asked", patient=False))
        await asyncio.sleep(0)
    assert order.index("asked") <= 1


async def test_write_after_read_by_two_waits_for_its_turn(database: Database, sqlite_file: Path) -> None:
    """Both read before they write: without BEGIN IMMEDIATE one would fail at once."""

    async def count_up() -> None:
        async with database.write() as connection:
            value = (await connection.execute(text("SELECT last_id FROM journal_position"))).scalar_one()
            await connection.execute(text("UPDATE journal_position SET last_id = :v"), {"v": str(int(value) + 1)})

    async with database.write() as connection:
        await connection.execute(text("INSERT INTO journal_position VALUES (0, '0')"))
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(count_up())
    async with database.read() as connection:
        assert (await connection.execute(text("SELECT last_id FROM journal_position"))).scalar_one() == "4"


@pytest.mark.parametrize(
    "url", ["nonsense", "mysql://host/db", "sqlite://", "sqlite+aiosqlite:///:memory:", "sqlite+pysqlite:///a"]
)
def test_url_that_can_not_work_is_refused(url: str) -> None:
    with pytest.raises(StoreMisconfigured):
        Database(url)


async def test_connection_closed_with_rows_unread_lets_others_write(database: Database, sqlite_file: Path) -> None:
    async with database.engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        unread = await driver.execute("SELECT name FROM sqlite_master")
        await driver.execute("BEGIN IMMEDIATE")
        await connection.invalidate()
    other = sqlite3.connect(sqlite_file, isolation_level=None, timeout=1)
    other.execute("BEGIN IMMEDIATE")
    other.close()
    del unread


async def test_connection_whose_closing_is_cancelled_ends_with_nothing_left(
    database: Database, sqlite_file: Path
) -> None:
    answering = threading.Event()
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow() -> int:
        loop.call_soon_threadsafe(begun.set)
        answering.wait()
        return 1

    async def ask() -> None:
        async with database.read() as connection:
            driver = (await connection.get_raw_connection()).driver_connection
            assert driver is not None
            await driver.create_function("slow", 0, slow)
            await connection.execute(text("SELECT slow()"))

    before = asyncio.all_tasks()
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ask())
        await begun.wait()
        asking.cancel()  # the connection is closed, for which its query is waited for
        closing = await until_task("_terminate_graceful_close")
        asking.cancel()  # nothing is waited for any more: it is stopped
    assert asking.cancelled()
    assert not closing.done()
    answering.set()
    async with asyncio.timeout(PATIENCE_S):
        await closing
    assert asyncio.all_tasks() == before


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files can be listed where there is a /proc only")
async def test_whatever_is_cancelled_at_any_moment_leaves_no_file_open(database: Database, sqlite_file: Path) -> None:
    def still_open() -> list[str]:
        links = [entry for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
        return [path for path in (os.path.realpath(link) for link in links) if path.startswith(str(sqlite_file))]

    async def use(own: Database) -> None:
        async with own.write() as connection:
            await connection.execute(text("SELECT name FROM sqlite_master"))

    await database.close()
    gc.collect()
    gc.disable()
    try:
        for steps in range(60):
            own = Database.file(sqlite_file)
            async with asyncio.TaskGroup() as group:
                asking = [group.create_task(use(own)) for _ in range(2)]
                await asyncio.sleep(steps * 0.000_2)
                for task in asking:
                    task.cancel()
            await own.close()
            async with asyncio.timeout(PATIENCE_S):
                while still_open():
                    await asyncio.sleep(0.01)
    finally:
        gc.enable()


async def until_task(name: str) -> asyncio.Task[Any]:
    """The task that runs a function of that name, once there is one."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for task in asyncio.all_tasks():
                if getattr(task.get_coro(), "__qualname__", "").endswith(name):
                    return task
            await asyncio.sleep(0)


async def test_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "askwell.db"
    path.write_text("This is a shopping list. " * 100)
    database = Database.file(path)
    with pytest.raises(StoreMisconfigured):
        await database.migrate()
    await database.close()


async def test_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    database = Database.file(tmp_path / "nowhere" / "askwell.db")
    with pytest.raises(StoreMisconfigured, match=r"askwell\.db"):
        await database.migrate()
    assert not await database.is_usable()
    await database.close()


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**30])
async def test_number_that_the_database_can_not_hold_is_refused(database: Database, value: int) -> None:
    with pytest.raises(RecordRefused):
        async with database.write() as connection:
            await connection.execute(text("SELECT :value"), {"value": value})


async def test_text_that_the_database_can_not_hold_is_refused(database: Database) -> None:
    with pytest.raises(RecordRefused):
        async with database.write() as connection:
            await connection.execute(text("SELECT :value"), {"value": "\ud800"})
