"""The database: connections, transactions, schema."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Select, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.util import await_only

from server.store.errors import RecordRefused, StoreError, StoreMisconfigured, StoreUnavailable, translated
from server.store.migrations.run import upgrade
from server.store.tables import Row

BUSY_TIMEOUT_MS = 5_000
WRITE_WAIT_S = 5.0
AGAIN_S = 0.01
_WRITES = "askwell_writes"


class Database:
    """One database with its connections; one per process.

    Args:
        url: `sqlite+aiosqlite:///…` or `postgresql+asyncpg://…`.
        busy_timeout_ms: how long SQLite waits for another process's lock.
        write_wait_s: how long a transaction that is not patient may take to begin, its turn and that lock together.
    """

    def __init__(self, url: str, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS, write_wait_s: float = WRITE_WAIT_S) -> None:
        self.url = _checked(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        options: dict[str, Any] = {} if self.is_sqlite else {"pool_pre_ping": True, "pool_size": 10}
        self.engine: AsyncEngine = create_async_engine(self.url, **options)
        # SQLite has one writer: waiting here keeps its threads free and can be cancelled at once.
        self._writing = asyncio.Semaphore(1 if self.is_sqlite else 10)
        self._patient = asyncio.Semaphore(1 if self.is_sqlite else 8)
        self._busy_timeout_ms = busy_timeout_ms
        self._write_wait_s = write_wait_s
        if self.is_sqlite:
            _tune_sqlite(self.engine.sync_engine, busy_timeout_ms)

    @classmethod
    def file(
        cls, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS, write_wait_s: float = WRITE_WAIT_S
    ) -> Database:
        """The SQLite database in that file."""
        return cls(f"sqlite+aiosqlite:///{path}", busy_timeout_ms=busy_timeout_ms, write_wait_s=write_wait_s)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection for reading; SQLAlchemy's exceptions become StoreErrors."""
        with translated():
            async with self.engine.connect() as connection:
                yield connection

    async def rows(self, query: Select[Any]) -> list[Row]:
        """The result of a query."""
        async with self.read() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]

    async def scalar(self, query: Select[Any]) -> Any:
        """The first value of the first row of a query's result, None if it has no row."""
        async with self.read() as connection:
            return await connection.scalar(query)

    @asynccontextmanager
    async def write(self, *, patient: bool = False) -> AsyncIterator[AsyncConnection]:
        """A transaction that commits at the end and rolls back on any error; exceptions as in `read`.

        Args:
            patient: no request waits for it. Patient transactions queue among themselves, so that a transaction of a
                request has one of them before it at most; they wait for their turn without a deadline.

        Raises:
            StoreUnavailable: also when it could not begin within `write_wait_s`.
        """
        async with self._turn(patient) as busy_ms:
            with translated():
                async with self.engine.connect() as connection:
                    await connection.execution_options(**{_WRITES: busy_ms})
                    async with connection.begin():
                        yield connection

    @asynccontextmanager
    async def _turn(self, patient: bool) -> AsyncIterator[int]:
        """Wait for the turn to write; for how many ms the lock of another process may be waited for."""
        if patient:
            async with self._patient, self._writing:
                yield self._busy_timeout_ms
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + self._write_wait_s
        try:
            async with asyncio.timeout_at(end):
                await self._writing.acquire()
        except TimeoutError as exc:
            raise StoreUnavailable("the database can't be used now: others have been writing for too long") from exc
        try:
            yield min(self._busy_timeout_ms, max(0, int((end - loop.time()) * 1000)))
        finally:
            self._writing.release()

    async def migrate(self) -> None:
        """Bring the schema up to date; safe when several processes start at once.

        Raises:
            SchemaTooNew: it belongs to a newer version.
            StoreUnavailable: the database can't be reached.
            StoreMisconfigured: the file can't be opened or is no database.
        """
        try:
            async with self.write(patient=True) as connection:
                if not self.is_sqlite:
                    await connection.execute(text("SELECT pg_advisory_xact_lock(7215309431)"))
                await connection.run_sync(upgrade)
        except (StoreUnavailable, RecordRefused) as exc:
            # SQLite says "locked" where another process writes.
            if self.is_sqlite and "locked" not in str(exc):
                raise StoreMisconfigured(f"the database file {self.url.database} can't be used: {exc}") from exc
            raise

    async def is_usable(self) -> bool:
        """Whether it answers now."""
        try:
            async with self.read() as connection:
                await connection.execute(text("SELECT 1"))
        except StoreError:
            return False
        return True

    async def forget_deleted(self) -> None:
        """Remove what was deleted from the write-ahead log too; does nothing on other databases than SQLite."""
        if not self.is_sqlite:
            return
        with translated():
            async with self.engine.connect() as connection:
                autocommit = await connection.execution_options(isolation_level="AUTOCOMMIT")
                await autocommit.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


def _checked(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as exc:
        raise StoreMisconfigured("ASKWELL_DATABASE_URL is not a database URL") from exc
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
    name = drivers.get(parsed.drivername, parsed.drivername)
    if name not in ("sqlite+aiosqlite", "postgresql+asyncpg"):
        raise StoreMisconfigured(f"databases of the kind {parsed.drivername} are not supported")
    if name == "sqlite+aiosqlite" and parsed.database in (None, "", ":memory:"):
        raise StoreMisconfigured("an SQLite database needs a file")
    return parsed.set(drivername=name)


def _use_write_ahead_log(cursor: Any, busy_timeout_ms: int) -> None:
    """Switch a new file to its write-ahead log.

    SQLite does not wait for whoever does the same at this moment, or who began to write before it was done: it fails
    at once, whatever the busy time-out.
    """
    end = time.monotonic() + busy_timeout_ms / 1000
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except Exception as exc:
            if "locked" not in str(exc) or time.monotonic() >= end:
                raise
            await_only(asyncio.sleep(AGAIN_S))
            continue
        return


def _tune_sqlite(engine: Engine, busy_timeout_ms: int) -> None:
    """Foreign keys, a write-ahead log that is synced at each commit, and explicit transactions.

    Without an explicit BEGIN IMMEDIATE a transaction that reads before it writes fails at once when another process
    wrote in between, whatever the busy time-out.
    """

    @event.listens_for(engine, "connect")
    def on_connect(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {int(busy_timeout_ms)}")
        _use_write_ahead_log(cursor, busy_timeout_ms)
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA secure_delete = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def on_begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("isolation_level") != "AUTOCOMMIT":
            busy_ms = options.get(_WRITES)
            if busy_ms is None:
                connection.exec_driver_sql("BEGIN")
            else:
                connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(busy_ms)}").close()
                connection.exec_driver_sql("BEGIN IMMEDIATE")
