"""The ratings of a repertory grid on the page: by keyboard, on a small screen, after a reload, light and dark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from tests.e2e.respondent_page import RespondentPage, axe_violations, settled, stored
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240), pytest.mark.thorough]

DISTINCTION = "Two of them are quiet, and the other one is loud."
ALIKE = "They're all the same."
MORE = "I can think where it is quiet, and I learn it faster."


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_grid_is_rated_by_keyboard_on_a_phone_and_survives_a_reload(
    server: ServerProcess, browser: Browser, shots: Path | None, scheme: Literal["light", "dark"]
) -> None:
    page = await browser.new_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    respondent = RespondentPage(page, shots, f"ratings-{scheme}")
    await respondent.begin(server.url, "ways_of_learning_rg")
    grid = page.locator("#ratings")
    turn = 0
    while not await grid.is_visible():
        compares = re.search(r"\b(?:alike|in common)\b", await respondent.question())
        await respondent.answer(DISTINCTION if turn == 0 else ALIKE if compares else MORE)
        turn += 1
        await respondent.next_question(turn)
        assert turn < 12
    await settled(page)
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    assert await axe_violations(page) == []
    await expect(page.locator("#answer")).to_be_hidden()
    await expect(page.locator("#ratings-send")).to_have_attribute("aria-disabled", "true")

    await page.locator(".rating-row input").first.focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Tab")
    await page.keyboard.press("ArrowRight")
    checked = page.locator("#ratings input:checked:not([value=''])")
    await expect(checked).to_have_count(2)
    values = [await checked.nth(n).input_value() for n in range(2)]

    await page.reload()
    await grid.wait_for()
    await expect(checked).to_have_count(2)
    await settled(page)
    assert [await checked.nth(n).input_value() for n in range(2)] == values
    if shots is not None:
        await page.screenshot(path=shots / f"ratings-{scheme}.png", full_page=True)

    await page.locator("#ratings-send").click()
    try:
        await grid.wait_for(state="hidden")
    except PlaywrightTimeout as late:
        raise AssertionError(f"the grid stays; the page shows:\n{await page.locator('main').inner_text()}") from late
    await respondent.asked()
    kinds = await stored(server, respondent.session_id, "kind, text", enough=2 * turn + 3)
    rated = [text for kind, text in kinds if kind == "rate"]
    assert len(rated) == 1
    assert rated[0].startswith("quiet – loud: ")
    assert respondent.errors == []
