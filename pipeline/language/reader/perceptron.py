"""A perceptron with one hidden layer over vectors of an encoder and named features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.language.reader.heads import gelu
from pipeline.language.reader.network import Floats


@dataclass(frozen=True)
class Perceptron:
    """Weights.

    Attributes:
        names: of the features.
        mean, deviation: of the features, [features].
        wide, wide_base: to the hidden layer, [width + features, hidden] and [hidden].
        narrow, narrow_base: from it, [hidden, outputs] and [outputs].
    """

    names: tuple[str, ...]
    mean: Floats
    deviation: Floats
    wide: Floats
    wide_base: Floats
    narrow: Floats
    narrow_base: Floats

    def row(self, seen: Floats, named: Mapping[str, float]) -> Floats:
        """A vector and features as one row, [width + features]; a feature that is not given is 0."""
        given = np.array([named.get(name, 0.0) for name in self.names], dtype=np.float32)
        return np.concatenate([seen, (given - self.mean) / self.deviation])

    def outputs(self, rows: Sequence[Floats]) -> Floats:
        """What comes out for each of some rows, [rows, outputs]; see `row`."""
        hidden = gelu(np.asarray(np.stack(rows) @ self.wide + self.wide_base, dtype=np.float32))
        return np.asarray(hidden @ self.narrow + self.narrow_base, dtype=np.float32)

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """As arrays for a file, by name, each name with the prefix before it; weights in half precision."""
        kept: dict[str, NDArray[Any]] = {f"{prefix}.names": np.array(self.names)}
        for name in _NUMBERS:
            kept[f"{prefix}.{name}"] = getattr(self, name).astype(np.float32 if name in _EXACT else np.float16)
        return kept

    @classmethod
    def read(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Perceptron:
        """From the arrays of a file. Raises KeyError, ValueError."""
        names = tuple(str(name) for name in arrays[f"{prefix}.names"])
        return cls(names, *(arrays[f"{prefix}.{name}"].astype(np.float32) for name in _NUMBERS))


_NUMBERS = ("mean", "deviation", "wide", "wide_base", "narrow", "narrow_base")
_EXACT = ("mean", "deviation")
