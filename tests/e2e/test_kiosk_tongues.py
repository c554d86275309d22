"""The kiosk in German, and in Arabic from right to left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.kiosk_page import BOTH, tablet
from tests.e2e.tongues import ANSWERS, OPENING, polyglot_server
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240), pytest.mark.thorough]

LOOKS = [("ar", 320, 640), ("ar", 768, 1024), ("ar", 1440, 900), ("de", 320, 640)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    """A server whose language model speaks both."""
    async with polyglot_server(tmp_path_factory.mktemp("kiosk-tongues")) as process:
        yield process


@pytest.mark.parametrize(("tag", "width", "height"), LOOKS)
async def test_kiosk_speaks_the_respondents_language_from_choice_to_goodbye(
    server: ServerProcess, browser: Browser, shots: Path | None, tag: str, width: int, height: int
) -> None:
    options = {"viewport": {"width": width, "height": height}}
    async with tablet(browser, shots, f"kiosk-{tag}-{width}", BOTH, **options) as kiosk:
        page = kiosk.page
        await page.clock.install()
        await kiosk.open(server.url, "bread")
        await kiosk.sound("attract")
        await kiosk.tap("#begin")
        await kiosk.sound("language")
        await kiosk.tap(f"[data-language={tag}]")
        await kiosk.scene("consent")
        await expect(page.locator("html")).to_have_attribute("lang", tag)
        await expect(page.locator("html")).to_have_attribute("dir", "rtl" if tag == "ar" else "ltr")
        await kiosk.sound("consent")
        await kiosk.tap("#consent-agree")
        await kiosk.scene("mode", "opening", "talk")
        if await page.locator("#mode").is_visible():
            await kiosk.sound("mode")
            await kiosk.tap("#mode-text")
        await page.locator("#stimulus").wait_for()
        await kiosk.sound("stimulus")
        await kiosk.tap("#stimulus-close")
        assert await kiosk.question(0) == OPENING[tag]
        await kiosk.say(ANSWERS[tag], 1)
        await kiosk.sound("question")
        await page.clock.fast_forward(61_000)
        await page.locator("#still").wait_for()
        await kiosk.sound("still there")
        await kiosk.tap("#still-here")
        await kiosk.finish()
        await kiosk.sound("thanks")
        await kiosk.reset()
        await expect(page.locator("html")).to_have_attribute("lang", "en")
        assert kiosk.errors == []


async def test_kiosk_interrupted_in_arabic_asks_in_arabic(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.open(server.url, "bread")
        await kiosk.tap("#begin")
        await kiosk.tap("[data-language=ar]")
        await kiosk.scene("consent")
        await expect(kiosk.page.locator("html")).to_have_attribute("lang", "ar")
        await kiosk.tap("#consent-agree")
        await kiosk.scene("mode", "opening", "talk")
        if await kiosk.page.locator("#mode").is_visible():
            await kiosk.tap("#mode-text")
        await kiosk.question(0)
        await kiosk.page.reload()
        await kiosk.scene("resume")
        await expect(kiosk.page.locator("html")).to_have_attribute("dir", "rtl")
        await kiosk.tap("#resume-yes")
        assert await kiosk.question(0) == OPENING["ar"]
