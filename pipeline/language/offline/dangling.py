"""Hears in which of the clauses that could be said back there is more to tell, which nobody has asked for (English).

“Everybody was pleased. Well, nearly everybody.” – “I don't go in that shop any more.” Whoever says so would tell on, if
asked. A small network over the vectors of a clause has learned it from messages that were written for it by many hands.
It is made by `python -m pipeline.language.training.dangling`, and lies in the folder `worth` beside this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pipeline.language.offline.clause_model import ClauseModel
from pipeline.language.offline.echo_worth import vector
from pipeline.language.offline.echoes import Echo
from pipeline.language.reader.network import Floats, Reading

FURTHEST, LONG_CLAUSE, LONG_ANSWER = 4, 10, 40
"""Sentences from the end, words of a clause and words of an answer from which on they count alike."""


class DanglingModel(ClauseModel):
    """Hears where there is more to tell."""

    file: ClassVar[str] = "dangling.npz"
    judge: ClassVar[str] = "dangling"

    def chances(self, found: Sequence[Echo], answer: str, reading: Reading) -> Floats:
        """Of each clause the probability that there is more to it, [clauses] in [0, 1].

        Args:
            found: clauses of the answer.
            answer: its words.
            reading: of the answer, by the model of what is worth saying next.
        """
        return self.probabilities((vector(echo, reading), named(echo, answer)) for echo in found)


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
