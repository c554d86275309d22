"""Hears in which of the clauses that could be said back there is more to tell, which nobody has asked for (English).

“Everybody was pleased. Well, nearly everybody.” – “I don't go in that shop any more.” Whoever says so would tell on, if
asked. A small network over the vectors of a clause has learned it from messages that were written for it by many hands.
It is made by `python -m pipeline.language.training.dangling`, and lies in the folder `worth` beside this module.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from pipeline.language.offline.echo_worth import vector
from pipeline.language.offline.echoes import Echo
from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.perceptron import Perceptron

FILE: Final = "dangling.npz"
JUDGE, MADE_FOR = "dangling", "upper_sha256"
FURTHEST, LONG_CLAUSE, LONG_ANSWER = 4, 10, 40
"""Sentences from the end, words of a clause and words of an answer from which on they count alike."""


class DanglingModel:
    """The network, ready to be asked; safe to use from several threads.

    Args:
        network: its weights.
        upper_sha256: digest of the model whose vectors it has learned to read.
    """

    def __init__(self, network: Perceptron, upper_sha256: str) -> None:
        self.network = network
        self.upper_sha256 = upper_sha256

    @classmethod
    def read(cls, content: bytes) -> DanglingModel:
        """From the content of the file.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            return cls(Perceptron.read(kept, JUDGE), str(kept[MADE_FOR]))

    def chances(self, found: Sequence[Echo], answer: str, reading: Reading) -> Floats:
        """Of each clause the probability that there is more to it, [clauses] in [0, 1].

        Args:
            found: clauses of the answer.
            answer: its words.
            reading: of the answer, by the model of what is worth saying next.
        """
        if not found:
            return np.zeros(0, dtype=np.float32)
        rows = [self.network.row(vector(echo, reading), named(echo, answer)) for echo in found]
        return np.asarray(1.0 / (1.0 + np.exp(-self.network.outputs(rows)[:, 0])), dtype=np.float32)


def named(echo: Echo, answer: str) -> Mapping[str, float]:
    """Features of a clause of an answer, by name."""
    behind = answer[echo.end :].strip()
    return {
        "back": min(echo.back, FURTHEST) / FURTHEST,
        "whole": float(echo.whole),
        "words": min(len(echo.text.split()), LONG_CLAUSE) / LONG_CLAUSE,
        "answer": min(len(answer.split()), LONG_ANSWER) / LONG_ANSWER,
        "last": float(not behind.strip(" .!?…,")),
        "trails off": float(
            behind.startswith(("...", "…")) or answer[echo.start : echo.end].rstrip().endswith(("..", "…"))
        ),
    }
