"""What was opened in earlier answers and passed over."""

from __future__ import annotations

from pipeline.ports import Line
from pipeline.question.untaken import MOST, untaken

OPENED = "I drink one at half past five with my saleswoman before she opens up."


def talk(*texts: str) -> list[Line]:
    """Question and answer in turn."""
    return [Line(speaker="respondent" if at % 2 else "interviewer", text=text) for at, text in enumerate(texts)]


def told(*later: str, first: str = f"At two, in the bakehouse. {OPENED}") -> tuple[str, ...]:
    return untaken(talk("When was the last one?", first, *later))


def test_what_no_question_took_up_is_told_of() -> None:
    assert told("What is the bakehouse like?", "Warm.", "And then?", "I heat the oven up first.") == (OPENED,)


def test_what_was_asked_about_is_not() -> None:
    assert told("Tell me about that one with your saleswoman.", "Well.", "And then?", "I heat the oven.") == ()


def test_what_was_told_on_about_unasked_is_not() -> None:
    later = "My saleswoman and I drink it at half past five, before she opens the shop."
    assert told("And then?", "I heat the oven.", "What else?", later, "And now?", "I sit down.") == ()


def test_latest_answers_are_left_out() -> None:
    assert told("And then?", "I heat the oven.") == ()


def test_questions_closed_subjects_and_answers_without_oneself_open_nothing() -> None:
    for first in (
        "Did I ever tell you about my saleswoman then?",
        "My saleswoman drinks one as well, that's all there is.",
        "The supermarket across the road sells rolls at nineteen cents.",
    ):
        assert told("And then?", "I heat the oven.", "What else?", "I sit down.", first=first) == ()


def test_closed_answers_are_left_and_the_most_telling_come_first() -> None:
    first = " ".join(
        f"I have told nobody about number {word} yet." for word in ("alpha", "bravo", "delta", "kilos", "limas")
    )
    lines = talk("What is it?", first, "And then?", "I heat the oven.", "What else?", "I sit down.")
    assert untaken(lines, closed={first}) == ()
    found = untaken(lines, salient=["number limas"])
    assert len(found) == MOST
    assert found[-1] == "I have told nobody about number limas yet."
