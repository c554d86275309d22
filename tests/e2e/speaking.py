"""Respondents who speak: a Chromium whose microphone plays a file, and the voice part of the interview page."""

from __future__ import annotations

import asyncio
import re
import wave
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
from playwright.async_api import Browser, Page, async_playwright

from tests.e2e.respondent_page import PATIENCE_MS, axe_violations, settled
from tests.support.needs import chromium_path

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MICROPHONE_HZ = 48_000
LEAD_S = 1.0
"""Chromium plays the file from the moment the device opens: what comes first is lost."""
WORDS = {
    "en": ("Your coffee", "What do you like about it?", "I like the smell of it", "And why?", "I wake up slowly"),
    "de": ("Kaffee", "Was mögen Sie daran?", "Ich mag, wie er riecht", "Und warum?", "Ich kann langsam wach werden"),
    "ar": ("القهوة", "ماذا يعجبك فيها؟", "أحب رائحتها", "ولماذا؟", "أستيقظ على مهل"),
}
"""Title, opening, an answer, the next question, the next answer."""
NO_VOICES = """
Object.defineProperty(window, "speechSynthesis", {value: Object.assign(new EventTarget(), {
  getVoices: () => [{lang: "en-US", localService: true, default: true, name: "Test"}],
  cancel() { clearTimeout(this.timer); },
  speak(utterance) {
    if (!utterance.text) return;
    (window.readAloud ||= []).push(utterance.text);
    setTimeout(() => utterance.onstart?.({}), 5);
    this.timer = setTimeout(() => utterance.onend?.({}), window.readingMs ?? 300);
  },
})});
window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
"""
"""Stands in for the voices that a headless browser does not have; `window.readAloud` has what was read."""

CHECKED = """
() => {
  const kept = JSON.parse(localStorage.getItem("askwell:voice") ?? "{}");
  localStorage.setItem("askwell:voice", JSON.stringify({...kept, checked: true}));
}
"""
"""Lets the page take the sound check as done."""

SMALL = """
() => !matchMedia("(pointer: coarse)").matches ? [] :
  ["#voice button", "#composer button", "#voice-dialog[open] :is(label, button, select, summary)"]
    .flatMap(found => [...document.querySelectorAll(found)])
    .filter(each => each.checkVisibility() && Math.min(each.offsetWidth, each.offsetHeight) < 43.5)
    .map(each => `${each.id || each.className} ${each.offsetWidth}x${each.offsetHeight}`)
"""
"""What a finger can't hit: less than 44 px wide or high."""


def words(text: str) -> list[str]:
    """Its words in lower case."""
    return re.findall(r"[a-z']+", text.lower())


def heard_share(said: str, understood: str) -> float:
    """Share of the words that came through in order: the longest common subsequence."""
    left, right = words(said), words(understood)
    row = [0] * (len(right) + 1)
    for word in left:
        before = row
        row = [0]
        for index, other in enumerate(right):
            row.append(before[index] + 1 if word == other else max(row[-1], before[index + 1]))
    return row[-1] / len(left)


async def spoken(path: Path, parts: Sequence[str | float], *, words_per_minute: int = 150) -> Path:
    """A recording of sentences and pauses (in seconds), for the fake microphone."""
    pieces = [np.zeros(int(LEAD_S * MICROPHONE_HZ), np.int16)]
    for number, part in enumerate(parts):
        if isinstance(part, str):
            said = path.with_name(f"{path.stem}-{number}.wav")
            process = await asyncio.create_subprocess_exec(
                "espeak-ng", "-v", "en-us", "-s", str(words_per_minute), "-w", str(said), part
            )
            assert await process.wait() == 0
            pieces.append(_resampled(said))
        else:
            pieces.append(np.zeros(int(part * MICROPHONE_HZ), np.int16))
    return written(path, np.concatenate(pieces))


def written(path: Path, samples: np.ndarray) -> Path:
    """Samples at MICROPHONE_HZ as a file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(MICROPHONE_HZ)
        file.writeframes(samples.astype("<i2").tobytes())
    return path


def _resampled(path: Path) -> np.ndarray:
    with wave.open(str(path), "rb") as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float64)
        rate = file.getframerate()
    count = int(len(samples) * MICROPHONE_HZ / rate)
    return np.interp(np.arange(count) * rate / MICROPHONE_HZ, np.arange(len(samples)), samples).astype(np.int16)


@asynccontextmanager
async def microphone(
    recording: Path | None = None, *flags: str, repeated: bool = False, device: bool = True, allowed: bool = True
) -> AsyncIterator[Browser]:
    """A Chromium whose microphone plays a recording.

    Args:
        recording: played once; without one the microphone beeps.
        flags: for Chromium.
        repeated: play it again and again.
        device: whether there is a microphone at all.
        allowed: whether the question for it is answered with yes, or with no.
    """
    once = "" if repeated else "%noloop"
    plays = [f"--use-file-for-fake-audio-capture={recording}{once}"] if recording else []
    plays += ["--use-fake-device-for-media-stream"] if device else []
    plays += ["--use-fake-ui-for-media-stream" + ("" if allowed else "=deny")]
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_path(light=allowed), args=[*FLAGS, *plays, *flags]
        )
        try:
            yield browser
        finally:
            await browser.close()


class SpeakingPage:
    """The voice part of one tab. Every method waits until the page shows that it has happened."""

    def __init__(self, page: Page, shots: Path | None = None, name: str = "voice") -> None:
        self.page = page
        self._shots = shots
        self._name = name
        self._taken = 0
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_default_timeout(PATIENCE_MS)

    async def speak(self, *, first: bool = False) -> None:
        """From typing to speaking; `first`: with the sound check that comes before the first answer on a device."""
        if not first:
            await self.page.evaluate(CHECKED)
        await self.page.locator("#speak").click()
        await self.page.locator("#voice").wait_for()

    async def mood(self, *moods: str) -> None:
        """Wait until the panel says one of these."""
        await self.page.locator(", ".join(f'#voice[data-mood="{mood}"]' for mood in moods)).first.wait_for()

    async def caption(self) -> str:
        """What has been understood so far."""
        return (await self.page.locator("#caption").inner_text()).strip()

    async def sound(self, state: str) -> None:
        """Axe is content, nothing has to be scrolled sideways, everything can be hit; and a picture of it."""
        await settled(self.page)
        if self._shots is not None:
            self._taken += 1
            await self.page.screenshot(path=self._shots / f"{self._name}-{self._taken:02}-{state}.png")
        assert await axe_violations(self.page) == [], state
        wide = await self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{state}: {wide} px too wide"
        small = await self.page.evaluate(SMALL)
        assert small == [], f"{state}: too small for a finger: {small}"
