"""The interview page as a respondent uses it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect

PATIENCE_MS = 20_000


@cache
def axe_source() -> str:
    """The axe-core script that comes with the test extra."""
    return next(
        item.read_text(encoding="utf-8")
        for item in files("axe_playwright_python").iterdir()
        if item.name.endswith(".js")
    )


async def axe_violations(page: Page) -> list[str]:
    """What axe finds against WCAG 2.2 AA and its best practices, one line each."""
    await page.evaluate(axe_source())
    found: dict[str, Any] = await page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})"
    )
    return [
        f"{violation['id']}: {json.dumps([node['target'] for node in violation['nodes']])}"
        for violation in found["violations"]
    ]


class RespondentPage:
    """One tab. Every method waits until the page shows that it has happened."""

    def __init__(self, page: Page, shots: Path | None, name: str) -> None:
        self.page = page
        self._shots = shots
        self._name = name
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_default_timeout(PATIENCE_MS)

    async def begin(self, url: str, concept: str) -> None:
        """From the first page to the opening question."""
        await self.page.goto(url)
        await self.page.locator(f"[data-concept-id={concept}]").first.click()
        await self.page.locator("#consent-agree").click()
        await self.asked()

    async def asked(self) -> str:
        """The question, once it is complete and can be answered."""
        await expect(self.page.locator("#answer")).to_be_enabled(timeout=PATIENCE_MS)
        await expect(self.page.locator("#question")).to_have_text(
            __import__("re").compile(r"[?.!…]"), timeout=PATIENCE_MS
        )
        return (await self.page.locator("#question").inner_text()).strip()

    async def answer(self, text: str) -> None:
        """Type and send; does not wait for the question."""
        await self.page.locator("#answer").fill(text)
        await self.page.locator("#send").click()

    async def next_question(self, before: str) -> str | None:
        """The question after `before`, or none when the interview is over."""
        await self.page.wait_for_function(
            """before => !document.querySelector('#thanks').hidden
                 || (document.querySelector('#question').innerText.trim() !== before
                     && /[?.!…]$/.test(document.querySelector('#question').innerText.trim())
                     && !document.querySelector('#answer').disabled
                     && document.querySelector('#question').getAttribute('aria-busy') !== 'true')""",
            arg=before,
            timeout=PATIENCE_MS,
        )
        if await self.page.locator("#thanks").is_visible():
            return None
        return (await self.page.locator("#question").inner_text()).strip()

    async def shot(self, state: str) -> None:
        """A picture of the page as it is."""
        if self._shots is not None:
            await self.page.screenshot(path=self._shots / f"{self._name}-{state}.png")
