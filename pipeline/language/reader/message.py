"""What a message does as a whole, by a linear model over the reader's vectors (English).

The reader judges clauses, and hears danger where messages tell of nothing of the kind, or passes over a wish to stop
that no clause says by itself. This model judges messages; it has seen, besides messages rich in such acts, thousands of
answers of interviews that had none. It is made by `python -m pipeline.language.training.message`, and lies beside the
reader's model as `message.npz`, with the digest of the encoder that it is for.
"""

from __future__ import annotations

import io
from typing import Final

import numpy as np

from pipeline.acts import Act
from pipeline.language.reader.network import Floats, Reading

JUDGED: Final[tuple[Act, ...]] = (
    "risk",
    "distress",
    "wants_stop",
    "wants_pause",
    "wants_withdrawal",
    "minor",
)
"""The acts that it judges, in the order of its outputs."""
WEIGHTS, BIAS, ACTS_OF, READER_DIGEST = "weights", "bias", "acts", "encoder_sha256"
AROUND = 40
"""Words before and behind those that are judged, which are looked at as well."""


class MessageModel:
    """The model, ready to be asked; safe to use from several threads.

    Args:
        weights: [acts, width].
        bias: what is added, [acts].
        encoder_sha256: digest of the reader's encoder that it is for.
    """

    def __init__(self, weights: Floats, bias: Floats, encoder_sha256: str) -> None:
        self.weights, self.bias = weights, bias
        self.encoder_sha256 = encoder_sha256

    @classmethod
    def read(cls, content: bytes) -> MessageModel:
        """From the content of `message.npz`.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged, or judges other acts.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            if tuple(kept[ACTS_OF]) != JUDGED:
                raise ValueError("it judges other acts")
            weights, bias = (np.asarray(kept[name], dtype=np.float32) for name in (WEIGHTS, BIAS))
            return cls(weights, bias, str(kept[READER_DIGEST]))

    def log_odds(self, reading: Reading, start: int = 0, end: int | None = None) -> dict[Act, float]:
        """For each act the logarithm of the odds that it is done, by characters of an answer and what stands around.

        Args:
            reading: of the answer.
            start, end: of the characters; all of them without an end.
        """
        own = [at for at, word in enumerate(reading.words) if start <= word.start and (end is None or word.start < end)]
        words = reading.mean if end is None or not own else reading.mean[max(0, own[0] - AROUND) : own[-1] + 1 + AROUND]
        found = self.weights @ seen(words) + self.bias if len(words) else self.bias
        return dict(zip(JUDGED, map(float, found), strict=True))


def seen(words: Floats) -> Floats:
    """What the model looks at of the vectors of some words, [words, width]: their mean."""
    return np.asarray(words.mean(axis=0), dtype=np.float32)
