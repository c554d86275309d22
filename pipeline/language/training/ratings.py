"""Reads what moderators thought of what could be said next, with what is known of each moment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.language.offline import echo_worth, probe_worth
from pipeline.language.offline.echo_worth import PROBES, Told
from pipeline.language.offline.echoes import Echo
from pipeline.language.offline.phrasings import phrasing
from pipeline.language.offline.probe_worth import KINDS, MOVES, Before
from pipeline.language.offline.sayable import sayable
from pipeline.language.offline.telling import telling_of
from pipeline.language.srl import DocCache
from pipeline.question.request import LINES

ANSWERS = LINES // 2 + 1
"""Latest answers that a question is written from."""


@dataclass(frozen=True)
class RatedClause:
    """A clause that could be said back, as it was judged.

    Attributes:
        echo: the clause.
        named: its features.
        rating: 0 (ashamed of it) to 3 (exactly this).
        probe: number of the probe that fits best; None where none does.
    """

    echo: Echo
    named: Mapping[str, float]
    rating: int
    probe: int | None


@dataclass(frozen=True)
class RatedMoment:
    """An answer, and what could be said after it.

    Attributes:
        interview: its number.
        tested: whether an idea was tested.
        question, answer: what was asked and said last.
        named: features of the moment.
        clauses: those that were judged and can be said back.
        probes: rating of each kind of bare probe; empty where they were not judged.
        moves: of each way to go on in a concept test; empty where they were not judged.
    """

    interview: int
    tested: bool
    question: str
    answer: str
    named: Mapping[str, float]
    clauses: tuple[RatedClause, ...]
    probes: tuple[int, ...]
    moves: tuple[int, ...]


def read(path: Path, docs: DocCache) -> Iterator[RatedMoment]:
    """The moments of a file of interviews, one per line, without clauses that are not said back any more."""
    speaking = phrasing("en")
    for line in path.read_text("utf-8").splitlines():
        interview = json.loads(line)
        turns = interview["turns"]
        for at, turn in enumerate(turns):
            answers = tuple(each["answer"] for each in turns[: at + 1])[-ANSWERS:]
            questions = tuple(each["question"] for each in turns[: at + 1])
            telling = telling_of(answers, speaking)
            told = Told(
                answer=turn["answer"],
                mean_words=float(np.mean([len(answer.split()) for answer in answers])),
                asked=at + 1,
                method=interview["method"],
                telling=telling,
            )
            before = Before(answers, questions, interview["method"], telling)
            yield RatedMoment(
                interview=interview["id"],
                tested=interview["method"] == echo_worth.CONCEPT_TEST,
                question=turn["question"],
                answer=turn["answer"],
                named=probe_worth.features(before),
                clauses=tuple(_clauses(turn, told, docs)),
                probes=_ratings(turn.get("probes", {}), KINDS),
                moves=_ratings(turn.get("moves", {}), MOVES),
            )


def _clauses(turn: Mapping[str, list[tuple[str, int, str]]], told: Told, docs: DocCache) -> Iterator[RatedClause]:
    judged = {text: (rating, probe) for text, rating, probe in turn.get("echoes", ())}
    found = sayable(told.answer, docs.doc(told.answer)) if judged else ()
    for at, echo in enumerate(found):
        if echo.text in judged:
            rating, probe = judged[echo.text]
            named = echo_worth.features(echo, at, len(found), told)
            yield RatedClause(echo, named, rating, PROBES.index(probe) if probe in PROBES else None)


def _ratings(judged: Mapping[str, int], kinds: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(judged[kind] for kind in kinds) if all(kind in judged for kind in kinds) else ()
