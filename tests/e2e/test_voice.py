"""Interviews by voice: a real browser with a recording as its microphone, a real server, a real speech model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.moderator_page import tab, token_of
from tests.e2e.respondent_page import PATIENCE_MS, RespondentPage, stored
from tests.e2e.speaking import SpeakingPage, heard_share, microphone, spoken, words
from tests.support.cutting import Wire, wire_to
from tests.support.process import ServerProcess

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.needs("espeak-ng"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
    pytest.mark.thorough,
]

SHORT = "I like the strong taste, because it wakes me up in the morning."
LONG = "It helps me to concentrate on my work and make fewer mistakes, and so we come home in time for dinner."
ANSWERS = [
    SHORT,
    LONG,
    "That gives me a good feeling, and more time for my family, and we sit in the kitchen and talk about the day.",
]
OFTEN = 12
"""Says a sentence for longer than a slow machine takes to understand its first words, without a pause."""
BETWEEN_S = 6.0
MID_SENTENCE_S = 1.5
HEARD = 0.8
"""Share of the words that a small model must have understood of a synthetic voice; lost audio would cost more."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def listening_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServerProcess]:
    """A server that listens."""
    async with ServerProcess(tmp_path_factory.mktemp("voice") / "data") as process:
        yield process


@pytest_asyncio.fixture(loop_scope="module")
async def line(listening_server: ServerProcess) -> AsyncIterator[Wire]:
    """The way to it, which can be cut."""
    async with wire_to(listening_server.url) as wire:
        yield wire


async def begun(browser: Browser, url: str, shots: Path | None, name: str) -> tuple[SpeakingPage, RespondentPage]:
    page: Page = await browser.new_page(viewport={"width": 1100, "height": 800})
    respondent = RespondentPage(page, shots, name)
    await respondent.begin(url, "coffee_mec")
    speaking = SpeakingPage(page, shots, name)
    await speaking.speak()
    return speaking, respondent


async def question_of_turn(page: Page, turn: int) -> str:
    await page.wait_for_function(
        """turn => document.querySelector('#question').dataset.turn === String(turn)
             && document.querySelector('#question').dataset.complete === 'true'""",
        arg=turn,
        timeout=90_000,
    )
    return await page.locator("#question").inner_text()


async def answers_of(server: ServerProcess, session_id: str, enough: int) -> list[str]:
    rows = await stored(server, session_id, "speaker, text", enough=enough)
    return [text for speaker, text in rows if speaker == "respondent"]


async def caption_of_some_words(page: Page) -> None:
    await (
        page.locator("#caption .firm, #caption .soft").filter(has_text=re.compile(r"\w")).first.wait_for(timeout=60_000)
    )


async def test_interview_spoken_hands_free_with_connection_cut_and_server_killed_in_mid_sentence_loses_no_word(
    listening_server: ServerProcess, line: Wire, tmp_path: Path, shots: Path | None
) -> None:
    parts: list[str | float] = [2.0]
    for answer in ANSWERS:
        parts += [answer, BETWEEN_S]
    async with microphone(await spoken(tmp_path / "three.wav", parts)) as browser:
        speaking, respondent = await begun(browser, line.url, shots, "spoken")
        page = speaking.page
        questions = [await respondent.question()]

        await caption_of_some_words(page)
        await speaking.sound("captions")
        questions.append(await question_of_turn(page, 1))

        await speaking.mood("hearing")
        await asyncio.sleep(MID_SENTENCE_S)
        line.cut()
        await speaking.mood("reconnecting")
        await asyncio.sleep(1.0)
        line.mend()
        await caption_of_some_words(page)
        questions.append(await question_of_turn(page, 2))

        await speaking.mood("hearing")
        await asyncio.sleep(MID_SENTENCE_S)
        listening_server.port = int(listening_server.url.rsplit(":", 1)[1])
        await listening_server.kill()
        await speaking.mood("reconnecting")
        await speaking.sound("server-killed")
        await listening_server.start()
        questions.append(await question_of_turn(page, 3))

        assert len(set(questions)) == len(questions)
        said = await answers_of(listening_server, respondent.session_id, 2 * len(ANSWERS) + 1)
        print("\n" + "\n".join(f"{heard_share(a, b):.2f} {b}" for a, b in zip(ANSWERS, said, strict=True)))
        assert all(heard_share(a, b) >= HEARD for a, b in zip(ANSWERS, said, strict=True)), said
        await expect(page.locator("#log")).to_contain_text(said[0])
        await speaking.sound("log")
        assert speaking.errors == []


