"""Pools `graph.node`, `technique.node` and `meta.node`: one value per candidate node."""

from __future__ import annotations

from collections import deque
from typing import ClassVar, Literal

from pipeline.graph.tracker import NodeState, shallow_ratio
from pipeline.signals.base import Scope, SignalContext, SignalType

STAGNATION_TURNS = 3
EXHAUSTED_STREAK = 2
EXHAUSTED_SHALLOW = 0.66
RECENCY_SPAN = 20
NEWNESS_SPAN = 5


def exhaustion_score(state: NodeState) -> float:
    """0 if never focused, else 0.4·min(tsly,10)/10 + 0.3·min(streak,5)/5 + 0.3·shallow ratio; in [0, 1].

    `tsly` are the turns since the last yield, the streak is that of the focus, the shallow ratio is over the latest
    three answers on the node.
    """
    if state.focus_count == 0:
        return 0.0
    return (
        0.4 * min(state.turns_since_last_yield, 10) / 10
        + 0.3 * min(state.current_focus_streak, 5) / 5
        + 0.3 * shallow_ratio(state.response_depths)
    )


def exhausted(state: NodeState) -> bool:
    """Whether a node is exhausted: asking about it further is not expected to add anything.

    True when it had the focus at least once and in two questions in a row, gave nothing new for three turns, and at
    least 0.66 of its latest three answers were surface or shallow.
    """
    return (
        state.focus_count >= 1
        and state.turns_since_last_yield >= STAGNATION_TURNS
        and state.current_focus_streak >= EXHAUSTED_STREAK
        and shallow_ratio(state.response_depths) >= EXHAUSTED_SHALLOW
    )


def band(count: int, medium: int, high: int) -> str:
    """None for 0, low below `medium`, medium below `high`, else high."""
    if count <= 0:
        return "none"
    return "low" if count < medium else "medium" if count < high else "high"


def distances(context: SignalContext) -> dict[str, int]:
    """Edges on the shortest undirected path from the last focus to each identity that can be reached."""
    start = context.tracker.previous_focus
    if start is None or start not in context.tracker.states:
        return {}
    key_of = context.canonical.key_of if context.canonical is not None else lambda node_id: node_id
    neighbours: dict[str, set[str]] = {}
    for edge in context.graph.live_edges():
        a, b = key_of(edge.source_id), key_of(edge.target_id)
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    found = {start: 0}
    queue = deque([start])
    while queue:
        at = queue.popleft()
        for other in neighbours.get(at, ()):
            if other not in found:
                found[other] = found[at] + 1
                queue.append(other)
    return found


def _greatest(context: SignalContext, state: NodeState, name: Literal["salience", "emotion"], unjudged: int) -> int:
    """The greatest judgement of the wordings of a node."""
    found = [getattr(context.graph.nodes[member], name) for member in state.surface_ids]
    return max(unjudged if value is None else value for value in found)


class _NodeSignal:
    type: ClassVar[SignalType] = "bool"
    scope: ClassVar[Scope] = "node"
    values: ClassVar[tuple[str, ...]] = ()
    depends_on: ClassVar[tuple[str, ...]] = ()


class Exhausted(_NodeSignal):
    name = "graph.node.exhausted"
    description = "Asked in a row, nothing new for three turns, shallow answers."

    def detect(self, context: SignalContext) -> list[bool]:
        return [exhausted(state) for state in context.nodes]


class ExhaustionScore(_NodeSignal):
    name = "graph.node.exhaustion_score"
    type: ClassVar[SignalType] = "number"
    description = "0 for fresh to 1 for exhausted."

    def detect(self, context: SignalContext) -> list[float]:
        return [exhaustion_score(state) for state in context.nodes]


class YieldStagnation(_NodeSignal):
    name = "graph.node.yield_stagnation"
    description = "Had the focus, and nothing new for three turns or more."

    def detect(self, context: SignalContext) -> list[bool]:
        return [bool(s.focus_count) and s.turns_since_last_yield >= STAGNATION_TURNS for s in context.nodes]


