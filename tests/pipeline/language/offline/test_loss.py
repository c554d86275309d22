"""Whether a death is heard that is told of, by the model that is shipped."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.language.offline.loss import LEAST, LossModel, judged, named
from pipeline.language.offline.worth_model import WorthModel
from pipeline.language.reader.perceptron import Perceptron


def most(worth: WorthModel, question: str, answer: str) -> float:
    """The most that any clause of an answer has."""
    found = list(judged(answer, worth.read(question, answer)))
    chances = worth.loss.probabilities((vector, named(clause.text, answer)) for clause, vector in found)
    return float(chances.max(initial=0.0))


@pytest.mark.parametrize(
    ("question", "death", "none"),
    [
        (
            "Who do you cook for?",
            "Only myself now. We buried my husband in May and I've not used the big pan since.",
            "Only myself this week. My husband took the children to the coast and I've not used the big pan since.",
        ),
        (
            "Why did you change the contract?",
            "It was in my dad's name and he passed away at Easter, so I had to ring them.",
            "It was in my dad's name and he moved to Leeds at Easter, so I had to ring them.",
        ),
    ],
)
def test_death_is_heard_and_what_only_changes_is_not(worth: WorthModel, question: str, death: str, none: str) -> None:
    assert most(worth, question, death) >= LEAST > most(worth, question, none)


def test_words_of_a_death_are_those_of_its_clause(worth: WorthModel) -> None:
    answer = "The garden is too big. My husband died in March, of his heart. I only do the beans."
    [told] = worth.loss.told(answer, worth.read("How is the garden?", answer)) or [""]
    assert told == "" or "died" in told
    sure = LossModel(always(worth.loss.network), "")
    assert "".join(sure.told(answer, worth.read("How is the garden?", answer))).replace(" ", "") == answer.replace(
        " ", ""
    )


def always(network: Perceptron) -> Perceptron:
    """A network that takes everything for it."""
    arrays = {name: np.zeros_like(getattr(network, name)) for name in ("wide", "wide_base", "narrow")}
    return Perceptron(
        network.names, network.mean, network.deviation, **arrays, narrow_base=np.full_like(network.narrow_base, 9.0)
    )


@pytest.mark.parametrize("answer", ["", " ", "…", "😢"])
def test_nothing_is_heard_in_what_has_no_words(worth: WorthModel, answer: str) -> None:
    assert worth.loss.told(answer, worth.read("And?", answer)) == ()


def test_features_know_words_of_death_and_of_other_ends() -> None:
    assert named("at my nan's funeral", "It was at my nan's funeral.")["death"] == 1.0
    assert named("the phone died", "The phone died.")["otherwise"] == 1.0
    assert named("his coat", "His coat. He died in May.")["loss anywhere"] == 1.0
