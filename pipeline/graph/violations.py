"""What in a graph the methodology does not permit: nothing, unless the methodology or the graph was changed."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.graph.surface import REVISES, SurfaceGraph
from pipeline.methodology import Ontology


def violations(graph: SurfaceGraph, ontology: Ontology) -> Iterator[str]:
    """Every violation, in the order of the graph: nodes of unknown types, then edges.

    An edge violates where its type is unknown, an end is missing, or its type does not join the types of its ends.
    What counts only where it is stated is permitted to edges that were stated.
    """
    for node in graph.nodes.values():
        if ontology.node_type(node.node_type) is None:
            yield f"node {node.id}: there is no type {node.node_type}"
    for edge in graph.edges.values():
        kind = ontology.edge_type(edge.edge_type)
        source, target = graph.nodes.get(edge.source_id), graph.nodes.get(edge.target_id)
        if kind is None and edge.edge_type != REVISES:
            yield f"edge {edge.id}: there is no type {edge.edge_type}"
        if source is None or target is None:
            yield f"edge {edge.id}: {edge.source_id if source is None else edge.target_id} is no node"
        elif kind is not None and not kind.permits(
            source.node_type, target.node_type, stated=edge.basis in ("stated", "unrecorded")
        ):
            yield f"edge {edge.id}: {edge.edge_type} does not join {source.node_type} to {target.node_type}"
