"""Classifies phrases into the node types of a methodology, by exemplars, cues and shape."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.language.offline.exemplars import ExemplarFiles, Exemplars
from pipeline.language.offline.spans import Candidate
from pipeline.methodology import NodeType, Ontology
from pipeline.ports import Vectors

Scores = NDArray[np.float64]
Encode = Callable[[Sequence[str]], Vectors]
Shapes = Callable[[Sequence[str]], list[frozenset[str]]]

NEIGHBOURS = 3
"""Nearest exemplars of a type whose mean similarity counts."""
RIDGE = 1.0
"""Regularisation of the linear classifier over exemplars."""
WEIGHT_CENTROID = 3.0
WEIGHT_NEIGHBOURS = 1.0
WEIGHT_LINEAR = 1.5
WEIGHT_CUE = 0.6
WEIGHT_SHAPE = 0.25
CUE_LIMIT = 1.5
"""The most that cues of one type may count, in hits."""
TEMPERATURE = 0.55


@dataclass(frozen=True)
class TypeModel:
    """The classifier of a methodology's node types.

    `names` has one entry per type; `exemplars` is [exemplars, dimension], `owner` gives each exemplar's type;
    `centroids` is [types, dimension]; `linear` is [dimension + 1, types].
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    exemplars: Vectors
    owner: NDArray[np.int64]
    centroids: Vectors
    linear: Scores
    cues: tuple[re.Pattern[str] | None, ...]
    shapes: dict[str, Scores]

    @property
    def levelled(self) -> bool:
        """Whether the methodology orders its types by abstraction."""
        return max(self.levels) > 0


class TypeModels:
    """Type models by content of the ontology and model of the embedder; built once each."""

    def __init__(self, encode: Encode, shapes: Shapes, limit: int = 32, *, files: ExemplarFiles | None = None) -> None:
        self._encode = encode
        self._shapes = shapes
        self._files = files
        self._limit = limit
        self._models: OrderedDict[str, TypeModel] = OrderedDict()
        self._lock = Lock()

    def model(self, ontology: Ontology) -> TypeModel:
        """The model of this ontology."""
        key = hashlib.sha256(
            repr([(n.name, n.level, n.description, n.examples, n.exemplars, n.cues) for n in ontology.nodes]).encode()
        ).hexdigest()
        with self._lock:
            found = self._models.get(key)
            if found is None:
                found = build(ontology, self._exemplars)
                self._models[key] = found
                while len(self._models) > self._limit:
                    self._models.popitem(last=False)
            else:
                self._models.move_to_end(key)
            return found

    def _exemplars(self, texts: Sequence[str]) -> Exemplars:
        """Vectors and shapes of the texts, from a file where there is one."""
        found = self._files.find(texts) if self._files is not None else None
        if found is None:
            found = Exemplars(self._encode(texts), self._shapes(texts))
            if self._files is not None:
                self._files.keep(texts, found)
        return found


def build(ontology: Ontology, exemplars: Callable[[Sequence[str]], Exemplars]) -> TypeModel:
    """Fit the classifier to exemplars (description and name where a type has none)."""
    texts: list[str] = []
    owner: list[int] = []
    for index, node in enumerate(ontology.nodes):
        own = _texts_of(node)
        texts += own
        owner += [index] * len(own)
    known = exemplars(texts)
    vectors = known.vectors
    owners = np.asarray(owner, dtype=np.int64)
    count = len(ontology.nodes)
    centroids = np.stack([vectors[owners == index].mean(axis=0) for index in range(count)])
    centroids = (centroids / np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), 1e-12)).astype(np.float32)
    return TypeModel(
        names=tuple(node.name for node in ontology.nodes),
        levels=tuple(node.level for node in ontology.nodes),
        exemplars=vectors,
        owner=owners,
        centroids=centroids,
        linear=_fit(vectors.astype(np.float64), owners, count),
        cues=tuple(cue_pattern(node.cues) for node in ontology.nodes),
        shapes=_shape_odds(known.shapes, owners, count),
    )


