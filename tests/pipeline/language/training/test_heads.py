"""What the training fits in torch is what the reader computes in numpy."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from pipeline.acts import ACTS
from pipeline.language.reader import heads as runtime
from pipeline.language.reader.encoding import Encoding, Word
from pipeline.language.reader.network import ReaderNetwork, Reading

pytestmark = pytest.mark.needs("torch")
WIDTH, WORDS = 384, 30
PLACES = [(0, 3), (5, 5), (9, 14), (20, 27)]


@pytest.fixture(scope="module")
def torch() -> Any:
    return importlib.import_module("torch")


@pytest.fixture(scope="module")
def fitted(torch: Any) -> Any:
    """Heads with weights of chance, as they are before the training."""
    torch.manual_seed(7)
    made = importlib.import_module("pipeline.language.training.network").Heads(5)
    torch.nn.init.normal_(made.width.weight)
    return made.eval()


@pytest.fixture(scope="module")
def network(fitted: Any) -> ReaderNetwork:
    made = ReaderNetwork.__new__(ReaderNetwork)
    made.weights = {name: value.numpy() for name, value in fitted.state_dict().items()}
    return made


@pytest.fixture(scope="module")
def reading() -> Reading:
    chance = np.random.default_rng(3)
    first, last = (chance.normal(size=(WORDS, WIDTH)).astype(np.float32) for _ in range(2))
    mean = np.asarray((first + last) / 2, dtype=np.float32)
    sums = np.zeros((WORDS + 1, WIDTH), dtype=np.float32)
    np.cumsum(mean, axis=0, out=sums[1:])
    words = tuple(Word(5 * i, 5 * i + 4, i, i, True) for i in range(WORDS))
    whole = chance.normal(size=WIDTH).astype(np.float32)
    return Reading(Encoding(words, ()), first, last, mean, sums, whole, None, ())


def close(torch_value: Any, value: Any) -> None:
    """Equal up to what numbers of single precision allow."""
    np.testing.assert_allclose(torch_value.detach().numpy(), value, rtol=1e-3, atol=1e-3)


def test_spans(torch: Any, fitted: Any, network: ReaderNetwork, reading: Reading) -> None:
    parts = [torch.tensor(part)[None] for part in (reading.first, reading.last, reading.mean)]
    own = fitted.spans(*parts)[0]
    its = runtime.span_logits(network, reading)
    inside = np.isfinite(its)
    assert inside.sum() == sum(min(its.shape[1], WORDS - i) for i in range(WORDS))
    close(own[torch.tensor(inside)], its[inside])


def test_acts_concepts_and_judgements(torch: Any, fitted: Any, network: ReaderNetwork, reading: Reading) -> None:
    close(fitted.act_word(torch.tensor(reading.mean)).softmax(-1), runtime.act_chances(network, reading))
    seen = runtime.seen_concepts(reading, PLACES)
    vectors = runtime.concept_vectors(network, seen)
    close(fitted.concepts(torch.tensor(seen)), vectors)
    for name in ("salience", "stance", "emotion"):
        close(getattr(fitted, name)(torch.tensor(vectors)), network.linear(name, vectors))


def test_types_with_and_without_exemplars(torch: Any, fitted: Any, network: ReaderNetwork, reading: Reading) -> None:
    chance = np.random.default_rng(4)
    texts = chance.normal(size=(3, WIDTH)).astype(np.float32)
    shown = chance.normal(size=(5, WIDTH)).astype(np.float32)
    owner, known = [0, 0, 2, 2, 2], [4, -1, 0]
    seen = runtime.seen_concepts(reading, PLACES)
    learned = np.zeros((3, 128), dtype=np.float32)
    for number, at in enumerate(known):
        if at >= 0:
            learned[number] = runtime.normalised(network.weights["type_known.weight"][at])
    kinds = runtime.TypeVectors(
        runtime.normalised(network.linear("type_described", texts)),
        runtime.normalised(network.linear("type_shown", shown)),
        np.asarray(owner),
        learned,
    )
    own = fitted.types(*(torch.tensor(part) for part in (seen, texts, shown, owner, known)))
    close(own, runtime.type_logits(network, seen, kinds))


def test_pairs_links_and_relations(torch: Any, fitted: Any, network: ReaderNetwork, reading: Reading) -> None:
    vectors = runtime.concept_vectors(network, runtime.seen_concepts(reading, PLACES))
    ends: list[Any] = [*zip(vectors, PLACES, strict=True), (vectors[0], None)]
    pairs = [(i, j) for i in range(len(ends)) for j in range(len(ends)) if i != j]
    between, shapes = [], []
    for i, j in pairs:
        low, high = runtime.between_words(ends[i][1], ends[j][1], WORDS)
        between.append(reading.mean[low:high].mean(axis=0))
        shapes.append(runtime.pair_shape(ends[i][1], ends[j][1]))
    sources, targets = (np.stack([ends[pair[side]][0] for pair in pairs]) for side in (0, 1))
    own = fitted.pairs(*(torch.tensor(np.asarray(part)) for part in (sources, targets, np.stack(between), shapes)))
    its = runtime.pair_vectors(network, reading, ends, pairs)
    close(own, its)
    for name in ("link", "basis"):
        close(getattr(fitted, name)(own), network.linear(name, its))
    texts = np.random.default_rng(5).normal(size=(4, WIDTH)).astype(np.float32)
    described = runtime.normalised(network.linear("edge_described", texts))
    close(fitted.edges(own, torch.tensor(texts)), runtime.edge_logits(network, its, described))


def test_acts_of_the_training_are_those_of_the_reader(torch: Any) -> None:
    assert len(ACTS) == importlib.import_module("pipeline.language.training.network").ACT_COUNT
