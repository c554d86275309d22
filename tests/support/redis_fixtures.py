"""Fixtures around a real embedded server; import them by name into a conftest or a test module."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from server.hot.datadir import DataDir
from server.hot.embedded import EmbeddedValkey
from server.hot.redis import HotStore
from server.store.engine import Database
from server.store.tables import METADATA
from tests.support.redis_keys import leaked_keys
from tests.support.redis_store import connect_store


@pytest.fixture(scope="session")
def embedded_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of one embedded server for the whole run; each test finds it empty."""
    with DataDir(tmp_path_factory.mktemp("hot")) as data:
        server = EmbeddedValkey(data.path)
        server.start()
        yield server.url
        server.stop()


@pytest.fixture
async def hot(embedded_url: str) -> AsyncIterator[HotStore]:
    """A store on an empty server; afterwards no key may be left that nothing will ever remove."""
    store = connect_store(embedded_url)
    await store.connection.client.execute_command("FLUSHALL")
    await store.checks.prepare(embedded=True)
    yield store
    leaked = await leaked_keys(store)
    await store.connection.client.execute_command("FLUSHALL")
    await store.close()
    assert not leaked, f"keys without TTL: {leaked}"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A migrated SQLite database in a file of its own, or the emptied one that ASKWELL_TEST_DATABASE_URL names."""
    url = os.environ.get("ASKWELL_TEST_DATABASE_URL")
    store = Database(url) if url else Database.file(tmp_path / "askwell.db", busy_timeout_ms=200)
    if url:
        async with store.write() as connection:
            await connection.run_sync(METADATA.drop_all)
            await connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
    await store.migrate()
    yield store
    await store.close()


@pytest.fixture
def sqlite_file(database: Database, tmp_path: Path) -> Path:
    """The file of the database; skips what is about files on another database."""
    if not database.is_sqlite:
        pytest.skip("is about SQLite's files")
    return tmp_path / "askwell.db"
