"""What clauses of an answer do beside telling (English): small networks over the reader's vectors, one per model.

A network sees a clause, the answer, the reader's chances of acts, and features that a person can read. It has learned
from answers in which such clauses were marked, and lies beside the reader's model with the digest of the encoder that
it is for.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Self

import numpy as np

from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.perceptron import Perceptron

READER_DIGEST = "encoder_sha256"
LEAST_CHANCE: Final = 1e-4
"""A chance below this counts like it, where its logarithm is seen."""
LONG_ANSWER, LONG_CLAUSE = 12, 20
"""Clauses and words from which on an answer and a clause are simply long."""
_WORD = re.compile(r"[a-z']+")
_YOU = re.compile(r"\b(?:you|your|you're|you've)\b")
_OF_THE_TALK = re.compile(r"\b(?:again|question|asked|ask|already|said|told|mean)\b")


class ClauseModel:
    """A network, ready to be asked; safe to use from several threads.

    Args:
        network: its weights.
        encoder_sha256: digest of the reader's encoder that it is for.
    """

    prefix: ClassVar[str]
    """What the names of its arrays begin with."""
    acts: ClassVar[tuple[str, ...]]
    """What its outputs are the chances of."""

    def __init__(self, network: Perceptron, encoder_sha256: str) -> None:
        self.network = network
        self.encoder_sha256 = encoder_sha256

    @classmethod
    def read(cls, content: bytes) -> Self:
        """From the content of its file.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            network = Perceptron.read(kept, cls.prefix)
            if len(network.narrow_base) != len(cls.acts):
                raise ValueError(f"it judges {len(network.narrow_base)} acts, not {len(cls.acts)}")
            return cls(network, str(kept[READER_DIGEST]))

    def chances(
        self, reading: Reading, question: str, clauses: Sequence[tuple[int, int, str]], acts: Sequence[Floats | None]
    ) -> Floats:
        """For each clause the probability of each of its acts, [clauses, acts] in [0, 1]; 0 for one without a word.

        Args:
            reading: of the answer.
            question: that it answers.
            clauses: start, end and words of each, by characters of the answer.
            acts: the reader's chances of each act for each clause, [acts]; None for one without a word.
        """
        found = np.zeros((len(clauses), len(self.acts)), dtype=np.float32)
        spans = [(start, end) for start, end, _ in clauses]
        rows = {
            at: self.network.row(vector, named(at, len(clauses), words, question))
            for at, ((_, _, words), vector) in enumerate(zip(clauses, seen(reading, spans, acts), strict=True))
            if vector is not None
        }
        if rows:
            found[[*rows]] = 1.0 / (1.0 + np.exp(-self.network.outputs([*rows.values()])))
        return found


def seen(reading: Reading, clauses: Sequence[tuple[int, int]], acts: Sequence[Floats | None]) -> list[Floats | None]:
    """What a network sees of each clause, [2 · width + acts]: its mean, the answer's, and log chances of acts.

    Args:
        reading: of the answer.
        clauses: start and end of each, by characters of the answer.
        acts: the reader's chances of each act for each clause; None for one without a word, of which nothing is seen.
    """
    if not reading.words:
        return [None] * len(clauses)
    starts = np.asarray([word.start for word in reading.words])
    whole = reading.mean.mean(axis=0)
    found: list[Floats | None] = []
    for (start, end), own in zip(clauses, acts, strict=True):
        words = reading.mean[(starts >= start) & (starts < end)]
        logs = None if own is None else np.log(np.clip(own, LEAST_CHANCE, 1.0))
        found.append(None if logs is None else np.concatenate([words.mean(axis=0), whole, logs]))
    return found


def named(at: int, count: int, clause: str, question: str) -> Mapping[str, float]:
    """Features of a clause by name.

    Args:
        at: its number in the answer, from 0.
        count: how many clauses the answer has.
        clause: its words.
        question: that the answer answers.
    """
    text = clause.casefold().replace("’", "'")
    words = _WORD.findall(text)
    asked = set(_WORD.findall(question.casefold().replace("’", "'")))
    return {
        "first": float(at == 0),
        "second": float(at == 1),
        "last": float(at == count - 1),
        "place": at / max(1, count - 1),
        "clauses": min(count, LONG_ANSWER) / LONG_ANSWER,
        "words": min(len(words), LONG_CLAUSE) / LONG_CLAUSE,
        "asks": float("?" in clause),
        "you": float(_YOU.search(text) is not None),
        "of the talk": float(_OF_THE_TALK.search(text) is not None),
        "of the question": sum(word in asked for word in words) / max(1, len(words)),
        "exclaims": float("!" in clause),
    }
