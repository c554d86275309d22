"""Whole interviews in a real browser, with a connection that fails twice."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from playwright.async_api import Browser

from tests.e2e.respondent_page import RespondentPage, stored
from tests.support.cutting import Wire
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

ANSWERS: dict[str, list[str]] = yaml.safe_load((Path(__file__).parent / "answers.yaml").read_text(encoding="utf-8"))
CUT_WHILE_TYPING = 4
CUT_AFTER_SENDING = 9


@pytest.mark.parametrize("concept", list(ANSWERS))
async def test_interview_whole_with_two_cuts_loses_and_doubles_nothing(
    server: ServerProcess, wire: Wire, browser: Browser, shots: Path | None, concept: str
) -> None:
    page = await browser.new_page(viewport={"width": 1100, "height": 800})
    respondent = RespondentPage(page, shots, concept)
    await respondent.begin(wire.url, concept)
    question: str | None = await respondent.asked()
    asked: list[str] = []
    said: list[str] = []
    for number, text in enumerate(ANSWERS[concept], start=1):
        if question is None:
            break
        asked.append(question)
        if number == CUT_WHILE_TYPING:
            await page.locator("#answer").fill(text[:10])
            wire.cut()
            await page.locator('#status[data-state="reconnecting"]').wait_for()
            await respondent.shot("reconnecting")
        await respondent.answer(text)
        said.append(text)
        if number == CUT_AFTER_SENDING:
            wire.cut()
        wire.mend()
        question = await respondent.next_question(number)
        if number in (1, 6):
            await respondent.shot(f"turn-{number}")
    assert question is None, f"still asking after {len(said)} answers: {question}"
    await respondent.shot("thanks")
    assert len(said) >= 12
    assert respondent.errors == []
    print("\n\n" + "\n".join(f"Q{n}: {q}\nA{n}: {a}" for n, (q, a) in enumerate(zip(asked, said, strict=True), 1)))
    rows = await stored(server, respondent.session_id, "speaker, text", enough=len(asked) + len(said) + 1)
    assert [text for speaker, text in rows if speaker == "respondent"] == said
    questions = [" ".join(text.split()) for speaker, text in rows if speaker == "interviewer"]
    assert questions[: len(asked)] == [" ".join(text.split()) for text in asked]
