"""What the interviewer answers to a question about the idea."""

from __future__ import annotations

import pytest

from pipeline.concept import Concept, Element
from pipeline.conduct.policy import ConductTexts
from pipeline.focus import Target
from pipeline.question.answering import answer_in, answer_to, answered_by, said_of
from tests.support.interview import conduct_policy

STIMULUS = """A lamp that folds.

It is delivered by van on any day, also on Sundays. You pay 6 euros a month.
The van takes the lamp back when you pay no longer."""
CONCEPT = Concept(
    id="lamp",
    name="the lamp",
    methodology="means_end_chain",
    objective="x",
    stimulus=STIMULUS,
    elements=(
        Element(id="fee", label="the monthly fee", aliases=("6 euros", "pay")),
        Element(id="van", label="the delivery van", aliases=("van",)),
        Element(id="colour", label="the colour"),
    ),
)
TEXTS = conduct_policy().texts
QUOTING = TEXTS.model_copy(update={"idea_asked": "You asked: “{question}?”"})


def lead(kind: str, label: str, *element: str) -> Target:
    return Target(kind="lead", ids=(f"{kind}.3.0", *element), label=label)


def answered(target: Target | None, said: str, turn: int = 3, texts: ConductTexts = TEXTS) -> str:
    return answer_to(target, CONCEPT, texts, turn, said=said)


def test_question_about_an_element_is_answered_by_what_the_description_says_of_it() -> None:
    answer = answered(lead("asks", "does the van come on Sundays?", "van"), "And does the van come on Sundays?")
    says = "The description says: “It is delivered by van on any day, also on Sundays.”"
    assert answer == f"{says} More than that I don't know myself."
    assert "takes the lamp back" in answered(
        lead("asks", "Does the van take it back?", "van"), "Does the van take it back?"
    )


@pytest.mark.parametrize(
    "question",
    [
        "Is the van electric?",
        "Who drives the van?",
        "How big is the van?",
        "Do they wash the lamp?",
        "How much does the van cost?",
        "The van?",
        "",
        "?",
    ],
)
def test_sentence_that_only_names_what_was_asked_about_is_no_answer(question: str) -> None:
    element = "van" if "van" in question else None
    assert answered_by(CONCEPT, element, question) == ""


@pytest.mark.parametrize(
    ("element", "question", "sentence"),
    [
        ("fee", "How much is the monthly fee?", "You pay 6 euros a month."),
        ("fee", "And what does it cost, this monthly fee?", "You pay 6 euros a month."),
        (None, "Is it delivered on Sundays, too?", "It is delivered by van on any day, also on Sundays."),
        (None, "Can it be delivered by post?", ""),
    ],
)
def test_sentence_that_has_what_was_asked_answers(element: str | None, question: str, sentence: str) -> None:
    assert answered_by(CONCEPT, element, question) == sentence


def test_question_in_the_middle_of_a_message_is_said_again_where_there_is_a_text_for_it() -> None:
    said = "Is the van electric? I have children, and it is loud enough here."
    target = lead("asks", "Is the van electric?", "van")
    assert answered(target, said, texts=QUOTING).startswith("You asked: “Is the van electric?” ")
    assert answered(target, said) in TEXTS.idea_silent
    long = "Is the van electric, and is it so " + "very " * 20 + "loud?"
    assert answered(lead("asks", long, "van"), f"{long} I have children.", texts=QUOTING) in TEXTS.idea_silent
    told = "I'd want to know who made it"
    assert answered(lead("asks", told), f"{told}. I have never seen one.", texts=QUOTING) in TEXTS.idea_silent


def test_what_was_not_noticed_is_said_again() -> None:
    answer = answered(lead("unseen", "the monthly fee", "fee"), "I saw no fee.")
    assert answer == "The description says: “You pay 6 euros a month.”"


@pytest.mark.parametrize("target", [lead("asks", "Who made it?"), lead("asks", "the colour", "colour")])
def test_where_the_description_says_nothing_the_interviewer_says_so(target: Target) -> None:
    answers = {answered(target, "Who made it?", turn) for turn in range(6)}
    assert answers == set(TEXTS.idea_silent)


