"""What the reader's network says of words, spans and pairs, in numpy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipeline.language.reader.encoding import Word
from pipeline.language.reader.network import Floats, ReaderNetwork, Reading

Place = tuple[int, int]
"""Words of a concept, first and last, both inclusive."""

SMALL_WORDS = frozenset(
    "a an the my your our his her its their i me you we us they them he him she it to of is are was were be been am do "
    "does did have has had that this these those and or but so just really very quite at in on for with by as if then "
    "there here what which who when where how why get gets got would could can will 'd 'm 's 're 've 'll".split()
)
DISTANCES = (2, 6, 15)
"""Words between two concepts up to which they count as next to, near to and not far from each other."""


def pair_shape(source: Place | None, target: Place | None) -> int:
    """How two concepts stand to each other: order and distance; 8 from the focus (None), 9 to the focus."""
    if source is None:
        return 8
    if target is None:
        return 9
    ahead = source[0] <= target[0]
    gap = (target[0] - source[1]) if ahead else (source[0] - target[1])
    return (0 if ahead else 4) + sum(gap > limit for limit in DISTANCES)


def between_words(source: Place | None, target: Place | None, count: int) -> Place:
    """The words between two concepts, half open; those before a concept where the other is the focus (None)."""
    if source is None or target is None:
        place = source or target
        return (0, min(count, place[0] + 1)) if place else (0, count)
    left, right = sorted((source, target))
    return (left[1] + 1, right[0]) if right[0] > left[1] + 1 else (left[1], min(count, right[0] + 1))


def content_share(words: Sequence[Word], one: Place, other: Place, text: str) -> float:
    """Share of their content words that two spans have in common, in [0, 1]; of all words where there are no others."""
    left, right = _content(words, one, text), _content(words, other, text)
    return len(left & right) / len(left | right) if left | right else 0.0


def _content(words: Sequence[Word], place: Place, text: str) -> set[int]:
    own = [i for i in range(place[0], place[1] + 1) if words[i].spoken]
    return {i for i in own if is_content(text[words[i].start : words[i].end])} or set(own)


@lru_cache(maxsize=8192)
def is_content(word: str) -> bool:
    """Whether a word is more than grammar."""
    plain = re.sub(r"[’ʼ‘`´]", "'", word.lower())
    parts = plain.split("'")
    return any(part and part not in SMALL_WORDS for part in (plain, *parts[:1])) and not (
        len(parts) == 2 and parts[0] in SMALL_WORDS and f"'{parts[1]}" in SMALL_WORDS
    )


def act_chances(network: ReaderNetwork, reading: Reading) -> Floats:
    """Probability of each act per word, [words, acts]."""
    return softmax(network.linear("act_word", reading.mean))


def span_logits(network: ReaderNetwork, reading: Reading) -> Floats:
    """How well words i to i + k say one concept, [words, widest]; −inf where that is no span."""
    weights, count = network.weights, len(reading.words)
    start = network.linear("start_narrow", gelu(network.linear("start_wide", reading.first)))
    end = network.linear("end_narrow", gelu(network.linear("end_wide", reading.last)))
    alone = network.linear("start_alone", reading.first), network.linear("end_alone", reading.last)
    inside = np.concatenate([[0.0], np.cumsum(network.linear("inside", reading.mean)[:, 0])])
    width = weights["width.weight"][:, 0]
    spoken = np.asarray([word.spoken for word in reading.words])
    logits = np.full((count, len(width) - 1), -np.inf, dtype=np.float32)
    scale = np.sqrt(start.shape[1])
    for k in range(min(len(width) - 1, count)):
        n = count - k
        both = np.einsum("ij,ij->i", start[:n], end[k:]) / scale
        mean = (inside[k + 1 :] - inside[:n]) / (k + 1.0)
        logits[:n, k] = np.where(
            spoken[:n] & spoken[k:], both + alone[0][:n, 0] + alone[1][k:, 0] + mean + width[k], -np.inf
        )
    return logits


def best_spans(logits: Floats, least: float) -> list[tuple[Place, float]]:
    """The spans without overlap whose logits above `least` add up to the most, in order, each with its logit."""
    count = len(logits)
    best = [0.0] * (count + 1)
    chosen: list[tuple[int, float] | None] = [None] * (count + 1)
    ends: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for start, k in zip(*np.nonzero(logits > least), strict=True):
        ends[start + k].append((int(start), float(logits[start, k])))
    for end in range(count):
        best[end + 1] = best[end]
        for start, logit in ends[end]:
            if best[start] + logit - least > best[end + 1]:
                best[end + 1] = best[start] + logit - least
                chosen[end + 1] = (start, logit)
    found: list[tuple[Place, float]] = []
    at = count
    while at > 0:
        taken = chosen[at]
        if taken is None:
            at -= 1
            continue
        found.append(((taken[0], at - 1), taken[1]))
        at = taken[0]
    return found[::-1]


def seen_concepts(reading: Reading, places: Sequence[Place]) -> Floats:
    """What is seen of concepts: vectors of the first and last word piece, of all words, and of the whole."""
    rows = [
        np.concatenate(
            [
                reading.first[first],
                reading.last[last],
                (reading.sums[last + 1] - reading.sums[first]) / (last + 1 - first),
                reading.whole,
            ]
        )
        for first, last in places
    ]
    return np.stack(rows)


def seen_focus(reading: Reading) -> Floats | None:
    """The same of the focus, [1, 4 · width]; None without one."""
    if reading.focus is None:
        return None
    return np.concatenate([reading.focus.reshape(-1), reading.whole])[None]


def concept_vectors(network: ReaderNetwork, seen: Floats) -> Floats:
    """Vectors of concepts from what is seen of them, [places, width]."""
    return np.asarray(np.tanh(network.linear("concept", seen)), dtype=np.float32)


@dataclass(frozen=True)
class TypeVectors:
    """A methodology's types in the network's terms: of their descriptions, [types, width], of exemplars, and whose."""

    described: Floats
    shown: Floats
    owner: NDArray[np.int64]
    learned: Floats
    """Vectors of types that the training knew; zero for others."""


def type_vectors(
    network: ReaderNetwork, texts: Sequence[str], exemplars: Sequence[str], owner: Sequence[int]
) -> TypeVectors:
    """The vectors of a methodology's types; computed once."""
    described = normalised(network.linear("type_described", network.pooled(texts)))
    shown = (
        normalised(network.linear("type_shown", network.pooled(exemplars)))
        if exemplars
        else np.zeros((0, described.shape[1]), dtype=np.float32)
    )
    learned = np.zeros_like(described)
    for number, text in enumerate(texts):
        if text in network.known_types:
            learned[number] = normalised(network.weights["type_known.weight"][network.known_types[text]])
    return TypeVectors(described, shown, np.asarray(owner, dtype=np.int64), learned)


