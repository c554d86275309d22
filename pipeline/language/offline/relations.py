"""Relations between the concepts of an answer: which pairs, in which direction, of which type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipeline.graph.surface import REVISES, Basis
from pipeline.language.clauses import Clause
from pipeline.language.connectors import CONNECTORS, Kind
from pipeline.methodology import EdgeType, Ontology

FORWARD_MARKERS = frozenset(c.marker for c in CONNECTORS if c.kind in {"cause", "purpose"} and c.effect == "after")
BACKWARD_MARKERS = frozenset(c.marker for c in CONNECTORS if c.kind == "cause" and c.effect == "before")
CONTRAST_MARKERS = frozenset(c.marker for c in CONNECTORS if c.kind == "contrast")

CONFIDENCE = {
    "connector": 0.85,
    "focus": 0.7,
    "shared": 0.6,
    "purpose": 0.6,
    "setting": 0.55,
    "adjacent": 0.5,
    "next": 0.45,
}
"""Confidence of a link by how its ends stand to each other."""
BASIS: dict[str, Basis] = {
    "connector": "stated",
    "shared": "stated",
    "purpose": "stated",
    "setting": "stated",
    "adjacent": "inferred",
    "next": "inferred",
}
"""What a link rests on by how its ends stand to each other."""
ALTERNATIVE_FROM = 0.12
"""Confidence from which a type other than the best may be taken to make a stated relation possible."""


@dataclass
class AnswerConcept:
    """A concept of this answer, while its type is not decided yet.

    `types` are (name, confidence), best first; a `fixed` concept repeats an existing node and keeps its type.
    """

    label: str
    clause: int
    quote: str
    types: list[tuple[str, float]]
    fixed: bool = False
    stance: int = 0
    negated: bool = False
    opener: str = ""
    past_state: bool = False
    settled: bool = False
    element_ids: tuple[str, ...] = ()
    chance: float | None = None
    """Probability of its being a concept, where that was judged."""
    salience: int | None = None
    emotion: int | None = None

    @property
    def node_type(self) -> str:
        """The current type."""
        return self.types[0][0]

    @property
    def confidence(self) -> float:
        """How sure the reading is, in [0, 1]: of its being a concept and of its type, where both were judged."""
        if self.chance is not None:
            return round(min(1.0, self.chance * self.types[0][1]), 3)
        return min(1.0, round(0.45 + 0.5 * self.types[0][1], 3))

    def take(self, name: str) -> None:
        """Make another of its types the current one."""
        self.types.sort(key=lambda pair: pair[0] != name)


@dataclass(frozen=True)
class Pair:
    """Two concepts that are joined in the answer, by index; cause (or earlier, or more concrete) first.

    `via` is the concept whose link a "shared" pair repeats.
    """

    cause: int
    effect: int
    marker: str
    kind: Kind
    basis: str
    via: int = -1


@dataclass(frozen=True)
class Link:
    """A proposed edge: ends are labels; `allowed` says whether the methodology permits it."""

    source: str
    target: str
    edge_type: str
    confidence: float
    quote: str
    basis: Basis
    allowed: bool = True


def pairs_of(clauses: Sequence[Clause], mentions: Sequence[AnswerConcept]) -> list[Pair]:
    """Pairs joined by connectors, then those that "and" adds to them, then neighbours that nothing else joins."""
    by_clause: dict[int, list[int]] = {}
    for position, mention in enumerate(mentions):
        by_clause.setdefault(mention.clause, []).append(position)
    found = _Pairs()
    for index, clause in enumerate(clauses):
        own = by_clause.get(index, [])
        for left, right in pairwise(own):
            found.add(Pair(left, right, mentions[left].opener, "sequence", "setting"))
        if clause.connector is None or clause.joined_to is None:
            continue
        here = _nearest(by_clause, index, 0 if own else 1, len(clauses))
        there = _nearest(by_clause, clause.joined_to, 1 if clause.fronted else -1, len(clauses))
        if here is None or there is None or here == there:
            continue
        cause, effect = (there, here) if clause.connector.effect == "after" else (here, there)
        found.add(Pair(cause, effect, clause.connector.marker, clause.connector.kind, "connector"))
    for left, right in pairwise(range(len(mentions))):
        _add_neighbour(found, clauses, mentions, left, right)
    return found.pairs


class _Pairs:
    """Pairs without repeats in either direction."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self._ends: set[tuple[int, int]] = set()

    def add(self, pair: Pair) -> None:
        ends = (min(pair.cause, pair.effect), max(pair.cause, pair.effect))
        if ends not in self._ends:
            self._ends.add(ends)
            self.pairs.append(pair)

    def to(self, effect: int) -> Pair | None:
        """The stated pair that ends in this mention."""
        return next((p for p in self.pairs if p.effect == effect and p.basis in {"connector", "shared"}), None)


