"""Fits what words, and pairs of words, speak for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.language.reader.network import Floats
from pipeline.language.reader.phrases import Phrases, numbers


@dataclass(frozen=True)
class PhraseFitting:
    """How weights are fitted: by logistic regression, with a rate of its own for each.

    Attributes:
        places: of the table, a power of two.
        rounds, rate, decay: of the weights.
        positive: what all texts that do a thing count together, where the others count 1.
        begins: logarithm of the odds before anything is learned.
    """

    places: int = 2**17
    rounds: int = 30
    rate: float = 0.1
    decay: float = 2e-3
    positive: float = 0.3
    begins: float = -3.0


def fitted_phrases(
    texts: Sequence[str], wanted: Floats, counts: Floats, fitting: PhraseFitting, share: float = 1.0
) -> Phrases:
    """Weights that have learned from some texts.

    Args:
        texts: what was said.
        wanted: 1 for what each does, else 0, [texts, things].
        counts: what that counts, [texts, things].
        fitting: how.
        share: what the weights count beside a network.
    """
    rows = [numbers(text, fitting.places) for text in texts]
    does = (wanted * counts).sum(axis=0)
    many = fitting.positive * (counts.sum(axis=0) - does) / np.maximum(does, 1.0)
    each = counts * np.where(wanted > 0, many, 1.0)
    weights = np.zeros((fitting.places, wanted.shape[1]))
    grown, bias = np.full_like(weights, 1e-2), np.full(wanted.shape[1], fitting.begins)
    chance = np.random.default_rng(0)
    for _ in range(fitting.rounds):
        for at in chance.permutation(len(rows)):
            own = rows[at]
            kept = weights[own]
            error = (1.0 / (1.0 + np.exp(-(bias + kept.sum(axis=0)))) - wanted[at]) * each[at]
            grown[own] += error**2
            weights[own] = kept - fitting.rate * (error / np.sqrt(grown[own]) + fitting.decay * kept)
            bias -= fitting.rate**2 * error
    return Phrases((share * weights).astype(np.float32))
