"""What bare probes are worth: kinds, features, weights, and what the writer makes of them."""

from __future__ import annotations

import pytest

from pipeline.language.offline.advice import Advice, Adviser
from pipeline.language.offline.phrasings import phrasing
from pipeline.language.offline.probe_worth import KINDS, MOVES, Before, features, kind_of, ratings, vector
from pipeline.language.offline.questions import compose
from pipeline.language.offline.telling import NOTHING, telling_of
from pipeline.language.offline.worth_model import WorthModel
from tests.pipeline.language.offline.test_saying_back import request


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Tell me a bit more about that.", "more"),
        ("I'm sorry. Tell me about it, as much as you like.", "more"),
        ("And then?", "then"),
        ("How did it go on from there?", "then"),
        ("What was that like for you?", "like"),
        ("Why does that matter to you?", "matter"),
        ("What made you turn round?", "why"),
        ("What made you feel alone?", ""),
        ("What did that mean to you?", "means"),
        ("And what did you do?", "did"),
        ("Before we finish, what would you like to add?", "closing"),
        ("Who is Dieter?", ""),
    ],
)
def test_kind_of_a_question(question: str, kind: str) -> None:
    assert kind_of(question) == kind


def test_features_tell_what_was_asked_before() -> None:
    questions = ("What happened?", "And then?", "He was late. What was that like for you?")
    found = features(Before(("No.", "He was late.", "Bad."), questions, "own_method", NOTHING))
    assert (found["last=like"], found["before=then"], found["lately=then"], found["last takes up"]) == (1, 1, 1, 1)
    assert (found["method=other"], found["terse"], found["begun"]) == (1, 1, 0)


def test_story_that_goes_on_is_asked_on_and_one_that_is_over_is_not(worth: WorthModel) -> None:
    asked = "What happened?"
    found = []
    for answer in (
        "I got on the train, and the door shut behind me, and then the lights went out.",
        "I think what I learned from it is that I would rather be alone. That's how it has been for me ever since.",
    ):
        telling = telling_of([answer], phrasing("en"))
        before = Before((answer,), (asked,), "critical_incident", telling)
        found.append(ratings(worth.moves, before, worth.read(asked, answer), tested=False))
    assert set(found[0]) == set(KINDS)
    assert found[0]["then"] > found[1]["then"] + 0.8
    assert found[1]["means"] > found[0]["means"]


def test_in_a_concept_test_every_way_to_go_on_has_a_rating(worth: WorthModel) -> None:
    answer = "I would not want a stranger to see my kitchen. How much is it again?"
    before = Before((answer,), ("What was your very first thought?",), "concept_test", NOTHING)
    found = ratings(worth.moves, before, worth.read(before.questions[0], answer), tested=True)
    assert tuple(found) == MOVES
    assert found["then"] < found["more"]


def test_answer_without_words_has_a_vector(worth: WorthModel) -> None:
    read = worth.read("What happened?", "…")
    assert vector("…", read).shape == vector("Well.", worth.read("What happened?", "Well.")).shape


def test_what_suits_is_asked() -> None:
    asked = request()
    usual = kind_of(compose(asked))
    others = {kind for kind in KINDS if kind_of(compose(asked, advice=Advice(ratings={kind: 3.0}))) == kind}
    assert len(others - {usual}) > 1


def test_nothing_is_known_of_what_was_not_told(worth: WorthModel) -> None:
    adviser = Adviser(worth)
    assert adviser.on(request()).ratings
    for changes in ({"language": "de"}, {"kind": "closing"}, {"lines": ()}, {"focus_is_jump": True}):
        assert adviser.on(request(**changes)).ratings == {}
    assert adviser.on(request("")).ratings == {}
    assert adviser.on(request("word " * 500)).ratings == {}
    assert Adviser(None).on(request()) == Advice()
