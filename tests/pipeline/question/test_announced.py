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
        ("[0] What then?", 0, "What then?"),
        ("[0 What then?", None, "[0 What then?"),
        ("[0: he held", None, "[0: he held"),
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


@pytest.mark.parametrize(
    ("written", "own", "question"),
    [
        ("[0: he held the door] What was that like?", "he held the door", "What was that like?"),
        ("[0: “he held the door”]: What then?", "he held the door", "What then?"),
        ("(0 – no tip] And then?", "no tip", "And then?"),
        ("[0:] What then?", "", "What then?"),
        ('[0: "went cold"]\nWhat then?', "went cold", "What then?"),
    ],
)
def test_words_of_its_own_choice_are_taken_off(written: str, own: str, question: str) -> None:
    for pieces in ([written], list(written)):
        announced = Announced()
        text = "".join(announced.feed(piece) for piece in pieces) + announced.finish()
        assert (announced.number, announced.own, text) == (0, own, question)


def test_choice_that_never_ends_is_none() -> None:
    announced = Announced()
    endless = "[0: " + "word " * 200
    assert "".join(announced.feed(piece) for piece in endless) + announced.finish() == endless
    assert (announced.number, announced.own) == (None, "")