class FocusStreak(_NodeSignal):
    name = "graph.node.focus_streak"
    type: ClassVar[SignalType] = "category"
    values: ClassVar[tuple[str, ...]] = ("none", "low", "medium", "high")
    description = "Turns in a row with the focus: 0 none, 1 low, 2–3 medium, 4 or more high."

    def detect(self, context: SignalContext) -> list[str]:
        return [band(state.current_focus_streak, 2, 4) for state in context.nodes]


class RecencyScore(_NodeSignal):
    name = "graph.node.recency_score"
    type: ClassVar[SignalType] = "number"
    description = "1 for the present focus, falling to 0 over twenty turns; 0 if never focused."

    def detect(self, context: SignalContext) -> list[float]:
        return [
            max(0.0, 1 - state.turns_since_last_focus / RECENCY_SPAN) if state.focus_count else 0.0
            for state in context.nodes
        ]


class FocusDistance(_NodeSignal):
    name = "graph.node.focus_distance"
    type: ClassVar[SignalType] = "category"
    values: ClassVar[tuple[str, ...]] = ("self", "near", "related", "far")
    description = "How far from the last focus: itself, 1 edge, 2–3 edges, more or none."

    def detect(self, context: SignalContext) -> list[str]:
        found = distances(context)
        names = {0: "self", 1: "near", 2: "related", 3: "related"}
        return [names.get(found.get(state.key, 99), "far") for state in context.nodes]


class IsCurrentFocus(_NodeSignal):
    name = "graph.node.is_current_focus"
    description = "The last question was about this node."

    def detect(self, context: SignalContext) -> list[bool]:
        return [state.key == context.tracker.previous_focus for state in context.nodes]


class IsOrphan(_NodeSignal):
    name = "graph.node.is_orphan"
    description = "No relation to any other concept."

    def detect(self, context: SignalContext) -> list[bool]:
        return [state.edge_count == 0 for state in context.nodes]


class NodeEdgeCount(_NodeSignal):
    name = "graph.node.edge_count"
    type: ClassVar[SignalType] = "count"
    description = "Relations that reach or leave the node."

    def normalise(self, value: float) -> float:
        """The count as a number in [0, 1]; five relations count in full."""
        return min(1.0, value / 5)

    def detect(self, context: SignalContext) -> list[int]:
        return [state.edge_count for state in context.nodes]


class HasOutgoing(_NodeSignal):
    name = "graph.node.has_outgoing"
    description = "A relation leaves the node."

    def detect(self, context: SignalContext) -> list[bool]:
        return [state.edge_count_outgoing > 0 for state in context.nodes]


class IsTerminal(_NodeSignal):
    name = "graph.node.is_terminal"
    description = "The node's type is one at which a chain may end."

    def detect(self, context: SignalContext) -> list[bool]:
        return [state.is_terminal for state in context.nodes]


class AbstractionLevel(_NodeSignal):
    name = "graph.node.level"
    type: ClassVar[SignalType] = "number"
    description = "Level of abstraction over the highest level; 0 where the ontology has none."

    def detect(self, context: SignalContext) -> list[float]:
        top = max((node.level for node in context.methodology.ontology.nodes), default=0)
        return [state.level / top if top else 0.0 for state in context.nodes]


class Salience(_NodeSignal):
    name = "graph.node.salience"
    type: ClassVar[SignalType] = "number"
    description = "How much a moderator would follow it up: 0 a detail, 1 at once; a third where nobody judged it."

    def detect(self, context: SignalContext) -> list[float]:
        return [_greatest(context, state, "salience", unjudged=1) / 3 for state in context.nodes]


class Emotion(_NodeSignal):
    name = "graph.node.emotion"
    type: ClassVar[SignalType] = "number"
    description = "How much feeling is in it: 0 none, 1 strong."

    def detect(self, context: SignalContext) -> list[float]:
        return [_greatest(context, state, "emotion", unjudged=0) / 2 for state in context.nodes]


