"""Fixtures around a real embedded server; import them by name into a conftest or a test module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from server.hot.datadir import DataDir
from server.hot.embedded import EmbeddedValkey
from server.hot.redis import HotStore
from server.store.engine import Database
from tests.support.redis_keys import leaked_keys


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
    store = HotStore.connect(embedded_url)
    await store.client.execute_command("FLUSHALL")
    await store.prepare(embedded=True)
    yield store
    leaked = await leaked_keys(store)
    await store.client.execute_command("FLUSHALL")
    await store.close()
    assert not leaked, f"keys without TTL: {leaked}"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A migrated SQLite database in a file of its own."""
    store = Database.file(tmp_path / "askwell.db", busy_timeout_ms=200)
    await store.migrate()
    yield store
    await store.close()
