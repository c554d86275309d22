"""Two readings of one answer: the one it was taken with, and that of the whole once it was over."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import fmean

from audio.texts import comparison_key
from audio.types import RATE_HZ, Samples, Transcriber, Word

LONGEST_WORDLESS = RATE_HZ
"""Samples of a piece in which there may be no word: in longer ones some are missing."""
LEAST_PROBABILITY = 1e-4
"""A word that is less likely counts as if it had this probability."""


async def read_pieces(transcriber: Transcriber, pieces: Sequence[Samples], language: str) -> tuple[Word, ...]:
    """The words of an answer that is read once more, piece by piece; none if a piece has none.

    Positions count from the start of the first piece, as if the pieces followed each other.

    Args:
        transcriber: reads them.
        pieces: of the answer, in order, at most 30 s each.
        language: two-letter code.
    Raises:
        TranscriberDropped: somebody else needs the time.
        TranscriberFailed: the model failed.
    """
    words: list[Word] = []
    offset = 0
    for piece in pieces:
        found = await transcriber.transcribe(piece, language=language, purpose="again", offset=offset)
        if not found.words and len(piece) > LONGEST_WORDLESS:
            return ()
        words += found.words
        offset += len(piece)
    return tuple(words)


def same_words(first: Sequence[Word], second: Sequence[Word]) -> bool:
    """Whether both have the same words, whatever their case and punctuation."""
    return _keys(first) == _keys(second)


def is_surer(second: Sequence[Word], first: Sequence[Word]) -> bool:
    """Whether the words of the second reading are likelier than those of the first, by their mean log probability.

    Without words a reading is not surer than any other, and any other is surer than it.
    """
    if not second:
        return False
    return not first or _mean_logprob(second) > _mean_logprob(first)


def _keys(words: Sequence[Word]) -> list[str]:
    return [comparison_key(word.text) for word in words]


def _mean_logprob(words: Sequence[Word]) -> float:
    return fmean(log(max(word.probability, LEAST_PROBABILITY)) for word in words)
