"""The database: connections, transactions, schema."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

import aiosqlite
from sqlalchemy import Connection, Engine, Select, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.util import await_only

from server.store.errors import (
    RecordRefused,
    StoreError,
    StoreLost,
    StoreMisconfigured,
    StoreUnavailable,
    translated,
)
from server.store.file import StoreFile
from server.store.migrations.run import upgrade
from server.store.serialised import json_text
from server.store.tables import Row

BUSY_TIMEOUT_MS = 5_000
WRITE_WAIT_S = 5.0
CONNECT_S = 5.0
STATEMENT_S = 60.0
AGAIN_S = 0.01
LET_GO_S = 10.0
"""How long requests that use the database may keep its lost file from being restored."""
_WRITES = "askwell_writes"


class _ConnectionToFile(sqlite3.Connection):
    """Ends its transaction and its cursors when it is closed.

    Whoever is cancelled between a query and its rows leaves a cursor behind, for which SQLite keeps a closed
    connection as it is, with its locks and its file, until the cursor is collected as garbage.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, factory: Callable[[sqlite3.Connection], Any] | None = None) -> Any:
        """A cursor, which is closed with the connection at the latest."""
        cursor = super().cursor(factory or sqlite3.Cursor)
        self._cursors.add(cursor)
        return cursor

    def close(self) -> None:
        """Roll back and close; does nothing the second time."""
        with suppress(sqlite3.ProgrammingError):  # closed before
            for cursor in self._cursors:
                cursor.close()
            if self.in_transaction:
                self.rollback()
        super().close()


