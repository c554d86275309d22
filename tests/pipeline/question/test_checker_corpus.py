"""The checker's figures on the labelled questions."""

from __future__ import annotations

from typing import get_args

import pytest

from pipeline.question.checker import Code, check
from tests.corpus.questions import BAD_QUESTIONS, GOOD_QUESTIONS, Labelled, by_hand, labelled, load

HELD_OUT = labelled("held_out.yaml")


def test_corpus_has_enough_questions_of_every_kind() -> None:
    assert len(GOOD_QUESTIONS) >= 175
    assert len(BAD_QUESTIONS) >= 240
    assert {item.code for item in BAD_QUESTIONS} == set(get_args(Code))


def figures(items: list[Labelled]) -> tuple[float, float, list[str]]:
    """Precision and recall of refusing, and what went wrong."""
    false_alarms = [f"{item} {item.refusals()}" for item in items if not item.code and item.refusals()]
    missed = [str(item) for item in items if item.code and not item.refusals()]
    caught = sum(bool(item.code) for item in items) - len(missed)
    return caught / (caught + len(false_alarms)), caught / (caught + len(missed)), [*false_alarms, *missed]


def test_checker_on_the_corpus_keeps_its_precision_and_recall() -> None:
    precision, recall, wrong = figures([*GOOD_QUESTIONS, *BAD_QUESTIONS])
    assert precision >= 0.99, wrong
    assert recall >= 0.99, wrong


def test_checker_on_questions_it_was_not_made_with_keeps_its_precision_and_recall() -> None:
    precision, recall, wrong = figures(HELD_OUT)
    assert precision >= 0.9, wrong
    assert recall >= 0.75, wrong


def test_checker_on_questions_of_one_hand_keeps_its_precision_and_recall() -> None:
    items = by_hand("first_hand.jsonl")
    refused = [item.text for item in items if not item.code and (item.refusals() or item.is_stopped())]
    passed = [str(item) for item in items if item.code and not item.refusals()]
    assert len(refused) <= 0.03 * len([item for item in items if not item.code]), refused
    assert len(passed) <= 0.09 * len([item for item in items if item.code]), passed


@pytest.mark.parametrize("code", sorted({item.code for item in BAD_QUESTIONS}))
def test_checker_names_the_right_fault(code: str) -> None:
    of_kind = [item for item in BAD_QUESTIONS if item.code == code]
    wrong = [item.text for item in of_kind if code not in {refusal.code for refusal in item.refusals()}]
    assert len(wrong) <= len(of_kind) // 10, wrong


LANGUAGES: dict[str, list[str]] = load("languages.yaml")
FOREIGN_NAMES: list[tuple[str, str]] = [(language, text) for language, text in load("languages.yaml")["foreign_names"]]
PLAIN = {language: texts for language, texts in LANGUAGES.items() if language != "foreign_names"}


def is_foreign(text: str, language: str) -> bool:
    return "language" in {refusal.code for refusal in check(text, language=language)}


@pytest.mark.parametrize(
    ("language", "text"), [*((language, text) for language in PLAIN for text in PLAIN[language]), *FOREIGN_NAMES]
)
def test_question_in_the_respondents_language_is_never_taken_for_another(language: str, text: str) -> None:
    assert not is_foreign(text, language)


@pytest.mark.parametrize("expected", sorted(PLAIN))
def test_questions_in_other_languages_are_noticed(expected: str) -> None:
    others = [text for language, texts in PLAIN.items() if language != expected for text in texts]
    missed = [text for text in others if not is_foreign(text, expected)]
    assert len(missed) <= 0.06 * len(others), missed
