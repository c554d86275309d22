"""The kiosk on bad days: reloads, kills, servers that are away, full storage, wrong clocks, new versions."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from server.pages import web_root
from tests.e2e.kiosk_page import CONCEPT, ENVIRONMENT, KioskPage, tablet
from tests.e2e.respondent_page import PATIENCE_MS, stored
from tests.e2e.speaking import NO_VOICES, microphone
from tests.support.cutting import Wire
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240), pytest.mark.thorough]

ANSWER = "The smell of my grandmother's kitchen in Trieste makes me feel at home."
FULL = """
const put = IDBObjectStore.prototype.put;
IDBObjectStore.prototype.put = function (...row) {
  if (window.room !== true && this.name === "vault") {
    const request = put.apply(this, row);
    request.transaction.abort();
    Object.defineProperty(request.transaction, "error", {get: () => new DOMException("no room", "QuotaExceededError")});
    return request;
  }
  return put.apply(this, row);
};
"""
"""A device without room for one more byte."""
BESIDE = "import sys; sys.path.insert(0, {folder!r}); from server.cli import main; sys.exit(main())"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    """A server with a concept for kiosks, and a PIN."""
    async with ServerProcess(tmp_path_factory.mktemp("kiosk") / "data", ENVIRONMENT) as process:
        yield process


async def installed(kiosk: KioskPage) -> None:
    """Wait until the page's own files are on the device."""
    await kiosk.page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
    await kiosk.page.wait_for_function("() => navigator.serviceWorker.controller !== null")


async def test_kiosk_reloaded_with_an_unsent_answer_sends_it_once_and_shows_nothing_before(
    server: ServerProcess, wire: Wire, browser: Browser, shots: Path | None
) -> None:
    async with tablet(browser, shots, "kiosk-interrupted") as kiosk:
        page = kiosk.page
        await kiosk.open(wire.url)
        await installed(kiosk)
        await kiosk.begin("Ref-1")
        session = await kiosk.session_id()
        wire.cut()
        await page.locator("#answer").fill(ANSWER)
        await kiosk.tap("#send")
        await page.locator("#log li.respondent").wait_for()
        kept = await kiosk.vault()
        assert json.loads(kept[f"askwell:{session}"])["pending"]["text"] == ANSWER
        await page.reload()
        await kiosk.scene("starting")
        await page.locator("#starting-title").wait_for()
        assert "Trieste" not in await page.locator("body").inner_text()
        wire.mend()
        await kiosk.scene("resume")
        assert "Trieste" not in await page.locator("html").evaluate("root => root.outerHTML")
        await kiosk.sound("interrupted")
        await kiosk.tap("#resume-yes")
        await kiosk.question(1)
        assert "Trieste" not in json.dumps(await kiosk.vault())
        rows = await stored(server, session, "speaker, text", enough=3)
        assert [text for speaker, text in rows if speaker == "respondent"] == [ANSWER]
        assert kiosk.errors == []