class _DriverConnection(aiosqlite.Connection):
    """Can be stopped while it is being opened, and while it is being closed.

    SQLAlchemy stops a connection whose opening or closing was cancelled. The driver would then forget what its thread
    opens meanwhile, and the file stays open until garbage is collected; and it would wait for the answer to a second
    order to stop, which its thread, gone with the first, never gives: a task that never ends.
    """

    _stopped: asyncio.Future[Any] | None = None

    def __init__(self, path: str, **options: Any) -> None:
        super().__init__(self._open, iter_chunk_size=64)
        self._thread.daemon = True
        self._path, self._options = path, options
        self._opened: sqlite3.Connection | None = None

    def stop(self) -> asyncio.Future[Any] | None:
        """Close and end the thread; the future of the first time every time."""
        if self._stopped is None:
            self._tx.put_nowait((None, self._close_opened))
            self._stopped = super().stop()
        return self._stopped

    def _open(self) -> sqlite3.Connection:
        self._opened = sqlite3.connect(self._path, factory=_ConnectionToFile, **self._options)
        return self._opened

    def _close_opened(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None


class Database:
    """One database with its connections; one per process.

    Args:
        url: `sqlite+aiosqlite:///…` or `postgresql+asyncpg://…`.
        busy_timeout_ms: how long SQLite waits for another process's lock.
        write_wait_s: how long a transaction that is not patient may take to begin, its turn and that lock together.
        statement_s: how long PostgreSQL may take for one statement; None for as long as it likes.
    """

    def __init__(
        self,
        url: str | URL,
        *,
        busy_timeout_ms: int = BUSY_TIMEOUT_MS,
        write_wait_s: float = WRITE_WAIT_S,
        statement_s: float | None = STATEMENT_S,
    ) -> None:
        self.url = _checked(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        options: dict[str, Any] = {"json_serializer": json_text}
        if self.is_sqlite:
            options["connect_args"] = {"async_creator_fn": _DriverConnection}
        else:
            # A server that vanished without closing its connections would be waited for without end.
            deadlines = {"timeout": CONNECT_S, "command_timeout": statement_s}
            options |= {"pool_pre_ping": True, "pool_size": 10, "pool_timeout": write_wait_s, "connect_args": deadlines}
        self.engine: AsyncEngine = create_async_engine(self.url, **options)
        # SQLite has one writer: waiting here keeps its threads free and can be cancelled at once.
        self._writing = asyncio.Semaphore(1 if self.is_sqlite else 10)
        self._patient = asyncio.Semaphore(1 if self.is_sqlite else 8)
        self._busy_timeout_ms = busy_timeout_ms
        self._write_wait_s = write_wait_s
        self._uses = 0
        self._unused = asyncio.Event()
        self._unused.set()
        self._closed_for: str | None = None
        self._recovering: str | None = None
        self._file = StoreFile(Path(self.url.database or "")) if self.is_sqlite else None
        if self._file is not None:
            _tune_sqlite(self.engine.sync_engine, busy_timeout_ms)
            _watch_file(self.engine.sync_engine, self.check_file)

    @classmethod
    def file(
        cls, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS, write_wait_s: float = WRITE_WAIT_S
    ) -> Database:
        """The SQLite database in that file."""
        return cls(f"sqlite+aiosqlite:///{path}", busy_timeout_ms=busy_timeout_ms, write_wait_s=write_wait_s)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection for reading; SQLAlchemy's exceptions become StoreErrors.

        Where the file is lost, what was stored before can still be read.
        """
        with self._used(), translated():
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
            StoreLost: the file is not at its path. What was committed is then not to be counted on.
        """
        async with self._turn(patient) as busy_ms:
            with self._used(), translated():
                self.check_file()
                async with self.engine.connect() as connection:
                    await connection.execution_options(**{_WRITES: busy_ms})
                    async with connection.begin():
                        yield connection
                self.check_file()

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
        if not self.is_sqlite:
            unhurried = Database(self.url, statement_s=None)
            try:
                async with unhurried.write(patient=True) as connection:
                    await connection.execute(text("SELECT pg_advisory_xact_lock(7215309431)"))
                    await connection.run_sync(upgrade)
            finally:
                await unhurried.close()
            # Connections remember the plans of statements, which don't fit tables that were changed.
            await self.engine.dispose()
            return
        try:
            async with self.write(patient=True) as connection:
                await connection.run_sync(upgrade)
            if self._file is not None:
                await asyncio.to_thread(self._file.adopt)
        except (OSError, sqlite3.Error) as exc:
            raise StoreMisconfigured(f"the database file {self.url.database} can't be used: {exc}") from exc
        except (StoreUnavailable, RecordRefused) as exc:
            # SQLite says "locked" where another process writes.
            if "locked" not in str(exc):
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

    def file_problem(self) -> str | None:
        """Why the file at the path is not the open one, in words; None when it is, and for other databases."""
        if self._file is None:
            return None
        return self._recovering or self._file.problem()

    def check_file(self) -> None:
        """Make sure that what was written is in the file at the path. Raises StoreLost."""
        problem = self._file.problem() if self._file is not None else None
        if problem is not None:
            raise StoreLost(problem)

    async def recover(self, fill: Callable[[], Awaitable[None]]) -> bool:
        """Give the database a file at its path again: one that is there now, or a copy of the lost one.

        Args:
            fill: called with the file in use, before `file_problem` calls it one; fills in what it lacks.

        Returns:
            Whether the lost file's content was put back. If not, the store has what the file at the path has; nothing,
            where there is none.

        Raises:
            StoreError: not now; what was stored can still be read.
        """
        assert self._file is not None, "only a file can be lost"
        self._recovering = self.file_problem()
        try:
            with self._file.alone():
                restored = await self._exchange_file()
                await fill()
        except BlockingIOError as exc:
            raise StoreUnavailable("another process is restoring the database file") from exc
        finally:
            self._recovering = None
        return restored

    async def _exchange_file(self) -> bool:
        """Close the lost file and use another; result and errors as of `recover`."""
        assert self._file is not None, "only a file can be lost"
        file, copy = self._file, None
        self._closed_for = "the database file is being restored"
        try:
            if file.gone:
                copy = await asyncio.to_thread(file.copy)
            async with asyncio.timeout(LET_GO_S):
                await self._unused.wait()
                await self.engine.dispose()
            # Threads of connections that were cancelled may take a moment to close them.
            end = time.monotonic() + LET_GO_S
            while not await asyncio.to_thread(file.let_go):
                if time.monotonic() > end:
                    raise TimeoutError("it is still in use")
                await asyncio.sleep(AGAIN_S)
            back = copy is not None and await asyncio.to_thread(file.put, copy)
        except (OSError, sqlite3.Error, TimeoutError) as exc:
            raise StoreUnavailable(f"the database file can't be restored: {exc}") from exc
        finally:
            self._closed_for = None
        file.release()
        try:
            await self.migrate()
        except StoreError as exc:
            file.refuse(f"the database file {file.path.name} was replaced by one that can't be used: {exc}")
            raise
        return back

    @contextmanager
    def _used(self) -> Iterator[None]:
        """Keep the file from being exchanged. Raises StoreLost while it is."""
        if self._closed_for is not None:
            raise StoreLost(self._closed_for)
        self._uses += 1
        self._unused.clear()
        try:
            yield
        finally:
            self._uses -= 1
            if not self._uses:
                self._unused.set()

    async def forget_deleted(self) -> None:
        """Remove what was deleted from the write-ahead log too; does nothing on other databases than SQLite."""
        if not self.is_sqlite:
            return
        with self._used(), translated():
            self.check_file()
            async with self.engine.connect() as connection:
                autocommit = await connection.execution_options(isolation_level="AUTOCOMMIT")
                await autocommit.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()
        if self._file is not None:
            await asyncio.to_thread(self._file.let_go)


def _checked(url: str | URL) -> URL:
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


def _watch_file(engine: Engine, check: Callable[[], None]) -> None:
    """Open no connection while the file is lost: SQLite would make an empty one."""

    @event.listens_for(engine, "do_connect")
    def before_connect(*_: Any) -> None:
        check()

    @event.listens_for(engine, "connect", insert=True)
    def after_connect(*_: Any) -> None:
        check()


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