async def test_moderator_reads_along_and_done_button_ends_an_answer_before_any_silence(
    listening_server: ServerProcess, line: Wire, tmp_path: Path, shots: Path | None
) -> None:
    async with (
        microphone(await spoken(tmp_path / "done.wav", [1.0, " ".join([LONG] * OFTEN)])) as browser,
        tab(browser, listening_server.url) as desk,
    ):
        page = await browser.new_page()
        respondent, speaking = RespondentPage(page, None, "done"), SpeakingPage(page)
        await respondent.begin(line.url, "coffee_mec")
        await desk.sign_in(token_of(listening_server))
        await desk.open(respondent.session_id)
        await speaking.speak()
        forming = desk.page.locator(".line.respondent.forming")
        await expect(forming).to_contain_text(re.compile(r"\w+ \w+ \w+"), timeout=PATIENCE_MS)
        if shots is not None:
            await desk.page.screenshot(path=shots / "moderator-partial.png")
        await page.locator("#voice-done").click()
        await question_of_turn(page, 1)
        first = (await answers_of(listening_server, respondent.session_id, 3))[0]
        assert 4 <= len(words(first)) < (OFTEN - 1) * len(words(LONG))
        await expect(desk.page.locator(".line-text").filter(has_text=first)).to_have_count(1)
        await expect(forming).to_be_hidden()


async def test_transcript_is_corrected_before_it_counts_and_typing_takes_over(
    listening_server: ServerProcess, line: Wire, tmp_path: Path
) -> None:
    async with microphone(await spoken(tmp_path / "review.wav", [1.0, SHORT, 30.0])) as browser:
        page = await browser.new_page()
        await page.add_init_script('localStorage.setItem("askwell:voice", JSON.stringify({review: true}))')
        respondent = RespondentPage(page, None, "review")
        await respondent.begin(line.url, "coffee_mec")
        speaking = SpeakingPage(page)
        await speaking.speak()
        await speaking.mood("review")
        understood = await page.locator("#voice-review").input_value()
        assert heard_share(SHORT, understood) >= HEARD
        await page.locator("#voice-review").fill("I like that it is bitter.")
        await page.locator("#voice-send").click()
        await question_of_turn(page, 1)
        await page.locator("#voice-type").click()
        await respondent.answer("It keeps me awake at work")
        assert await respondent.next_question(2)
        await page.locator("#speak").click()
        await speaking.mood("listening", "hearing")
        rows = await stored(listening_server, respondent.session_id, "speaker, text, spoken", enough=5)
        assert [(text, bool(spoken)) for speaker, text, spoken in rows if speaker == "respondent"] == [
            ("I like that it is bitter.", True),
            ("It keeps me awake at work", False),
        ]
        assert speaking.errors == []


async def test_page_reloaded_in_mid_sentence_keeps_what_was_said(
    listening_server: ServerProcess, line: Wire, tmp_path: Path
) -> None:
    async with microphone(await spoken(tmp_path / "reload.wav", [1.0, LONG, 6.0])) as browser:
        speaking, respondent = await begun(browser, line.url, None, "reload")
        await speaking.mood("hearing")
        await asyncio.sleep(3.0)
        await speaking.page.reload()
        await speaking.mood("kept")
        await speaking.page.locator("#voice-send-kept").click()
        await question_of_turn(speaking.page, 1)
        said = (await answers_of(listening_server, respondent.session_id, 3))[0]
        assert len(words(said)) >= 6
        # The last word was cut in two, and the model makes others of it.
        assert heard_share(" ".join(words(said)[:-3]), LONG) >= HEARD
