"""Keeps the tracker's identities in step with both graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pipeline.graph.canonical import CanonicalGraph
from pipeline.graph.surface import KGNode, SurfaceGraph
from pipeline.graph.tracker import NodeState, NodeStateTracker
from pipeline.methodology import Ontology

KeyOf = Callable[[str], str]


def fresh_state(node: KGNode, key: str, ontology: Ontology) -> NodeState:
    """The state of a node that is tracked from now on."""
    kind = ontology.node_type(node.node_type)
    return NodeState(
        key=key,
        label=node.label,
        node_type=node.node_type,
        level=kind.level if kind else 0,
        is_terminal=kind.terminal if kind else False,
        created_turn=node.created_turn,
        sequence=node.sequence,
        surface_ids=(node.id,),
    )


def follow_mappings(
    tracker: NodeStateTracker,
    before: CanonicalGraph,
    after: CanonicalGraph,
    graph: SurfaceGraph,
    ontology: Ontology,
) -> None:
    """Track every node under its identity of now.

    A slot that is gone hands its history to the one that its nodes went to; a slot that only some nodes left keeps
    its history, and those nodes begin anew.
    """
    for node_id, mapping in after.mappings.items():
        old, new = before.key_of(node_id), mapping.canonical_slot_id
        tracker.rekey(node_id, new)
        if old in (new, node_id) or old not in tracker.states:
            continue
        if old not in after.slots:
            tracker.rekey(old, new)
        elif node_id in tracker.states[old].surface_ids:
            tracker.forget(node_id, old)
            tracker.register(fresh_state(graph.nodes[node_id], new, ontology))


def refresh_edge_counts(tracker: NodeStateTracker, graph: SurfaceGraph, key_of: KeyOf) -> None:
    """Count the live edges between identities anew; edges inside one identity count nowhere."""
    keys = {node_id: key_of(node_id) for node_id in graph.nodes}
    ends = [(keys[edge.source_id], keys[edge.target_id]) for edge in graph.live_edges()]
    outgoing = Counter(source for source, target in ends if source != target)
    incoming = Counter(target for source, target in ends if source != target)
    for key, state in list(tracker.states.items()):
        if (state.edge_count_outgoing, state.edge_count_incoming) != (outgoing[key], incoming[key]):
            tracker.set_edge_counts(key, outgoing=outgoing[key], incoming=incoming[key])


def spokesman(graph: SurfaceGraph, state: NodeState) -> KGNode | None:
    """The live surface node whose wording stands for an identity: the most recently mentioned one."""
    members = [graph.nodes[i] for i in state.surface_ids if i in graph.nodes]
    live = [node for node in members if node.superseded_by is None]
    return max(live, key=lambda node: node.mention_sequence, default=None)
