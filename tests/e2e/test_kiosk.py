"""The kiosk's whole way, from one person to the next."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.kiosk_page import BOTH, ENVIRONMENT, tablet
from tests.e2e.respondent_page import stored
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240), pytest.mark.thorough]

FIRST = "The smell of my grandmother's kitchen in Trieste makes me feel at home."
SECOND = "Because then I think of Sunday mornings with everybody around the table."
SIZES = {"phone": (320, 640), "tablet": (768, 1024), "desk": (1440, 900)}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    """A server with a concept for kiosks, and a PIN."""
    async with ServerProcess(tmp_path_factory.mktemp("kiosk") / "data", ENVIRONMENT) as process:
        yield process


@pytest.mark.parametrize("name", list(SIZES))
async def test_kiosk_every_screen_is_axe_clean_and_fits_fingers(
    server: ServerProcess, browser: Browser, shots: Path | None, name: str
) -> None:
    width, height = SIZES[name]
    options = {"viewport": {"width": width, "height": height}}
    async with tablet(browser, shots, f"kiosk-{name}", BOTH, **options) as kiosk:
        page = kiosk.page
        await page.clock.install()
        await kiosk.open(server.url)
        await kiosk.sound("attract")
        await kiosk.tap("#begin")
        await kiosk.sound("language")
        await expect(page.locator("[data-language=de]")).to_have_attribute("aria-disabled", "true")
        await kiosk.tap("[data-language=en]")
        await kiosk.tap("#interviewer-next")
        await expect(page.locator("#interviewer-problem")).to_be_visible()
        await kiosk.sound("interviewer")
        await page.locator("#reference").fill("B-17")
        await kiosk.tap("label:has(#eligible-adult-true)")
        await kiosk.tap("label:has(#eligible-drinker-true)")
        await kiosk.tap("#interviewer-next")
        await kiosk.scene("consent")
        await kiosk.sound("consent")
        await kiosk.tap("#consent-agree")
        await kiosk.scene("mode")
        await kiosk.sound("mode")
        await kiosk.tap("#mode-text")
        await kiosk.question(0)
        await kiosk.sound("question")
        await kiosk.say(FIRST, 1)
        await kiosk.sound("second question")
        await page.clock.fast_forward(45_000)
        await page.locator("#still").wait_for()
        await kiosk.sound("still there")
        await kiosk.tap("#still-here")
        await expect(page.locator("#still")).to_be_hidden()
        await kiosk.unlock("0000")
        await expect(page.locator("#pin-problem")).to_be_visible()
        await kiosk.sound("wrong pin")
        await kiosk.tap("#operator-close")
        await kiosk.unlock()
        await page.locator("#operator-panel").wait_for()
        await kiosk.sound("operator")
        await kiosk.tap("#operator-close")
        await kiosk.tap("#finish")
        await page.locator("#dialog").wait_for()
        await kiosk.sound("finish")
        await kiosk.tap("#dialog-confirm")
        await kiosk.scene("thanks")
        await kiosk.sound("thanks")
        await kiosk.tap("#withdraw-late")
        await kiosk.tap("#dialog-confirm")
        await kiosk.scene("goodbye")
        await kiosk.sound("goodbye")
        assert kiosk.errors == []
        assert kiosk.refused == []


async def test_kiosk_by_touch_alone_stores_answers_reference_and_eligibility(
    server: ServerProcess, browser: Browser
) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.open(server.url)
        await kiosk.begin("Ref-Ottakring-9", "en-gb")
        session = await kiosk.session_id()
        await kiosk.say(FIRST, 1)
        await kiosk.say(SECOND, 2)
        await kiosk.finish()
        await kiosk.reset()
        rows = await stored(server, session, "speaker, text", enough=5)
        assert [text for speaker, text in rows if speaker == "respondent"] == [FIRST, SECOND]
        with sqlite3.connect(f"file:{server.data}/askwell.db?mode=ro", uri=True) as store:
            found = store.execute("select respondent_ref, eligibility, language from sessions where id = ?", (session,))
            reference, eligibility, language = found.fetchone()
        assert reference == "Ref-Ottakring-9"
        assert json.loads(eligibility) == {"adult": True, "drinker": True}
        assert language == "en-gb"
        assert kiosk.errors == []


async def test_kiosk_after_reset_nothing_of_the_respondent_is_left(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        page = kiosk.page
        await kiosk.open(server.url)
        length = await page.evaluate("history.length")
        await kiosk.begin("Ref-Ottakring-9")
        session = await kiosk.session_id()
        token = json.loads((await kiosk.vault())["interview"])["token"]
        await kiosk.say(FIRST, 1)
        await page.locator("#answer").fill(SECOND)
        await page.evaluate("sessionStorage.setItem('note', 'Trieste'); window.name = 'Trieste'")
        await page.evaluate("caches.open('other').then(cache => cache.put('/Trieste', new Response('Trieste')))")
        assert "Trieste" in await kiosk.remains()
        await kiosk.finish()
        await kiosk.reset()
        secrets = ["Trieste", "Sunday", "Ottakring", session, token]
        remains = await kiosk.remains()
        assert [secret for secret in secrets if secret in remains] == []
        assert set(json.loads(remains)["local"]) <= {"askwell:kiosk:concept", "askwell:kiosk:token"}
        assert await page.evaluate("history.length") == length
        await page.evaluate("history.back()")
        await page.evaluate("new Promise(done => setTimeout(done, 300))")
        await kiosk.attract()
        assert [secret for secret in secrets if secret in await kiosk.remains()] == []
        await page.locator("#attract").tap()
        await kiosk.tap("[data-language=en]")
        assert await page.locator("#reference").input_value() == ""
        assert await page.locator(":autofill").count() == 0


async def test_kiosk_withdrawal_before_and_after_consent_leaves_no_interview(
    server: ServerProcess, browser: Browser
) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.open(server.url)
        before = sessions(server)
        await kiosk.to_consent("Ref-1")
        await kiosk.tap("#consent-decline")
        await kiosk.scene("goodbye")
        await kiosk.reset()
        await kiosk.tap("#begin")
        await kiosk.tap("[data-language=en]")
        await kiosk.page.locator("#reference").fill("Ref-2")
        await kiosk.tap("label:has(#eligible-adult-true)")
        await kiosk.tap("label:has(#eligible-drinker-false)")
        await kiosk.tap("#interviewer-next")
        await kiosk.scene("unsuited")
        await kiosk.reset()
        assert sessions(server) == before
        await kiosk.begin("Ref-3")
        session = await kiosk.session_id()
        await kiosk.tap("#withdraw")
        await kiosk.tap("#dialog-confirm")
        await kiosk.scene("goodbye")
        await kiosk.reset()
        assert session not in await kiosk.remains()


async def test_kiosk_left_alone_asks_and_then_begins_anew(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        page = kiosk.page
        await page.add_init_script(HEARD)
        await page.clock.install()
        await kiosk.open(server.url)
        await kiosk.begin("Ref-1")
        await kiosk.say(FIRST, 1)
        await page.evaluate("window.before = true")
        # The clock goes on by itself, however long the machine takes for a step.
        await page.clock.fast_forward(30_000)
        await expect(page.locator("#still")).to_be_hidden()
        await page.clock.fast_forward(11_000)
        await page.locator("#still").wait_for()
        assert await page.evaluate("window.tones") > 0
        await kiosk.tap("#still-here")
        await expect(page.locator("#still")).to_be_hidden()
        await page.clock.fast_forward(41_000)
        await page.locator("#still").wait_for()
        await page.clock.fast_forward(21_000)
        await kiosk.begun_anew()
        assert "Trieste" not in await kiosk.remains()


async def test_kiosk_thanks_clears_itself(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.page.clock.install()
        await kiosk.open(server.url)
        await kiosk.begin("Ref-1")
        await kiosk.finish()
        await kiosk.page.evaluate("window.before = true")
        await expect(kiosk.page.locator("#thanks-clears")).to_contain_text("seconds")
        await kiosk.page.clock.fast_forward(16_000)
        await kiosk.begun_anew()


async def test_kiosk_cannot_be_left_by_accident(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        page = kiosk.page
        await page.add_init_script(WISHES)
        await kiosk.open(server.url)
        await kiosk.begin("Ref-1")
        assert await page.evaluate("window.wishes.request") > 0, "the screen stays awake"
        assert await page.evaluate("window.wishes.requestFullscreen") > 0
        await page.evaluate("window.before = true")
        await page.evaluate("history.back()")
        await page.keyboard.press("F5")
        await page.keyboard.press("Alt+ArrowLeft")
        await page.evaluate("history.back()")
        await kiosk.question(0)
        assert await page.evaluate("window.before") is True
        for name in ("contextmenu", "dragstart", "copy", "gesturestart"):
            stopped = await page.evaluate(
                "name => !document.body.dispatchEvent(new Event(name, {bubbles: true, cancelable: true}))", name
            )
            assert stopped, name
        pinch = await page.evaluate(
            "!document.body.dispatchEvent(new WheelEvent('wheel', {ctrlKey: true, bubbles: true, cancelable: true}))"
        )
        assert pinch
        assert await page.evaluate("getComputedStyle(document.documentElement).touchAction") == "pan-y"
        assert await page.evaluate("getComputedStyle(document.documentElement).overscrollBehaviorX") == "none"
        assert not await page.evaluate("!window.dispatchEvent(new Event('beforeunload', {cancelable: false}))")
        assert await page.evaluate("!window.dispatchEvent(new Event('beforeunload', {cancelable: true}))")


async def test_kiosk_operator_sees_exports_and_ends(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        page = kiosk.page
        await kiosk.open(server.url)
        await kiosk.begin("Ref-1")
        await kiosk.say(FIRST, 1)
        await kiosk.unlock()
        await page.locator("#operator-panel").wait_for()
        assert await kiosk.fact("Server") == "connected"
        assert await kiosk.fact("Interview now") == "running"
        assert "free" in await kiosk.fact("Storage")
        assert await kiosk.fact("Browser storage") == "working"
        assert await kiosk.fact("Version")
        assert await kiosk.fact("Clock")
        await kiosk.tap("#act-end")
        await expect(page.locator("#act-end")).to_have_text("Really end it?")
        await kiosk.tap("#act-end")
        await kiosk.scene("thanks")
        await kiosk.unlock()
        await page.locator("#operator-panel").wait_for()
        async with page.expect_download() as downloading:
            await kiosk.tap("#act-export")
        assert (await downloading.value).suggested_filename.startswith("askwell-unsynced")
        await expect(page.locator("#operator-done")).to_contain_text("Saved")
        await page.evaluate("window.before = true")
        await kiosk.tap("#act-over")
        await kiosk.tap("#act-over")
        await kiosk.begun_anew()
        assert kiosk.errors == []


async def test_kiosk_operator_keyless_is_refused(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.open(server.url)
        box = await kiosk.page.locator("#corner").bounding_box()
        assert box is not None
        await kiosk.page.touchscreen.tap(box["x"] + 20, box["y"] + 20)
        await kiosk.page.evaluate("new Promise(done => setTimeout(done, 200))")
        await expect(kiosk.page.locator("#operator")).to_be_hidden()
        for path in ("/api/kiosk/status", "/api/kiosk/unsynced/export"):
            assert await kiosk.page.evaluate("path => fetch(path).then(answer => answer.status)", path) == 403, path


def sessions(server: ServerProcess) -> int:
    """How many interviews the store knows."""
    with sqlite3.connect(f"file:{server.data}/askwell.db?mode=ro", uri=True) as store:
        return int(store.execute("select count(*) from sessions").fetchone()[0])


WISHES = """
window.wishes = {};
for (const [kind, name] of [[WakeLock, "request"], [Element, "requestFullscreen"]]) {
  const wish = kind.prototype[name];
  window.wishes[name] = 0;
  kind.prototype[name] = function (...how) { window.wishes[name] += 1; return wish.apply(this, how); };
}
"""
"""Counts what the page wishes of the browser."""

HEARD = """
window.tones = 0;
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...when) { window.tones += 1; return start.apply(this, when); };
"""
"""Counts what is to be heard."""
