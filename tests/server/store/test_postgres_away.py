"""A PostgreSQL server that is stopped, starting, hanging or in a deadlock: trying again helps, nothing is given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from sqlalchemy import text

from server.store.engine import Database
from server.store.errors import StoreUnavailable
from tests.support.postgres import PostgresServer, free_port, postgres_server

pytestmark = pytest.mark.needs("postgresql")


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as running:
        yield running


@pytest.fixture
async def postgres(server: PostgresServer) -> AsyncIterator[Database]:
    if not server.running:
        server.start()
    opened = Database(server.url, statement_s=2.0)
    async with opened.write() as connection:
        await connection.execute(text("DROP TABLE IF EXISTS pair"))
        await connection.execute(text("CREATE TABLE pair (id integer PRIMARY KEY, value integer)"))
        await connection.execute(text("INSERT INTO pair VALUES (1, 0), (2, 0)"))
    yield opened
    await opened.close()


async def test_nobody_there_is_unavailable() -> None:
    nowhere = Database(f"postgresql+asyncpg://askwell@127.0.0.1:{free_port()}/askwell")
    with pytest.raises(StoreUnavailable):
        async with nowhere.read():
            pass
    assert not await nowhere.is_usable()
    await nowhere.close()


async def test_server_that_stops_is_unavailable_until_it_starts(postgres: Database, server: PostgresServer) -> None:
    async def write() -> None:
        async with postgres.write() as connection:
            await connection.execute(text("UPDATE pair SET value = 1"))
            await asyncio.to_thread(server.stop)
            await connection.execute(text("UPDATE pair SET value = 2"))

    with pytest.raises(StoreUnavailable):
        await write()
    assert not await postgres.is_usable()
    await asyncio.to_thread(server.start)
    assert await postgres.is_usable()


async def test_deadlock_is_unavailable(postgres: Database) -> None:
    async def both(first: int, second: int, meeting: asyncio.Barrier) -> None:
        async with postgres.write() as connection:
            await connection.execute(text("UPDATE pair SET value = 1 WHERE id = :id"), {"id": first})
            await meeting.wait()
            await connection.execute(text("UPDATE pair SET value = 1 WHERE id = :id"), {"id": second})

    meeting = asyncio.Barrier(2)
    ends = await asyncio.gather(both(1, 2, meeting), both(2, 1, meeting), return_exceptions=True)
    [told] = [end for end in ends if end is not None]
    assert isinstance(told, StoreUnavailable)
    assert "deadlock" in str(told)


@pytest.mark.parametrize("sqlstate", ["53300", "55P03", "57014", "57P03", "58030", "40001", "25006"])
async def test_failure_that_says_nothing_about_the_rows_is_unavailable(postgres: Database, sqlstate: str) -> None:
    with pytest.raises(StoreUnavailable):
        async with postgres.write() as connection:
            await connection.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{sqlstate}'; END $$"))


async def test_hanging_server_is_unavailable_and_used_again(postgres: Database, server: PostgresServer) -> None:
    assert await postgres.is_usable()
    server.suspend()
    try:
        async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(postgres.is_usable())
            await asyncio.wait({asking}, timeout=3.0)
            server.resume()
    finally:
        server.resume()
    assert not asking.result()
    async with asyncio.timeout(20):
        assert await postgres.is_usable()
