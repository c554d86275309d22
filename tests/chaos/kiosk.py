"""A kiosk's browser that can be killed, and the people who sit down at it one after the other."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser, Page, Playwright, WebSocket
from playwright.async_api import Error as BrowserError

from tests.chaos.respondent import THINGS, Conversation, Violation
from tests.e2e.kiosk_page import REMAINS
from tests.e2e.speaking import FLAGS
from tests.support.needs import chromium_path

CONCEPT = "coffee_mec"
TURNS = 3
STARTS_NEW = 0.25
"""Share of interrupted interviews that somebody else finds, who begins anew."""
TOUCH_MS = 1_500
LOOK_S = 0.02


class MortalBrowser:
    """A Chromium with a profile on disk; killed as a whole, and started again on the same profile."""

    def __init__(self, playwright: Playwright, folder: Path) -> None:
        self._playwright = playwright
        self._profile = folder / "profile"
        self._log = folder / "browser.log"
        self._process: asyncio.subprocess.Process | None = None
        self._browser: Browser | None = None

    @property
    def group(self) -> int:
        """Its process group."""
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether its first process is."""
        return self._process is not None and self._process.returncode is None

    def lives(self, group: int) -> bool:
        """Whether it is still the one with this process group."""
        return self.alive and self.group == group

    async def start(self) -> Page:
        """Start, and give the one page."""
        port = self._profile / "DevToolsActivePort"
        port.unlink(missing_ok=True)
        path = chromium_path()
        assert path is not None
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                path, *FLAGS, "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={self._profile}",
                "--no-first-run", "--hide-crash-restore-bubble", "about:blank",
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        async with asyncio.timeout(60):
            while not port.exists() or len(port.read_text().splitlines()) < 2:
                if not self.alive:
                    raise RuntimeError(f"the browser did not start; see {self._log}")
                await asyncio.sleep(LOOK_S)
        number = port.read_text().splitlines()[0]
        self._browser = await self._playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{number}")
        context = self._browser.contexts[0]
        return context.pages[0] if context.pages else await context.new_page()

    async def gone(self) -> None:
        """Wait until it has been killed; what it leaves behind goes too."""
        assert self._process is not None
        await self._process.wait()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        if self._browser is not None:
            with suppress(BrowserError):
                await self._browser.close()
            self._browser = None

    async def kill(self) -> None:
        """End it without a goodbye."""
        if self.alive:
            with suppress(ProcessLookupError):
                os.killpg(self.group, signal.SIGKILL)
        await self.gone()


@dataclass
class Sitting:
    """One person at the kiosk: what they typed, by turn; whether they came to the end, or somebody else began anew."""

    marker: str
    typed: dict[int, str] = field(default_factory=dict)
    finished: bool = False
    left: bool = False