async def test_kiosk_reloaded_keeps_the_draft_and_hides_what_was_said_before(wire: Wire, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.open(wire.url)
        await kiosk.begin("Ref-1")
        await kiosk.say(ANSWER, 1)
        await kiosk.page.locator("#answer").fill("Half a sent")
        async with asyncio.timeout(PATIENCE_MS / 1000):
            while "Half a sent" not in json.dumps(await kiosk.vault()):
                await asyncio.sleep(0.02)
        await kiosk.page.reload()
        await kiosk.scene("resume")
        await kiosk.tap("#resume-yes")
        await kiosk.question(1)
        assert "Trieste" not in await kiosk.page.locator("#log").inner_text()
        await expect(kiosk.page.locator("#answer")).to_have_value("Half a sent")


async def test_kiosk_opening_retried_by_two_touches_opens_one_interview(
    server: ServerProcess, wire: Wire, browser: Browser, shots: Path | None
) -> None:
    async with tablet(browser, shots, "kiosk-opening") as kiosk:
        await kiosk.open(wire.url)
        await kiosk.to_consent("Ref-twice")
        wire.cut()
        await kiosk.tap("#consent-agree")
        await kiosk.tap("#mode-text")
        await kiosk.page.locator("#opening-retry").wait_for()
        await kiosk.sound("opening failed")
        wire.mend()
        await kiosk.page.evaluate("for (const _ of [1, 2]) document.querySelector('#opening-retry').click()")
        await kiosk.question(0)
        session = await kiosk.session_id()
        await stored(server, session, "text")
        with sqlite3.connect(f"file:{server.data}/askwell.db?mode=ro", uri=True) as store:
            found = store.execute("select id from sessions where respondent_ref = 'Ref-twice'").fetchall()
        assert found == [(session,)]


async def test_kiosk_someone_else_starts_new_after_an_interruption_and_sees_nothing(
    server: ServerProcess, wire: Wire, browser: Browser
) -> None:
    async with tablet(browser) as kiosk:
        page = kiosk.page
        await kiosk.open(wire.url)
        await kiosk.begin("Ref-Ottakring")
        session = await kiosk.session_id()
        wire.cut()
        await page.locator("#answer").fill(ANSWER)
        await kiosk.tap("#send")
        await page.locator("#log li.respondent").wait_for()
        await page.reload()
        wire.mend()
        await kiosk.scene("resume")
        await page.evaluate("window.before = true")
        await kiosk.tap("#resume-no")
        await kiosk.begun_anew()
        remains = await kiosk.remains()
        assert [secret for secret in ("Trieste", "Ottakring", session) if secret in remains] == []
        rows = await stored(server, session, "speaker, text", enough=2)
        assert [text for speaker, text in rows if speaker == "respondent"] == [ANSWER], "handed over before the reset"


@pytest.mark.parametrize("reloaded", [False, True])
async def test_kiosk_carries_out_a_withdrawal_before_anybody_else_can_begin(
    server: ServerProcess, wire: Wire, browser: Browser, reloaded: bool
) -> None:
    async with tablet(browser) as kiosk:
        page = kiosk.page
        if not reloaded:
            await page.clock.install()
        await kiosk.open(wire.url)
        await kiosk.begin("Ref-2")
        session = await kiosk.session_id()
        await page.locator("#answer").fill(ANSWER)
        await kiosk.tap("#send")
        await page.locator("#log li.respondent").wait_for()
        await stored(server, session, "speaker, text", enough=2)
        wire.cut()
        await kiosk.tap("#withdraw")
        await kiosk.tap("#dialog-confirm")
        await expect(page.locator("#status")).to_contain_text("erased as soon as there is a connection")
        if reloaded:
            await page.reload()
        else:
            await page.clock.fast_forward(41_000)
            await page.locator("#still").wait_for()
            await page.clock.fast_forward(21_000)
            await kiosk.scene("clearing")
            await page.clock.fast_forward(60_000)
        await page.evaluate("window.before = true")
        wire.mend()
        await kiosk.begun_anew()
        assert await stored(server, session, "speaker, text", enough=0) == []


async def test_kiosk_left_alone_with_the_server_away_hides_and_hands_over_when_it_is_back(
    server: ServerProcess, wire: Wire, browser: Browser
) -> None:
    async with tablet(browser) as kiosk:
        page = kiosk.page
        await page.clock.install()
        await kiosk.open(wire.url)
        await kiosk.begin("Ref-1")
        session = await kiosk.session_id()
        wire.cut()
        await page.locator("#answer").fill(ANSWER)
        await kiosk.tap("#send")
        await page.locator("#log li.respondent").wait_for()
        await page.evaluate("window.before = true")
        await page.clock.fast_forward(41_000)
        await page.locator("#still").wait_for()
        await page.clock.fast_forward(21_000)
        await kiosk.scene("clearing")
        assert "Trieste" not in await page.locator("body").inner_text()
        assert await page.evaluate("window.before") is True
        wire.mend()
        await kiosk.begun_anew()
        assert "Trieste" not in await kiosk.remains()
        rows = await stored(server, session, "speaker, text", enough=2)
        assert [text for speaker, text in rows if speaker == "respondent"] == [ANSWER]


async def test_kiosk_opens_from_the_device_while_the_server_starts(
    tmp_path: Path, browser: Browser, shots: Path | None
) -> None:
    server = ServerProcess(tmp_path / "data", ENVIRONMENT)
    await server.start()
    server.port = int(server.url.rsplit(":", 1)[1])
    try:
        async with tablet(browser, shots, "kiosk-away") as kiosk:
            await kiosk.open(server.url)
            await installed(kiosk)
            await kiosk.begin("Ref-1")
            session = await kiosk.session_id()
            await server.kill()
            await kiosk.page.reload()
            await kiosk.scene("starting")
            await kiosk.sound("starting")
            await server.start()
            await kiosk.scene("resume")
            await kiosk.tap("#resume-yes")
            await kiosk.question(0)
            await kiosk.say(ANSWER, 1)
            rows = await stored(server, session, "speaker, text", enough=3)
            assert [text for speaker, text in rows if speaker == "respondent"] == [ANSWER]
            await kiosk.page.goto(f"{server.url}/kiosk/")
            await kiosk.scene("resume")
            assert kiosk.page.url.endswith(f"/kiosk/{CONCEPT}"), "the installed page finds its concept"
    finally:
        await server.stop()


async def test_kiosk_worker_keeps_the_pages_files_and_never_what_is_said(wire: Wire, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.open(wire.url)
        await installed(kiosk)
        await kiosk.begin("Ref-1")
        await kiosk.say(ANSWER, 1)
        cached: list[str] = json.loads(await kiosk.remains())["cached"]
        paths = {url.removeprefix(wire.url) for url in cached}
        assert {"/kiosk/", "/static/kiosk/main.js", "/static/texts/languages.js"} <= paths
        assert {path for path in paths if not path.startswith("/static/") and path != "/kiosk/"} == set()
        scope = await kiosk.page.evaluate("navigator.serviceWorker.ready.then(found => found.scope)")
        assert scope == wire.url + "/kiosk/"
        other = await kiosk.page.context.new_page()
        await other.goto(wire.url)
        assert await other.evaluate("navigator.serviceWorker.controller") is None


async def test_kiosk_new_version_comes_in_between_two_people(tmp_path: Path, browser: Browser) -> None:
    site = tmp_path / "site"
    shutil.copytree(web_root(), site / "web", ignore=shutil.ignore_patterns("node_modules", "vendor", "tests"))
    command = (sys.executable, "-c", BESIDE.format(folder=str(site)), "serve")
    async with ServerProcess(tmp_path / "data", ENVIRONMENT, command=command) as server, tablet(browser) as kiosk:
        await kiosk.open(server.url)
        await installed(kiosk)
        await kiosk.begin("Ref-1")
        texts = site / "web" / "static" / "texts" / "kiosk.en.js"
        words = texts.read_text(encoding="utf-8")
        texts.write_text(words.replace("Touch to begin", "Touch to start"), encoding="utf-8")
        await kiosk.page.evaluate("navigator.serviceWorker.ready.then(found => found.update()).then(() => 0)")
        await kiosk.page.wait_for_function(
            "() => navigator.serviceWorker.ready.then(found => found.waiting?.state === 'installed')"
        )
        assert await kiosk.page.evaluate("document.body.dataset.scene") == "talk", "nobody is disturbed"
        await kiosk.finish()
        await kiosk.reset()
        await expect(kiosk.page.locator("#begin")).to_have_text("Touch to start", timeout=PATIENCE_MS)
        assert len(await kiosk.page.evaluate("caches.keys()")) == 1


async def test_kiosk_with_full_storage_goes_on_and_tells_the_operator(
    server: ServerProcess, browser: Browser, shots: Path | None
) -> None:
    async with tablet(browser, shots, "kiosk-full") as kiosk:
        page = kiosk.page
        await page.add_init_script(FULL)
        await kiosk.open(server.url)
        await kiosk.begin("Ref-1")
        await page.locator("#corner-alarm").wait_for()
        await kiosk.say(ANSWER, 1)
        assert await kiosk.vault() == {}
        await kiosk.unlock()
        await page.locator("#operator-panel").wait_for()
        assert "full" in await kiosk.fact("Browser storage")
        await kiosk.sound("full")
        await kiosk.tap("#operator-close")
        await page.evaluate("window.room = true")
        await page.locator("#answer").fill("There is room again")
        await expect(page.locator("#corner-alarm")).to_be_hidden()
        await kiosk.finish()
        await kiosk.reset()


async def test_kiosk_with_a_wrong_clock_works_and_tells_the_operator(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.page.clock.set_system_time("1987-03-01T00:00:00Z")
        await kiosk.open(server.url)
        await kiosk.begin("Ref-1")
        await kiosk.say(ANSWER, 1)
        await kiosk.page.clock.set_system_time("2071-03-01T00:00:00Z")
        await kiosk.say("Because it is Sunday then.", 2)
        await expect(kiosk.page.locator("#still")).to_be_hidden()
        await kiosk.unlock()
        await kiosk.page.locator("#operator-panel").wait_for()
        assert "differs" in await kiosk.fact("Clock")


async def test_kiosk_device_token_leaves_the_address_and_a_revoked_one_is_said(
    tmp_path: Path, browser: Browser, shots: Path | None
) -> None:
    environment = {**ENVIRONMENT, "ASKWELL_OPEN_ENROLMENT": "false", "ASKWELL_MODERATOR_TOKEN": "m" * 43}
    async with ServerProcess(tmp_path / "data", environment) as server, tablet(browser, shots, "kiosk-token") as kiosk:
        headers = {"authorization": "Bearer " + "m" * 43}
        async with httpx.AsyncClient(base_url=server.url, headers=headers, trust_env=False) as http:
            wish = {"kind": "device", "name": "Tablet 3", "concepts": [CONCEPT]}
            made = (await http.post("/api/tokens", json=wish)).json()
            await kiosk.page.goto(f"{server.url}/kiosk/{CONCEPT}")
            await kiosk.scene("blocked")
            await kiosk.sound("blocked")
            await kiosk.page.goto("about:blank")
            await kiosk.open(server.url, token=made["token"])
            assert kiosk.page.url == f"{server.url}/kiosk/{CONCEPT}"
            await kiosk.begin("Ref-1")
            session = await kiosk.session_id()
            detail = (await http.get(f"/api/sessions/{session}")).json()
            assert detail["device"]["name"] == "Tablet 3"
            await kiosk.finish()
            await kiosk.reset()
            assert (await http.delete(f"/api/tokens/{made['id']}")).status_code < 300
            await kiosk.page.reload()
            await kiosk.scene("blocked")
            await expect(kiosk.page.locator("#blocked-text")).to_contain_text("device link")


async def test_kiosk_opened_twice_on_a_device_runs_once(server: ServerProcess, browser: Browser) -> None:
    async with tablet(browser) as kiosk:
        await kiosk.open(server.url)
        second = KioskPage(await kiosk.page.context.new_page())
        await second.page.goto(f"{server.url}/kiosk/{CONCEPT}")
        await second.scene("blocked")
        await expect(second.page.locator("#blocked-text")).to_contain_text("another window")


async def test_kiosk_keyboard_on_the_screen_covers_neither_box_nor_send(
    server: ServerProcess, whole_browser: Browser, shots: Path | None
) -> None:
    async with tablet(whole_browser, shots, "kiosk-keyboard") as kiosk:
        await kiosk.open(server.url)
        await kiosk.begin("Ref-1")
        await kiosk.tap("#answer")
        await kiosk.page.set_viewport_size({"width": 768, "height": 480})
        await kiosk.page.locator('body[data-keyboard="true"]').wait_for()
        for part in ("#question", "#answer", "#send"):
            await expect(kiosk.page.locator(part)).to_be_in_viewport(ratio=1)
        await kiosk.sound("keyboard")


@pytest.mark.needs("espeak-ng")
async def test_kiosk_by_voice_listens_half_duplex_and_forgets_the_voice(
    server: ServerProcess, shots: Path | None
) -> None:
    async with microphone() as speaking, tablet(speaking, shots, "kiosk-voice") as kiosk:
        page = kiosk.page
        await page.add_init_script(NO_VOICES)
        await kiosk.open(server.url)
        await kiosk.to_consent("Ref-1")
        await kiosk.tap("#consent-agree")
        await kiosk.tap("#mode-voice")
        await page.locator("#voice").wait_for()
        await page.locator('#voice:is([data-mood="listening"], [data-mood="hearing"], [data-mood="ready"])').wait_for()
        assert await page.evaluate("window.readAloud.length") > 0, "the question is read"
        settings = json.loads((await kiosk.vault())["askwell:voice"])
        assert settings["interrupt"] is False and settings["read"] is True
        await kiosk.sound("listening")
        session = await kiosk.session_id()
        await page.evaluate("window.before = true")
        await kiosk.tap("#finish")
        await kiosk.tap("#dialog-confirm")
        await kiosk.scene("thanks")
        await kiosk.reset()
        databases = await page.evaluate("indexedDB.databases().then(all => all.map(one => one.name))")
        assert databases == ["askwell-kiosk"]
        assert session not in await kiosk.remains()
        async with asyncio.timeout(PATIENCE_MS / 1000):
            await kiosk.attract()
