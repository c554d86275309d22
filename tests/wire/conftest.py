"""A real server, a real Valkey, the real pipeline; only the language providers are the tests' own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.hot.redis import HotStore
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, running_node
from tests.support.redis_fixtures import embedded_url, hot
from tests.support.resources import Meter, nothing_lost, temporary_files_in

__all__ = ["embedded_url", "hot"]

HELD = {"memory_mb": 300}
"""What a test may keep: the first one of a run loads modules and models."""


@pytest.fixture(autouse=True)
async def resources(embedded_url: str, tmp_path: Path) -> AsyncIterator[None]:
    """Every test gives back the tasks, threads, descriptors, processes and temporary files that it took."""
    with temporary_files_in(tmp_path / "temporary") as folder:
        async with nothing_lost(Meter(folders=[folder]), HELD):
            yield


@pytest.fixture
async def node(hot: HotStore) -> AsyncIterator[Node]:
    """One node with its socket on a free port."""
    async with running_node(TroubledHot(hot), MemoryStore(), Providing()) as running:
        yield running
