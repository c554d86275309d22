"""What vetoes and scorers look at: one turn, seen from the engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.coverage import ElementCoverage, gaps_of
from pipeline.engines.base import DecisionInputs
from pipeline.engines.two_tier.file import TwoTierFile, TwoTierStrategy
from pipeline.focus import Target
from pipeline.graph.surface import KGNode, label_key
from pipeline.ports import QualitativeSignals
from pipeline.question.text import words


@dataclass(frozen=True)
class PossibleFocus:
    """What a strategy could be about.

    Attributes:
        focus_type: as the rule calls it.
        target: what a question would be about; None for nothing in particular.
        focus_description: in words, in the language of the interview.
        confidence: how sure it is that there is something to ask, in [0, 1].
    """

    focus_type: str
    target: Target | None = None
    focus_description: str = ""
    confidence: float = 1.0

    @property
    def node_ids(self) -> tuple[str, ...]:
        """The tracked identities of the concepts it is about."""
        return self.target.node_keys if self.target is not None else ()

    @property
    def element_id(self) -> str | None:
        """The element it is about."""
        return self.target.ids[0] if self.target is not None and self.target.kind == "element" else None


@dataclass(frozen=True)
class NodeFacts:
    """One concept that can be asked about, by its tracked identity.

    `mentions` counts the answers that speak of it, `asked` the questions about it; `relations` are those of the graph.
    """

    key: str
    label: str
    node_type: str
    mention_sequence: int
    last_mention_turn: int
    mentions: int
    asked: int
    relations: int
    salience: int
    emotion: int
    terminal: bool


@dataclass(frozen=True)
class Ceiling:
    """Something of which the respondent knows no more: the ids or labels of what it is, and the turn that told it."""

    about: tuple[str, ...]
    turn: int


@dataclass(frozen=True)
class Moment:
    """One turn."""

    inputs: DecisionInputs
    file: TwoTierFile
    ceilings: Sequence[Ceiling] = ()
    table: Mapping[str, TwoTierStrategy] = field(default_factory=dict)

    @property
    def quality(self) -> QualitativeSignals | None:
        """The qualities of this answer; None where it was not rated, or by a rater that doesn't tell them."""
        told = self.inputs.qualitative
        return told[-1] if told and self.answer else None

    @property
    def answer(self) -> str:
        """What the respondent just said."""
        return self.inputs.answers.get(self.inputs.turn_count, "")

    @cached_property
    def nodes(self) -> tuple[NodeFacts, ...]:
        """The concepts that can be asked about, in the order of their creation."""
        inputs, columns = self.inputs, self.inputs.signals.nodes
        graph, terminal = inputs.graph, inputs.methodology.ontology.terminal_types
        relations: Counter[str] = Counter()
        for edge in graph.live_edges():
            relations.update((edge.source_id, edge.target_id))
        asked = Counter(key for entry in inputs.questions for key in about(entry.target, entry.key, entry.label))
        found = []
        for at, key in enumerate(columns.keys):
            label, kind = columns.labels[at], columns.node_types[at]
            members = [graph.nodes[i] for i in columns.members_of(key) if i in graph.nodes]
            found.append(
                NodeFacts(
                    key=key,
                    label=label,
                    node_type=kind,
                    mention_sequence=columns.mention_sequence[at],
                    last_mention_turn=max((node.last_mention_turn for node in members), default=0),
                    mentions=sum(node.mention_count for node in members),
                    asked=max(asked[key], asked[label_key(label)]),
                    relations=sum(relations[node.id] for node in members),
                    salience=max((_salience(node) for node in members), default=1),
                    emotion=max((node.emotion or 0 for node in members), default=0),
                    terminal=kind in terminal,
                )
            )
        return tuple(found)

    @cached_property
    def by_key(self) -> dict[str, NodeFacts]:
        """The same by their identity."""
        return {node.key: node for node in self.nodes}

    @cached_property
    def recent(self) -> tuple[NodeFacts, ...]:
        """The same, those of this answer first, then what was said before it, the weightiest first, then the latest."""
        turn = self.inputs.turn_count
        order = sorted(self.nodes, key=lambda node: (-node.salience, -node.mention_sequence))
        return tuple(sorted(order, key=lambda node: node.last_mention_turn < turn))

    @cached_property
    def coverage(self) -> dict[str, ElementCoverage]:
        """By element; only those that there are."""
        known = {entry.element_id: entry for entry in self.inputs.coverage}
        return {
            element.id: known.get(element.id) or ElementCoverage(element_id=element.id)
            for element in self.inputs.elements
        }

    @cached_property
    def uncovered(self) -> tuple[str, ...]:
        """Elements to ask about, in the concept's order: with a gap, not exhausted, not declined."""
        gaps = gaps_of(self.inputs.coverage, self.inputs.elements, self.inputs.graph)
        return tuple(
            name
            for name, lacking in gaps.items()
            if any(gap.kind in self.file.uncovered for gap in lacking)
            and not self.coverage[name].exhausted
            and not self.coverage[name].declined
        )

    @property
    def strategies_asked(self) -> tuple[str, ...]:
        """The strategies of the questions so far, oldest first."""
        return tuple(entry.strategy for entry in self.inputs.questions)

    def category_of(self, strategy: str) -> str:
        """The category of a strategy; empty for one that is not the engine's, such as a moderator's question."""
        known = self.table.get(strategy)
        return known.type_category if known is not None else ""

    def signal(self, name: str) -> bool | int | float | str | None:
        """A signal of this answer; None where it has none."""
        return self.inputs.signals.values.get(name)

    def number(self, name: str) -> float | None:
        """The same as a number."""
        value = self.signal(name)
        return float(value) if isinstance(value, int | float) else None


def _salience(node: KGNode) -> int:
    return 1 if node.salience is None else node.salience


def about(target: Target | None, key: str, label: str) -> tuple[str, ...]:
    """By what a question's subject is known again: the ids of its target, its identity then, its wording."""
    ids = target.ids if target is not None else ()
    return tuple(dict.fromkeys(part for part in (*ids, key, label_key(label)) if part))


def content_words(text: str, plain: Sequence[str]) -> frozenset[str]:
    """The words of a text without those that say nothing of a subject."""
    return frozenset(words(text)) - frozenset(plain)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words over all words, in [0, 1]; 0 where there are none."""
    together = one | other
    return len(one & other) / len(together) if together else 0.0
