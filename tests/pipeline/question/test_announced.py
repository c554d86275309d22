"""The number that a model writes before its question is taken off, whatever pieces it comes in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.question.announced import Announced


def taken(pieces: list[str]) -> tuple[int | None, str]:
    announced = Announced()
    text = "".join(announced.feed(piece) for piece in pieces) + announced.finish()
    return announced.number, text


@pytest.mark.parametrize(
    ("written", "number", "question"),
    [
        ("[2] What happened then?", 2, "What happened then?"),
        ("[1]What happened then?", 1, "What happened then?"),
        (" ( 3 ): What then?", 3, "What then?"),
        ("2. What then?", 2, "What then?"),
        ("2: What then?", 2, "What then?"),
        ("[17] What then?", 17, "What then?"),
        ("[2]\nWhat then?", 2, "What then?"),
        ("What then?", None, "What then?"),
        ("2 years ago you moved. What then?", None, "2 years ago you moved. What then?"),
        ("2.5 hours: what was that like?", None, "2.5 hours: what was that like?"),
        ("[you said] What then?", None, "[you said] What then?"),
        ("[2]", 2, ""),
        ("2", None, "2"),
        ("[", None, "["),
        ("", None, ""),
    ],
)
def test_number_is_taken_off(written: str, number: int | None, question: str) -> None:
    assert taken([written]) == (number, question)
    assert taken(list(written)) == (number, question)


@given(st.lists(st.text(max_size=6), max_size=8))
def test_pieces_do_not_matter(pieces: list[str]) -> None:
    assert taken(pieces) == taken(["".join(pieces)])


def test_question_goes_on_as_soon_as_the_number_is_there() -> None:
    announced = Announced()
    assert announced.feed("[2] ") == ""
    assert announced.feed("What") == "What"
    assert announced.feed(" then?") == " then?"
