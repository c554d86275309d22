"""A kiosk as respondents, interviewers and operators use it: by touch."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.e2e.respondent_page import PATIENCE_MS, axe_violations, settled

Scheme = Literal["light", "dark"]
BOTH: tuple[Scheme, ...] = ("light", "dark")
CONCEPT = "kiosk_mec"
PIN = "4711"
CONFIG = Path(__file__).parent / "kiosk"
ENVIRONMENT = {"ASKWELL_CONFIG_DIR": str(CONFIG), "ASKWELL_KIOSK_PIN": PIN}
HOLD_MS = 1_200
"""As the page has it: how long the sign in the corner is held."""

SMALL = """
() => [...document.querySelectorAll("button, a, input, textarea, label.radio, [role=button]")]
  .filter(each => each.checkVisibility() && (each.matches("label") || !each.closest("label")))
  .filter(each => !each.classList.contains("skip-link"))
  .filter(each => Math.min(each.offsetWidth, each.offsetHeight) < 43.5)
  .map(each => `${each.id || each.className} ${each.offsetWidth}x${each.offsetHeight}`)
"""
"""What a finger can't hit: less than 44 px wide or high."""

REMAINS = """
async () => {
  const rows = [];
  for (const {name} of await indexedDB.databases()) {
    const base = await new Promise((done, failed) => {
      const request = indexedDB.open(name);
      request.onsuccess = () => done(request.result);
      request.onerror = () => failed(request.error);
    });
    for (const store of base.objectStoreNames) {
      const all = base.transaction(store).objectStore(store);
      const values = await new Promise(done => { all.getAll().onsuccess = event => done(event.target.result); });
      rows.push([name, store, values]);
    }
    base.close();
  }
  const cached = [];
  for (const name of await caches.keys()) {
    for (const request of await (await caches.open(name)).keys()) cached.push(request.url);
  }
  return JSON.stringify({
    rows, cached, local: {...localStorage}, session: {...sessionStorage}, name: window.name, state: history.state,
    cookies: document.cookie, html: document.documentElement.outerHTML,
    fields: [...document.querySelectorAll("input, textarea")].map(field => field.value),
  });
}
"""
"""Everything that a page of this origin can find out about what was here before it."""


