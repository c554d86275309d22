"""Fits linear models over what is seen of whole messages and what their words speak for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.language.reader.linear import LinearModel
from pipeline.language.reader.network import Floats
from pipeline.language.reader.phrases import Phrases, numbers


@dataclass(frozen=True)
class Steps:
    """How a linear model is fitted to all messages at once, by Adam.

    Attributes:
        rounds, rate: of its steps.
        decay: what the squares of all weights cost.
    """

    rounds: int
    rate: float
    decay: float


@dataclass(frozen=True)
class Fitting:
    """How both parts of a model are fitted; `places` are those of the table of phrases."""

    by_vectors: Steps
    by_words: Steps
    places: int


def fitted(vectors: Floats, texts: Sequence[str], wanted: np.ndarray, may: Floats, fitting: Fitting) -> LinearModel:
    """A model that has learned from some messages.

    Args:
        vectors: what is seen of each, [messages, 3 · width].
        texts: their words.
        wanted: the class of each, as a number.
        may: what is added to the odds of each class, [messages, classes].
        fitting: how.
    """
    mean, scale = vectors.mean(axis=0), vectors.std(axis=0) + 1e-3
    weights, bias = _softmax((vectors - mean) / scale, wanted, may, fitting.by_vectors)
    weights = weights / scale[:, None]
    table, beside = _softmax(_phrases(texts, fitting.places), wanted, may, fitting.by_words)
    return LinearModel(weights, bias - mean @ weights, Phrases(table), beside)


def _phrases(texts: Sequence[str], places: int) -> Floats:
    """Which phrases each message has, [messages, places]."""
    rows = np.zeros((len(texts), places), dtype=np.float32)
    for at, text in enumerate(texts):
        rows[at, numbers(text, places)] = 1.0
    return rows


def _softmax(rows: Floats, wanted: np.ndarray, may: Floats, steps: Steps) -> tuple[Floats, Floats]:
    """Weights, [columns, classes], and bias, [classes], by softmax regression among what may be."""
    is_so = np.eye(may.shape[1], dtype=np.float64)[wanted]
    weights = np.zeros((rows.shape[1] + 1, may.shape[1]))
    own = np.concatenate([rows, np.ones((len(rows), 1))], axis=1).astype(np.float64)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps.rounds + 1):
        odds = own @ weights + may
        chances = np.exp(odds - odds.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        slope = own.T @ (chances - is_so) / len(rows)
        slope[:-1] += 2 * steps.decay * weights[:-1]
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        weights -= steps.rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights[:-1].astype(np.float32), weights[-1].astype(np.float32)
