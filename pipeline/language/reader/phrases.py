"""What the words of a text, one by one and in pairs, speak for.

A phrase is a word, or two that follow each other. Its weights stand at the number that its checksum gives, so that none
has to be kept by name: phrases that nobody has learned from meet those of others by chance, which adds little.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from pipeline.language.reader.network import Floats

_WORD: Final = re.compile(r"[a-z']+|\d+")
_STEPS: Final = 127
"""Steps from nothing to the greatest weight, in a file."""
_TABLE, _STEP = "phrases", "phrase_step"


def numbers(text: str, size: int) -> NDArray[np.intp]:
    """The places of a text's phrases in a table, each once, ascending, [phrases].

    Args:
        text: with straight or typographic apostrophes, in large or small letters.
        size: places of the table, a power of two.
    """
    found = _WORD.findall(text.lower().replace("’", "'"))
    pairs = (f"{one} {other}" for one, other in itertools.pairwise(found))
    return np.unique(np.array([crc32(phrase.encode()) & (size - 1) for phrase in (*found, *pairs)], dtype=np.intp))


class Phrases:
    """Weights of phrases for several things at once.

    Args:
        table: what a phrase adds to the logarithm of the odds of each, [places, things]; places are a power of two.
    """

    def __init__(self, table: Floats) -> None:
        self._table = table

    def of(self, text: str) -> Floats:
        """What the phrases of a text add together, [things]."""
        added: Floats = self._table[numbers(text, len(self._table))].sum(axis=0)
        return added

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As arrays for a file, by name, in whole steps of the greatest weight of each thing."""
        step = np.maximum(np.abs(self._table).max(axis=0), 1e-9) / _STEPS
        return {_TABLE: np.round(self._table / step).astype(np.int8), _STEP: step.astype(np.float32)}

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]]) -> Phrases:
        """From the arrays of a file. Raises KeyError, ValueError."""
        table, step = arrays[_TABLE], arrays[_STEP]
        if table.ndim != 2 or len(table) & (len(table) - 1) or step.shape != table.shape[1:]:
            raise ValueError("its phrases are damaged")
        return cls(table.astype(np.float32) * step)