def type_logits(network: ReaderNetwork, seen: Floats, kinds: TypeVectors) -> Floats:
    """How well what is seen of each concept fits each type and, last, none; [concepts, types + 1]."""
    scales = network.weights["scales"]
    wide = gelu(network.linear("type_wide", seen))
    own = normalised(network.linear("type_of", wide))
    logits = scales[0] * own @ kinds.described.T + scales[3] * own @ kinds.learned.T
    close = 8.0 * own @ kinds.shown.T
    for number in range(len(kinds.described)):
        its = close[:, kinds.owner == number]
        if its.shape[1]:
            logits[:, number] += scales[1] / 8.0 * (logsumexp(np.asarray(its)) - np.float32(np.log(its.shape[1])))
    none = network.linear("type_none", wide) + scales[2]
    return np.concatenate([logits, none], axis=1)


def pair_vectors(
    network: ReaderNetwork, reading: Reading, ends: Sequence[tuple[Floats, Place | None]], pairs: Sequence[Place]
) -> Floats:
    """Vectors of ordered pairs, [pairs, width].

    Args:
        ends: vector and words of each concept; None for the focus.
        pairs: (source, target), indices of `ends`.
    """
    count = len(reading.words)
    between, shapes = [], []
    for source, target in pairs:
        low, high = between_words(ends[source][1], ends[target][1], count)
        between.append((reading.sums[high] - reading.sums[low]) / max(1, high - low))
        shapes.append(pair_shape(ends[source][1], ends[target][1]))
    vectors = np.stack([vector for vector, _ in ends])
    sources, targets = (network.linear(name, vectors) for name in ("link_source", "link_target"))
    at = np.asarray(pairs)
    return gelu(
        sources[at[:, 0]]
        + targets[at[:, 1]]
        + network.linear("link_between", np.stack(between))
        + network.weights["link_shape.weight"][shapes]
    )


def edge_vectors(network: ReaderNetwork, texts: Sequence[str]) -> Floats:
    """A methodology's relations in the network's terms, [relations, width]; computed once."""
    return normalised(network.linear("edge_described", network.pooled(texts)))


def edge_logits(network: ReaderNetwork, pairs: Floats, edges: Floats) -> Floats:
    """How well each relation fits each pair, [pairs, relations]."""
    return np.asarray(10.0 * normalised(network.linear("edge_of", pairs)) @ edges.T, dtype=np.float32)


def gelu(x: Floats) -> Floats:
    """The Gaussian error linear unit, by its usual approximation."""
    return np.asarray(0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * (x * x * x)))), dtype=np.float32)


def sigmoid(x: Floats) -> Floats:
    """The logistic function."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -60.0, 60.0))), dtype=np.float32)


def softmax(x: Floats) -> Floats:
    """Along the last axis."""
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float32)


def logsumexp(x: Floats) -> Floats:
    """Along the last axis."""
    most = x.max(axis=-1, keepdims=True)
    return np.asarray(most[..., 0] + np.log(np.exp(x - most).sum(axis=-1)), dtype=np.float32)


def normalised(x: Floats) -> Floats:
    """Rows of length 1."""
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12), dtype=np.float32)
