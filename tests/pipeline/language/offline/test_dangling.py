"""Whether there is more to tell of a clause, by the model that is shipped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.language.offline.dangling import named
from pipeline.language.offline.sayable import sayable
from pipeline.language.offline.worth_model import WorthModel
from pipeline.language.srl import DocCache, load_model

DOCS = DocCache(load_model())


def most(worth: WorthModel, question: str, answer: str) -> float:
    """The most that any clause of an answer has."""
    found = sayable(answer, DOCS.doc(answer))
    return float(worth.dangling.chances(found, answer, worth.read(question, answer)).max(initial=0.0))


@pytest.mark.parametrize(
    ("question", "holds_back", "told"),
    [
        (
            "What was the holiday like?",
            "Lovely weather, good food. I've never told my sister what happened on the ferry.",
            "Lovely weather, good food. We took the ferry on the Tuesday and had chips on the deck.",
        ),
        ("Why did you leave?", "They said it was the hours. It wasn't only the hours.", "It was the hours, mostly."),
        (
            "Who knows of it?",
            "My brother knows. I never told my mother the rest of it.",
            "My brother knows, and my mother.",
        ),
    ],
)
def test_more_is_heard_where_something_is_held_back(
    worth: WorthModel, question: str, holds_back: str, told: str
) -> None:
    assert most(worth, question, holds_back) > 2 * most(worth, question, told)


def test_nothing_is_heard_in_nothing(worth: WorthModel) -> None:
    assert worth.dangling.chances((), "", worth.read("And?", "")).shape == (0,)


def test_features_know_where_a_clause_stands_and_whether_it_trails_off() -> None:
    answer = "I paid. And then my brother..."
    first = sayable("I paid the man. He left.", DOCS.doc("I paid the man. He left."))[-1]
    assert named(first, "I paid the man. He left.")["last"] == 0.0
    assert named(first, "I paid the man. He left.")["back"] > 0.0
    whole = replace(first, start=answer.index("And"), end=len(answer) - 3)
    assert named(whole, answer)["last"] == named(whole, answer)["trails off"] == 1.0
    assert np.isfinite(list(named(whole, answer).values())).all()
