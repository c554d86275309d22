"""Ridge regression of several outputs, with a strength of its own for each feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.language.offline.linear import LinearModel

Rows = NDArray[np.float64]
SAME = 1e-6
"""Deviation below which a feature is the same everywhere."""


def names_of(named: Sequence[Mapping[str, float]]) -> tuple[str, ...]:
    """The names of all features, in order."""
    return tuple(sorted({name for each in named for name in each}))


def fitted(
    names: tuple[str, ...],
    rows: Rows,
    wanted: Sequence[tuple[Rows, NDArray[np.bool_]]],
    strengths: tuple[float, float],
    encoder: str,
) -> LinearModel:
    """Weights that predict what is wanted.

    Args:
        names: of the first features of each row; the others are vectors of the reader.
        rows: [examples, features + width].
        wanted: outputs, [examples, outputs], each with the examples that it is known of.
        strengths: how small the weights of features are held, and those of vectors.
        encoder: digest of the reader's encoder.
    """
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    deviation[deviation < SAME] = 1.0
    scaled = (rows - mean) / deviation
    strength = np.array([strengths[0]] * len(names) + [strengths[1]] * (rows.shape[1] - len(names)))
    solved = [_solved(scaled[known], outputs[known], strength) for outputs, known in wanted]
    weights = np.hstack([weights for weights, _ in solved])
    base = np.concatenate([base for _, base in solved])
    return LinearModel(names, encoder, *(each.astype(np.float32) for each in (base, mean, deviation, weights)))


def _solved(rows: Rows, wanted: Rows, strength: NDArray[np.float64]) -> tuple[Rows, NDArray[np.float64]]:
    """Weights, and what is added to them."""
    middle, base = rows.mean(axis=0), wanted.mean(axis=0)
    kept = rows - middle
    weights = np.linalg.solve(kept.T @ kept + np.diag(strength), kept.T @ (wanted - base))
    return weights, base - middle @ weights
