"""Saturation: the velocity of new concepts, and the counters that end an interview."""

from __future__ import annotations

from pipeline.graph.metrics import chao1_ratio
from pipeline.graph.surface import SurfaceGraph
from pipeline.graph.tracker import SHALLOW_DEPTHS, Depth
from pipeline.state import SaturationMetrics, Velocity


def advanced(velocity: Velocity, count: int, alpha: float) -> Velocity:
    """The velocity after a turn that ended with `count` nodes (or slots).

    `ewma = alpha * delta + (1 - alpha) * ewma_before`, where `delta` is the growth since the turn before, at least 0.
    """
    delta = max(count - velocity.previous_count, 0)
    return Velocity(
        ewma=alpha * delta + (1 - alpha) * velocity.ewma,
        peak=max(velocity.peak, delta),
        previous_count=count,
    )


def yield_ratio_saturation(previous: int, now: int, peak: float) -> float:
    """1 − min(Δnodes / peak, 1), with the largest growth of an earlier turn as peak; 0 if the peak is 0."""
    return 1 - min(max(now - previous, 0) / peak, 1.0) if peak > 0 else 0.0


def velocity_saturation(ewma: float, peak: float, nodes: int, edges: int, turn: int) -> float:
    """0.60 · velocity decay + 0.25 · edge density + 0.15 · turn floor, clamped to [0, 1].

    Args:
        ewma: with this turn's delta in it.
        peak: of earlier turns.
    """
    decay = 1 - ewma / max(peak, 1.0)
    density = min(1.0, (edges / nodes) / 2) if nodes else 0.0
    return min(1.0, max(0.0, 0.60 * decay + 0.25 * density + 0.15 * min(1.0, turn / 15)))


def canonical_saturation(new_slots: int, new_nodes: int) -> float:
    """1 − min(Δslots / Δnodes, 1); 0 without new nodes."""
    return 1 - min(new_slots / new_nodes, 1.0) if new_nodes else 0.0


def next_metrics(
    before: SaturationMetrics,
    graph: SurfaceGraph,
    *,
    created: int,
    mentioned: int,
    gained: bool,
    depth: Depth | None,
    max_depth: int,
    has_content: bool,
    fragment: bool = False,
) -> SaturationMetrics:
    """Saturation metrics after this answer.

    Args:
        created: nodes that are new.
        mentioned: nodes mentioned in this answer, new ones included.
        gained: whether the graph has a new node or edge.
        depth: of this answer; none when it was not rated. One that is brief and brings something is not shallow.
        max_depth: of the surface graph now, in nodes.
        has_content: whether there was an answer; a skip leaves the counters as they are.
        fragment: whether it is too short a piece of speech to judge; it leaves them too, unless something is gained.
    """
    if not has_content or (fragment and not gained):
        return before.model_copy(update={"new_info_rate": 0.0})
    plateau = 0 if max_depth != before.previous_max_depth else before.consecutive_depth_plateau + (not gained)
    shallow = before.consecutive_shallow
    if depth is not None:
        shallow = shallow + 1 if depth in SHALLOW_DEPTHS and not gained else 0
    return SaturationMetrics(
        chao1_ratio=chao1_ratio(node.mention_count for node in graph.live_nodes()),
        new_info_rate=created / mentioned if mentioned else 0.0,
        consecutive_low_info=0 if gained else before.consecutive_low_info + 1,
        consecutive_shallow=shallow,
        consecutive_depth_plateau=plateau,
        previous_max_depth=max_depth,
    )
