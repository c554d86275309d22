"""What clauses of an answer do besides telling (English): they take leave, ask back, put right, complain.

“It's bedtime for this old crock.”, “Pals off the boats, rather.”, “Third time philosophy.” People have more words for
this than rules know. A small network sees the reader's vectors of a clause, of what stands around it and of the whole,
the reader's chances of acts, and features that a person can read. It has learned from messages that were written for it
by many hands, and from interviews in which readers marked such words. It is made by
`python -m pipeline.language.training.talk`, and lies beside the reader's model as `talk.npz`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.perceptron import Perceptron

DONE: Final = (
    "spent",
    "declines",
    "elsewhere",
    "complains",
    "corrects",
    "corrects_self",
    "asks_back",
    "asks_interviewer",
    "wants_stop",
    "wants_pause",
    "distress",
    "wants_withdrawal",
    "minor",
    "risk",
)
"""What its outputs are the chances of: acts, and that there is no more to tell (`spent`), that the questions have
strayed (`elsewhere`), and that somebody puts right what they have just said themselves (`corrects_self`)."""
JUDGE, DONE_OF, READER_DIGEST = "talk", "done", "encoder_sha256"
LEAST_CHANCE: Final = 1e-4
"""A chance below this counts like it, where its logarithm is seen."""
AROUND = 12
"""Words before and behind a clause that are seen with it."""
LONG_ANSWER, LONG_CLAUSE = 12, 20
"""Clauses and words from which on an answer and a clause are simply long."""
_WORD = re.compile(r"[a-z']+")
_YOU = re.compile(r"\b(?:you|your|you're|you've)\b")
_OF_THE_TALK = re.compile(r"\b(?:again|question|asked|ask|already|said|told|mean)\b")


class TalkModel:
    """The network, ready to be asked; safe to use from several threads.

    Args:
        network: its weights.
        encoder_sha256: digest of the reader's encoder that it is for.
    """

    def __init__(self, network: Perceptron, encoder_sha256: str) -> None:
        self.network = network
        self.encoder_sha256 = encoder_sha256

    @classmethod
    def read(cls, content: bytes) -> TalkModel:
        """From the content of `talk.npz`.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged, or judges something else.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            if tuple(kept[DONE_OF]) != DONE:
                raise ValueError("it judges other acts")
            return cls(Perceptron.read(kept, JUDGE), str(kept[READER_DIGEST]))

    def chances(
        self, reading: Reading, question: str, clauses: Sequence[tuple[int, int, str]], acts: Sequence[Floats | None]
    ) -> Floats:
        """For each clause the probability of each of `DONE`, [clauses, done] in [0, 1]; 0 for one without a word.

        Args:
            reading: of the answer.
            question: that it answers.
            clauses: start, end and words of each, by characters of the answer.
            acts: the reader's chances of each act for each clause, [acts]; None for one without a word.
        """
        found = np.zeros((len(clauses), len(DONE)), dtype=np.float32)
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
    """What the network sees of each clause, [4 · width + acts]: the means of it, of what stands before and behind it,
    and of the answer, and the logarithms of the reader's chances of acts.

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
        words = np.flatnonzero((starts >= start) & (starts < end))
        if own is None or not len(words):
            found.append(None)
            continue
        first, last = int(words[0]), int(words[-1]) + 1
        around = reading.mean[max(0, first - AROUND) : first], reading.mean[last : last + AROUND]
        means = [part.mean(axis=0) if len(part) else np.zeros_like(whole) for part in around]
        logs = np.log(np.clip(own, LEAST_CHANCE, 1.0))
        found.append(np.concatenate([reading.mean[words].mean(axis=0), *means, whole, logs]))
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
