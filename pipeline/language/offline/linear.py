"""A linear model over named features and vectors of the reader, kept in one file."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class LinearModel:
    """Weights.

    Attributes:
        names: of the features.
        encoder: digest of the reader's encoder whose vectors they were fitted to.
        base: what is expected where nothing is known, [outputs].
        mean, deviation: of features and vector, [features + width].
        weights: [features + width, outputs].
    """

    names: tuple[str, ...]
    encoder: str
    base: Floats
    mean: Floats
    deviation: Floats
    weights: Floats

    def expected(self, rows: Sequence[Floats]) -> Floats:
        """What is expected of each of some rows, [rows, outputs]; see `row`."""
        return np.asarray(((np.stack(rows) - self.mean) / self.deviation) @ self.weights + self.base, dtype=np.float32)

    def row(self, named: Mapping[str, float], seen: Floats) -> Floats:
        """Features and vector as one row."""
        return np.concatenate([np.array([named.get(name, 0.0) for name in self.names], dtype=np.float32), seen])

    def saved(self) -> bytes:
        """As the content of a file."""
        kept = io.BytesIO()
        np.savez(
            kept,
            names=np.array(self.names),
            encoder=np.array(self.encoder),
            base=self.base,
            mean=self.mean,
            deviation=self.deviation,
            weights=self.weights,
        )
        return kept.getvalue()

    @classmethod
    def loaded(cls, content: bytes) -> LinearModel:
        """From the content of a file. Raises ValueError, KeyError, EOFError."""
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            arrays: dict[str, NDArray[Any]] = {name: kept[name] for name in kept.files}
        return cls(
            tuple(str(name) for name in arrays["names"]),
            str(arrays["encoder"]),
            *(arrays[name].astype(np.float32) for name in ("base", "mean", "deviation", "weights")),
        )


def shipped(name: str) -> LinearModel | None:
    """A model that is shipped; None where its file is missing or damaged, so that nothing is decided by it."""
    try:
        return LinearModel.loaded(files(__package__).joinpath(name).read_bytes())
    except (OSError, EOFError, ValueError, KeyError):
        return None
