"""One turn, seen from an engine: concepts, elements, former questions and the respondent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pipeline.ceilings import Ceiling, ceiling_on
from pipeline.coverage import ElementCoverage, Gap, gaps_of
from pipeline.engines.base import DecisionInputs
from pipeline.focus import Target
from pipeline.momentum import Momentum
from pipeline.ports import QualitativeSignals
from pipeline.subjects import NodeFacts, facts_of, latest_first, quality_of
from pipeline.threads import BEGINS_A_THREAD


@dataclass(frozen=True)
class TurnView:
    """What the inputs of a decision tell, each looked up once; `ceilings` is what the respondent knows no more of."""

    inputs: DecisionInputs
    ceilings: Sequence[Ceiling]

    @property
    def quality(self) -> QualitativeSignals | None:
        """The qualities of this answer; None where it was not rated, or by a rater that doesn't tell them."""
        return quality_of(self.inputs)

    @cached_property
    def nodes(self) -> tuple[NodeFacts, ...]:
        """The concepts that can be asked about, in the order of their creation."""
        return facts_of(self.inputs)

    @cached_property
    def by_key(self) -> dict[str, NodeFacts]:
        """The same by their identity."""
        return {node.key: node for node in self.nodes}

    @cached_property
    def recent(self) -> tuple[NodeFacts, ...]:
        """The same, those of this answer first, then what was said before it, the weightiest first, then the latest."""
        return latest_first(self.nodes, self.inputs.turn_count)

    @property
    def wanted(self) -> NodeFacts | None:
        """The concept that a moderator wants asked about; None where there is none, or none that can be asked about."""
        target = self.inputs.target
        return self.by_key.get(target.node_key or "") if target is not None else None

    def freshness(self, node: NodeFacts) -> float:
        """How much a concept asks to be followed, in [0, 1]: its salience, or the feeling in it, over BEGINS_A_THREAD.

        0 but for what this answer brought up for the first time, nobody asked about, and does not end a chain. Of the
        first answer whatever weighs anything is followed: somebody who is led on to the next thing has not been heard.
        """
        old = node.last_mention_turn < self.inputs.turn_count or node.mentions > 1
        if old or node.asked or node.terminal or ceiling_on(Target.node(node.key, node.label), self.ceilings):
            return 0.0
        weight = max(node.salience, node.emotion)
        if weight and self.inputs.turn_count == 1:
            return 1.0
        return min(1.0, weight / BEGINS_A_THREAD)

    @cached_property
    def lead(self) -> float:
        """How much there is to follow in what was just said: the greatest freshness of a concept, 0 without any."""
        return max(map(self.freshness, self.nodes), default=0.0)

    @cached_property
    def gaps(self) -> dict[str, tuple[Gap, ...]]:
        """What each element lacks."""
        return gaps_of(self.inputs.coverage, self.inputs.elements, self.inputs.graph)

    @cached_property
    def coverage(self) -> dict[str, ElementCoverage]:
        """By element; only those that there are."""
        known = {entry.element_id: entry for entry in self.inputs.coverage}
        return {
            element.id: known.get(element.id) or ElementCoverage(element_id=element.id)
            for element in self.inputs.elements
        }

    @property
    def strategies_asked(self) -> tuple[str, ...]:
        """The strategies of the questions so far, oldest first."""
        return tuple(entry.strategy for entry in self.inputs.questions)

    @property
    def momentum(self) -> Momentum | None:
        """Of the latest rated answer; None before there is one."""
        levels = self.inputs.momentum.levels
        return levels[-1] if levels else None