def _shape_odds(found: Sequence[frozenset[str]], owners: NDArray[np.int64], count: int) -> dict[str, Scores]:
    """Log odds of each type given that a phrase has a feature, against all types alike; shape [types] each."""
    odds: dict[str, Scores] = {}
    totals = np.asarray([max(1, int((owners == index).sum())) for index in range(count)], dtype=np.float64)
    for feature in sorted(set().union(*found)) if found else ():
        having = np.asarray(
            [sum(feature in f for f, o in zip(found, owners, strict=True) if o == t) for t in range(count)]
        )
        rate = (having + 1.0) / (totals + 2.0)
        odds[feature] = np.asarray(np.log(rate) - np.log(rate).mean())
    return odds


def _texts_of(node: NodeType) -> list[str]:
    own = list(dict.fromkeys((*node.exemplars, *node.examples)))
    return own or [node.description, node.name.replace("_", " ")]


def _fit(vectors: Scores, owners: NDArray[np.int64], count: int) -> Scores:
    """Ridge regression, one against all, classes weighted alike; closed form. Shape [dimension + 1, types]."""
    rows = np.hstack([vectors, np.ones((len(vectors), 1))])
    targets = np.where(owners[:, None] == np.arange(count)[None, :], 1.0, 0.0)
    weights = np.asarray([1.0 / max(1, int((owners == owner).sum())) for owner in owners])
    weights *= len(owners) / weights.sum()
    gram = (rows * weights[:, None]) @ rows.T + RIDGE * np.eye(len(rows))
    return np.asarray(rows.T @ np.linalg.solve(gram, weights[:, None] * targets))


def cue_pattern(cues: Sequence[str]) -> re.Pattern[str] | None:
    """Cues as one pattern over plain, tokenised text; longer cues first."""
    parts = sorted({_spaced(cue) for cue in cues if cue.strip()}, key=lambda part: (-len(part), part))
    if not parts:
        return None
    return re.compile(r"(?<![\w'])(?:" + "|".join(re.escape(part) for part in parts) + r")(?![\w])")


def _spaced(cue: str) -> str:
    """The cue as spaCy splits words: "don't" → "do n't", "it's" → "it 's"."""
    spaced = re.sub(r"(\w)n't\b", r"\1 n't", cue.lower().strip())
    spaced = re.sub(r"(\w)('(?:s|m|re|ve|ll|d))\b", r"\1 \2", spaced)
    return re.sub(r"\bcannot\b", "can not", spaced)


def base_scores(model: TypeModel, found: Sequence[Candidate], vectors: Vectors) -> Scores:
    """How well each phrase fits each type, without the prior from the question.

    Args:
        model: the methodology's types.
        found: the phrases.
        vectors: one row per phrase.
    Returns:
        Shape [phrases, types], unbounded; larger is better.
    """
    count = len(model.names)
    if not found:
        return np.zeros((0, count))
    centroid = np.asarray(vectors @ model.centroids.T, dtype=np.float64)
    similar = np.asarray(vectors @ model.exemplars.T, dtype=np.float64)
    nearest = np.stack(
        [np.sort(similar[:, model.owner == index], axis=1)[:, -NEIGHBOURS:].mean(axis=1) for index in range(count)],
        axis=1,
    )
    linear = np.hstack([vectors.astype(np.float64), np.ones((len(found), 1))]) @ model.linear
    scores = WEIGHT_CENTROID * centroid + WEIGHT_NEIGHBOURS * nearest + WEIGHT_LINEAR * linear
    for row, candidate in enumerate(found):
        for index, pattern in enumerate(model.cues):
            if pattern is not None:
                scores[row, index] += WEIGHT_CUE * cue_hits(pattern, candidate.words)
        for feature in candidate.shape:
            if feature in model.shapes:
                scores[row] += WEIGHT_SHAPE * model.shapes[feature]
    return scores


def cue_hits(pattern: re.Pattern[str], text: str) -> float:
    """Weighted number of different cues found: 1 each, 1.5 for a cue of several words; at most `CUE_LIMIT`."""
    hits = sum(1.5 if " " in match else 1.0 for match in set(pattern.findall(text)))
    return min(hits, CUE_LIMIT)


def confidences(scores: Scores) -> Scores:
    """Scores as probabilities per phrase (softmax); shape as given."""
    if not scores.size:
        return scores
    shifted = (scores - scores.max(axis=1, keepdims=True)) / TEMPERATURE
    weights = np.exp(shifted)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class SyncEmbedder(Protocol):
    """An embedder that can be called from a worker thread."""

    def embed_sync(self, texts: Sequence[str]) -> Vectors:
        """One L2-normalised row per text."""
        ...
