"""A real server, a wire that can be cut, a real Chromium."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.e2e.speaking import FLAGS, MICROPHONE_HZ, microphone, written
from tests.support.cutting import Wire, wire_to
from tests.support.needs import chromium_path
from tests.support.process import ServerProcess
from tests.support.voice_double import VoiceDouble, voice_double


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


@pytest_asyncio.fixture(loop_scope="module")
async def double() -> AsyncIterator[VoiceDouble]:
    """A server that says what the test wants."""
    async with voice_double() as double:
        yield double


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def speaker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """Chromium whose microphone murmurs without end."""
    time = np.arange(MICROPHONE_HZ * 4) / MICROPHONE_HZ
    swell = np.clip(np.sin(2 * np.pi * 3.5 * time) + np.sin(2 * np.pi * 0.5 * time), 0, 2) / 2
    murmur = 6000 * swell * np.sin(2 * np.pi * 180 * time) + np.random.default_rng(4).normal(0, 60, len(time))
    path = written(tmp_path_factory.mktemp("murmur") / "murmur.wav", murmur.astype(np.int16))
    async with microphone(path, repeated=True) as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="module")
async def tidy(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Pages of a test are closed after it: each holds a microphone that never ends."""
    yield
    for name in {"speaker", "browser"} & set(request.fixturenames):
        for context in request.getfixturevalue(name).contexts:
            await context.close()


@pytest.fixture(scope="session")
def shots() -> Path | None:
    """Where screenshots go: ASKWELL_SHOTS, nowhere if not set."""
    folder = os.environ.get("ASKWELL_SHOTS")
    if not folder:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)
