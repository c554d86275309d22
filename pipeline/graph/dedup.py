"""Deduplication: finds the existing node that a mention refers to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pipeline.graph.polarity import opposed
from pipeline.graph.surface import KGNode, SurfaceGraph
from pipeline.ports import Vectors

DedupMethod = Literal["exact", "jaccard", "embeddings", "hybrid"]

BUILT_IN_SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("foam", "froth"),
    ("cheap", "inexpensive", "affordable", "low price"),
    ("expensive", "costly", "pricey", "high price"),
    ("price", "cost"),
    ("quick", "fast", "rapid", "speedy"),
    ("big", "large"),
    ("little", "small", "tiny"),
    ("easy", "simple", "straightforward"),
    ("hard", "difficult", "tough"),
    ("quiet", "silent", "noiseless"),
    ("noise cancelling", "noise cancellation", "noise canceling", "anc"),
    ("battery life", "battery runtime"),
    ("children", "kids"),
    ("stressed", "stressed out", "under stress"),
    ("relax", "unwind", "wind down"),
    ("buy", "purchase"),
    ("help", "assist"),
    ("begin", "start"),
    ("job", "work"),
    ("tasty", "delicious"),
    ("waiter", "server", "waitress"),
    ("queue", "line up"),
)
"""General synonyms that embeddings miss; concepts and methodologies add their own."""


REMEMBERED_LABELS = 5_000


class SynonymTable:
    """Maps lemmas to one representative per set of synonyms; sets may hold phrases."""

    def __init__(self, sets: Iterable[Sequence[tuple[str, ...]]]) -> None:
        """Args: sets: each a sequence of lemma tuples that mean the same."""
        self._classes: dict[tuple[str, ...], tuple[str, ...]] = {}
        for members in sets:
            known = [self._classes[m] for m in members if m in self._classes]
            head = known[0] if known else next((m for m in members if m), ())
            for member in members:
                if member:
                    self._classes[member] = head
        self._longest = max((len(member) for member in self._classes), default=0)
        self._known: dict[tuple[str, ...], frozenset[str]] = {}

    def canonical_of(self, lemmas: tuple[str, ...]) -> frozenset[str]:
        """As `canonical`, with a cache: the labels of a session are compared in every turn."""
        found = self._known.get(lemmas)
        if found is None:
            if len(self._known) >= REMEMBERED_LABELS:
                self._known.clear()
            found = self._known[lemmas] = self.canonical(lemmas)
        return found

    def canonical(self, lemmas: Sequence[str]) -> frozenset[str]:
        """The lemmas with each known word or phrase replaced by its representative, longest match first."""
        out: list[str] = []
        at = 0
        while at < len(lemmas):
            for size in range(min(self._longest, len(lemmas) - at), 0, -1):
                head = self._classes.get(tuple(lemmas[at : at + size]))
                if head is not None:
                    out.append(" ".join(head))
                    at += size
                    break
            else:
                out.append(lemmas[at])
                at += 1
        return frozenset(out)


@dataclass(frozen=True)
class Match:
    """The node that was found for a mention, by which step, and its similarity (1 for identity)."""

    node_id: str
    step: Literal["identity", "jaccard", "embeddings"]
    similarity: float


@dataclass(frozen=True)
class MentionQuery:
    """A concept of an answer that is looked up in the graph."""

    label: str
    node_type: str
    lemmas: tuple[str, ...]
    stance: int
    vector: Vectors | None


class Deduplicator:
    """Looks mentions up in one session's graph: identity, then lemma overlap, then embeddings.

    Only nodes of the mention's type are compared. Labels of opposite polarity (`pipeline.graph.polarity`) match by
    identity only.
    """

    def __init__(
        self,
        graph: SurfaceGraph,
        vectors: Mapping[str, Vectors],
        synonyms: SynonymTable,
        *,
        method: DedupMethod = "hybrid",
        jaccard: float = 0.75,
        cosine: float = 0.80,
    ) -> None:
        """Args: vectors: L2-normalised, by node id; a node without one is not found by the last step."""
        self._graph = graph
        self._vectors = dict(vectors)
        self._synonyms = synonyms
        self._method = method
        self._jaccard = jaccard
        self._cosine = cosine
        self._by_type: dict[str, list[KGNode]] = {}
        for node in graph.live_nodes():
            self._by_type.setdefault(node.node_type, []).append(node)

    def add(self, node: KGNode, vector: Vectors | None) -> None:
        """Let later mentions of the same turn find this new node."""
        self._by_type.setdefault(node.node_type, []).append(node)
        if vector is not None:
            self._vectors[node.id] = vector

    def find(self, mention: MentionQuery) -> Match | None:
        """The existing node that the mention refers to, if any: the most similar, of equals the oldest."""
        same = self._graph.node_by_identity(mention.label, mention.node_type)
        if same is not None:
            return Match(same.id, "identity", 1.0)
        if self._method == "exact":
            return None
        candidates = self._by_type.get(mention.node_type, ())
        if self._method in ("jaccard", "hybrid"):
            found = self._by_overlap(mention, candidates)
            if found is not None:
                return found
        if self._method in ("embeddings", "hybrid"):
            return self._by_embedding(mention, candidates)
        return None

    def _by_overlap(self, mention: MentionQuery, candidates: Sequence[KGNode]) -> Match | None:
        wanted = self._synonyms.canonical_of(mention.lemmas)
        best: Match | None = None
        if not wanted:
            return None
        for node in candidates:
            have = self._synonyms.canonical_of(node.lemmas)
            common = len(wanted & have)
            if not common:
                continue
            overlap = common / (len(wanted) + len(have) - common)
            better = overlap >= self._jaccard and (best is None or overlap > best.similarity)
            if better and not _opposed(mention, node):
                best = Match(node.id, "jaccard", overlap)
        return best

    def _by_embedding(self, mention: MentionQuery, candidates: Sequence[KGNode]) -> Match | None:
        known = [node for node in candidates if node.id in self._vectors]
        if mention.vector is None or not known:
            return None
        cosines = np.stack([self._vectors[node.id] for node in known]) @ mention.vector
        for i in np.argsort(-cosines, kind="stable"):
            similarity = float(cosines[i])
            if similarity < self._cosine:
                return None
            if not _opposed(mention, known[i]):
                return Match(known[i].id, "embeddings", similarity)
        return None


def _opposed(mention: MentionQuery, node: KGNode) -> bool:
    return opposed(mention.lemmas, node.lemmas, mention.stance, node.stance)
