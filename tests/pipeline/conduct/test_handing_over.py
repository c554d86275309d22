"""What is left to a language model to answer in its own words, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.acts import GOING_ON, LEAVES, UNASKED, Act, HeardAct, Hearer
from pipeline.conduct.handing_over import handed_over
from pipeline.conduct.move import Move, Then


def heard(act: Act, about: str = "", *, sure: bool = True) -> HeardAct:
    return HeardAct(act=act, start=0, end=9, about=about, sure=sure)


@pytest.mark.parametrize("act", ["corrects", "complains", "wants_topic"])
def test_what_a_model_hears_for_itself_is_said_by_it(act: Act) -> None:
    move = Move(
        act, "Sorry, so: ones.", "engine", counts=True, help="Go on.", leaves_focus=True, retracts="two", right="ones"
    )
    assert handed_over(move, [heard(act)]) == replace(move, text="", help="", handed="Sorry, so: ones.")


@pytest.mark.parametrize("about", [UNASKED, GOING_ON, ""])
def test_who_wants_something_else_asked_is_asked_it_by_the_model(about: str) -> None:
    move = Move("wants_topic", "You're right, I should have asked that. Please go on.", "easier", leaves_focus=True)
    assert handed_over(move, [heard("wants_topic", about)]) == replace(move, text="", then="engine", counts=True)


@pytest.mark.parametrize("hearer", ["rules", "reader"])
def test_a_refusal_is_answered_by_the_model(hearer: Hearer) -> None:
    move = Move("declines", "That's fine, we'll leave that.", "engine", counts=True, declines_focus=True)
    act = heard("declines", LEAVES).model_copy(update={"heard_by": hearer})
    assert handed_over(move, [act]) == replace(move, text="", handed=move.text)


@pytest.mark.parametrize(
    ("act", "then"),
    [
        ("wants_stop", "stop"),
        ("wants_stop", "engine"),
        ("wants_pause", "stands"),
        ("distress", "stands"),
        ("risk", "stands"),
        ("declines", "stands"),
        ("corrects", "stands"),
        ("complains", "easier"),
        ("wants_topic", "stands"),
        ("wants_withdrawal", "stands"),
    ],
)
def test_everything_else_is_said_as_the_policy_says(act: Act, then: Then) -> None:
    move = Move(act, "As the policy says.", then, help="And so on.")
    assert handed_over(move, [heard(act)]) == move


@pytest.mark.parametrize(
    ("about", "then", "left"),
    [
        (["other"], "engine", True),
        ([""], "engine", True),
        (["opinion"], "engine", True),
        (["other"], "again", False),
        (["readers"], "engine", False),
        (["other", "readers"], "engine", False),
    ],
)
def test_questions_that_no_fact_answers_are_left_to_the_model(about: list[str], then: Then, left: bool) -> None:
    move = Move("asks_interviewer", "That I can't tell you.", then)
    assert (handed_over(move, [heard("asks_interviewer", one) for one in about]).text == "") == left


def test_no_fact_is_recited_twice() -> None:
    move = Move("asks_interviewer", "Only the people who run this study read it.", "engine")
    acts = [heard("asks_interviewer", "readers")]
    assert handed_over(move, acts, ["And then?"]) == move
    again = handed_over(move, acts, ["Only the people who run this study read it. And then?"])
    assert (again.text, again.handed) == ("", "")
