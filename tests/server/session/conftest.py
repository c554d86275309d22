"""A hub without a server, on a real hot store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from server.hot.redis import HotStore
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, running_hub
from tests.support.redis_fixtures import embedded_url, hot

__all__ = ["embedded_url", "hot"]


@pytest.fixture
async def node(hot: HotStore) -> AsyncIterator[Node]:
    """One node."""
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing()) as running:
        yield running
