"""One rig per format."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.llm.rig import Mode, Rig, rigged
from tests.support.llm_double import FormatName

FORMATS: tuple[FormatName, ...] = ("anthropic", "openai")
MODES: tuple[Mode, ...] = ("complete", "stream")


@pytest.fixture(params=FORMATS)
def form(request: pytest.FixtureRequest) -> FormatName:
    found: FormatName = request.param
    return found


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Mode:
    found: Mode = request.param
    return found


@pytest.fixture
async def rig(form: FormatName) -> AsyncIterator[Rig]:
    async with rigged(form) as made:
        yield made
