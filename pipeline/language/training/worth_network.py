"""The network of what is worth saying next in torch: an encoder, and a small network each for clauses and moments."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pipeline.language.embedder import build_tokenizer
from pipeline.language.offline.echo_worth import PROBES
from pipeline.language.offline.probe_worth import KINDS, MOVES
from pipeline.language.reader.encoding import Encoder, Encoding
from pipeline.language.reader.network import owned
from pipeline.language.reader.perceptron import Perceptron
from pipeline.language.training.network import EARLY, HIDDEN, TextEncoder, gelu, padded
from pipeline.language.training.ratings import RatedMoment
from pipeline.question.text import sentences

BATCH, EPOCHS = 16, 3
ALIKE = 40
"""Batches that are sorted by length together."""
RATE, HEAD_RATE = 1e-4, 1e-3
WARMING = 0.1
"""Share of the steps in which the rates rise."""
HELD = 256
"""Width of the hidden layers."""
DROPPED = 0.2
MIDDLE = 1.0
"""What a rating is taken to be before anything is learned."""
OF_MOVES, OF_PROBE = 0.7, 0.3
"""How much the ratings of moves count beside those of clauses, and which probe fits best."""
USABLE = 2
SAME = 1e-6
"""Deviation below which a feature is the same everywhere."""


@dataclass(frozen=True)
class Features:
    """Names of features, with mean and deviation of each."""

    names: tuple[str, ...]
    mean: NDArray[np.float32]
    deviation: NDArray[np.float32]

    @classmethod
    def of(cls, named: Sequence[Mapping[str, float]]) -> Features:
        """Those of some examples."""
        names = tuple(sorted({name for each in named for name in each}))
        rows = np.array([[each.get(name, 0.0) for name in names] for each in named], dtype=np.float32)
        deviation = rows.std(axis=0)
        return cls(names, rows.mean(axis=0), np.where(deviation < SAME, np.float32(1), deviation))

    def row(self, named: Mapping[str, float]) -> Tensor:
        """As numbers of mean 0 and deviation 1."""
        given = np.array([named.get(name, 0.0) for name in self.names], dtype=np.float32)
        return torch.from_numpy((given - self.mean) / self.deviation)


@dataclass(frozen=True)
class Example:
    """A moment as numbers.

    Attributes:
        moment: as it was read.
        encoding: of its question and answer.
        places: of each word: its window, and in that its first and last word piece.
        ending: the first word of the last sentence.
    """

    moment: RatedMoment
    encoding: Encoding
    places: Tensor
    ending: int


class WorthNetwork(nn.Module):
    """Encoder and heads."""

    def __init__(self, clauses: Features, moments: Features) -> None:
        super().__init__()
        self.clauses, self.moments = clauses, moments
        self.encoder = TextEncoder()
        self.dropout = nn.Dropout(DROPPED)
        self.echo_wide = nn.Linear(4 * HIDDEN + len(clauses.names), HELD)
        self.echo_narrow = nn.Linear(HELD, 1 + len(PROBES))
        self.move_wide = nn.Linear(4 * HIDDEN + len(moments.names), HELD)
        self.move_narrow = nn.Linear(HELD, len(KINDS) + len(MOVES))

    def forward(self, batch: Sequence[Example]) -> tuple[Tensor, Tensor]:
        """Outputs for all clauses of a batch, [clauses, 1 + probes], and for its moments, [moments, kinds + moves]."""
        windows = [window for each in batch for window in each.encoding.windows]
        ids, mask = padded([window.ids for window in windows])
        segments, _ = padded([window.segments for window in windows])
        hidden = self.dropout(self.encoder(ids, segments, mask))
        clauses, moments, window = [], [], 0
        for each in batch:
            first = hidden[window + each.places[:, 0], each.places[:, 1]]
            last = hidden[window + each.places[:, 0], each.places[:, 2]]
            mean, whole = (first + last) / 2, hidden[window, 0]
            window += len(each.encoding.windows)
            seen = (whole, mean[each.ending :].mean(0), mean[-1], mean.mean(0))
            moments.append(torch.cat([*seen, self.moments.row(each.moment.named)]))
            for clause in each.moment.clauses:
                start, end = clause.echo.start, clause.echo.end
                own = [at for at, word in enumerate(each.encoding.words) if start <= word.start and word.end <= end]
                said = (mean[own].mean(0), first[own[0]], last[own[-1]], whole) if own else (whole,) * 4
                clauses.append(torch.cat([*said, self.clauses.row(clause.named)]))
        echoes = torch.stack(clauses) if clauses else torch.zeros(0, self.echo_wide.in_features)
        of_clauses = self.echo_narrow(self.dropout(gelu(self.echo_wide(echoes))))
        return of_clauses, self.move_narrow(self.dropout(gelu(self.move_wide(torch.stack(moments)))))

    def heads(self) -> dict[str, Perceptron]:
        """What is written of it besides the encoder."""
        rated = torch.zeros(1 + len(PROBES))
        rated[0] = MIDDLE
        return {
            "echoes": _perceptron(self.clauses, self.echo_wide, self.echo_narrow, rated),
            "moves": _perceptron(self.moments, self.move_wide, self.move_narrow, torch.tensor(MIDDLE)),
        }


def _perceptron(features: Features, wide: nn.Linear, narrow: nn.Linear, added: Tensor) -> Perceptron:
    arrays = (wide.weight.T, wide.bias, narrow.weight.T, narrow.bias + added)
    weights = (each.detach().numpy().astype(np.float32) for each in arrays)
    return Perceptron(features.names, features.mean, features.deviation, *weights)


def examples(moments: Sequence[RatedMoment]) -> list[Example]:
    """Those of them that have words."""
    encoder = Encoder(build_tokenizer())
    found = []
    for moment in moments:
        encoding = encoder.answer(moment.question, "", moment.answer)
        if not encoding.words:
            continue
        said = sentences(moment.answer)
        start = moment.answer.rfind(said[-1]) if said else 0
        ending = next((at for at, word in enumerate(encoding.words) if word.start >= start), len(encoding.words) - 1)
        found.append(Example(moment, encoding, torch.tensor(list(_places(encoding))), ending))
    return found


def _places(encoding: Encoding) -> Iterator[tuple[int, int, int]]:
    parts = [owned(encoding.windows, number) for number in range(len(encoding.windows))]
    for word in encoding.words:
        number = next(at for at, part in enumerate(parts) if part[0] <= word.first < part[1])
        window = encoding.windows[number]
        yield number, word.first + window.shift, min(word.last, window.pieces[1] - 1) + window.shift


def loss(network: WorthNetwork, batch: Sequence[Example]) -> Tensor:
    """How far the network is from what was judged."""
    of_clauses, of_moments = network(batch)
    total = torch.zeros(())
    clauses = [clause for each in batch for clause in each.moment.clauses]
    if clauses:
        ratings = torch.tensor([float(clause.rating) for clause in clauses])
        total = total + ((of_clauses[:, 0] + MIDDLE - ratings) ** 2).mean()
        usable = [at for at, each in enumerate(clauses) if each.rating >= USABLE and each.probe is not None]
        if usable:
            probes = torch.tensor([clauses[at].probe for at in usable])
            total = total + OF_PROBE * nn.functional.cross_entropy(of_clauses[usable, 1:], probes)
    for start, given in ((0, [each.moment.probes for each in batch]), (len(KINDS), [e.moment.moves for e in batch])):
        known = [at for at, ratings in enumerate(given) if ratings]
        if known:
            wanted = torch.tensor([given[at] for at in known], dtype=torch.float32)
            expected = of_moments[known, start : start + wanted.shape[1]] + MIDDLE
            total = total + OF_MOVES * len(known) / len(batch) * ((expected - wanted) ** 2).mean()
    return total


def fit(network: WorthNetwork, learned: Sequence[Example], seed: int = 1, tell: Callable[[str], None] = print) -> None:
    """Train the network in place; `tell` gets a line per epoch."""
    torch.manual_seed(seed)
    chance = random.Random(seed)
    encoder = network.encoder
    # The reader runs these.
    for part in (encoder.pieces, encoder.positions, encoder.segments, encoder.norm, *encoder.layers[:EARLY]):
        part.requires_grad_(False)
    moving: dict[str, list[nn.Parameter]] = {"encoder": [], "heads": []}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            moving["encoder" if name.startswith("encoder.") else "heads"].append(parameter)
    optimiser = torch.optim.AdamW(
        [{"params": moving["encoder"], "lr": RATE}, {"params": moving["heads"], "lr": HEAD_RATE}], weight_decay=0.02
    )
    total = EPOCHS * len(list(batches(learned, chance)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / (WARMING * total)) * max(0.0, 1.0 - step / (total + 1))
    )
    for epoch in range(EPOCHS):
        network.train()
        began, losses = time.monotonic(), []
        for batch in batches(learned, chance):
            found = loss(network, batch)
            optimiser.zero_grad()
            found.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(found.item())
        tell(f"epoch {epoch + 1} of {EPOCHS}: loss {np.mean(losses):.3f}; {time.monotonic() - began:.0f} s")
    network.eval()


def batches(learned: Sequence[Example], chance: random.Random) -> Iterator[Sequence[Example]]:
    """All of them in random order, in batches of like length."""
    order = chance.sample(list(learned), len(learned))
    found = []
    for start in range(0, len(order), BATCH * ALIKE):
        part = sorted(order[start : start + BATCH * ALIKE], key=lambda each: len(each.encoding.words))
        found += [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
    chance.shuffle(found)
    yield from found
