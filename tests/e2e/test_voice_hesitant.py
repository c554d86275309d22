"""People who think while they speak: a real browser with a recording as its microphone, a real server, a real model."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.e2e.respondent_page import PATIENCE_MS, RespondentPage, stored
from tests.e2e.speaking import NO_VOICES, SpeakingPage, heard_share, microphone, spoken
from tests.support.process import ServerProcess

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.needs("espeak-ng"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
    pytest.mark.thorough,
]

HEARD = 0.5
"""Share of the words of a piece that a small model must have understood of a synthetic voice that stops in
mid-sentence; of a piece that was lost, no more than its small words are found in the others."""
LONG_S = 20.0
"""Longer than a slow machine takes to hear an answer to its end and to ask on."""
HELLO = "Hello, this is a test of the microphone."
FIRST: list[str | float] = [
    "I like the strong taste of my coffee", 1.6, "because it wakes me up in the morning", 2.8,
    "and then I can think about my work.",
]  # fmt: skip
SECOND: list[str | float] = ["It gives me a quiet moment", 1.2, "before the others", 2.2, "wake up in the house."]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def listening_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    """A server that listens."""
    async with ServerProcess(tmp_path_factory.mktemp("hesitant") / "data") as process:
        yield process


async def begun(
    browser: Browser, url: str, shots: Path | None, name: str, settings: str = "{}"
) -> tuple[SpeakingPage, RespondentPage]:
    page = await browser.new_page(viewport={"width": 390, "height": 844})
    await page.add_init_script(NO_VOICES)
    await page.add_init_script(
        f'localStorage.getItem("askwell:voice") ?? localStorage.setItem("askwell:voice", `{settings}`)'
    )
    respondent = RespondentPage(page, shots, name)
    await respondent.begin(url, "coffee_mec")
    return SpeakingPage(page, shots, name), respondent


async def test_hesitant_speaker_is_neither_cut_off_nor_asked_in_the_middle(
    listening_server: ServerProcess, tmp_path: Path, shots: Path | None
) -> None:
    parts: list[str | float] = [2.0, HELLO, LONG_S, *FIRST, LONG_S, *SECOND, LONG_S]
    async with microphone(await spoken(tmp_path / "hesitant.wav", parts)) as browser:
        speaking, respondent = await begun(browser, listening_server.url, shots, "hesitant", '{"read": true}')
        page = speaking.page
        opening = await respondent.question()
        await speaking.speak(first=True)
        await speaking.mood("check")
        await page.locator("#voice-check-start").wait_for()
        await expect(page.locator("#caption")).to_contain_text(re.compile("test", re.IGNORECASE), timeout=PATIENCE_MS)
        await speaking.sound("check")
        await page.locator("#voice-check-start").click()

        await speaking.mood("over")
        await speaking.sound("over")
        asked = await respondent.next_question(1)
        assert asked
        await expect(page.locator("#log .respondent")).to_have_count(1)
        assert await respondent.next_question(2)
        rows = await stored(listening_server, respondent.session_id, "speaker, text, kind", enough=5)
        answers = [(text, kind) for speaker, text, kind in rows if speaker == "respondent"]
        assert [kind for _, kind in answers] == ["answer", "answer"], answers
        for wanted, (text, _) in zip((FIRST, SECOND), answers, strict=True):
            assert all(heard_share(piece, text) >= HEARD for piece in wanted if isinstance(piece, str)), answers
        read = " ".join(await page.evaluate("window.readAloud"))
        assert read.startswith(f"{opening} {asked}"), "no question that was withdrawn was read"
        assert speaking.errors == []


async def test_who_was_not_finished_when_the_next_question_came_has_one_answer(
    listening_server: ServerProcess, tmp_path: Path, shots: Path | None
) -> None:
    more = "And in the morning it wakes me up."
    parts: list[str | float] = [1.0, "I like the strong taste of my coffee.", LONG_S, more, LONG_S]
    async with microphone(await spoken(tmp_path / "more.wav", parts)) as browser:
        speaking, respondent = await begun(browser, listening_server.url, shots, "unfinished")
        page = speaking.page
        await speaking.speak()
        await page.locator('#question[data-turn="1"][data-complete="true"]').wait_for()
        await speaking.mood("listening")
        await expect(page.locator("#log .respondent")).to_have_count(1)
        await page.keyboard.press("Space")
        await speaking.mood("adding")
        await speaking.sound("adding")
        await expect(page.locator("#caption .firm, #caption .soft").first).to_contain_text(
            re.compile("morning", re.IGNORECASE), timeout=PATIENCE_MS
        )
        await speaking.mood("adding")
        await page.locator("#voice-done").click()
        assert await respondent.next_question(2)
        await expect(page.locator("#log .respondent")).to_have_count(1)
        rows = await stored(listening_server, respondent.session_id, "speaker, text, kind", enough=5)
        answers = [(text, kind) for speaker, text, kind in rows if speaker == "respondent"]
        assert [kind for _, kind in answers] == ["answer", "correct"], answers
        assert answers[1][0].startswith(answers[0][0])
        assert heard_share(more, answers[1][0].removeprefix(answers[0][0])) >= HEARD
        await speaking.sound("added")
        assert speaking.errors == []


async def test_ending_that_is_taken_back_leaves_the_answer_open_for_as_long_as_it_takes(
    listening_server: ServerProcess, tmp_path: Path
) -> None:
    first, more = "I like the strong taste of my coffee.", "And in the morning it wakes me up."
    async with microphone(await spoken(tmp_path / "open.wav", [1.0, first, LONG_S, more, LONG_S])) as browser:
        speaking, respondent = await begun(browser, listening_server.url, None, "open")
        page = speaking.page
        opening = await respondent.question()
        await speaking.speak()
        await speaking.mood("over")
        await page.locator("#voice-wait").click()
        await speaking.mood("patient")
        await expect(page.locator("#question")).to_have_text(opening)
        await expect(page.locator("#caption")).to_contain_text(
            re.compile("morning", re.IGNORECASE), timeout=PATIENCE_MS
        )
        await expect(page.locator("#log .respondent")).to_have_count(0)
        await page.locator("#voice-done").click()
        assert await respondent.next_question(1)
        rows = await stored(listening_server, respondent.session_id, "speaker, text, kind", enough=3)
        answers = [(text, kind) for speaker, text, kind in rows if speaker == "respondent"]
        assert [kind for _, kind in answers] == ["answer"], answers
        assert all(heard_share(piece, answers[0][0]) >= HEARD for piece in (first, more)), answers
        assert speaking.errors == []