class KioskPage:
    """The kiosk in one tab. Every method waits until the page shows that it has happened."""

    def __init__(
        self, page: Page, shots: Path | None = None, name: str = "kiosk", schemes: tuple[Scheme, ...] = ("light",)
    ) -> None:
        self.page = page
        self._schemes = schemes
        self._shots = shots
        self._name = name
        self._taken = 0
        self.errors: list[str] = []
        self.refused: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._hear)
        page.on("dialog", lambda dialog: dialog.accept())
        page.set_default_timeout(PATIENCE_MS)

    def _hear(self, said: ConsoleMessage) -> None:
        if "Content Security" in said.text:
            self.refused.append(said.text)

    async def open(self, url: str, concept: str = CONCEPT, token: str = "") -> None:
        """To the attract screen."""
        await self.page.goto(f"{url}/kiosk/{concept}" + (f"#{token}" if token else ""))
        await self.attract()

    async def scene(self, *names: str) -> None:
        """Wait until one of these is shown."""
        await self.page.locator(", ".join(f'body[data-scene="{name}"]' for name in names)).first.wait_for()

    async def attract(self) -> None:
        """Wait for the attract screen of a page that has begun anew."""
        await self.scene("attract")
        await self.page.locator("#begin").wait_for()

    async def tap(self, selector: str) -> None:
        """One finger, once, on something that has come to rest."""
        await self.page.locator(selector).wait_for()
        await settled(self.page)
        await self.page.locator(selector).tap()

    async def to_consent(self, reference: str, language: str = "en") -> None:
        """Language and the interviewer's part."""
        await self.tap("#attract")
        await self.tap(f"[data-language={language}]")
        await self.scene("interviewer")
        await self.page.locator("#reference").fill(reference)
        for statement in ("adult", "drinker"):
            await self.tap(f"label:has(#eligible-{statement}-true)")
        await self.tap("#interviewer-next")
        await self.scene("consent")

    async def begin(self, reference: str, language: str = "en") -> str:
        """From the attract screen to the first question, by typing."""
        await self.to_consent(reference, language)
        await self.tap("#consent-agree")
        await self.scene("mode", "opening", "talk")
        if await self.page.locator("#mode").is_visible():
            await self.tap("#mode-text")
        return await self.question(0)

    async def question(self, turn: int) -> str:
        """The question of a turn, once it is whole and can be answered."""
        await self.page.wait_for_function(
            """turn => document.querySelector('#question')?.dataset.turn === String(turn)
                 && document.querySelector('#question').dataset.complete === 'true'
                 && document.querySelector('#status').dataset.state === 'yours'""",
            arg=turn,
        )
        return (await self.page.locator("#question").inner_text()).strip()

    async def say(self, text: str, turn: int) -> str:
        """Type, send, and get the question that follows as turn `turn`."""
        await self.page.locator("#answer").fill(text)
        await self.tap("#send")
        return await self.question(turn)

    async def finish(self) -> None:
        """To the thank-you."""
        await self.tap("#finish")
        await self.tap("#dialog-confirm")
        await self.scene("thanks")

    async def reset(self) -> None:
        """From the thank-you to the attract screen of a new page."""
        await self.page.evaluate("window.before = true")
        await self.tap("[data-act=reset] >> visible=true")
        await self.begun_anew()

    async def begun_anew(self) -> None:
        """Wait for the page that comes after this one (`window.before` was set in it)."""
        await self.page.wait_for_function("() => !window.before && document.body?.dataset.scene === 'attract'")

    async def session_id(self) -> str:
        """Of the interview that is kept on the device."""
        kept: dict[str, str] = await self.vault()
        found: str = json.loads(kept["interview"])["id"]
        return found

    async def vault(self) -> dict[str, str]:
        """What is kept on the device of the interview under way."""
        remains = json.loads(await self.page.evaluate(REMAINS))
        rows: list[dict[str, str]] = next((row[2] for row in remains["rows"] if row[0] == "askwell-kiosk"), [])
        return rows[0] if rows else {}

    async def remains(self) -> str:
        """Everything that can still be found in this browser, as text."""
        found: str = await self.page.evaluate(REMAINS)
        return found

    async def hold_corner(self) -> None:
        """The operator's gesture."""
        box = await self.page.locator("#corner").bounding_box()
        assert box is not None
        await self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        await self.page.mouse.down()
        await self.page.locator("#operator").wait_for()
        await self.page.mouse.up()

    async def unlock(self, pin: str = PIN) -> None:
        """Hold the corner and give the PIN."""
        await self.hold_corner()
        for digit in pin:
            await self.tap(f"#pad [data-key='{digit}']")
        await self.tap("#pad [data-key=enter]")

    async def fact(self, name: str) -> str:
        """A line of the operator's panel."""
        return await self.page.locator(f"#operator-facts dt:text-is('{name}') + dd").inner_text()

    async def sound(self, state: str) -> None:
        """By day and by night: axe is content, nothing scrolls sideways, everything can be hit; and pictures of it."""
        self._taken += 1
        for scheme in self._schemes:
            await self.page.emulate_media(color_scheme=scheme)
            await settled(self.page)
            if self._shots is not None:
                name = f"{self._name}-{self._taken:02}-{state.replace(' ', '-')}-{scheme}.png"
                await self.page.screenshot(path=self._shots / name)
            assert await axe_violations(self.page) == [], f"{state}, {scheme}"
        wide = await self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{state}: {wide} px too wide"
        small = await self.page.evaluate(SMALL)
        assert small == [], f"{state}: too small for a finger: {small}"


@asynccontextmanager
async def tablet(
    browser: Browser,
    shots: Path | None = None,
    name: str = "kiosk",
    schemes: tuple[Scheme, ...] = ("light",),
    **options: Any,
) -> AsyncIterator[KioskPage]:
    """A touch device with a browser profile of its own."""
    context: BrowserContext = await browser.new_context(
        **{"viewport": {"width": 768, "height": 1024}, "has_touch": True, **options}
    )
    try:
        yield KioskPage(await context.new_page(), shots, name, schemes)
    finally:
        await context.close()