def test_question_that_was_not_said_last_is_said_again() -> None:
    answer = answered(lead("asks", "who made it?"), "Well, who made it? I have never seen one.", texts=QUOTING)
    assert answer.startswith("You asked: “Who made it?” ")


@pytest.mark.parametrize(
    "target",
    [
        None,
        lead("doubt", "the monthly fee", "fee"),
        Target(kind="element", ids=("fee",), label="the monthly fee"),
        Target.node("asks.1", "asks"),
    ],
)
def test_nothing_else_is_answered(target: Target | None) -> None:
    assert answered(target, "Who made it?") == ""


def test_policy_from_before_answers_nothing() -> None:
    old = TEXTS.model_copy(update={"idea_silent": (), "idea_says": ""})
    assert answer_to(lead("asks", "Who made it?"), CONCEPT, old, 3, said="Who made it?") == ""


def test_sentence_that_is_too_long_and_an_element_that_is_nowhere_are_not_said() -> None:
    long = CONCEPT.model_copy(update={"stimulus": "The van " + "comes and goes " * 20 + "."})
    assert said_of(long, "van", "van") == ""
    assert said_of(CONCEPT, "colour", "the colour") == ""
    assert said_of(CONCEPT, "gone", "x") == ""
    assert said_of(CONCEPT.model_copy(update={"stimulus": None}), "van", "x") == ""


def test_question_that_does_not_name_the_element_is_not_answered_by_it() -> None:
    assert answered(lead("asks", "the delivery van", "van"), "Who would they send?") in TEXTS.idea_silent


@pytest.mark.parametrize(
    "message",
    [
        "Nobody says plainly what it costs. How much do you pay? I have to know that first.",
        "I did ask you what you pay for it, dear.",
        "I don't know. How much do you pay",
        "So you pay when it is gone, don't you?",
    ],
)
def test_question_that_names_a_part_is_answered_from_the_description(message: str) -> None:
    assert "You pay 6 euros a month." in answer_in(CONCEPT, message, TEXTS)


@pytest.mark.parametrize(
    "message",
    [
        "I pay enough as it is.",
        "Who pays for the van?",
        "Is this about the van or about my husband?",
        "With a van like that I could pay for it, couldn't I?",
        "And who is it for?",
        "How big is the van, actually?",
        "",
    ],
)
def test_what_the_description_does_not_say_or_nobody_asks_is_not_answered(message: str) -> None:
    assert answer_in(CONCEPT, message, TEXTS) == ""


def test_two_questions_have_two_answers() -> None:
    said = answer_in(CONCEPT, "How much do you pay? And does it come by van on Sundays?", TEXTS)
    assert "You pay 6 euros a month." in said
    assert "It is delivered by van on any day, also on Sundays." in said


def test_price_is_what_is_paid_and_no_other_sum() -> None:
    text = "If it breaks, you get 150 euros towards a new lamp. You pay 6 euros a month."
    parts = (Element(id="bonus", label="the 150 euros", aliases=("cost", "euros")),)
    concept = CONCEPT.model_copy(update={"stimulus": text, "elements": parts})
    assert answer_in(concept, "What does it cost?", TEXTS).endswith("“You pay 6 euros a month.”")


SOUP = "Soup like you would cook it, in a jar that goes back. Three minutes in the microwave. One jar is a full meal."


@pytest.mark.parametrize("asked", ["How big is the jar?", "How much is in a jar?"])
def test_size_is_answered_by_what_tells_a_size_alone(asked: str) -> None:
    concept = CONCEPT.model_copy(update={"stimulus": SOUP, "elements": ()})
    assert answer_in(concept, asked, TEXTS) == "The description says: “One jar is a full meal.”"
    assert not answer_in(concept.model_copy(update={"stimulus": SOUP.partition(" One")[0]}), asked, TEXTS)
