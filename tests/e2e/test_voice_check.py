"""The sound check before the first spoken answer on a device, against a server that says what the test wants."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from playwright.async_api import Browser, expect

from tests.e2e.page_language import in_language
from tests.e2e.speaking import MICROPHONE_HZ, WORDS, SpeakingPage, microphone, written
from tests.support.patience import PATIENCE_S
from tests.support.voice_double import VoiceDouble

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(240),
    pytest.mark.usefixtures("tidy"),
    pytest.mark.thorough,
]

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SMALL = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 800}}


@pytest.mark.parametrize(
    ("name", "size", "scheme", "language"),
    [("390", PHONE, "light", "en"), ("390", PHONE, "dark", "ar"), ("360", SMALL, "dark", "de")],
)
async def test_first_words_are_tried_and_count_as_nothing(
    speaker: Browser,
    double: VoiceDouble,
    shots: Path | None,
    name: str,
    size: dict[str, object],
    scheme: Literal["light", "dark"],
    language: str,
) -> None:
    title, opening, said, _, _ = WORDS[language]
    double.speak(language, title, opening)
    context = await speaker.new_context(color_scheme=scheme, locale=language, **size)  # type: ignore[arg-type]
    speaking = SpeakingPage(await context.new_page(), shots, f"voice-check-{name}-{scheme}-{language}")
    page = speaking.page
    await page.goto(double.page)
    await speaking.speak(first=True)
    await speaking.mood("check")
    assert (await double.expect("set"))["review_transcript"] is True
    key = (await double.expect("audio.start"))["turn_key"]
    await page.locator("#voice-check-skip").wait_for()
    await speaking.sound("asked")
    await in_language(page, language, "asked")
    await double.say("speech.started", at_ms=0)
    await double.say("transcript.partial", text=said, stable=4)
    await page.locator("#voice-check-start").wait_for()
    await double.say("speech.stopped", at_ms=900, ends_ms=900)
    await double.say("transcript.partial", text=said, stable=len(said), turn_key=key)
    await expect(page.locator("#voice-live")).to_contain_text(said)
    await expect(page.locator("#caption")).to_have_text(said)
    await speaking.sound("heard")
    await in_language(page, language, "heard")
    await page.locator("#voice-check-start").click()
    await speaking.mood("listening", "hearing")
    assert (await double.expect("set"))["review_transcript"] is False
    answer = await double.expect("audio.start")
    assert answer["turn_key"] != key
    assert not any(message["type"] == "answer" for message in double.messages)
    await speaking.sound("over")
    await page.locator("#voice-type").click()
    await expect(page.locator("#answer")).to_have_value("")

    await page.reload()
    await speaking.speak(first=True)
    await speaking.mood("listening", "hearing")
    assert speaking.errors == []


async def test_check_is_skipped_by_keyboard_and_leaves_no_sound_on_the_device(
    speaker: Browser, double: VoiceDouble
) -> None:
    speaking = SpeakingPage(await (await speaker.new_context(**DESK)).new_page())  # type: ignore[arg-type]
    page = speaking.page
    await page.goto(double.page)
    await page.locator("#speak").wait_for()
    await page.locator("#speak").focus()
    await page.keyboard.press("Enter")
    await speaking.mood("check")
    await page.locator("#voice-check-skip").wait_for()
    await expect(page.locator("#voice-mood")).to_be_focused()
    await expect(page.locator("#voice-live")).not_to_be_empty()
    await double.until(lambda: len(double.frames) >= 40)
    await page.wait_for_timeout(700)
    kept = await page.evaluate(
        """() => new Promise(done => {
             const opening = indexedDB.open("askwell-speech", 1);
             opening.onupgradeneeded = () => opening.result.createObjectStore("frames", {keyPath: ["session", "seq"]});
             opening.onsuccess = () => {
               const count = opening.result.transaction("frames").objectStore("frames").count();
               count.onsuccess = () => done(count.result);
             };
           })"""
    )
    assert kept == 0
    for _ in range(6):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.id") == "voice-check-skip":
            break
    await page.keyboard.press("Enter")
    await double.expect("audio.cancel")
    await speaking.mood("listening", "hearing")
    await expect(page.locator("#voice-mood")).to_be_focused()


async def test_who_answered_during_the_check_loses_nothing(
    speaker: Browser, double: VoiceDouble, shots: Path | None
) -> None:
    context = await speaker.new_context(**DESK)  # type: ignore[arg-type]
    speaking = SpeakingPage(await context.new_page(), shots, "voice-check-kept")
    page = speaking.page
    await page.goto(double.page)
    await speaking.speak(first=True)
    key = (await double.expect("audio.start"))["turn_key"]
    said = WORDS["en"][2]
    await double.say("transcript.partial", text=said, stable=len(said), turn_key=key)
    await page.locator("#voice-check-keep").click()
    await speaking.mood("review")
    await expect(page.locator("#voice-review")).to_have_value(said)
    await speaking.sound("review")
    await page.locator("#voice-send").click()
    assert (await double.expect("answer"))["text"] == said


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_silent_microphone_is_named_in_the_check_with_what_to_do(
    double: VoiceDouble, tmp_path: Path, shots: Path | None, scheme: Literal["light", "dark"]
) -> None:
    silence = written(tmp_path / "silence.wav", np.zeros(MICROPHONE_HZ * 10, np.int16))
    async with microphone(silence) as browser:
        context = await browser.new_context(color_scheme=scheme, **PHONE)  # type: ignore[arg-type]
        speaking = SpeakingPage(await context.new_page(), shots, f"voice-check-silent-{scheme}")
        page = speaking.page
        await page.goto(double.page)
        await speaking.speak(first=True)
        await expect(page.locator("#voice-hint")).to_contain_text("No sound at all", timeout=1000 * PATIENCE_S)
        await speaking.sound("silent")
        await page.locator("#voice-check-device").click()
        await page.locator("#voice-dialog[open] #voice-device").wait_for()
        await page.locator("#voice-dialog-close").click()
        await double.say("notice", code="didnt_catch", text="")
        await page.locator("#voice-check-skip").click()
        await speaking.mood("listening", "didnt_catch")


async def test_permission_that_was_denied_is_named_before_any_check(double: VoiceDouble) -> None:
    async with microphone(allowed=False) as denied:
        speaking = SpeakingPage(await denied.new_page())
        await speaking.page.goto(double.page)
        await speaking.speak(first=True)
        await speaking.page.locator('#voice-obstacle[data-code="denied"]').wait_for()
        await expect(speaking.page.locator("#voice-check")).to_be_hidden()


async def test_check_that_can_not_be_fetched_keeps_nobody_from_answering(speaker: Browser, double: VoiceDouble) -> None:
    speaking = SpeakingPage(await (await speaker.new_context()).new_page())
    await speaking.page.route("**/soundcheck-view.js", lambda route: route.abort())
    await speaking.page.goto(double.page)
    await speaking.speak(first=True)
    await speaking.mood("listening", "hearing")
