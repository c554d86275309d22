"""How spoken answers end, and how nobody is cut off by an ending, against a server that says what the test wants."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, Page, expect

from tests.e2e.page_language import in_language
from tests.e2e.speaking import NO_VOICES, WORDS, SpeakingPage
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
TABLET = {"viewport": {"width": 768, "height": 1024}}
DESK = {"viewport": {"width": 1280, "height": 800}}


async def on_one_row(page: Page, count: int) -> None:
    """So many buttons are shown under the words, and none is pushed to another row."""
    rows = await page.evaluate(
        "[...document.querySelectorAll('.voice-row button')].filter(each => each.checkVisibility())"
        ".map(each => each.offsetTop + each.offsetHeight / 2)"
    )
    assert len(rows) == count and max(rows) - min(rows) < 4, f"{count} buttons on one row: {rows}"


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "de"), ("dark", "ar")])
async def test_answer_that_is_over_can_be_gone_on_with(
    speaker: Browser, double: VoiceDouble, shots: Path | None, scheme: Literal["light", "dark"], language: str
) -> None:
    title, opening, said, asked, more = WORDS[language]
    double.speak(language, title, opening)
    context = await speaker.new_context(color_scheme=scheme, locale=language, **PHONE)  # type: ignore[arg-type]
    speaking = SpeakingPage(await context.new_page(), shots, f"voice-over-{scheme}-{language}")
    page = speaking.page
    await page.goto(double.page)
    await speaking.speak()
    key = (await double.expect("audio.start"))["turn_key"]
    await double.say("speech.started", at_ms=0)
    await double.say("transcript.partial", text=said, stable=len(said))
    await double.say("speech.stopped", at_ms=900, ends_ms=60_000)
    await expect(page.locator(".voice-ring circle.ending")).to_have_count(1)
    await speaking.sound("ending")
    await on_one_row(page, 3)

    await double.say("answer.ending", turn_key=key, left_ms=60_000)
    await double.say("question.started", turn_number=1, attempt=1)
    await double.say("question.delta", turn_number=1, attempt=1, text=asked)
    await speaking.mood("over")
    await expect(page.locator("#question")).to_have_text(asked)
    await on_one_row(page, 3)
    await speaking.sound("over")
    await in_language(page, language, "over")

    await double.say("question.withdrawn", turn_number=1, attempt=1)
    await double.say("speech.started", at_ms=2000)
    await speaking.mood("hearing")
    await expect(page.locator("#question")).to_have_text(opening)
    await expect(page.locator("#caption")).to_have_text(said)
    await double.say("transcript.partial", text=f"{said} {more}", stable=5)
    await double.say("speech.stopped", at_ms=3000, ends_ms=60_000)
    await page.keyboard.press("Space")
    assert (await double.expect("set"))["take_your_time"] is True
    await speaking.mood("patient")
    await double.take(key, f"{said} {more}", 1, asked)
    await speaking.mood("listening", "thinking", "hearing")
    await expect(page.locator("#log")).to_contain_text(f"{said} {more}")
    assert speaking.errors == []


@pytest.mark.parametrize(
    ("name", "size", "scheme", "language"),
    [
        ("390", PHONE, "light", "en"),
        ("390", PHONE, "dark", "ar"),
        ("360", SMALL, "light", "de"),
        ("768", TABLET, "dark", "en"),
        ("1280", DESK, "light", "ar"),
    ],
)
async def test_who_was_not_finished_adds_to_the_answer_that_was_taken(
    speaker: Browser,
    double: VoiceDouble,
    shots: Path | None,
    name: str,
    size: dict[str, object],
    scheme: Literal["light", "dark"],
    language: str,
) -> None:
    title, opening, said, asked, more = WORDS[language]
    double.speak(language, title, opening)
    context = await speaker.new_context(color_scheme=scheme, locale=language, **size)  # type: ignore[arg-type]
    speaking = SpeakingPage(await context.new_page(), shots, f"voice-adding-{name}-{scheme}-{language}")
    page = speaking.page
    await page.goto(double.page)
    await speaking.speak()
    key = (await double.expect("audio.start"))["turn_key"]
    await double.take(key, said, 1, asked)
    second = (await double.expect("audio.start"))["turn_key"]
    await speaking.mood("listening")
    await expect(page.locator("#question")).to_have_text(asked)
    await on_one_row(page, 3)
    await speaking.sound("asked")

    await page.locator("#voice-wait").click()
    assert (await double.expect("set"))["review_transcript"] is True
    await speaking.mood("adding")
    await expect(page.locator("#voice-wait")).to_have_attribute("aria-pressed", "true")
    await expect(page.locator("#caption")).to_have_text(said)
    await on_one_row(page, 3)
    await speaking.sound("adding")
    await in_language(page, language, "adding")

    await double.say("speech.started", at_ms=0)
    await double.say("transcript.partial", text=more, stable=5)
    await expect(page.locator("#caption")).to_have_text(f"{said} {more}")
    await speaking.sound("words")
    await page.locator("#voice-done").click()
    await double.expect("audio.stop")
    await double.say("transcript.partial", text=more, stable=len(more), turn_key=second)
    assert (await double.expect("set"))["review_transcript"] is False
    sent = await double.expect("correct")
    assert (sent["text"], sent["utterance_id"], sent["turn_key"]) == (f"{said} {more}", "u1", second)
    await double.tell("turn.started", turn_key=second, turn_number=2, attempt=1)
    await double.ask(second, 2, opening)
    await expect(page.locator("#log .respondent")).to_have_count(1)
    await expect(page.locator("#log .respondent .words")).to_have_text(f"{said} {more}")
    await expect(page.locator("#question")).to_have_text(opening)
    await speaking.sound("added")
    assert speaking.errors == []


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "ar"), ("light", "de")])
async def test_who_simply_went_on_speaking_puts_it_behind_the_answer_before(
    speaker: Browser, double: VoiceDouble, shots: Path | None, scheme: Literal["light", "dark"], language: str
) -> None:
    title, opening, said, asked, more = WORDS[language]
    double.speak(language, title, opening)
    context = await speaker.new_context(color_scheme=scheme, locale=language, **PHONE)  # type: ignore[arg-type]
    speaking = SpeakingPage(await context.new_page(), shots, f"voice-join-{scheme}-{language}")
    page = speaking.page
    await page.goto(double.page)
    await speaking.speak()
    await double.take((await double.expect("audio.start"))["turn_key"], said, 1, asked)
    second = (await double.expect("audio.start"))["turn_key"]
    await double.say("speech.started", at_ms=0)
    await double.say("transcript.partial", text=more, stable=len(more))
    move = page.locator("#voice-move")
    await move.wait_for()
    await on_one_row(page, 3)
    await speaking.sound("join")
    await in_language(page, language, "join")
    await move.click()
    await expect(page.locator("#caption")).to_have_text(f"{said} {more}")
    await speaking.sound("part")
    await in_language(page, language, "part")
    await move.click()
    await expect(page.locator("#caption")).to_have_text(more)
    await move.click()
    await page.locator("#voice-done").click()
    await double.expect("audio.stop")
    await double.say("transcript.partial", text=more, stable=len(more), turn_key=second)
    assert (await double.expect("correct"))["text"] == f"{said} {more}"
    assert speaking.errors == []


async def test_space_bar_stops_the_reading_and_goes_on_with_the_answer(speaker: Browser, double: VoiceDouble) -> None:
    _, opening, said, asked, more = WORDS["en"]
    double.speak("en", "Your coffee", opening)
    context = await speaker.new_context()
    await context.add_init_script(NO_VOICES)
    await context.add_init_script(
        'window.readingMs = 60000; localStorage.setItem("askwell:voice", JSON.stringify({read: true}))'
    )
    speaking = SpeakingPage(await context.new_page())
    page = speaking.page
    await page.goto(double.page)
    await speaking.speak()
    await page.locator("#voice-hush").click()
    key = (await double.expect("audio.start"))["turn_key"]
    await double.take(key, said, 1, asked)
    await speaking.mood("reading")
    await on_one_row(page, 2)
    await page.keyboard.press("Space")
    await speaking.mood("adding")
    second = (await double.expect("audio.start"))["turn_key"]
    await double.say("transcript.partial", text=more, stable=len(more))
    await double.say("transcript.partial", text=more, stable=len(more), turn_key=second)
    assert (await double.expect("correct"))["text"] == f"{said} {more}"
    assert " ".join(await page.evaluate("window.readAloud")) == f"{opening} {asked}"


async def test_while_correcting_nothing_is_listened_to_and_the_page_says_so(
    speaker: Browser, double: VoiceDouble, shots: Path | None
) -> None:
    _, opening, said, asked, _ = WORDS["de"]
    double.speak("de", "Kaffee", opening)
    context = await speaker.new_context(locale="de", **PHONE)  # type: ignore[arg-type]
    speaking = SpeakingPage(await context.new_page(), shots, "voice-correcting")
    page = speaking.page
    await page.goto(double.page)
    await speaking.speak()
    await double.take((await double.expect("audio.start"))["turn_key"], said, 1, asked)
    await page.locator("#correct").click()
    await speaking.mood("correcting")
    await speaking.sound("correcting")
    await in_language(page, "de", "correcting")
    count = len(double.frames)
    await page.wait_for_timeout(300)
    assert len(double.frames) <= count + 2
    await page.locator("#correct-cancel").click()
    await speaking.mood("listening", "hearing")
