"""Updates the tracked identities of nodes after changes of the surface and the canonical graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pipeline.graph.canonical import CanonicalGraph
from pipeline.graph.surface import KGNode, SurfaceGraph
from pipeline.graph.tracker import NodeState, NodeStateTracker
from pipeline.methodology import Ontology

KeyOf = Callable[[str], str]


def fresh_state(node: KGNode, key: str, ontology: Ontology) -> NodeState:
    """The initial state of a newly tracked node."""
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
    """Track every node under the slot it is mapped to after the update.

    The history of a removed slot goes to the slot that its nodes moved to. A slot that only some of its nodes left
    keeps its history; the nodes that left start with an empty one.
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
    """Recount the live edges between identities; edges within one identity are not counted."""
    keys = {node_id: key_of(node_id) for node_id in graph.nodes}
    ends = [(keys[edge.source_id], keys[edge.target_id]) for edge in graph.live_edges()]
    outgoing = Counter(source for source, target in ends if source != target)
    incoming = Counter(target for source, target in ends if source != target)
    for key, state in list(tracker.states.items()):
        if (state.edge_count_outgoing, state.edge_count_incoming) != (outgoing[key], incoming[key]):
            tracker.set_edge_counts(key, outgoing=outgoing[key], incoming=incoming[key])


def latest_wording(graph: SurfaceGraph, state: NodeState) -> KGNode | None:
    """The live surface node of an identity that was mentioned last; its label is used in questions."""
    members = [graph.nodes[i] for i in state.surface_ids if i in graph.nodes]
    live = [node for node in members if node.superseded_by is None]
    return max(live, key=lambda node: node.mention_sequence, default=None)
