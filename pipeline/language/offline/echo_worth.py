"""What saying a clause back before a plain probe is worth, and which probe, by named features and the vectors of the
clause in the model of what is worth saying next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal, get_args

import numpy as np

from pipeline.language.offline.echoes import Echo, is_imagined, may_be_imagined
from pipeline.language.offline.telling import Telling
from pipeline.language.reader.heads import softmax
from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.perceptron import Perceptron
from pipeline.question.text import sentences

Probe = Literal["more", "then", "like", "matter", "why", "mind", "gives", "means", "did"]
"""What is asked after what was said back; the sentences are in the phrasing of the language."""
PROBES: Final[tuple[Probe, ...]] = get_args(Probe)
METHODS: Final = ("means_end_chain", "jobs_to_be_done", "critical_incident")
"""Methods for which there are ratings; others have none of these features."""
CONCEPT_TEST: Final = "concept_test"
"""What stands for the method of an interview about an idea, whatever its methodology: there are ratings for those."""
EARLY: Final = 2
"""Questions up to which an interview has only begun."""
_WORDS: Final = {
    "denied": r"\b(?:not|never|nothing|nobody|no|no one)\b|n't\b",
    "own": r"\b(?:you|your)\b",
    "inner": r"\b(?:felt|feel|want(?:ed)?|thought|knew|know|need(?:ed)?|afraid|ashamed|cried|alone|proud|safe|trust\w*"
    r"|believ\w+|miss\w*|love\w*|lost|died|dead)\b",
    "spoken": r"\b(?:said|told|asked|called)\b",
    "figure": r"\d",
    "present": r"\b(?:is|are|'s|'re|has|have|do|does)\b",
    "marked": r"\b(?:only|still|first|always|ever|anymore|any more|again|same)\b",
    "comma": r",",
    "begins you": r"^you\b(?!')",
    "begins you're": r"^you'",
    "begins he, she": r"^s?he\b",
    "begins they, we": r"^(?:they|we)\b",
    "begins it": r"^it\b",
    "begins that": r"^that\b",
    "begins there": r"^there\b",
    "begins noun": r"^(?:your|the|an?)\b",
    "extreme": r"\b(?:worst|best|most|never|always|only|nobody|nothing|ever|everything|forever|all)\b",
    "minded": r"\b(?:hate|love|like|fear|scared|annoy\w*|happy|sad|tight|funny|shame|proud|worry|worried|owe)\b",
    "you never": r"\byou(?:'ve)? never\b",
    "you don't": r"\byou (?:don't|didn't|can't|couldn't|wouldn't)\b",
    "because": r"\bbecause\b",
    "past": r"\b(?:was|were|had|did|didn't|\w{3,}ed)\b",
    "you will": r"\byou'll\b",
    "you think": r"\byou(?:'d| would)? (?:think|say|guess|suppose|expect|read|said|like|find)\b",
    "auxiliary": r"\b(?:is|are|was|were|has|have|had|do|does|did|can|could|would|will|might|must|should)\b"
    r"|'(?:s|re|ve|m|d|ll)\b|n't",
}
IN_TESTS: Final = ("imagined", "past", "own", "inner", "denied", "begins you", "begins it", "words", "asked")
"""What counts otherwise where an idea is spoken of that does not exist yet."""
_PATTERNS: Final = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _WORDS.items())


@dataclass(frozen=True)
class Told:
    """What is known of the moment.

    Attributes:
        answer: the last answer.
        mean_words: words of an answer of this interview, in the mean.
        asked: questions of the interview so far.
        method: name of the methodology.
        telling: how the answer was told.
    """

    answer: str
    mean_words: float
    asked: int
    method: str
    telling: Telling


def features(echo: Echo, position: int, count: int, told: Told) -> dict[str, float]:
    """What speaks for and against a clause, by name; `position` of `count` clauses of its answer, from 0."""
    return dict(_features(echo, position, count, told))


def _features(echo: Echo, position: int, count: int, told: Told) -> Iterator[tuple[str, float]]:
    known = dict(_plain_features(echo, position, count, told))
    yield from known.items()
    if told.method == CONCEPT_TEST:
        yield from ((f"test.{name}", known[name]) for name in IN_TESTS)


def _plain_features(echo: Echo, position: int, count: int, told: Told) -> Iterator[tuple[str, float]]:
    spoken = echo.text.split()
    yield f"back={min(echo.back, 4)}", 1.0
    yield "whole", float(echo.whole)
    yield "whole last", float(echo.whole and echo.back == 0)
    yield "words", len(spoken) / 10
    yield "words<4", float(len(spoken) < 4)
    yield "words<6", float(len(spoken) < 6)
    yield "words>8", float(len(spoken) > 8)
    yield "first", float(position == 0)
    yield "count", float(count)
    for name, pattern in _PATTERNS:
        yield name, float(pattern.search(echo.text) is not None)
    yield "imagined", float(is_imagined(echo.text) or may_be_imagined(echo.text))
    for name, holds in asdict(told.telling).items():
        yield f"told.{name}", float(holds)
    said = sentences(told.answer)
    yield f"method={told.method if told.method in (*METHODS, CONCEPT_TEST) else 'other'}", 1.0
    yield "asked", told.asked / 15
    yield "begun", float(told.asked < EARLY)
    yield "answer words", float(np.log1p(len(told.answer.split())))
    yield "answer sentences", float(np.log1p(len(said)))
    yield "last words", float(np.log1p(len(said[-1].split()) if said else 0))
    yield "mean words", float(np.log1p(told.mean_words))


def vector(echo: Echo, reading: Reading) -> Floats:
    """The vectors of a clause: of all its words, of the first, of the last, and of the whole answer, [4 · width]."""
    own = [at for at, word in enumerate(reading.words) if echo.start <= word.start and word.end <= echo.end]
    if not own:
        return np.concatenate([reading.whole] * 4)
    return np.concatenate([reading.mean[own].mean(axis=0), reading.first[own[0]], reading.last[own[-1]], reading.whole])


@dataclass(frozen=True)
class Worth:
    """A clause with what saying it back is worth.

    Attributes:
        echo: the clause.
        rating: to be expected of moderators, 0 (ashamed of it) to 3 (exactly this).
        probes: by probe, how likely it is the one that fits best, in [0, 1].
        dangles: how likely there is more to it, in [0, 1].
    """

    echo: Echo
    rating: float
    probes: Mapping[Probe, float]
    dangles: float = 0.0


def worths(model: Perceptron, found: Sequence[Echo], told: Told, reading: Reading) -> list[Worth]:
    """What each clause is worth."""
    if not found:
        return []
    rows = [model.row(vector(echo, reading), features(echo, at, len(found), told)) for at, echo in enumerate(found)]
    given = model.outputs(rows)
    return [
        Worth(echo, float(row[0]), dict(zip(PROBES, map(float, probes), strict=True)))
        for echo, row, probes in zip(found, given, softmax(given[:, 1:]), strict=True)
    ]
