"""What of a concept's texts says nothing, is there twice, or is never used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from config.yamlfile import suggest
from pipeline.concept import Concept

Problem = tuple[tuple[str | int, ...], str]
SUBJECTS = (
    "machine person opinion heard readers recording names part data selling length left purpose who how_much why_ask"
    " help name language incentive other"
).split()
"""What respondents may ask about, for which a concept can bring an answer of its own."""
EMPTY = "says nothing"


def wording_problems(concept: Concept) -> Iterator[Problem]:
    """Where each mistake is, and what it is."""
    if concept.consent is not None and not concept.consent.text.strip():
        yield ("consent", "text"), EMPTY
    yield from _empty(("opening_question",), concept.opening_question)
    yield from _questions(concept)
    yield from _facts(("facts",), concept.facts)
    for language, told in concept.translations.items():
        yield from _facts(("translations", language, "facts"), told.facts or {})


def _questions(concept: Concept) -> Iterator[Problem]:
    """Of the questions that have to be asked."""
    ids = [wanted.id for wanted in concept.must_ask]
    for at, wanted in enumerate(concept.must_ask):
        here = ("must_ask", at)
        if wanted.id in ids[:at]:
            yield (*here, "id"), f"`{wanted.id}` is there twice"
        yield from _empty((*here, "question"), wanted.question)
        for number, word in enumerate(wanted.words):
            if not word.strip():
                yield (*here, "words", number), "is empty, so that every answer would have it"


def _empty(here: tuple[str | int, ...], text: str | Mapping[str, str] | None) -> Iterator[Problem]:
    if isinstance(text, str) and not text.strip():
        yield here, EMPTY
    if isinstance(text, Mapping):
        yield from (((*here, language), EMPTY) for language, one in text.items() if not one.strip())


def _facts(here: tuple[str | int, ...], facts: Mapping[str, str]) -> Iterator[Problem]:
    for subject, text in facts.items():
        if subject not in SUBJECTS:
            yield (*here, subject), f"nobody is answered by it{suggest(subject, SUBJECTS)}"
        elif not text.strip():
            yield (*here, subject), EMPTY
