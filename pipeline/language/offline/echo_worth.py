"""What saying a clause back before a plain probe is worth, and which probe: a linear model over named features and the
reader's vectors of the clause.

The weights are in `echo_worth.npz` beside this module, made by `python -m pipeline.language.training.echoes` from
moderators' ratings. They belong to one encoder of the reader; with another there is nothing to say what is worth it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pipeline.language.offline.echoes import Echo
from pipeline.language.offline.telling import Telling
from pipeline.language.reader.network import Reading
from pipeline.question.text import sentences

Floats = NDArray[np.float32]
Probe = Literal["more", "then", "like", "matter", "why", "mind", "gives", "means", "did"]
"""What is asked after what was said back; the sentences are in the phrasing of the language."""
PROBES: Final[tuple[Probe, ...]] = get_args(Probe)
METHODS: Final = ("means_end_chain", "jobs_to_be_done", "critical_incident")
"""Methods for which there are ratings; others have none of these features."""
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
}
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
    spoken = echo.text.split()
    yield f"back={min(echo.back, 4)}", 1.0
    yield "whole", float(echo.whole)
    yield "whole last", float(echo.whole and echo.back == 0)
    yield "words", len(spoken) / 10
    yield "words<4", float(len(spoken) < 4)
    yield "words<6", float(len(spoken) < 6)
    yield "first", float(position == 0)
    yield "count", float(count)
    for name, pattern in _PATTERNS:
        yield name, float(pattern.search(echo.text) is not None)
    for name, holds in asdict(told.telling).items():
        yield f"told.{name}", float(holds)
    said = sentences(told.answer)
    yield f"method={told.method if told.method in METHODS else 'other'}", 1.0
    yield "asked", told.asked / 15
    yield "begun", float(told.asked < EARLY)
    yield "answer words", float(np.log1p(len(told.answer.split())))
    yield "answer sentences", float(np.log1p(len(said)))
    yield "last words", float(np.log1p(len(said[-1].split()) if said else 0))
    yield "mean words", float(np.log1p(told.mean_words))


def vector(echo: Echo, reading: Reading) -> Floats:
    """The reader's mean vector of the words of a clause, [width]."""
    own = [at for at, word in enumerate(reading.words) if echo.start <= word.start and word.end <= echo.end]
    rows = reading.mean[own] if own else reading.whole[None]
    return np.asarray(rows.mean(axis=0), dtype=np.float32)


@dataclass(frozen=True)
class Worth:
    """A clause with what saying it back is worth.

    Attributes:
        echo: the clause.
        rating: to be expected of moderators, 0 (ashamed of it) to 3 (exactly this).
        probes: by probe, how likely it is the one that fits best; unscaled.
    """

    echo: Echo
    rating: float
    probes: Mapping[Probe, float]


@dataclass(frozen=True)
class EchoModel:
    """The weights.

    Attributes:
        names: of the features.
        encoder: digest of the encoder whose vectors they were fitted to.
        base: what is expected of a clause of which nothing is known, [1 + probes].
        mean, deviation: of features and vector, [features + width].
        weights: [features + width, 1 + probes].
    """

    names: tuple[str, ...]
    encoder: str
    base: Floats
    mean: Floats
    deviation: Floats
    weights: Floats

    def worths(self, found: Sequence[Echo], told: Told, reading: Reading) -> list[Worth]:
        """What each clause is worth."""
        if not found:
            return []
        rows = np.stack(
            [self.row(features(echo, at, len(found), told), vector(echo, reading)) for at, echo in enumerate(found)]
        )
        expected = ((rows - self.mean) / self.deviation) @ self.weights + self.base
        return [
            Worth(echo, float(row[0]), {probe: float(row[1 + at]) for at, probe in enumerate(PROBES)})
            for echo, row in zip(found, expected, strict=True)
        ]

    def row(self, named: Mapping[str, float], seen: Floats) -> Floats:
        """Features and vector as one row."""
        return np.concatenate([np.array([named.get(name, 0.0) for name in self.names], dtype=np.float32), seen])

    def saved(self) -> bytes:
        """As the content of a file."""
        kept = io.BytesIO()
        np.savez(
            kept,
            names=np.array(self.names),
            encoder=np.array(self.encoder),
            base=self.base,
            mean=self.mean,
            deviation=self.deviation,
            weights=self.weights,
        )
        return kept.getvalue()

    @classmethod
    def loaded(cls, content: bytes) -> EchoModel:
        """From the content of a file. Raises ValueError, KeyError."""
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            arrays: dict[str, NDArray[Any]] = {name: kept[name] for name in kept.files}
        return cls(
            tuple(str(name) for name in arrays["names"]),
            str(arrays["encoder"]),
            *(arrays[name].astype(np.float32) for name in ("base", "mean", "deviation", "weights")),
        )


@lru_cache(maxsize=1)
def shipped() -> EchoModel | None:
    """The weights that are shipped; None where their file is missing or damaged: then nothing is said back by them."""
    try:
        return EchoModel.loaded(files(__package__).joinpath("echo_worth.npz").read_bytes())
    except (OSError, EOFError, ValueError, KeyError):
        return None
