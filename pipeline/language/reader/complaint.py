"""Which clauses of an answer are a complaint about the interview (English): a small network over the reader's vectors.

People seldom complain outright. They answer, and say beside it that this is asked again, or what an odd thing it is to
ask: “Third time philosophy.”, “You do like that one.” The network has learned from answers of interviews in which
readers marked such words. It is made by `python -m pipeline.language.training.complaint`, and lies beside the reader's
model as `complaint.npz`, with the digest of the encoder that it is for.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.perceptron import Perceptron

PREFIX, READER_DIGEST = "complaint", "encoder_sha256"
LEAST_CHANCE: Final = 1e-4
"""A chance below this counts like it, where its logarithm is seen."""
LONG_ANSWER, LONG_CLAUSE = 12, 20
"""Clauses and words from which on an answer and a clause are simply long."""
_WORD = re.compile(r"[a-z']+")
_YOU = re.compile(r"\b(?:you|your|you're|you've)\b")
_OF_THE_TALK = re.compile(r"\b(?:again|question|asked|ask|already|said|told|mean)\b")


class ComplaintModel:
    """The network, ready to be asked; safe to use from several threads.

    Args:
        network: its weights.
        encoder_sha256: digest of the reader's encoder that it is for.
    """

    def __init__(self, network: Perceptron, encoder_sha256: str) -> None:
        self.network = network
        self.encoder_sha256 = encoder_sha256

    @classmethod
    def read(cls, content: bytes) -> ComplaintModel:
        """From the content of `complaint.npz`.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            return cls(Perceptron.read(kept, PREFIX), str(kept[READER_DIGEST]))

    def chances(
        self, reading: Reading, question: str, clauses: Sequence[tuple[int, int, str]], acts: Sequence[Floats | None]
    ) -> list[float]:
        """For each clause the probability, in [0, 1], that it complains; 0 for one without a word.

        Args:
            reading: of the answer.
            question: that it answers.
            clauses: start, end and words of each, by characters of the answer.
            acts: the reader's chances of each act for each clause, [acts]; None for one without a word.
        """
        rows = {
            at: self.network.row(seen(reading, start, end, own), named(at, len(clauses), words, question))
            for at, ((start, end, words), own) in enumerate(zip(clauses, acts, strict=True))
            if own is not None
        }
        if not rows:
            return [0.0] * len(clauses)
        found = 1.0 / (1.0 + np.exp(-self.network.outputs([*rows.values()])[:, 0]))
        by_clause = dict(zip(rows, map(float, found), strict=True))
        return [by_clause.get(at, 0.0) for at in range(len(clauses))]


def seen(reading: Reading, start: int, end: int, acts: Floats) -> Floats:
    """What the network sees of a clause, [2 · width + acts]: its mean, the answer's, and log chances of acts.

    Args:
        reading: of the answer; it has a word in the clause.
        start, end: of the clause, by characters of the answer.
        acts: the reader's chances of each act.
    """
    own = [at for at, word in enumerate(reading.words) if start <= word.start < end]
    clause = reading.mean[own[0] : own[-1] + 1].mean(axis=0)
    return np.concatenate([clause, reading.mean.mean(axis=0), np.log(np.clip(acts, LEAST_CHANCE, 1.0))])


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
