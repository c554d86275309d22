"""What a bare probe is worth after an answer, and in a concept test each way to go on: by how the answer was told, what
was asked before, and the vectors of the answer in the model of what is worth saying next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from pipeline.language.offline.echo_worth import METHODS
from pipeline.language.offline.telling import Telling
from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.perceptron import Perceptron
from pipeline.question.text import sentences

_ASKS: Final = {
    "more": r"\bmore about (?:that|it)\b|\babout (?:it|that), as much\b|\bgo on\.$",
    "then": r"\bhappened (?:then|next)\b|^and then\b|\bgo on from there\b",
    "like": r"\b(?:that|it) like\b|\bhow was (?:that|it)\b",
    "matter": r"\b(?:matters?|important) to you\b|\bthat important\b",
    "why": r"\bmade you (?!feel)",
    "mind": r"\bthrough your mind\b|\bgoing on in you\b",
    "gives": r"\b(?:that|it) (?:give you|do (?:for|to) you)\b",
    "means": r"\b(?:that|it) mean (?:to|for) you\b",
    "did": r"\bdid you do\b",
    "came": r"\bcome (?:about|to that|from)\b",
    "else": r"\b(?:what else|apart from)\b",
    "closing": r"\bbefore we (?:finish|stop)\b|\bhaven't i asked\b|\blast (?:thing|question)\b",
}
KINDS: Final = tuple(_ASKS)
"""What a probe asks for, as it was rated."""
MOVES: Final = (*KINDS, "named", "back", "settle", "idea", "expect", "part", "side")
"""The ways to go on in a concept test: the bare probes; one thing of the answer, something that was passed over before,
how it would have to be, the way back to the idea, what would be expected, a part of the idea that was not spoken of,
another side of it."""
_PATTERNS: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS.items())
_TAKES_UP: Final = re.compile(
    r"^(?:You|He|She|It|They|That|There|Your) (?!\w+ (?:me|us)\b)[^?]*\. |[“]|\bearlier\b", re.IGNORECASE
)
LATELY: Final = 6
MOST: Final = 3
"""Times that a kind was asked lately, beyond which one more makes no difference."""


@dataclass(frozen=True)
class Before:
    """The moment.

    Attributes:
        answers: of the interview, the last one at the end.
        questions: of the interview, the last one at the end.
        method: name of the methodology.
        telling: how the last answer was told.
    """

    answers: tuple[str, ...]
    questions: tuple[str, ...]
    method: str
    telling: Telling


@lru_cache(maxsize=4096)
def kind_of(question: str) -> str:
    """What a question asks for; nothing where it is none of `KINDS`."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(question)), "")


def features(before: Before) -> dict[str, float]:
    """What is known of the moment, by name."""
    return dict(_features(before))


def _features(before: Before) -> Iterator[tuple[str, float]]:
    said = sentences(before.answers[-1])
    counts = [len(answer.split()) for answer in before.answers]
    for name, holds in asdict(before.telling).items():
        yield f"told.{name}", float(holds)
    yield f"method={before.method if before.method in METHODS else 'other'}", 1.0
    yield "asked", len(before.questions) / 15
    yield "begun", float(len(before.questions) < 2)
    yield "words", float(np.log1p(counts[-1]))
    yield "sentences", float(np.log1p(len(said)))
    yield "last words", float(np.log1p(len(said[-1].split()) if said else 0))
    yield "terse", float(counts[-1] < 6)
    yield "mean words", float(np.log1p(np.mean(counts)))
    kinds = [kind_of(question) for question in before.questions]
    for kind in KINDS:
        yield f"last={kind}", float(kinds[-1:] == [kind])
        yield f"before={kind}", float(kinds[-2:-1] == [kind])
        yield f"lately={kind}", float(min(sum(each == kind for each in kinds[-LATELY:]), MOST))
    takes = [_TAKES_UP.search(question) is not None for question in before.questions]
    yield "last takes up", float(takes[-1:] == [True])
    yield "lately takes up", float(min(sum(takes[-LATELY:]), MOST))


def vector(answer: str, reading: Reading) -> Floats:
    """The vectors of the whole, of the last sentence, of its end and of all words, [4 · width]."""
    if not len(reading.mean):
        return np.concatenate([reading.whole] * 4)
    said = sentences(answer)
    start = answer.rfind(said[-1]) if said else 0
    last = [at for at, word in enumerate(reading.words) if word.start >= start]
    ending = reading.mean[last].mean(axis=0) if last else reading.mean[-1]
    return np.concatenate([reading.whole, ending, reading.mean[-1], reading.mean.mean(axis=0)])


def ratings(model: Perceptron, before: Before, reading: Reading, *, tested: bool) -> dict[str, float]:
    """What moderators are expected to think of each kind of probe, 0 (ashamed of it) to 3 (exactly this).

    Args:
        model: of moments.
        before: the moment.
        reading: of the last answer.
        tested: whether an idea is tested: then of each of `MOVES`.
    """
    [given] = model.outputs([model.row(vector(before.answers[-1], reading), features(before))])
    kinds, values = (MOVES, given[len(KINDS) :]) if tested else (KINDS, given[: len(KINDS)])
    return dict(zip(kinds, map(float, values), strict=True))
