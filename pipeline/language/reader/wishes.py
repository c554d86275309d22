"""What somebody wants who seemed upset and was asked whether to go on (English).

“let me blow my nose”, “haha no it's hay fever”, “can we do the other thing”: people answer that question in words of
their own more often than in those of the offer. A linear model over the reader's vectors of the message and what its
words, one by one and in pairs, speak for have learned from messages that were written for it by several hands. They are
made by `python -m pipeline.language.training.wishes`, and lie beside the reader's model as `wishes.npz`.
"""

from __future__ import annotations

import io
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.language.reader.network import Floats, Reading
from pipeline.language.reader.phrases import Phrases

Wish = Literal["pause", "go_on", "not_upset", "something_else", "stop", "tells"]
WISHES: Final[tuple[Wish, ...]] = ("pause", "go_on", "not_upset", "something_else", "stop", "tells")
"""A break; to go on; they are not upset; another subject; the end; nothing but to tell on."""
READER_DIGEST: Final = "encoder_sha256"
_WEIGHTS, _BIAS, _PHRASE_BIAS = "weights", "bias", "phrase_bias"


class WishModel:
    """The model, ready to be asked; safe to use from several threads.

    Args:
        weights: of what is seen of a message, [3 · width, wishes].
        bias: [wishes].
        phrases: what words speak for.
        phrase_bias: beside them, [wishes].
        encoder_sha256: digest of the reader's encoder that it is for.
    """

    def __init__(
        self, weights: Floats, bias: Floats, phrases: Phrases, phrase_bias: Floats, encoder_sha256: str
    ) -> None:
        self.encoder_sha256 = encoder_sha256
        self._weights, self._bias = weights, bias
        self._phrases, self._phrase_bias = phrases, phrase_bias

    @classmethod
    def read(cls, content: bytes) -> WishModel:
        """From the content of `wishes.npz`.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            weights, bias, beside = (kept[name].astype(np.float32) for name in (_WEIGHTS, _BIAS, _PHRASE_BIAS))
            if weights.ndim != 2 or {weights.shape[1], *bias.shape, *beside.shape} != {len(WISHES)}:
                raise ValueError("its wishes are damaged")
            return cls(weights, bias, Phrases.read(kept), beside, str(kept[READER_DIGEST]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `read` reads, by name."""
        own = {_WEIGHTS: self._weights, _BIAS: self._bias, _PHRASE_BIAS: self._phrase_bias}
        halved: dict[str, NDArray[Any]] = {name: array.astype(np.float16) for name, array in own.items()}
        return halved | {READER_DIGEST: np.array(self.encoder_sha256)} | self._phrases.arrays()

    def chances(self, text: str, reading: Reading) -> Floats | None:
        """The probability of each wish, [wishes]; None where nothing was read.

        Args:
            text: the message.
            reading: it, read behind the question whether to go on.
        """
        if not reading.words:
            return None
        by_vectors = _log_chances(seen(reading) @ self._weights + self._bias)
        by_words = _log_chances(self._phrases.of(text) + self._phrase_bias)
        chances: Floats = np.exp(_log_chances(by_vectors + by_words)).astype(np.float32)
        return chances


def seen(reading: Reading) -> Floats:
    """What is seen of a message, [3 · width]: the vectors of all its words, of its first and its last."""
    return np.concatenate([reading.mean.mean(axis=0), reading.first[0], reading.last[-1]])


def _log_chances(odds: Floats) -> Floats:
    shifted = odds - odds.max()
    chances: Floats = shifted - np.log(np.exp(shifted).sum())
    return chances
