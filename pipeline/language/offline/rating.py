"""Ratings of an answer by counts of its features: length, clauses, connectors, details, sentiment, hedges.

Each score is the number of steps of its table that the answer's points reach, plus one; the tables are `DEPTH`,
`SPECIFICITY`, `ENGAGEMENT` and `THOUGHT` below. Certainty and valence use tables that are centred on the middle score.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise

from spacy.tokens import Doc, Token
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from pipeline.language.clauses import split
from pipeline.language.connectors import normalised_text
from pipeline.language.offline import lexicon as lex
from pipeline.language.offline.phrasings import phrasing
from pipeline.language.offline.spans import is_without_content
from pipeline.language.srl import SpacyParser
from pipeline.ports import Hedging, Rating, RatingRequest

PROVIDER = "offline"

WORD_STEPS = (6, 12, 25, 45)
"""Words from which an answer counts as short, medium, long, very long; one point each."""
DEPTH = (1.5, 3.0, 5.0, 7.2)
"""Points for a response depth of 2, 3, 4, 5."""
SPECIFICITY = (0.8, 2.0, 3.5, 5.5)
"""Points for a specificity of 2, 3, 4, 5."""
ENGAGEMENT = (1.5, 3.0, 4.5, 6.5)
"""Points for an engagement of 2, 3, 4, 5."""
THOUGHT = (1.5, 2.8, 4.2, 6.0)
"""Points for an intellectual engagement of 2, 3, 4, 5."""
VALENCE = (-0.6, -0.2, 0.2, 0.6)
"""VADER compound from which valence is 2, 3, 4, 5."""
CERTAINTY = (-0.12, -0.045, 0.02, 0.07)
"""(boosters − weighted hedges) per word from which certainty is 2, 3, 4, 5."""
HEDGE_LEVELS = (0.01, 0.04, 0.10)
"""Weighted hedges per word (of at least `HEDGE_MIN_WORDS`) from which hedging is low, medium, high."""
HEDGE_MIN_WORDS = 12
BRIEF = 3
"""An answer of at most this many words has depth `surface`."""


@dataclass(frozen=True)
class Features:
    """Counts in one answer.

    `compound` is VADER's score in [-1, 1]; `hedges` is weighted (an admission of not knowing counts 2).
    """

    words: int
    clauses: int
    reasons: int
    contrasts: int
    details: int
    nouns: int
    examples: int
    values: int
    hedges: float
    boosters: int
    compound: float
    first_person: int
    story: bool
    exclaims: int
    empty: bool


class OfflineRater:
    """Rater of the ports; every answer is rated anew."""

    def __init__(self, parser: SpacyParser, *, executor: Executor | None = None) -> None:
        self._parser = parser
        self._executor = executor
        self._sentiment = SentimentIntensityAnalyzer()

    async def rate(self, request: RatingRequest) -> Rating:
        """Ratings of one answer."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self.rate_sync, request)

    def rate_sync(self, request: RatingRequest) -> Rating:
        """As `rate`, for callers that already are on a worker thread."""
        compound = float(self._sentiment.polarity_scores(request.text)["compound"])
        rating = rating_of(features_of(self._parser.docs.doc(request.text), request.text, compound))
        said, words = request.text.casefold().replace("’", "'"), phrasing(request.language)
        turns, contradicts = (re.search(pattern, said) is not None for pattern in (words.turning, words.contradicts))
        return rating.model_copy(update={"turns": turns, "contradicts": contradicts})


def _names(tokens: Sequence[Token]) -> int:
    """Names of people, places and things: runs of proper nouns."""
    proper = [token.pos_ == "PROPN" for token in tokens]
    return sum(now and not before for before, now in pairwise([False, *proper]))


