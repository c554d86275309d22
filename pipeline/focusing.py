"""The focus of a question about a target, by the wordings that its nodes have now."""

from __future__ import annotations

from pipeline.focus import Focus, Target
from pipeline.graph.identity import latest_wording
from pipeline.graph.surface import SurfaceGraph
from pipeline.graph.tracker import NodeStateTracker


def focus_of(target: Target | None, tracker: NodeStateTracker, graph: SurfaceGraph, turn_number: int) -> Focus | None:
    """The focus of a question about a target.

    For nodes their most recently mentioned wordings are used, from whatever turn; None where they have none any more.
    """
    if target is None:
        return None
    if not target.node_keys:
        return Focus(target=target, label=target.label)
    states = [tracker.states[key] for key in target.node_keys if key in tracker.states]
    nodes = [node for state in states if (node := latest_wording(graph, state)) is not None]
    if not nodes:
        return None
    first, latest = nodes[0], max(node.last_mention_turn for node in nodes)
    label = first.label if len(nodes) == 1 else target.label
    return Focus(
        target=target.model_copy(update={"label": label}),
        node_ids=tuple(node.id for node in nodes),
        label=label,
        node_type=first.node_type,
        quote=first.mentions[-1].quote,
        mentioned_turn=latest,
        is_jump=latest < turn_number and tracker.previous_focus not in target.node_keys,
    )
