"""The interview page as a respondent uses it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.async_api import Page, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from tests.support.process import ServerProcess

PATIENCE_MS = 60_000


@cache
def axe_source() -> str:
    """The axe-core script that comes with the test extra."""
    return next(
        item.read_text(encoding="utf-8")
        for item in files("axe_playwright_python").iterdir()
        if item.name.endswith(".js")
    )


async def settled(page: Page) -> None:
    """Bring everything that moves or fades to its end; what turns for ever goes on."""
    await page.evaluate(
        """async () => {
             const moving = () => document.getAnimations().filter(each =>
               each.playState === "running" && each.effect.getComputedTiming().endTime < 10000);
             for (let found = moving(); found.length; found = moving()) {
               for (const each of found) each.finish();
               await Promise.all(found.map(each => each.finished.catch(() => 0)));
             }
           }"""
    )


async def axe_violations(page: Page) -> list[str]:
    """What axe finds against WCAG 2.2 AA and its best practices, one line each."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe_source())
    violations: list[dict[str, Any]] = await page.evaluate(
        """async () => (await axe.run(document, {
             runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
             resultTypes: ["violations"],
           })).violations.map(each => ({id: each.id, targets: each.nodes.map(node => node.target)}))"""
    )
    return [f"{violation['id']}: {json.dumps(violation['targets'])}" for violation in violations]


async def stored(server: ServerProcess, session_id: str, what: str, enough: int = 1) -> list[tuple[Any, ...]]:
    """Columns of the session's utterances in order, once at least `enough` of them have reached the store."""
    query = f"select {what} from utterances where session_id = ? order by turn_number, recorded_at"
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while True:
            with sqlite3.connect(f"file:{server.data}/askwell.db?mode=ro", uri=True) as store:
                rows = store.execute(query, (session_id,)).fetchall()
            if len(rows) >= enough:
                return rows
            await asyncio.sleep(0.05)


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
        await self.page.locator('#question[data-complete="true"]').wait_for()
        await expect(self.page.locator("#answer")).to_be_enabled(timeout=PATIENCE_MS)
        return await self.question()

    @property
    def session_id(self) -> str:
        """Of the interview in this tab."""
        return self.page.url.split("/interview/")[1].split("#")[0]

    async def question(self) -> str:
        """The question as it is read."""
        return (await self.page.locator("#question").inner_text()).strip()

    async def answer(self, text: str) -> None:
        """Type and send; does not wait for the question."""
        await self.page.locator("#answer").fill(text)
        await self.page.locator("#send").click()

    async def next_question(self, turn: int) -> str | None:
        """The question that turn `turn` led to, or none when the interview is over."""
        try:
            await self.page.wait_for_function(
                """turn => !document.querySelector('#thanks').hidden
                     || (document.querySelector('#question').dataset.turn === String(turn)
                         && document.querySelector('#question').dataset.complete === 'true'
                         && document.querySelector('#status').dataset.state === 'yours')""",
                arg=turn,
            )
        except PlaywrightTimeout as late:
            shown = await self.page.locator("main").inner_text()
            raise AssertionError(f"turn {turn} led to no question; the page shows:\n{shown}") from late
        return None if await self.page.locator("#thanks").is_visible() else await self.question()

    async def shot(self, state: str) -> None:
        """A picture of the page as it is."""
        if self._shots is not None:
            await self.page.screenshot(path=self._shots / f"{self._name}-{state}.png")
