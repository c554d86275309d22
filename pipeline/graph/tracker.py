"""Interview history per node: focus, yield (new nodes and edges after a question about it), depth of the answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pipeline.records import Record

Depth = Literal["surface", "shallow", "moderate", "deep"]
SHALLOW_DEPTHS: frozenset[str] = frozenset({"surface", "shallow"})
SHALLOW_WINDOW = 3
"""Latest answers on a node that its shallow ratio looks at."""
TRACKER_VERSION = 1


def shallow_ratio(depths: Sequence[Depth]) -> float:
    """Share of surface or shallow answers among the latest ones on a node.

    Args:
        depths: oldest first, one per answer given while the node had the focus; the last SHALLOW_WINDOW count.
    Returns:
        In [0, 1]; 0 when there are none yet.
    """
    latest = depths[-SHALLOW_WINDOW:]
    return sum(depth in SHALLOW_DEPTHS for depth in latest) / len(latest) if latest else 0.0


class NodeState(Record):
    """The interview history of one node. Counts are in turns; a turn that is None means "never".

    `key` is the slot id once the node is mapped, the surface id before.
    """

    key: str
    label: str
    node_type: str
    level: int = 0
    is_terminal: bool = False
    created_turn: int
    sequence: int
    surface_ids: tuple[str, ...] = ()
    focus_count: int = 0
    last_focus_turn: int | None = None
    turns_since_last_focus: int = 0
    current_focus_streak: int = 0
    yield_count: int = 0
    last_yield_turn: int | None = None
    turns_since_last_yield: int = 0
    response_depths: tuple[Depth, ...] = ()
    edge_count_outgoing: int = 0
    edge_count_incoming: int = 0
    strategy_usage: dict[str, int] = {}
    last_strategy: str | None = None
    consecutive_same_strategy: int = 0
    declined: bool = False

    @property
    def edge_count(self) -> int:
        """Incoming and outgoing edges together."""
        return self.edge_count_incoming + self.edge_count_outgoing


class TrackerSnapshot(Record):
    """A tracker as it is stored with the session."""

    version: int = TRACKER_VERSION
    previous_focus: str | None = None
    states: tuple[NodeState, ...] = ()


class NodeStateTracker:
    """Node states of one session under one identity per node.

    The methods have to be called in this order within a turn: `register` → `set_edge_counts` → `record_yield` →
    (`rekey`) → `append_depth` → signals are read → `update_focus`.
    """

    __slots__ = ("previous_focus", "states")

    def __init__(self, states: Iterable[NodeState] = (), previous_focus: str | None = None) -> None:
        self.states: dict[str, NodeState] = {state.key: state for state in states}
        self.previous_focus = previous_focus

    def copy(self) -> NodeStateTracker:
        """A tracker that can be changed without changing this one."""
        twin = NodeStateTracker.__new__(NodeStateTracker)
        twin.states = self.states.copy()
        twin.previous_focus = self.previous_focus
        return twin

    def snapshot(self) -> TrackerSnapshot:
        """The tracker as a value that can be stored; `from_snapshot` gives the same tracker back."""
        return TrackerSnapshot(previous_focus=self.previous_focus, states=tuple(self.states.values()))

    @classmethod
    def from_snapshot(cls, snapshot: TrackerSnapshot) -> NodeStateTracker:
        """The tracker that `snapshot()` described."""
        return cls(snapshot.states, snapshot.previous_focus)

    def register(self, state: NodeState) -> None:
        """Start tracking a node; one that is tracked already keeps its history and gains the surface ids."""
        known = self.states.get(state.key)
        if known is None:
            self.states[state.key] = state
        else:
            merged = tuple(dict.fromkeys((*known.surface_ids, *state.surface_ids)))
            self._change(state.key, surface_ids=merged)

    def set_edge_counts(self, key: str, *, outgoing: int, incoming: int) -> None:
        """Record how many live edges leave and reach the node."""
        self._change(key, edge_count_outgoing=outgoing, edge_count_incoming=incoming)

    def record_yield(self, key: str, turn: int) -> None:
        """The answer to a question about this node gave a new node or edge. The focus streak stays as it is."""
        state = self.states[key]
        self._change(key, yield_count=state.yield_count + 1, last_yield_turn=turn, turns_since_last_yield=0)

    def revive(self, key: str) -> None:
        """The node gained an edge, whichever node had the focus: it is no longer stagnating."""
        if self.states[key].turns_since_last_yield:
            self._change(key, turns_since_last_yield=0)

    def append_depth(self, key: str, depth: Depth) -> None:
        """Add the depth of the answer that was given while this node had the focus."""
        self._change(key, response_depths=(*self.states[key].response_depths, depth))

    def decline(self, key: str) -> None:
        """The respondent would rather not talk about this node; it is no candidate any more."""
        if key in self.states:
            self._change(key, declined=True)

    def rename(self, key: str, label: str) -> None:
        """Show another wording of the node from now on."""
        if self.states[key].label != label:
            self._change(key, label=label)

    def forget(self, surface_id: str, key: str) -> None:
        """Remove a superseded surface node from its identity, and the identity once it has no surface node left."""
        state = self.states.get(key)
        if state is None:
            return
        left = tuple(member for member in state.surface_ids if member != surface_id)
        if left:
            self._change(key, surface_ids=left)
        else:
            del self.states[key]
            if self.previous_focus == key:
                self.previous_focus = None

    def rekey(self, old: str, new: str) -> None:
        """Track `old` under the identity `new`; histories are merged when both are known."""
        if old == new or old not in self.states:
            return
        moved = self.states.pop(old)
        target = self.states.get(new)
        merged = moved.model_copy(update={"key": new}) if target is None else _merged(target, moved)
        self.states[new] = merged
        if self.previous_focus == old:
            self.previous_focus = new

    def update_focus(self, keys: Sequence[str], turn: int, strategy: str, *, counts: bool = True) -> None:
        """Make these the focus of the next question (none for a question that is about no node).

        The answer to it counts for the first one. `counts`: whether the answer before it counts as one that could have
        brought something.
        """
        for other, state in list(self.states.items()):
            if state.focus_count == 0:
                continue
            self._change(
                other,
                turns_since_last_yield=state.turns_since_last_yield + counts,
                turns_since_last_focus=state.turns_since_last_focus + 1,
                current_focus_streak=state.current_focus_streak if other in keys else 0,
            )
        for key in keys:
            state = self.states[key]
            again = self.previous_focus == key
            usage = {**state.strategy_usage, strategy: state.strategy_usage.get(strategy, 0) + 1}
            self._change(
                key,
                focus_count=state.focus_count + 1,
                last_focus_turn=turn,
                turns_since_last_focus=0,
                current_focus_streak=state.current_focus_streak + 1 if again else 1,
                strategy_usage=usage,
                last_strategy=strategy,
                consecutive_same_strategy=(
                    state.consecutive_same_strategy + 1 if state.last_strategy == strategy else 1
                ),
            )
        self.previous_focus = keys[0] if keys else None

    def focused(self) -> list[NodeState]:
        """States of the nodes that had the focus at least once."""
        return [state for state in self.states.values() if state.focus_count]

    def _change(self, key: str, **changes: object) -> None:
        self.states[key] = self.states[key].model_copy(update=changes)


def _merged(kept: NodeState, moved: NodeState) -> NodeState:
    """Both histories under the identity of `kept`; streaks are those of the one that had the focus last."""

    def last(a: int | None, b: int | None) -> int | None:
        return max((turn for turn in (a, b) if turn is not None), default=None)

    recent = kept if (kept.last_focus_turn or -1) >= (moved.last_focus_turn or -1) else moved
    waits = [s.turns_since_last_yield for s in (kept, moved) if s.focus_count]
    usage = dict(kept.strategy_usage)
    for strategy, count in moved.strategy_usage.items():
        usage[strategy] = usage.get(strategy, 0) + count
    older, newer = (kept, moved) if recent is moved else (moved, kept)
    return kept.model_copy(
        update={
            "created_turn": min(kept.created_turn, moved.created_turn),
            "sequence": min(kept.sequence, moved.sequence),
            "surface_ids": tuple(dict.fromkeys((*kept.surface_ids, *moved.surface_ids))),
            "focus_count": kept.focus_count + moved.focus_count,
            "last_focus_turn": last(kept.last_focus_turn, moved.last_focus_turn),
            "turns_since_last_focus": recent.turns_since_last_focus,
            "current_focus_streak": recent.current_focus_streak,
            "yield_count": kept.yield_count + moved.yield_count,
            "last_yield_turn": last(kept.last_yield_turn, moved.last_yield_turn),
            "turns_since_last_yield": min(waits, default=0),
            "response_depths": (*older.response_depths, *newer.response_depths),
            "edge_count_outgoing": kept.edge_count_outgoing + moved.edge_count_outgoing,
            "edge_count_incoming": kept.edge_count_incoming + moved.edge_count_incoming,
            "strategy_usage": usage,
            "last_strategy": recent.last_strategy,
            "consecutive_same_strategy": recent.consecutive_same_strategy,
            "declined": kept.declined or moved.declined,
        }
    )
