"""Which of an answer's concepts belong together, in which direction, and by which relation of the methodology."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pipeline.graph.surface import REVISES
from pipeline.language.clauses import Clause
from pipeline.language.connectors import CONNECTORS, Kind
from pipeline.methodology import EdgeType, Ontology

FORWARD_MARKERS = frozenset(c.marker for c in CONNECTORS if c.kind in {"cause", "purpose"} and c.effect == "after")
BACKWARD_MARKERS = frozenset(c.marker for c in CONNECTORS if c.kind == "cause" and c.effect == "before")
CONTRAST_MARKERS = frozenset(c.marker for c in CONNECTORS if c.kind == "contrast")

CONFIDENCE = {"connector": 0.85, "focus": 0.7, "adjacent": 0.5, "setting": 0.55}
"""Confidence of a link by what it rests on."""
ALTERNATIVE_FROM = 0.12
"""Confidence from which a type other than the best may be taken to make a stated relation possible."""


@dataclass
class Mention:
    """A concept as it stands in this answer, while its type is still open.

    `types` are (name, confidence), best first; `fixed` mentions repeat an existing node and keep its type.
    """

    label: str
    clause: int
    quote: str
    types: list[tuple[str, float]]
    fixed: bool = False
    stance: int = 0
    negated: bool = False
    fronted: bool = False
    links: set[int] = field(default_factory=set)

    @property
    def node_type(self) -> str:
        """The type held at the moment."""
        return self.types[0][0]

    def take(self, name: str) -> None:
        """Hold another of its types."""
        self.types.sort(key=lambda pair: pair[0] != name)


@dataclass(frozen=True)
class Pair:
    """Two mentions that the words join, cause (or earlier, or more concrete) first."""

    cause: int
    effect: int
    marker: str
    kind: Kind
    basis: str


@dataclass(frozen=True)
class Link:
    """An edge to be: ends are labels; `allowed` says whether the methodology has a place for it."""

    source: str
    target: str
    edge_type: str
    confidence: float
    quote: str
    allowed: bool = True


def pairs_of(clauses: Sequence[Clause], mentions: Sequence[Mention]) -> list[Pair]:
    """Mentions joined by connectors first, then neighbours in a sentence that nothing else joins."""
    by_clause: dict[int, list[int]] = {}
    for position, mention in enumerate(mentions):
        by_clause.setdefault(mention.clause, []).append(position)
    found: list[Pair] = []
    joined: set[tuple[int, int]] = set()
    for index, clause in enumerate(clauses):
        own = by_clause.get(index)
        if own and len(own) > 1:
            for left, right in pairwise(own):
                found.append(Pair(left, right, "with", "cause", "setting"))
                joined.add((left, right))
        if clause.connector is None or clause.joined_to is None:
            continue
        here = _nearest(by_clause, index, 1 if not own else 0, len(clauses), clauses)
        step = 1 if clause.fronted else -1
        there = _nearest(by_clause, clause.joined_to, step, len(clauses), clauses)
        if here is None or there is None or here == there:
            continue
        cause, effect = (there, here) if clause.connector.effect == "after" else (here, there)
        if (cause, effect) not in joined:
            found.append(Pair(cause, effect, clause.connector.marker, clause.connector.kind, "connector"))
            joined.add((cause, effect))
    for left in range(len(mentions) - 1):
        right = left + 1
        if (left, right) in joined or (right, left) in joined:
            continue
        near = clauses[mentions[right].clause].sentence == clauses[mentions[left].clause].sentence
        if near:
            found.append(Pair(left, right, "and", "sequence", "adjacent"))
    return found


def _nearest(
    by_clause: dict[int, list[int]], start: int, step: int, count: int, clauses: Sequence[Clause]
) -> int | None:
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

    def choose(self, cause_type: str, effect_type: str, marker: str, kind: Kind) -> tuple[EdgeType, bool, float] | None:
        """The best permitted relation, or None.

        Args:
            cause_type: type of the cause, or of what comes first.
            effect_type: type of the other.
            marker: the connector, "and" for mere neighbourhood, "focus" for the question's focus.
            kind: kind of the connector.
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

    def _fit(self, edge: EdgeType, forward: bool, source: str, target: str, marker: str, kind: Kind) -> float:
        cues = frozenset(edge.cues)
        if self.levelled:
            below, above = self._levels.get(source, 0), self._levels.get(target, 0)
            if below > above:
                return 0.0
            return 1.0 if forward or below < above else 0.0
        backward_only = bool(cues & BACKWARD_MARKERS) and not cues & FORWARD_MARKERS
        adversative = bool(cues & CONTRAST_MARKERS)
        score = 0.5
        if marker in cues:
            score += 1.0
        if kind == "contrast":
            return score + 1.0 if adversative else score - 0.4
        if adversative:
            score -= 0.4
        if kind in {"cause", "purpose", "condition"}:
            causal = bool(cues & (FORWARD_MARKERS | BACKWARD_MARKERS))
            score += 0.6 if causal else 0.0
            if backward_only:
                score += 0.3 if not forward else -0.6
            elif not forward:
                score -= 0.35
        elif not forward:
            score -= 0.2
        return score


def settle_types(pairs: Sequence[Pair], mentions: Sequence[Mention], chooser: EdgeChooser) -> None:
    """Let stated relations decide between the likely types of their ends.

    A relation by a connector is better evidence than a close call between two types: where the best types of both
    ends allow none, the likeliest combination that does is taken.
    """
    for pair in pairs:
        if pair.basis != "connector":
            continue
        first, second = mentions[pair.cause], mentions[pair.effect]
        if chooser.choose(first.node_type, second.node_type, pair.marker, pair.kind) is not None:
            continue
        options = [
            (confidence * other, name, name_other)
            for name, confidence in _open_types(first)
            for name_other, other in _open_types(second)
            if chooser.choose(name, name_other, pair.marker, pair.kind) is not None
        ]
        if options:
            _, name, name_other = max(options, key=lambda option: option[0])
            first.take(name)
            second.take(name_other)


def _open_types(mention: Mention) -> list[tuple[str, float]]:
    if mention.fixed or mention.links:
        return mention.types[:1]
    return [mention.types[0], *((name, c) for name, c in mention.types[1:3] if c >= ALTERNATIVE_FROM)]
