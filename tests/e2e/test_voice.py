"""Interviews by voice: a real browser with a recording as its microphone, a real server, a real speech model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.respondent_page import PATIENCE_MS, RespondentPage, stored
from tests.e2e.speaking import SpeakingPage, microphone, spoken
from tests.support.cutting import Wire, wire_to
from tests.support.process import ServerProcess

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.needs("espeak-ng"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
]

ANSWERS = [
    "I like the strong taste, because it wakes me up in the morning.",
    "When I am awake I can concentrate on my work and make fewer mistakes.",
    "That gives me a good feeling, and more time for my family in the evening.",
]
LONG = (
    "In the morning I make coffee for the whole family, and then we sit in the kitchen and talk about the day, "
    "and my daughter tells me what she will do at school."
)
BETWEEN_S = 9.0
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


def words(text: str) -> list[str]:
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


async def test_interview_spoken_hands_free_captions_transcript_questions(
    listening_server: ServerProcess, line: Wire, tmp_path: Path, shots: Path | None
) -> None:
    parts: list[str | float] = [2.0]
    for answer in ANSWERS:
        parts += [answer, BETWEEN_S]
    async with microphone(await spoken(tmp_path / "three.wav", parts)) as browser:
        speaking, respondent = await begun(browser, line.url, shots, "spoken")
        page = speaking.page
        questions = [await respondent.question()]
        for turn in range(1, len(ANSWERS) + 1):
            await page.locator("#caption .firm, #caption .soft").filter(has_text=re.compile(r"\w")).first.wait_for(
                timeout=60_000
            )
            await speaking.sound(f"turn-{turn}-captions")
            questions.append(await question_of_turn(page, turn))
        assert len(set(questions)) == len(questions)
        said = await answers_of(listening_server, respondent.session_id, 2 * len(ANSWERS) + 1)
        print("\n" + "\n".join(f"{heard_share(a, b):.2f} {b}" for a, b in zip(ANSWERS, said, strict=True)))
        assert all(heard_share(a, b) >= HEARD for a, b in zip(ANSWERS, said, strict=True)), said
        await expect(page.locator("#log")).to_contain_text(said[0])
        await speaking.sound("log")
        assert speaking.errors == []


async def test_connection_cut_in_mid_sentence_costs_no_word(
    listening_server: ServerProcess, line: Wire, tmp_path: Path
) -> None:
    async with microphone(await spoken(tmp_path / "long.wav", [1.0, LONG, 6.0])) as browser:
        speaking, respondent = await begun(browser, line.url, None, "cut")
        await speaking.mood("hearing")
        await asyncio.sleep(2.5)
        line.cut()
        await speaking.mood("reconnecting")
        await asyncio.sleep(1.0)
        line.mend()
        await question_of_turn(speaking.page, 1)
        (said,) = await answers_of(listening_server, respondent.session_id, 3)
        print("\n", heard_share(LONG, said), said)
        assert heard_share(LONG, said) >= HEARD


async def test_server_killed_in_mid_sentence_costs_no_word(
    listening_server: ServerProcess, line: Wire, tmp_path: Path
) -> None:
    port = int(listening_server.url.rsplit(":", 1)[1])
    async with microphone(await spoken(tmp_path / "long.wav", [1.0, LONG, 6.0])) as browser:
        speaking, respondent = await begun(browser, line.url, None, "killed")
        await speaking.mood("hearing")
        await asyncio.sleep(2.5)
        await listening_server.kill()
        await speaking.mood("reconnecting")
        listening_server.port = port
        await listening_server.start()
        await question_of_turn(speaking.page, 1)
        (said,) = await answers_of(listening_server, respondent.session_id, 3)
        print("\n", heard_share(LONG, said), said)
        assert heard_share(LONG, said) >= HEARD


async def test_done_button_ends_an_answer_before_any_silence(
    listening_server: ServerProcess, line: Wire, tmp_path: Path
) -> None:
    async with microphone(await spoken(tmp_path / "done.wav", [1.0, LONG, LONG])) as browser:
        speaking, respondent = await begun(browser, line.url, None, "done")
        await speaking.mood("hearing")
        await asyncio.sleep(3.0)
        await speaking.page.locator("#voice-done").click()
        await question_of_turn(speaking.page, 1)
        first = (await answers_of(listening_server, respondent.session_id, 3))[0]
        assert 4 <= len(words(first)) < len(words(LONG))


async def test_transcript_is_corrected_before_it_counts(
    listening_server: ServerProcess, line: Wire, tmp_path: Path
) -> None:
    async with microphone(await spoken(tmp_path / "review.wav", [1.0, ANSWERS[0], 30.0])) as browser:
        page = await browser.new_page()
        await page.add_init_script('localStorage.setItem("askwell:voice", JSON.stringify({review: true}))')
        respondent = RespondentPage(page, None, "review")
        await respondent.begin(line.url, "coffee_mec")
        speaking = SpeakingPage(page)
        await speaking.speak()
        await speaking.mood("review")
        understood = await page.locator("#voice-review").input_value()
        assert heard_share(ANSWERS[0], understood) >= HEARD
        await page.locator("#voice-review").fill("I like that it is bitter.")
        await page.locator("#voice-send").click()
        await question_of_turn(page, 1)
        assert await answers_of(listening_server, respondent.session_id, 3) == ["I like that it is bitter."]


async def test_page_reloaded_in_mid_sentence_keeps_what_was_said(
    listening_server: ServerProcess, line: Wire, tmp_path: Path
) -> None:
    async with microphone(await spoken(tmp_path / "reload.wav", [1.0, LONG, 6.0])) as browser:
        speaking, respondent = await begun(browser, line.url, None, "reload")
        await speaking.mood("hearing")
        await asyncio.sleep(4.0)
        before = await speaking.caption() if await speaking.page.locator("#caption").is_visible() else ""
        await speaking.page.reload()
        await speaking.mood("kept")
        await speaking.page.locator("#voice-send-kept").click()
        await question_of_turn(speaking.page, 1)
        said = (await answers_of(listening_server, respondent.session_id, 3))[0]
        assert len(words(said)) >= 5
        assert before == "" or heard_share(before, said) >= HEARD


async def test_typing_and_speaking_take_turns(listening_server: ServerProcess, line: Wire, tmp_path: Path) -> None:
    async with microphone(await spoken(tmp_path / "turns.wav", [1.0, ANSWERS[0], 30.0])) as browser:
        speaking, respondent = await begun(browser, line.url, None, "both")
        page = speaking.page
        await question_of_turn(page, 1)
        await page.locator("#voice-type").click()
        await respondent.answer("It keeps me awake at work")
        assert await respondent.next_question(2)
        await page.locator("#speak").click()
        await speaking.mood("listening", "hearing")
        assert (await answers_of(listening_server, respondent.session_id, 5))[1] == "It keeps me awake at work"
        assert PATIENCE_MS and speaking.errors == []
