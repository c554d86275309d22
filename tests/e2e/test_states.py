"""Every state of the respondent's pages: usable, accessible, and nothing lost."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.respondent_page import RespondentPage, axe_violations, settled, stored
from tests.support.cutting import Wire
from tests.support.patience import PATIENCE_S
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240), pytest.mark.thorough]

PHONE = {"width": 320, "height": 640}
DESK = {"width": 1440, "height": 900}


async def opened(browser: Browser, wire: Wire, shots: Path | None, name: str, **context: object) -> RespondentPage:
    page = await (await browser.new_context(**context)).new_page()  # type: ignore[arg-type]
    respondent = RespondentPage(page, shots, name)
    await respondent.begin(wire.url, "coffee_mec")
    return respondent


async def sound(page: Page, what: str) -> None:
    """Axe is content, and nothing has to be scrolled sideways."""
    await settled(page)
    assert await axe_violations(page) == [], what
    wide = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{what}: {wide} px too wide"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "size"), [("phone", PHONE), ("desk", DESK)])
async def test_states_axe_clean_and_no_sideways_scrolling(
    wire: Wire, browser: Browser, shots: Path | None, name: str, size: dict[str, int], scheme: str
) -> None:
    context = await browser.new_context(viewport=size, color_scheme=scheme, has_touch=name == "phone")  # type: ignore[arg-type]
    page = await context.new_page()
    respondent = RespondentPage(page, shots, f"{name}-{scheme}")
    await page.goto(wire.url)
    await page.locator("[data-concept-id=coffee_mec]").first.wait_for()
    await sound(page, "first page")
    await respondent.shot("1-home")
    await page.locator("[data-concept-id=coffee_mec]").first.click()
    await page.locator("#consent-agree").wait_for()
    await sound(page, "consent")
    await respondent.shot("2-consent")
    await page.locator("#consent-agree").click()
    await respondent.asked()
    await sound(page, "first question")
    await respondent.shot("3-question")
    await respondent.answer("The strong taste wakes me up, so I can concentrate at work.")
    await respondent.next_question(1)
    await sound(page, "second question")
    await page.locator("#correct").click()
    await page.locator("#edit").wait_for()
    await sound(page, "correcting")
    await respondent.shot("4-correcting")
    await page.locator("#correct-cancel").click()
    await page.locator("#pause").click()
    await page.locator('#status[data-state="paused"]').wait_for()
    await sound(page, "paused")
    await respondent.shot("5-paused")
    await page.locator("#resume").click()
    await page.locator('#status[data-state="yours"]').wait_for(state="attached")
    wire.cut()
    await page.locator('#status[data-state="reconnecting"]').wait_for()
    await sound(page, "reconnecting")
    wire.mend()
    await page.locator('#status[data-state="yours"]').wait_for(state="attached")
    await page.locator("#finish").click()
    await page.locator("#dialog-confirm").wait_for()
    await sound(page, "dialog")
    await respondent.shot("6-dialog")
    await page.locator("#dialog-confirm").click()
    await page.locator("#thanks").wait_for()
    await sound(page, "thanks")
    await respondent.shot("7-thanks")
    await page.locator("#withdraw-late").click()
    await page.locator("#dialog-confirm").click()
    await page.locator("#goodbye").wait_for()
    await sound(page, "goodbye")
    await respondent.shot("8-goodbye")
    assert respondent.errors == []


async def test_keyboard_alone_holds_an_interview(wire: Wire, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(wire.url)
    await page.locator("[data-concept-id=coffee_mec]").first.focus()
    await page.keyboard.press("Enter")
    await page.locator("#consent-agree").wait_for()
    for _ in range(8):
        if await page.evaluate("document.activeElement.id") == "consent-agree":
            break
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    respondent = RespondentPage(page, None, "keyboard")
    await respondent.asked()
    await expect(page.locator("#answer")).to_be_focused()
    await page.keyboard.type("The smell in the kitchen")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("and the warmth")
    await page.keyboard.press("Enter")
    assert await respondent.next_question(1)
    await expect(page.locator("#log")).to_contain_text("and the warmth")
    await expect(page.locator("#answer")).to_be_focused()


async def test_draft_survives_a_reload_and_an_answer_is_sent_once(
    server: ServerProcess, wire: Wire, browser: Browser
) -> None:
    respondent = await opened(browser, wire, None, "draft")
    page = respondent.page
    await page.locator("#answer").fill("half a thou")
    await page.reload()
    await respondent.asked()
    await expect(page.locator("#answer")).to_have_value("half a thou")
    await page.locator('#status[data-state="yours"]').wait_for(state="attached")
    wire.cut()
    await page.locator('#status[data-state="reconnecting"]').wait_for()
    await respondent.answer("half a thought about foam")
    wire.mend()
    assert await respondent.next_question(1)
    rows = await stored(server, respondent.session_id, "speaker, text", enough=3)
    assert [text for speaker, text in rows if speaker == "respondent"] == ["half a thought about foam"]


async def test_server_killed_in_mid_turn_the_page_goes_on(server: ServerProcess, wire: Wire, browser: Browser) -> None:
    respondent = await opened(browser, wire, None, "killed")
    port = int(server.url.rsplit(":", 1)[1])
    await respondent.answer("I like the crema because it looks like in Italy")
    await server.kill()
    server.port = port
    await server.start()
    assert await respondent.next_question(1)
    rows = await stored(server, respondent.session_id, "speaker", enough=3)
    assert rows.count(("respondent",)) == 1


async def test_second_tab_takes_over_and_the_first_says_so(wire: Wire, browser: Browser) -> None:
    first = await opened(browser, wire, None, "tabs")
    second = RespondentPage(await first.page.context.new_page(), None, "tabs")
    await second.page.goto(first.page.url)
    await second.asked()
    await first.page.locator('#status[data-state="taken"]').wait_for()
    await second.answer("The taste")
    assert await second.next_question(1)
    await first.page.locator("#continue-here").click()
    assert await first.next_question(1)


async def test_skip_rephrase_and_correct_do_what_they_say(server: ServerProcess, wire: Wire, browser: Browser) -> None:
    respondent = await opened(browser, wire, None, "choices")
    page = respondent.page
    before = await respondent.question()
    await page.locator("#rephrase").click()
    await expect(page.locator("#question")).not_to_have_text(before)
    await respondent.asked()
    await page.locator("#skip").click()
    assert await respondent.next_question(1)
    await respondent.answer("It is cheep")
    assert await respondent.next_question(2)
    await page.locator("#correct").click()
    await page.locator("#edit").fill("It is cheap")
    await page.locator("#correct-save").click()
    assert await respondent.next_question(3)
    await expect(page.locator("#log")).to_contain_text("It is cheap")
    kinds = [kind for (kind,) in await stored(server, respondent.session_id, "kind", enough=8)]
    assert kinds.count("rephrase") == 1 and kinds.count("skip") == 1 and kinds.count("correct") == 1


async def test_withdraw_erases_everything_everywhere(server: ServerProcess, wire: Wire, browser: Browser) -> None:
    respondent = await opened(browser, wire, None, "withdraw")
    page = respondent.page
    session_id = respondent.session_id
    await respondent.answer("What my neighbour pays for bread")
    assert await respondent.next_question(1)
    await page.locator("#withdraw").click()
    await page.locator("#dialog-confirm").click()
    await page.locator("#goodbye").wait_for()
    assert await page.evaluate("JSON.stringify(localStorage)") == "{}"
    await page.reload()
    await page.locator("#blocked, #goodbye").locator("visible=true").first.wait_for()
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with sqlite3.connect(f"file:{server.data}/askwell.db?mode=ro", uri=True) as store:
                tables = {
                    "sessions": "id",
                    "utterances": "session_id",
                    "kg_nodes": "session_id",
                    "answers": "session_id",
                }
                left = [
                    table
                    for table, column in tables.items()
                    if store.execute(f"select 1 from {table} where {column} = ?", (session_id,)).fetchall()
                ]
            if not left:
                break
            await asyncio.sleep(0.05)


async def test_withdrawal_without_a_connection_is_carried_out_by_the_next_visit(
    server: ServerProcess, wire: Wire, browser: Browser
) -> None:
    respondent = await opened(browser, wire, None, "withdraw-cut")
    page = respondent.page
    session_id = respondent.session_id
    await respondent.answer("What my neighbour pays for bread")
    assert await respondent.next_question(1)
    wire.cut()
    await page.locator("#withdraw").click()
    await page.locator("#dialog-confirm").click()
    await expect(page.locator("#status")).to_contain_text("erased as soon as there is a connection")
    address = page.url
    context = page.context
    await page.close()
    wire.mend()
    again = await context.new_page()
    await again.goto(address)
    await again.locator("#goodbye").wait_for()
    assert await again.evaluate("JSON.stringify(localStorage)") == "{}"
    async with asyncio.timeout(PATIENCE_S):
        while await stored(server, session_id, "speaker", enough=0):
            await asyncio.sleep(0.05)


async def test_correction_that_is_being_written_survives_a_reload(wire: Wire, browser: Browser) -> None:
    respondent = await opened(browser, wire, None, "correcting")
    page = respondent.page
    await respondent.answer("It is fast.")
    assert await respondent.next_question(1)
    await page.locator("#log li.respondent button").last.click()
    await page.locator("#log textarea").fill("It is fast, and it is cheap.")
    await page.reload()
    await expect(page.locator("#log textarea")).to_have_value("It is fast, and it is cheap.")


async def test_wrong_link_is_explained(wire: Wire, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(f"{wire.url}/interview/00000000-0000-0000-0000-000000000000#nonsense")
    await page.locator("#blocked").wait_for()
    await expect(page.locator("#blocked-text")).not_to_be_empty()
    await sound(page, "blocked")


async def test_transcript_copy_has_every_word(wire: Wire, browser: Browser) -> None:
    respondent = await opened(browser, wire, None, "copy")
    page = respondent.page
    await respondent.answer("فقط القهوة ☕ and <b>milk</b>")
    assert await respondent.next_question(1)
    await page.locator("#finish").click()
    await page.locator("#dialog-confirm").click()
    await page.locator("#thanks").wait_for()
    async with page.expect_download() as waiting:
        await page.locator("#transcript-download").click()
    text = (await (await waiting.value).path()).read_text(encoding="utf-8")
    assert "فقط القهوة ☕ and <b>milk</b>" in text


async def test_first_page_is_small(server: ServerProcess, browser: Browser) -> None:
    page = await browser.new_page()
    sizes: list[int] = []

    async def weigh(response: object) -> None:
        sizes.append((await response.request.sizes())["responseBodySize"])  # type: ignore[attr-defined]

    page.on("response", weigh)
    await page.goto(server.url)
    await page.locator("[data-concept-id]").first.wait_for()
    assert 0 < sum(sizes) <= 150_000