def _add_neighbour(
    found: _Pairs, clauses: Sequence[Clause], mentions: Sequence[AnswerConcept], left: int, right: int
) -> None:
    before, after = clauses[mentions[left].clause], clauses[mentions[right].clause]
    if mentions[left].clause == mentions[right].clause or before.fronted:
        return
    if after.connector is not None and after.joined_to is not None:
        return
    if after.break_before == "purpose":
        found.add(Pair(left, right, "while", "sequence", "purpose"))
        return
    same = before.sentence == after.sentence
    found.add(Pair(left, right, "and", "sequence", "adjacent" if same else "next"))
    earlier = found.to(left)
    if same and after.break_before in {"and", "comma"} and earlier is not None and earlier.kind in {"cause", "purpose"}:
        found.add(Pair(earlier.cause, right, earlier.marker, earlier.kind, "shared", via=left))


def _nearest(by_clause: dict[int, list[int]], start: int, step: int, count: int) -> int | None:
    """A mention of that clause, or of the next one in that direction at most two clauses away."""
    index = start
    for _ in range(3):
        if not 0 <= index < count:
            return None
        own = by_clause.get(index)
        if own:
            return own[-1]
        if step == 0:
            return None
        index += step
    return None


class EdgeChooser:
    """Chooses a relation of the methodology for two concepts."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._edges = [edge for edge in ontology.edges if edge.name != REVISES]
        self._levels = {node.name: node.level for node in ontology.nodes}
        self.levelled = any(self._levels.values())

    def choose(self, cause_type: str, effect_type: str, marker: str, kind: str) -> tuple[EdgeType, bool, float] | None:
        """The best permitted relation, or None.

        Args:
            cause_type: type of the cause, or of what comes first.
            effect_type: type of the other.
            marker: the connector, "and" for mere neighbourhood.
            kind: kind of the connector, or "focus".
        Returns:
            The relation, whether it runs from cause to effect, and a score (larger is better).
        """
        best: tuple[EdgeType, bool, float] | None = None
        for rank, edge in enumerate(self._edges):
            for forward in (True, False):
                source, target = (cause_type, effect_type) if forward else (effect_type, cause_type)
                if not edge.permits(source, target):
                    continue
                score = self._fit(edge, forward, source, target, marker, kind) - 0.01 * rank
                if score > 0 and (best is None or score > best[2]):
                    best = (edge, forward, score)
        return best

    def _fit(self, edge: EdgeType, forward: bool, source: str, target: str, marker: str, kind: str) -> float:
        """How well a permitted relation fits the connector; 0 for not at all."""
        if self.levelled:
            below, above = self._levels.get(source, 0), self._levels.get(target, 0)
            if below > above:
                return 0.0
            if kind == "contrast" and marker != "focus":
                return 0.0
            stated = marker in FORWARD_MARKERS or kind in {"sequence", "condition"}
            return 1.0 if forward else (0.5 if below < above and not stated else 0.0)
        cues = frozenset(edge.cues)
        cued = 0.5 if marker in cues else 0.0
        ahead, back = bool(cues & FORWARD_MARKERS), bool(cues & BACKWARD_MARKERS)
        adversative = bool(cues & CONTRAST_MARKERS)
        if kind == "contrast":
            against = (marker == "focus") == forward
            return (1.0 + cued if adversative else 0.0) - (0.2 if against else 0.0)
        if kind == "focus":
            return 0.6 if adversative else 1.0 - (0.0 if forward else 0.3)
        if adversative:
            return 0.0
        if kind in {"cause", "purpose"}:
            if back and not ahead:
                return 0.0 if forward else 1.0 + cued
            if not ahead:
                return cued
            fit = 1.0 if forward else 0.8 if back else 0.0
            return fit + cued if fit else 0.0
        if kind == "condition":
            return cued + (0.4 if ahead and forward else 0.2 if not forward and (back or cued) else 0.0)
        if ahead:
            return cued if forward else 0.0
        return cued


def settle_types(pairs: Sequence[Pair], mentions: Sequence[AnswerConcept], chooser: EdgeChooser) -> None:
    """Decide between likely types of two concepts by the relation that a connector states.

    Where the best types of both ends permit no relation, the most likely combination of types that does is taken.
    """
    for pair in pairs:
        if pair.basis != "connector" or pair.kind == "condition":
            continue
        first, second = mentions[pair.cause], mentions[pair.effect]
        if chooser.choose(first.node_type, second.node_type, pair.marker, pair.kind) is None:
            options = [
                (confidence * other, name, name_other)
                for name, confidence in _open_types(first)
                for name_other, other in _open_types(second)
                if chooser.choose(name, name_other, pair.marker, pair.kind) is not None
            ]
            if not options:
                continue
            _, name, name_other = max(options, key=lambda option: option[0])
            first.take(name)
            second.take(name_other)
        first.settled = second.settled = True


def _open_types(mention: AnswerConcept) -> list[tuple[str, float]]:
    if mention.fixed or mention.settled:
        return mention.types[:1]
    return [mention.types[0], *((name, c) for name, c in mention.types[1:3] if c >= ALTERNATIVE_FROM)]
