"""Pool `graph`: global measures of the surface and the canonical graph."""

from __future__ import annotations

from typing import ClassVar

from pipeline.signals.base import Scope, SignalContext, SignalType
from pipeline.signals.nodes import exhaustion_score


class _GlobalNumber:
    type: ClassVar[SignalType] = "number"
    scope: ClassVar[Scope] = "global"
    values: ClassVar[tuple[str, ...]] = ()
    depends_on: ClassVar[tuple[str, ...]] = ()


class _GlobalCount(_GlobalNumber):
    """A count; `scale` is the count at which its weight counts in full."""

    type: ClassVar[SignalType] = "count"
    scale: ClassVar[float] = 1.0

    def normalise(self, value: float) -> float:
        """The count as a number in [0, 1]."""
        return min(1.0, value / self.scale)


class NodeCount(_GlobalCount):
    name = "graph.node_count"
    description = "Live concepts in the surface graph."
    scale = 30.0

    def detect(self, context: SignalContext) -> int:
        return context.graph_state.node_count


class EdgeCount(_GlobalCount):
    name = "graph.edge_count"
    description = "Live relations in the surface graph."
    scale = 40.0

    def detect(self, context: SignalContext) -> int:
        return context.graph_state.edge_count


class OrphanCount(_GlobalCount):
    name = "graph.orphan_count"
    description = "Concepts without any relation."
    scale = 10.0

    def detect(self, context: SignalContext) -> int:
        return context.graph_state.orphan_count


class TensionCount(_GlobalCount):
    name = "graph.tension_count"
    description = "What respondents said that the methodology's schema has no place for."
    scale = 10.0

    def detect(self, context: SignalContext) -> int:
        return context.graph_state.tension_count


class MaxDepth(_GlobalNumber):
    name = "graph.max_depth"
    description = "Longest chain over the depth of the ontology; low values mean a surface-level conversation."

    def detect(self, context: SignalContext) -> float:
        return context.graph_state.max_depth_ratio


class AvgDepth(_GlobalNumber):
    name = "graph.avg_depth"
    description = "Mean length of the longest chains that end at a concept, over the depth of the ontology."

    def detect(self, context: SignalContext) -> float:
        return context.graph_state.avg_depth_ratio


class ChainCompletionRatio(_GlobalNumber):
    name = "graph.chain_completion.ratio"
    description = "Share of level-1 concepts from which a terminal concept is reached."

    def detect(self, context: SignalContext) -> float:
        return context.graph_state.chain_completion_ratio


class ChainCompletionAny(_GlobalNumber):
    name = "graph.chain_completion.has_complete"
    type: ClassVar[SignalType] = "bool"
    description = "Whether any chain runs from level 1 to a terminal concept."

    def detect(self, context: SignalContext) -> bool:
        return context.graph_state.has_complete_chain


class CanonicalConceptCount(_GlobalCount):
    name = "graph.canonical_concept_count"
    description = "Active canonical slots."
    scale = 15.0

    def detect(self, context: SignalContext) -> int | None:
        return context.canonical_state.concept_count if context.canonical_state else None


class CanonicalEdgeDensity(_GlobalNumber):
    name = "graph.canonical_edge_density"
    description = "Canonical edges per active slot, over 2."

    def detect(self, context: SignalContext) -> float | None:
        state = context.canonical_state
        if state is None:
            return None
        return min(1.0, (state.edge_count / state.concept_count) / 2) if state.concept_count else 0.0


class CanonicalExhaustionScore(_GlobalNumber):
    name = "graph.canonical_exhaustion_score"
    description = "Mean exhaustion of the nodes that had the focus."

    def detect(self, context: SignalContext) -> float | None:
        if context.canonical_state is None:
            return None
        scores = [exhaustion_score(state) for state in context.tracker.focused()]
        return sum(scores) / len(scores) if scores else 0.0


SIGNALS = (
    NodeCount(),
    EdgeCount(),
    OrphanCount(),
    TensionCount(),
    MaxDepth(),
    AvgDepth(),
    ChainCompletionRatio(),
    ChainCompletionAny(),
    CanonicalConceptCount(),
    CanonicalEdgeDensity(),
    CanonicalExhaustionScore(),
)