class People:
    """Everybody who sits down; looks at the screen and does what it asks for, whatever dies meanwhile."""

    def __init__(self, browser: MortalBrowser, url: str, seed: int) -> None:
        self._browser = browser
        self._url = url
        self._random = random.Random(seed)
        self.sittings: list[Sitting] = []
        self.conversations: dict[str, Conversation] = {}
        self.accepted: set[str] = set()
        self.resumed = 0
        self.started_new = 0
        self.leaving = False
        self.changed = asyncio.Event()

    async def live(self) -> None:
        """Until told to leave; the last one is seen through."""
        while True:
            try:
                page = await self._browser.start()
                page.on("websocket", self._listen)
                await page.goto(f"{self._url}/kiosk/{CONCEPT}")
                while self._browser.alive:
                    if not await self._look(page):
                        return
                    await asyncio.sleep(LOOK_S)
            except BrowserError as error:
                if self._browser.alive and "ERR_CONNECTION_REFUSED" in str(error):
                    await asyncio.sleep(0.2)
            await self._browser.kill()

    async def _look(self, page: Page) -> bool:
        """Do one thing. Returns whether to go on."""
        scene = await page.evaluate("document.body?.dataset.scene ?? ''")
        with suppress(BrowserError):
            match scene:
                case "attract":
                    await self._check_clean(page, whole=True)
                    if self.sittings and self._vanished(self.sittings[-1]):
                        raise Violation(f"the interview of {self.sittings[-1]} vanished from the device")
                    if self.leaving:
                        return False
                    self.sittings.append(Sitting(f"w{len(self.sittings)}z"))
                    await page.locator("#begin").click(timeout=TOUCH_MS)
                case "consent":
                    await page.locator("#consent-agree").click(timeout=TOUCH_MS)
                case "opening":
                    if await page.locator("#opening-retry").is_visible():
                        await page.locator("#opening-retry").click(timeout=TOUCH_MS)
                case "resume":
                    await self._check_clean(page, whole=False)
                    await self._resume(page)
                case "talk":
                    await self._talk(page)
                case "thanks":
                    self.sittings[-1].finished = True
                    await page.locator("#thanks-done").click(timeout=TOUCH_MS)
                case "blocked" | "goodbye" | "unsuited":
                    raise Violation(f"the kiosk shows {scene}")
        return True

    async def _resume(self, page: Page) -> None:
        # Who has decided to begin anew stays with it: the touch may count although the browser did not live to say so.
        sitting = self.sittings[-1]
        if not sitting.left and not self.leaving and self._random.random() < STARTS_NEW:
            sitting.left = True
            self.started_new += 1
        await page.locator("#resume-no" if sitting.left else "#resume-yes").click(timeout=TOUCH_MS)
        self.resumed += not sitting.left

    async def _talk(self, page: Page) -> None:
        sitting = self.sittings[-1]
        turn = await page.evaluate(
            """() => document.querySelector('#status').dataset.state === 'yours'
                 && document.querySelector('#question').dataset.complete === 'true'
                 ? Number(document.querySelector('#question').dataset.turn) : -1"""
        )
        if await page.locator("#dialog-confirm").is_visible():
            await page.locator("#dialog-confirm").click(timeout=TOUCH_MS)
        elif await page.locator("#retry").is_visible():
            await page.locator("#retry").click(timeout=TOUCH_MS)
        elif turn >= TURNS:
            await page.locator("#finish").click(timeout=TOUCH_MS)
        elif turn >= 0:
            text = sitting.typed.get(turn)
            if text is None:
                text = f"{' '.join(self._random.sample(THINGS, 5))} because of {sitting.marker}{turn}"
                sitting.typed[turn] = text
            await page.locator("#answer").fill(text, timeout=TOUCH_MS)
            await page.locator("#send").click(timeout=TOUCH_MS)

    @staticmethod
    def _vanished(sitting: Sitting) -> bool:
        """Whether answers were given, and the device forgot about the rest."""
        return bool(sitting.typed) and not sitting.finished and not sitting.left

    async def _check_clean(self, page: Page, *, whole: bool) -> None:
        """Nothing of anybody before is to be seen; with `whole`, nothing is to be found at all."""
        found = await page.evaluate(REMAINS if whole else "document.documentElement.outerHTML")
        if await page.evaluate("document.body.dataset.scene") not in ("attract", "resume"):
            return
        left = sorted(set(re.findall(r"w\d+z", found)))
        left += [session for session in self.conversations if whole and session in found]
        if left:
            raise Violation(f"still on the device: {left}")

    def _listen(self, socket: WebSocket) -> None:
        """Keep what the page and the server tell each other."""
        token: dict[str, str] = {}

        def sent(frame: str | bytes) -> None:
            message = json.loads(frame)
            if message["type"] == "hello":
                token["token"] = message["token"]
            if message["type"] == "answer" and "session" in token:
                self.conversations[token["session"]].answers[message["turn_key"]] = message["text"]

        def received(frame: str | bytes) -> None:
            message = json.loads(frame)
            if message["type"] == "ready":
                token["session"] = message["session_id"]
                self.conversations.setdefault(
                    message["session_id"], Conversation(message["session_id"], token.get("token", ""))
                )
            elif "id" in message:
                self.conversations[token["session"]].note(message)
                if message["type"] == "turn.started":
                    self.accepted.add(message["turn_key"])

        socket.on("framesent", sent)
        socket.on("framereceived", received)
