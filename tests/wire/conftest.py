"""A real server, a real Valkey, the real pipeline; only the language providers are the tests' own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from server.hot.redis import HotStore
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, running_node
from tests.support.redis_fixtures import embedded_url, hot

__all__ = ["embedded_url", "hot"]


@pytest.fixture
async def node(hot: HotStore) -> AsyncIterator[Node]:
    """One node with its socket on a free port."""
    async with running_node(TroubledHot(hot), MemoryStore(), Providing()) as running:
        yield running
