"""What a methodology file may say and probably does not mean: placeholders, weights, synonyms, openings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pipeline.methodology import Form, Methodology
from pipeline.question.checker import check
from pipeline.question.templates import WAYS, fill, placeholders

Path = tuple[str | int, ...]
Caution = tuple[Path, str]

KNOWN = frozenset({"topic", "focus", "mention", "does", "is", "was"}) | WAYS
GREATEST_WEIGHT = 5.0
"""Weights beyond this, either way, leave the other signals nothing to say."""
SAMPLE_TOPIC = "running shoes"
_BRACE = re.compile(r"[{}]")
_SLOT = re.compile(r"\{\w+\}")


def cautions(methodology: Methodology) -> Iterator[Caution]:
    """Places (keys and list positions) and reasons."""
    for position, strategy in enumerate(methodology.strategies):
        at: Path = ("strategies", position)
        filled = KNOWN | {"element"} if strategy.focus_mode == "grid" else KNOWN
        yield from _of_forms(strategy.templates, (*at, "templates"), filled)
        if strategy.focus_mode != "grid":  # What a grid needs is asked in the method's words.
            yield from _unasked(strategy.templates, (*at, "templates"))
        for key, weight in strategy.signal_weights.items():
            if abs(weight) > GREATEST_WEIGHT:
                yield (*at, "signal_weights", key), f"a weight of {weight:g} leaves the other signals nothing to say"
    for position, topic in enumerate(methodology.guide):
        yield from _of_forms(topic.questions, ("guide", position, "questions"))
        yield from _unasked(topic.questions, ("guide", position, "questions"))
    if methodology.closing_strategy is None:
        yield ("strategies",), "no strategy generates a closing question: interviews end without one"
    yield from repeated_synonyms(methodology.synonyms)
    for language, openings in methodology.openings.items():
        for number, opening in enumerate(openings):
            yield from _of_text(opening, ("openings", language, number))
            found = check(fill(opening, topic=SAMPLE_TOPIC), language=language, allowed_words=[SAMPLE_TOPIC])
            if found:
                yield ("openings", language, number), f"this opening may be {found[0].code}: {found[0].detail}"


def _unasked(of: Mapping[str, Sequence[Form]], at: Path) -> Iterator[Caution]:
    """Questions of a guide that are refused before anybody hears them, so that another is asked in their place."""
    for language, forms in of.items():
        for number, form in enumerate(forms):
            if placeholders(form.ask) - {"topic"}:
                continue
            asked = fill(form.ask, topic=SAMPLE_TOPIC)
            if found := check(asked, language=language, allowed_words=[SAMPLE_TOPIC]):
                yield (*at, language, number), f"this would not be asked ({found[0].code}: {found[0].detail})"


def repeated_synonyms(sets: Sequence[Sequence[str]]) -> Iterator[Caution]:
    """Words that stand in two sets of synonyms, so that all of both mean the same."""
    seen: dict[str, int] = {}
    for position, words in enumerate(sets):
        for word in words:
            first = seen.setdefault(word.casefold(), position)
            if first != position:
                yield ("synonyms", position), f"“{word}” is in two sets of synonyms, which become one"


def _of_forms(of: Mapping[str, Sequence[Form]], at: Path, known: frozenset[str] = KNOWN) -> Iterator[Caution]:
    for language, forms in of.items():
        for number, form in enumerate(forms):
            yield from _of_text(form.ask, (*at, language, number), known)
            ways = sorted(placeholders(form.ask) & WAYS)
            if ways and not language.casefold().startswith("en"):
                yield (*at, language, number), f"{{{ways[0]}}} is made of English answers alone: this is never asked"


def _of_text(text: str, at: Path, known: frozenset[str] = KNOWN) -> Iterator[Caution]:
    unknown = sorted(placeholders(text) - known)
    if unknown:
        yield at, f"unknown placeholder {{{unknown[0]}}}: it stays empty"
    if _BRACE.search(_SLOT.sub("", text)):
        yield at, "a brace that belongs to no placeholder"
