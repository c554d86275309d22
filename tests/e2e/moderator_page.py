"""The moderator's page as a moderator uses it, and interviews that go on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.e2e.respondent_page import PATIENCE_MS, axe_violations, settled
from tests.support.client import RespondentClient
from tests.support.patience import PATIENCE_S
from tests.support.process import ServerProcess

ANSWERS = (
    "The strong taste wakes me up, so I can concentrate at work.",
    "When I concentrate I finish earlier, and then I have time for my children.",
    "Having time for my kids makes me feel like a good father.",
    "The smell in the kitchen reminds me of my grandmother, which makes me feel safe.",
    "It is easy to make, so I save time in the morning.",
)


def token_of(server: ServerProcess) -> str:
    """The installation's own token, as it lies in the data directory."""
    return (server.data / "moderator-token").read_text(encoding="utf-8").strip()


def caller(server: ServerProcess) -> httpx.AsyncClient:
    """Calls with that token."""
    headers = {"authorization": f"Bearer {token_of(server)}"}
    return httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE_S, headers=headers)


@dataclass
class Interview:
    """A running interview and its respondent's connection."""

    id: str
    respondent: RespondentClient

    async def answers(self, *texts: str) -> None:
        """Whole turns, one after another."""
        for text in texts:
            await self.respondent.turn(text)


@asynccontextmanager
async def interview(server: ServerProcess, concept_id: str = "coffee_mec", **fields: Any) -> AsyncIterator[Interview]:
    """An interview whose opening question is out."""
    async with caller(server) as http:
        response = await http.post("/api/sessions", json={"concept_id": concept_id, **fields})
        assert response.status_code == 201, response.text
        created = response.json()
        concept = (await http.get(f"/api/concepts/{concept_id}")).json()
    address = server.url.replace("http://", "ws://")
    async with RespondentClient(address, created["respondent_token"]) as respondent:
        await respondent.hello()
        if concept["consent"]:
            await respondent.send("consent", version=concept["consent"]["version"], choices={})
        await respondent.until("question.completed")
        yield Interview(created["session_id"], respondent)


async def finish(server: ServerProcess, running: Interview) -> None:
    """End the interview as its respondent, and wait until all of it is stored."""
    await running.respondent.send("finish")
    await running.respondent.until("session.state", state="completed")
    async with caller(server) as http, asyncio.timeout(PATIENCE_S):
        while True:
            rows = (await http.get(f"/api/sessions/{running.id}/scores")).json()["items"]
            listed = (await http.get("/api/sessions?state=completed")).json()["items"]
            if rows and any(row["id"] == running.id for row in listed):
                return
            await asyncio.sleep(0.05)


class ModeratorPage:
    """One tab. `errors` collects what the browser complains about: exceptions, and whatever its policy refused."""

    def __init__(self, page: Page, url: str, shots: Path | None = None) -> None:
        self.page = page
        self.url = url
        self._shots = shots
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._heard)
        page.set_default_timeout(PATIENCE_MS)

    def _heard(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "Refused to" in message.text:
            self.errors.append(message.text)

    async def sign_in(self, token: str) -> None:
        """From the door to the overview."""
        await self.page.goto(f"{self.url}/moderator")
        await self.page.locator("#token").fill(token)
        await self.page.locator("#sign-in").click()
        await self.page.locator("#overview-count:not(:empty)").wait_for()

    async def open(self, session_id: str) -> None:
        """One interview, complete."""
        await self.page.evaluate("id => { location.hash = `#/interview/${id}`; }", session_id)
        await self.page.locator(".detail-head:not([hidden])").wait_for()

    async def row(self, session_id: str) -> str:
        """What the overview says of it."""
        row = self.page.locator(f'.row[data-id="{session_id}"]')
        await row.wait_for()
        return await row.inner_text()

    async def sound(self, what: str) -> None:
        """Axe is content, nothing has to be scrolled sideways, and the browser's policy refused nothing."""
        await settled(self.page)
        found = await axe_violations(self.page)
        assert found == [], f"{what}: {found}"
        wide = await self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{what}: {wide} px too wide"
        assert self.errors == [], what

    async def shot(self, name: str, *, whole: bool = False) -> None:
        """A picture of the page as it is."""
        if self._shots is not None:
            if whole:
                await self.page.evaluate("scrollTo(0, 0)")
            await self.page.screenshot(path=self._shots / f"moderator-{name}.png", full_page=whole)


@asynccontextmanager
async def tab(browser: Browser, url: str, shots: Path | None = None, **options: Any) -> AsyncIterator[ModeratorPage]:
    """A tab of a browser of its own."""
    context: BrowserContext = await browser.new_context(**options)
    try:
        yield ModeratorPage(await context.new_page(), url, shots)
    finally:
        await context.close()