def features_of(doc: Doc, text: str, compound: float) -> Features:
    """Counts in a parsed answer."""
    tokens = list(doc)
    spoken = [normalised_text(token.text) for token in tokens if any(ch.isalnum() for ch in token.text)]
    said = " " + " ".join(spoken) + " "
    clauses = split(doc)
    kinds = [clause.connector.kind for clause in clauses if clause.connector is not None]
    numbers = sum(1 for token in tokens if token.like_num)
    entities = _names(tokens) + sum(1 for word in spoken if word in lex.TIME_WORDS)
    past = sum(1 for token in tokens if token.tag_ == "VBD")
    first = sum(1 for word in spoken if word in {"i", "me", "my", "we", "our", "us", "myself"})
    return Features(
        words=len(spoken),
        clauses=len(clauses),
        reasons=_count(said, lex.REASONING),
        contrasts=sum(1 for kind in kinds if kind in {"contrast", "condition"}),
        details=max(numbers, entities) + min(numbers, entities) // 2,
        nouns=len({normalised_text(token.lemma_) for token in tokens if token.pos_ in {"NOUN", "PROPN"}}),
        examples=_count(said, lex.EXAMPLES),
        values=len({normalised_text(token.lemma_) for token in tokens} & lex.VALUE_WORDS),
        hedges=float(_count(said, lex.HEDGES[1]) + 2 * _count(said, lex.HEDGES[2])),
        boosters=_count(said, lex.BOOSTERS),
        compound=compound,
        first_person=first,
        story=past >= 2 and first >= 1,
        exclaims=text.count("!"),
        empty=is_without_content(text),
    )


def _count(said: str, listed: Collection[str]) -> int:
    """How many of the listed phrases occur, each as often as it does."""
    return sum(len(re.findall(rf"(?<= ){re.escape(phrase)}(?= )", said)) for phrase in listed if f" {phrase} " in said)


def rating_of(found: Features) -> Rating:
    """Scores, hedging and reasons from counts."""
    length = sum(1 for step in WORD_STEPS if found.words >= step)
    reasons = min(found.reasons, 3)
    examples = min(found.examples, 1) + (0.5 if found.story else 0.0)
    values = min(found.values, 2)
    feeling = abs(found.compound)
    depth = length + 1.0 * reasons + 0.7 * values + 0.8 * examples + (0.5 if found.clauses >= 4 else 0.0)
    specificity = 0.7 * min(found.details, 4) + 0.3 * min(found.nouns, 9) + 0.8 * examples
    engagement = 1.1 * length + 0.3 * min(found.first_person, 4) + feeling + 0.5 * min(found.exclaims, 2) + examples
    thought = 0.9 * reasons + 0.8 * min(found.contrasts, 2) + 0.7 * values + 0.6 * length
    if found.empty or found.words <= BRIEF:
        depth = specificity = thought = 0.0
        engagement = 0.0 if found.exclaims == 0 and feeling < 0.5 else ENGAGEMENT[0]
    hedge_rate = found.hedges / max(found.words, HEDGE_MIN_WORDS)
    sureness = (found.boosters - 1.5 * found.hedges) / max(found.words, HEDGE_MIN_WORDS)
    scores = {
        "response_depth": _step(depth, DEPTH),
        "specificity": _step(specificity, SPECIFICITY),
        "certainty": _step(sureness, CERTAINTY),
        "valence": _step(found.compound, VALENCE),
        "engagement": _step(engagement, ENGAGEMENT),
        "intellectual_engagement": _step(thought, THOUGHT),
    }
    return Rating(
        scores=scores, hedging=_hedging(hedge_rate), rationales=_rationales(found, hedge_rate), provider=PROVIDER
    )


def _step(points: float, steps: Sequence[float]) -> int:
    return 1 + sum(1 for step in steps if points >= step)


def _hedging(rate: float) -> Hedging:
    low, medium, high = HEDGE_LEVELS
    if rate >= high:
        return "high"
    if rate >= medium:
        return "medium"
    return "low" if rate >= low else "none"


def _rationales(found: Features, hedge_rate: float) -> dict[str, str]:
    size = f"{found.words} words in {found.clauses} clauses"
    if found.empty:
        size += ", nothing about the topic"
    return {
        "response_depth": f"{size}; {found.reasons} connectors, {found.values} value words, "
        f"{found.examples} occasions{', a story' if found.story else ''}",
        "specificity": f"{found.details} numbers or names, {found.nouns} different nouns",
        "certainty": f"{found.boosters} words of conviction, hedges weigh {found.hedges:g}",
        "valence": f"sentiment {found.compound:+.2f}",
        "engagement": f"{size}; {found.first_person} times in the first person, sentiment {found.compound:+.2f}",
        "intellectual_engagement": f"{found.reasons} connectors, {found.contrasts} contrasts or conditions, "
        f"{found.values} value words",
        "hedging_language": f"hedges weigh {found.hedges:g}, {hedge_rate:.2f} per word",
    }
