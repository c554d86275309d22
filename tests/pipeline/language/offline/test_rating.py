"""Ratings: short is shallow, reasoned is deep, hedges count, and the table is what the documentation says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.language.offline.rating import OfflineRater
from pipeline.language.srl import SpacyParser
from pipeline.ports import RATED_SIGNALS, Rating, RatingRequest

STORY = (
    "Well, last summer my neighbour lent me his, and because I didn't want to owe him anything I gave it back the next "
    "day. It was a lesson for me, since it taught me that I would rather save up for something of my own, and if I "
    "hadn't done that I would never have started my little workshop, which means so much to me now because it gives me "
    "the freedom to do what I love."
)
REASONED = (
    "It heats up in thirty seconds so I can have a cup before the kids wake up, and because that is the only quiet "
    "moment I have, I start the day calm instead of shouting at everyone."
)


@pytest.fixture(scope="module")
def rater(parser: SpacyParser) -> OfflineRater:
    return OfflineRater(parser)


def rate(rater: OfflineRater, text: str) -> Rating:
    return rater.rate_sync(RatingRequest(text=text, question="Why does it matter to you?", language="en"))


@pytest.mark.parametrize("word", ["good", "price", "Yes.", "idk", "creamy"])
async def test_rate_single_word_is_on_the_surface(rater: OfflineRater, word: str) -> None:
    rating = await rater.rate(RatingRequest(text=word, question="What do you like?", language="en"))
    shallow = {s: rating.scores[s] for s in RATED_SIGNALS if s not in {"certainty", "valence"}}
    assert shallow == dict.fromkeys(shallow, 1)


@pytest.mark.parametrize(
    ("text", "depths"),
    [
        ("not really, it's just okay", {1}),
        ("I like that it's cheap.", {1, 2}),
        ("It saves me ten minutes every morning because I don't wait for the kettle.", {3}),
        (REASONED, {4, 5}),
        (STORY, {5}),
    ],
)
def test_rate_depth_grows_with_reasons(rater: OfflineRater, text: str, depths: set[int]) -> None:
    assert rate(rater, text).scores["response_depth"] in depths


def test_rate_reasoned_story_is_engaged_and_thoughtful(rater: OfflineRater) -> None:
    scores = rate(rater, STORY).scores
    assert scores["engagement"] >= 4
    assert scores["intellectual_engagement"] >= 4


def test_rate_names_and_numbers_are_specific(rater: OfflineRater) -> None:
    vague = rate(rater, "It is nice to have and I like using it a lot whenever I get the chance to do so")
    exact = rate(rater, "In March 2021 I paid 40 euros at the market in Leipzig for three of these blue bowls")
    assert exact.scores["specificity"] >= vague.scores["specificity"] + 2


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("It is exactly what I need for the garden and it works every time.", {"none"}),
        ("I guess it is easier to hold and the handle stays cool while I am cooking for my family.", {"low", "medium"}),
        ("I guess maybe it's kind of nice, I don't know, probably sort of the taste or something.", {"high"}),
    ],
)
def test_rate_hedges_set_the_level(rater: OfflineRater, text: str, levels: set[str]) -> None:
    assert rate(rater, text).hedging in levels


def test_rate_hedged_answer_is_less_certain_than_a_firm_one(rater: OfflineRater) -> None:
    firm = rate(rater, "I definitely always buy it, no doubt about that, every single time.")
    unsure = rate(rater, "I'm not sure, maybe I would buy it again, it depends I guess.")
    assert firm.scores["certainty"] >= 4
    assert unsure.scores["certainty"] <= 2


@pytest.mark.parametrize(
    ("text", "valence"), [("I hate it, it's awful and it always breaks", 1), ("I love it, it's wonderful", 5)]
)
def test_rate_feeling_sets_valence(rater: OfflineRater, text: str, valence: int) -> None:
    assert rate(rater, text).scores["valence"] == valence


def test_rate_same_answer_twice_gives_the_same_but_new_ratings(rater: OfflineRater) -> None:
    first, second = rate(rater, REASONED), rate(rater, REASONED)
    assert first == second
    assert first is not second
    assert set(first.rationales) == {*RATED_SIGNALS, "hedging_language"}


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_rate_any_text_stays_in_range(text: str) -> None:
    rating = RATER.rate_sync(RatingRequest(text=text, question="", language="en"))
    assert set(rating.scores) == set(RATED_SIGNALS)
    assert all(1 <= score <= 5 for score in rating.scores.values())


RATER = OfflineRater(SpacyParser())


@pytest.mark.parametrize(
    ("text", "language", "turns", "contradicts"),
    [
        ("That’s when I knew it wouldn't work.", "en", True, False),
        ("From then on I only bought the small ones.", "en", True, False),
        ("I had had enough, and I'd had enough of him too.", "en", True, False),
        ("It is cheap. Well, no, it isn't, not really.", "en", False, True),
        ("I like it because it is quiet.", "en", False, False),
        ("Then I went home.", "en", False, False),
        ("Da hab ich gemerkt, dass es so nicht geht.", "de", True, False),
        ("Nein, eigentlich mag ich das gar nicht.", "de", False, True),
        ("ثم فجأة توقف كل شيء", "ar", True, False),
        ("Plötzlich war alles anders.", "en", False, False),
        ("", "en", False, False),
    ],
)
def test_rate_knows_turning_points_and_contradictions_by_words(
    rater: OfflineRater, text: str, language: str, turns: bool, contradicts: bool
) -> None:
    rating = rater.rate_sync(RatingRequest(text=text, question="And then?", language=language))
    assert (rating.turns, rating.contradicts) == (turns, contradicts)
