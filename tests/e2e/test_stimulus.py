"""A concept test in a browser: the stimulus with its image, the interview, and the matrix that moderators see."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, ViewportSize, expect

from tests.e2e.kiosk_page import KioskPage
from tests.e2e.moderator_page import ModeratorPage, token_of
from tests.e2e.respondent_page import RespondentPage, axe_violations, settled
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240), pytest.mark.thorough]

CONCEPT = "jar_soup_ct"
PHONE: ViewportSize = {"width": 360, "height": 740}
DESK: ViewportSize = {"width": 1280, "height": 800}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "size"), [("phone", PHONE), ("desk", DESK)])
async def test_stimulus_comes_first_by_keyboard_too_and_again_on_request(
    server: ServerProcess,
    browser: Browser,
    shots: Path | None,
    name: str,
    size: ViewportSize,
    scheme: Literal["light", "dark"],
) -> None:
    context = await browser.new_context(viewport=size, color_scheme=scheme, has_touch=name == "phone")
    page = await context.new_page()
    respondent = RespondentPage(page, shots, f"stimulus-{name}-{scheme}")
    await page.goto(server.url)
    await page.locator(f"[data-concept-id={CONCEPT}]").first.click()
    await page.locator("#consent-agree").click()
    stimulus = page.get_by_test_id("stimulus")
    await expect(stimulus).to_be_visible()
    await expect(page.locator("#stimulus-title")).to_be_focused()
    image = page.get_by_role("img", name="A tall glass jar of orange soup", exact=False)
    await expect(image).to_be_visible()
    await expect(image).to_have_js_property("naturalWidth", 1200)
    await expect(page.get_by_test_id("stimulus-text").locator("p")).to_have_count(4)
    await settled(page)
    assert await axe_violations(page) == []
    wide = await page.evaluate(
        "(() => { const box = document.querySelector('#stimulus'); return box.scrollWidth - box.clientWidth; })()"
    )
    assert wide <= 0
    await respondent.shot("first")
    close = page.get_by_test_id("stimulus-close")
    await expect(close).to_be_in_viewport()
    await page.keyboard.press("Tab")
    await expect(close).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(stimulus).to_be_hidden()
    await respondent.asked()
    again = page.get_by_test_id("stimulus-again")
    await again.focus()
    await page.keyboard.press("Enter")
    await expect(stimulus).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(stimulus).to_be_hidden()
    await settled(page)
    assert await axe_violations(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    await respondent.shot("asked")
    await respondent.answer("The jar looks nice, but the deposit annoys me because I forget to bring things back.")
    assert await respondent.next_question(1)
    await page.reload()
    await respondent.asked()
    await expect(stimulus).to_be_hidden()
    assert respondent.errors == []
    await context.close()


async def test_stimulus_on_a_kiosk_comes_before_the_first_question(
    server: ServerProcess, browser: Browser, shots: Path | None
) -> None:
    page = await (await browser.new_context(viewport={"width": 800, "height": 1100}, has_touch=True)).new_page()
    kiosk = KioskPage(page, shots, "stimulus-kiosk")
    await kiosk.open(server.url, CONCEPT)
    await kiosk.tap("#attract")
    await kiosk.scene("consent")
    await kiosk.tap("#consent-agree")
    await kiosk.scene("mode", "opening", "talk")
    if await page.locator("#mode-text").is_visible():
        await kiosk.tap("#mode-text")
    await expect(page.get_by_test_id("stimulus")).to_be_visible()
    await settled(page)
    assert await axe_violations(page) == []
    await kiosk.tap("#stimulus-close")
    await kiosk.tap("#stimulus-again")
    await expect(page.get_by_test_id("stimulus-image")).to_be_visible()
    assert kiosk.errors == []
    assert kiosk.refused == []
    await page.context.close()


async def test_moderator_sees_the_matrix_while_the_interview_runs(
    server: ServerProcess, browser: Browser, shots: Path | None
) -> None:
    page = await (await browser.new_context(viewport=DESK)).new_page()
    respondent = RespondentPage(page, shots, "matrix-respondent")
    await page.goto(server.url)
    await page.locator(f"[data-concept-id={CONCEPT}]").first.click()
    await page.locator("#consent-agree").click()
    await page.get_by_test_id("stimulus-close").click()
    await respondent.asked()
    watching = await (await browser.new_context(viewport=DESK)).new_page()
    moderator = ModeratorPage(watching, server.url)
    await moderator.sign_in(token_of(server))
    await moderator.open(respondent.session_id)
    rows = watching.locator("#elements tbody tr")
    await expect(rows).to_have_count(10)
    deposit = rows.nth(1)
    await expect(deposit).to_have_class("unspoken")
    await respondent.answer("The deposit annoys me, because I always forget to bring things back to the shop.")
    await respondent.next_question(1)
    await expect(deposit).not_to_have_class("unspoken")
    await expect(deposit.locator("td").first).to_have_text("1")
    await expect(watching.locator("#elements .spirits .badge").first).to_be_visible()
    for size in (DESK, PHONE):
        await watching.set_viewport_size(size)
        await settled(watching)
        assert await axe_violations(watching) == []
        assert (
            await watching.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        )
    await page.context.close()
    await watching.context.close()
