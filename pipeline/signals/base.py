"""What a signal is: a name, a type, the values it can emit, and how it is detected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pipeline.graph.canonical import CanonicalGraph
from pipeline.graph.metrics import CanonicalGraphState, GraphState
from pipeline.graph.surface import SurfaceGraph
from pipeline.graph.tracker import Depth, NodeState, NodeStateTracker
from pipeline.methodology import Methodology
from pipeline.records import Record
from pipeline.state import SaturationMetrics, Velocity
from pipeline.strategies import Strategies
from pipeline.threads import Thread

SignalValue = bool | int | float | str
SignalType = Literal["bool", "number", "category", "count"]
Scope = Literal["global", "node", "strategy"]


class Rated(Record):
    """One answer's ratings as signals: categories and numbers in [0, 1].

    `contradiction` and `turning_point` are None where the provider does not tell.
    """

    depth: Depth
    specificity: float
    certainty: float
    valence: float
    engagement: float
    intellectual_engagement: float
    hedging: str
    contradiction: bool | None = None
    turning_point: bool | None = None


@dataclass(frozen=True)
class SignalContext:
    """What signals are detected from, after this answer went into the graph and before a choice is made.

    `rated` is none when the answer had no content to rate. `depths` includes this answer.
    `nodes` are the candidates, in creation order. `threads` are those after this answer, with why they ended; `gaps`
    has the share of open topics of the guide by strategy, `topics_open` counts those that have to be asked for. `step`
    is what a repertory grid needs next.
    """

    methodology: Methodology
    strategies: Strategies
    turn_number: int
    max_turns: int
    graph: SurfaceGraph
    canonical: CanonicalGraph | None
    tracker: NodeStateTracker
    graph_state: GraphState
    canonical_state: CanonicalGraphState | None
    saturation: SaturationMetrics
    rated: Rated | None
    depths: Sequence[Depth]
    strategy_history: Sequence[str]
    surface_velocity: Velocity
    canonical_velocity: Velocity
    new_nodes: int
    new_slots: int
    yielded: bool
    velocity_alpha: float = 0.4
    nodes: Sequence[NodeState] = ()
    threads: Sequence[Thread] = ()
    gaps: Mapping[str, float] = field(default_factory=dict)
    topics_open: int = 0
    step: str | None = None
    found: dict[str, Any] = field(default_factory=dict)
    """Values of signals detected before, by name; for signals that depend on others."""


class Signal(Protocol):
    """One signal. `detect` returns a value, a list aligned with `context.nodes`, or a value per strategy.

    A global signal without a value now returns None and then contributes nothing to scores. `values` are all
    values of a category, empty otherwise; `depends_on` are signals that must be detected before.
    """

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> SignalType: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def values(self) -> tuple[str, ...]: ...
    @property
    def depends_on(self) -> tuple[str, ...]: ...
    @property
    def description(self) -> str: ...

    def detect(self, context: SignalContext) -> Any:
        """The signal's present value."""
        ...


class NodeColumns(Record):
    """Signals of all candidate nodes, column by column; every column is as long as `keys`."""

    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    node_types: tuple[str, ...] = ()
    sequence: tuple[int, ...] = ()
    mention_sequence: tuple[int, ...] = ()
    members: dict[str, tuple[str, ...]] = {}
    """The surface nodes of each key that is not itself the only one."""
    signals: dict[str, tuple[SignalValue, ...]] = {}

    def members_of(self, key: str) -> tuple[str, ...]:
        """The surface nodes that are tracked under a key."""
        return self.members.get(key, (key,))


class SignalMatrix(Record):
    """All signals of one turn, as stored; with the methodology they are sufficient to repeat the decision."""

    values: dict[str, SignalValue] = {}
    """Global signals by name."""
    strategies: dict[str, dict[str, SignalValue]] = {}
    """Signals that differ per candidate strategy: name → strategy → value."""
    nodes: NodeColumns = NodeColumns()
    phase: str = "early"

    def by_node(self) -> dict[str, dict[str, SignalValue]]:
        """All node signals, by candidate and name."""
        names = list(self.nodes.signals)
        rows = zip(*self.nodes.signals.values(), strict=True) if names else ()
        return {key: dict(zip(names, row, strict=True)) for key, row in zip(self.nodes.keys, rows, strict=bool(names))}
