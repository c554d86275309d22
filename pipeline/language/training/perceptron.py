"""Fits small networks that judge clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from pipeline.language.reader.network import Floats
from pipeline.language.reader.perceptron import Perceptron


@dataclass(frozen=True)
class Fitting:
    """How a network is fitted.

    Width of its layer, share that is dropped, rate, weight decay, rounds, rows at a time, and what a clause counts that
    does it. So many networks are fitted as there are seeds; the result is the mean of them.
    """

    hidden: int = 48
    dropped: float = 0.3
    rate: float = 5e-4
    decay: float = 0.3
    rounds: int = 10
    together: int = 64
    positive: float = 1.0
    seeds: tuple[int, ...] = (0, 1, 2)


def perceptron(
    seen: Sequence[Floats],
    features: Sequence[Sequence[float]],
    wanted: Sequence[Sequence[float]],
    counts: Sequence[Sequence[float]],
    fitting: Fitting,
    names: Sequence[str],
) -> Perceptron:
    """A network that has learned from some clauses.

    Args:
        seen: what it sees of each, [clauses, width].
        features: what a person can read of each, [clauses, features].
        wanted: 1 for what each does, else 0, [clauses, acts].
        counts: what that counts, [clauses, acts].
        fitting: how.
        names: of the features.
    """
    vectors, given = np.stack(seen), np.array(features, dtype=np.float32)
    mean, deviation = vectors.mean(axis=0), vectors.std(axis=0) + 1e-5
    named_mean, named_deviation = given.mean(axis=0), given.std(axis=0) + 1e-5
    rows = np.concatenate([(vectors - mean) / deviation, (given - named_mean) / named_deviation], axis=1)
    facts = torch.from_numpy(rows.astype(np.float32)), torch.tensor(wanted), torch.tensor(counts)
    tried = [_trained(*facts, fitting, seed) for seed in fitting.seeds]
    wide = np.concatenate([one.weight.detach().numpy().T for one, _ in tried], axis=1)
    base = np.concatenate([one.bias.detach().numpy() for one, _ in tried])
    narrow = np.concatenate([two.weight.detach().numpy().T for _, two in tried]) / len(tried)
    narrow_base = np.mean([two.bias.detach().numpy() for _, two in tried], axis=0)
    width = vectors.shape[1]
    base = base - (mean / deviation) @ wide[:width]  # Vectors come as they are.
    wide = np.concatenate([wide[:width] / deviation[:, None], wide[width:]])
    kept = (named_mean, named_deviation, wide, base, narrow, narrow_base)
    return Perceptron(tuple(names), *(np.asarray(each, dtype=np.float32) for each in kept))


def _trained(rows: Tensor, wanted: Tensor, counts: Tensor, fitting: Fitting, seed: int) -> tuple[nn.Linear, nn.Linear]:
    torch.manual_seed(seed)
    wide, narrow = nn.Linear(rows.shape[1], fitting.hidden), nn.Linear(fitting.hidden, wanted.shape[1])
    network = nn.Sequential(nn.Dropout(fitting.dropped), wide, nn.GELU(), nn.Dropout(fitting.dropped), narrow)
    steps = torch.optim.AdamW(network.parameters(), fitting.rate, weight_decay=fitting.decay)
    network.train()
    for _ in range(fitting.rounds):
        for part in torch.randperm(len(rows)).split(fitting.together):
            steps.zero_grad()
            each = nn.functional.binary_cross_entropy_with_logits(
                network(rows[part]),
                wanted[part],
                reduction="none",
                pos_weight=torch.tensor(fitting.positive),
            )
            (each * counts[part]).mean().backward()
            steps.step()
    return wide, narrow
