"""A real server, a wire that can be cut, a real Chromium."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.support.cutting import Wire, wire_to
from tests.support.needs import chromium_path
from tests.support.process import ServerProcess

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    """`askwell serve` with the offline provider, for all tests of a file; it takes seconds to warm up."""
    async with ServerProcess(tmp_path_factory.mktemp("e2e") / "data") as process:
        yield process


@pytest_asyncio.fixture(loop_scope="module")
async def wire(server: ServerProcess) -> AsyncIterator[Wire]:
    """The way to the server."""
    async with wire_to(server.url) as wire:
        yield wire


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Headless Chromium."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def whole_browser() -> AsyncIterator[Browser]:
    """Headless Chromium with all that belongs to a browser."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path(light=False), args=FLAGS)
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def shots() -> Path | None:
    """Where screenshots go: ASKWELL_SHOTS, nowhere if not set."""
    folder = os.environ.get("ASKWELL_SHOTS")
    if not folder:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)
