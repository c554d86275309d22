"""A linear model over what is seen of a whole message and what its words speak for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.phrases import Phrases

_WEIGHTS: Final = "weights"
_BIAS: Final = "bias"
_PHRASE_BIAS: Final = "phrase_bias"


class LinearModel:
    """The weights, ready to be asked; safe to use from several threads.

    Args:
        weights: of what is seen of a message, [3 · width, classes].
        bias: [classes].
        phrases: what words speak for.
        phrase_bias: beside them, [classes].
    """

    def __init__(self, weights: Floats, bias: Floats, phrases: Phrases, phrase_bias: Floats) -> None:
        self._weights, self._bias = weights, bias
        self._phrases, self._phrase_bias = phrases, phrase_bias

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]], classes: int) -> LinearModel:
        """From the arrays of a file. Raises KeyError, ValueError."""
        weights, bias, beside = (arrays[name].astype(np.float32) for name in (_WEIGHTS, _BIAS, _PHRASE_BIAS))
        if weights.ndim != 2 or {weights.shape[1], *bias.shape, *beside.shape} != {classes}:
            raise ValueError("its weights are damaged")
        return cls(weights, bias, Phrases.read(arrays), beside)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As arrays for a file, by name."""
        own = {_WEIGHTS: self._weights, _BIAS: self._bias, _PHRASE_BIAS: self._phrase_bias}
        halved: dict[str, NDArray[Any]] = {name: array.astype(np.float16) for name, array in own.items()}
        return halved | self._phrases.arrays()

    def log_chances(self, text: str, reading: Reading, may: Floats) -> Floats:
        """Logarithms of the probabilities of the classes, [classes].

        Args:
            text: the message.
            reading: it, with at least one word.
            may: what is added to the odds of each class, so that those that can't be do not count, [classes].
        """
        by_vectors = _log_chances(seen(reading) @ self._weights + self._bias + may)
        by_words = _log_chances(self._phrases.of(text) + self._phrase_bias + may)
        return _log_chances(by_vectors + by_words)


def seen(reading: Reading) -> Floats:
    """What is seen of a message, [3 · width]: the vectors of all its words, of its first and its last."""
    return np.concatenate([reading.mean.mean(axis=0), reading.first[0], reading.last[-1]])


def _log_chances(odds: Floats) -> Floats:
    shifted = odds - odds.max()
    chances: Floats = shifted - np.log(np.exp(shifted).sum())
    return chances
