"""What the page shows when somebody asks back, needs a moment, is upset, or wants to stop."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.respondent_page import RespondentPage, axe_violations, settled, stored
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]


async def say(page: Page, text: str) -> None:
    """Write and send."""
    await page.locator("#answer").fill(text)
    await page.locator("#send").click()
    await expect(page.locator("#status")).to_have_attribute("data-state", "yours", timeout=30_000)


async def test_replies_stand_where_questions_do_and_what_is_offered_can_be_chosen(
    server: ServerProcess, browser: Browser, shots: Path | None
) -> None:
    page = await browser.new_page(viewport={"width": 390, "height": 800})
    respondent = RespondentPage(page, shots, "conduct")
    await respondent.begin(server.url, "coffee_mec")
    first = await respondent.asked()
    question = page.locator("#question")
    await say(page, "Are you a robot?")
    await expect(question).to_contain_text("I'm a computer program, not a person.")
    await expect(question).to_contain_text(first)
    await say(page, "I need a moment, please.")
    await expect(question).to_have_text("Of course, take your time. I'm here.")
    await expect(page.locator("#offers")).to_be_hidden()
    await say(page, "I'm crying right now, sorry.")
    offers = page.locator("#offers button")
    await expect(offers).to_have_count(4)
    await expect(page.locator("#question")).to_have_attribute("data-complete", "true")
    await settled(page)
    assert await axe_violations(page) == []
    await respondent.shot("distress")
    await page.reload()
    await expect(offers).to_have_count(4)
    log = page.locator("#log")
    await expect(log).to_contain_text("Are you a robot?")
    await page.get_by_test_id("offer-something_else").click()
    await expect(page.locator("#status")).to_have_attribute("data-state", "yours", timeout=30_000)
    await expect(page.locator("#offers")).to_be_hidden()
    await expect(log).to_contain_text("Something else")
    assert respondent.errors == []
    rows = await stored(server, respondent.session_id, "speaker, kind", enough=8)
    assert [kind for speaker, kind in rows if speaker == "interviewer"] == [
        "opening", "reply", "reply", "reply", "question",
    ]  # fmt: skip
    await page.close()


async def test_stop_can_be_taken_back_by_a_button_and_help_stays_in_sight(
    server: ServerProcess, browser: Browser, shots: Path | None
) -> None:
    page = await browser.new_page(viewport={"width": 1100, "height": 800})
    respondent = RespondentPage(page, shots, "stop")
    await respondent.begin(server.url, "coffee_mec")
    asked = await respondent.asked()
    await page.locator("#answer").fill("I'd like to stop the interview now.")
    await page.locator("#send").click()
    await expect(page.locator("#question")).to_contain_text("We stop here.")
    await expect(page.locator("#composer")).to_be_hidden()
    await expect(page.locator("#status")).to_have_attribute("data-state", "stopping")
    await expect(page.locator("#question")).to_have_attribute("data-complete", "true")
    await settled(page)
    assert await axe_violations(page) == []
    await respondent.shot("stopping")
    await expect(page.get_by_test_id("offer-resume")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#composer")).to_be_visible()
    await expect(page.locator("#question")).to_have_text(asked)
    await expect(page.locator("#answer")).to_be_focused()
    await page.locator("#pause").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_test_id("resume")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#answer")).to_be_focused()
    await page.reload()
    await expect(page.locator("#question")).to_have_text(asked)
    await say(page, "I want to kill myself tonight.")
    await expect(page.locator("#help")).to_contain_text("findahelpline.com")
    await expect(page.locator("#question")).to_contain_text("sorry")
    assert "findahelpline.com" not in await page.locator("#question").inner_text()
    whole = page.viewport_size
    await page.set_viewport_size({"width": 844, "height": 390})
    await page.wait_for_timeout(600)
    for part in ("#question", "#help", "#offers", "#answer", "#send"):
        await expect(page.locator(part)).to_be_in_viewport(ratio=1)
    await respondent.shot("on-its-side")
    assert whole is not None
    await page.set_viewport_size(whole)
    await page.get_by_test_id("offer-go_on").click()
    await expect(page.locator("#question")).to_contain_text("I'm listening.")
    await expect(page.locator("#help")).to_be_visible()
    await respondent.shot("help")
    assert asked and respondent.errors == []
    await page.close()