class LevelAboveFocus(_NodeSignal):
    name = "graph.node.level_above_focus"
    type: ClassVar[SignalType] = "number"
    description = "Levels above the last focus over the highest level; 0 at or below it, and where there are no levels."

    def detect(self, context: SignalContext) -> list[float]:
        top = max((node.level for node in context.methodology.ontology.nodes), default=0)
        focus = context.tracker.states.get(context.tracker.previous_focus or "")
        if not top or focus is None:
            return [0.0] * len(context.nodes)
        return [max(0, state.level - focus.level) / top for state in context.nodes]


class CreatedRecently(_NodeSignal):
    name = "graph.node.created_recently"
    type: ClassVar[SignalType] = "number"
    description = "1 for a concept of this answer, falling to 0 over five turns."

    def detect(self, context: SignalContext) -> list[float]:
        return [max(0.0, 1 - (context.turn_number - s.created_turn) / NEWNESS_SPAN) for s in context.nodes]


class MentionRecency(_NodeSignal):
    name = "graph.node.mention_recency"
    type: ClassVar[SignalType] = "number"
    description = "1 for a concept mentioned in this answer, falling to 0 over five turns."

    def detect(self, context: SignalContext) -> list[float]:
        nodes = context.graph.nodes
        ages = [
            context.turn_number - max(nodes[member].last_mention_turn for member in state.surface_ids)
            for state in context.nodes
        ]
        return [max(0.0, 1 - age / NEWNESS_SPAN) for age in ages]


class SaidLast(_NodeSignal):
    name = "graph.node.said_last"
    description = "The last thing that this answer said: people end on what they are at."

    def detect(self, context: SignalContext) -> list[bool]:
        said = [node for node in context.graph.live_nodes() if node.last_mention_turn == context.turn_number]
        last = max(said, key=lambda node: node.mention_sequence, default=None)
        return [last is not None and last.id in state.surface_ids for state in context.nodes]


class StrategyRepetition(_NodeSignal):
    name = "technique.node.strategy_repetition"
    type: ClassVar[SignalType] = "category"
    values: ClassVar[tuple[str, ...]] = ("none", "low", "medium", "high")
    description = "The same strategy in a row on this node: 0 none, 1–2 low, 3–4 medium, 5 or more high."

    def detect(self, context: SignalContext) -> list[str]:
        return [band(state.consecutive_same_strategy, 3, 5) for state in context.nodes]


class Opportunity(_NodeSignal):
    name = "meta.node.opportunity"
    type: ClassVar[SignalType] = "category"
    values: ClassVar[tuple[str, ...]] = ("exhausted", "probe_deeper", "fresh")
    depends_on: ClassVar[tuple[str, ...]] = ("graph.node.yield_stagnation",)
    description = "What the node still offers."

    def detect(self, context: SignalContext) -> list[str]:
        deep = context.rated is not None and context.rated.depth == "deep"
        unyielding = deep and not context.yielded
        found = []
        for state, dry in zip(context.nodes, context.found["graph.node.yield_stagnation"], strict=True):
            if dry and shallow_ratio(state.response_depths) >= EXHAUSTED_SHALLOW:
                found.append("exhausted")
            elif unyielding and state.key == context.tracker.previous_focus:
                found.append("probe_deeper")
            else:
                found.append("fresh")
        return found


SIGNALS = (
    Exhausted(),
    ExhaustionScore(),
    YieldStagnation(),
    FocusStreak(),
    RecencyScore(),
    FocusDistance(),
    IsCurrentFocus(),
    IsOrphan(),
    NodeEdgeCount(),
    HasOutgoing(),
    IsTerminal(),
    AbstractionLevel(),
    Salience(),
    Emotion(),
    LevelAboveFocus(),
    CreatedRecently(),
    MentionRecency(),
    SaidLast(),
    StrategyRepetition(),
    Opportunity(),
)
