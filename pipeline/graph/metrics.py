"""Measures of a graph: depth over cycles, chains, orphans, mention counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pipeline.graph.canonical import CanonicalGraph
from pipeline.graph.surface import SurfaceGraph
from pipeline.methodology import Ontology
from pipeline.records import Record


class GraphState(Record):
    """Measures of the surface graph; depths are counted in nodes."""

    node_count: int = 0
    edge_count: int = 0
    nodes_by_type: dict[str, int] = {}
    edges_by_type: dict[str, int] = {}
    orphan_count: int = 0
    tension_count: int = 0
    max_depth: int = 0
    avg_depth: float = 0.0
    """Mean over nodes of the longest path ending there, in nodes."""
    longest_chain: tuple[str, ...] = ()
    depth_by_element: dict[str, float] = {}
    max_depth_ratio: float = 0.0
    avg_depth_ratio: float = 0.0
    chain_completion_ratio: float = 0.0
    has_complete_chain: bool = False


class CanonicalGraphState(Record):
    """Measures of the canonical graph; active slots only, except for `candidate_count`."""

    concept_count: int = 0
    candidate_count: int = 0
    edge_count: int = 0
    orphan_count: int = 0
    max_depth: int = 0
    avg_support: float = 0.0


def strong_components(successors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Strongly connected components, every component after all components it leads to (Tarjan, iterative)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    found: list[list[str]] = []
    for root in successors:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(successors[root]))]
        while work:
            node, following = work[-1]
            for target in following:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(successors[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    found.append(component)
    return found


def depths(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> tuple[dict[str, int], list[str]]:
    """Longest path ending at each node, over the condensation of strongly connected components.

    A component counts with its number of nodes, so that the nodes of a cycle of three have depth 3 or more.

    Returns:
        Depth of each node, counted in nodes; and the node ids of one longest path.
    """
    successors: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in edges:
        if source != target:
            successors[source].append(target)
    components = strong_components(successors)
    member_of = {node: number for number, component in enumerate(components) for node in component}
    depth = [0] * len(components)
    came_from = [-1] * len(components)
    for number in reversed(range(len(components))):
        depth[number] += len(components[number])
        for node in components[number]:
            for target in successors[node]:
                reached = member_of[target]
                if reached != number and depth[number] > depth[reached]:
                    depth[reached] = depth[number]
                    came_from[reached] = number
    by_node = {node: depth[number] for node, number in member_of.items()}
    path: list[str] = []
    at = max(range(len(components)), key=lambda number: depth[number], default=-1)
    while at >= 0:
        path[:0] = sorted(components[at])
        at = came_from[at]
    return by_node, path


def reachable(starts: Iterable[str], successors: Mapping[str, Sequence[str]]) -> set[str]:
    """All nodes that can be reached from any of `starts`, these included."""
    seen = set(starts)
    queue = list(seen)
    while queue:
        for target in successors.get(queue.pop(), ()):
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def chain_completion(
    types: Mapping[str, str], edges: Iterable[tuple[str, str]], ontology: Ontology
) -> tuple[float, bool]:
    """Share of level-1 nodes from which a terminal node is reachable, and whether any is.

    Returns:
        (ratio in [0, 1], any); (0, False) without levels, level-1 nodes or edges.
    """
    level_one = {node.name for node in ontology.nodes if node.level == 1}
    starts = [node for node, kind in types.items() if kind in level_one]
    predecessors: dict[str, list[str]] = {}
    for source, target in edges:
        predecessors.setdefault(target, []).append(source)
    if not starts or not predecessors:
        return 0.0, False
    terminal = [node for node, kind in types.items() if kind in ontology.terminal_types]
    complete = reachable(terminal, predecessors)
    count = sum(node in complete for node in starts)
    return count / len(starts), count > 0


def chao1_ratio(mention_counts: Iterable[int]) -> float:
    """Observed species over the bias-corrected Chao1 estimate, a species being a concept.

    `S_est = S_obs + f1 (f1 - 1) / (2 (f2 + 1))` with f1, f2 the concepts mentioned once and twice.

    Returns:
        In (0, 1]; 1 when nothing was seen.
    Source: Chao 1984, bias-corrected form.
    """
    counts = Counter(mention_counts)
    observed = sum(counts.values())
    if not observed:
        return 1.0
    once, twice = counts[1], counts[2]
    return observed / (observed + once * (once - 1) / (2 * (twice + 1)))


def measure(graph: SurfaceGraph, ontology: Ontology) -> GraphState:
    """All measures of the surface graph. O(nodes + edges).

    Superseded nodes and `revises` edges are left out; inferred edges count for orphans, never for depth and chains.
    """
    nodes = {node.id: node for node in graph.live_nodes()}
    edges = graph.live_edges()
    ends = [(edge.source_id, edge.target_id) for edge in graph.firm_edges()]
    depth, longest = depths(nodes, ends)
    linked = {node for edge in edges for node in (edge.source_id, edge.target_id)}
    deepest = max(depth.values(), default=0)
    average = sum(depth.values()) / len(depth) if depth else 0.0
    ratio, complete = chain_completion({i: n.node_type for i, n in nodes.items()}, ends, ontology)
    by_element: dict[str, list[int]] = {}
    for node in nodes.values():
        for element in node.element_ids:
            by_element.setdefault(element, []).append(depth[node.id])
    return GraphState(
        node_count=len(nodes),
        edge_count=len(edges),
        nodes_by_type=dict(Counter(node.node_type for node in nodes.values())),
        edges_by_type=dict(Counter(edge.edge_type for edge in edges)),
        orphan_count=len(nodes.keys() - linked),
        tension_count=len(graph.tensions),
        max_depth=deepest,
        avg_depth=average,
        longest_chain=tuple(longest),
        depth_by_element={element: sum(all_) / len(all_) for element, all_ in by_element.items()},
        max_depth_ratio=min(1.0, deepest / ontology.depth),
        avg_depth_ratio=min(1.0, average / ontology.depth),
        chain_completion_ratio=ratio,
        has_complete_chain=complete,
    )


def measure_canonical(graph: CanonicalGraph) -> CanonicalGraphState:
    """All measures of the canonical graph, over active slots only."""
    active = {slot.id: slot for slot in graph.active_slots()}
    ends = [
        (edge.source_slot_id, edge.target_slot_id)
        for edge in graph.edges.values()
        if edge.source_slot_id in active and edge.target_slot_id in active
    ]
    depth, _ = depths(active, ends)
    linked = {slot for pair in ends for slot in pair}
    support = sum(slot.support_count for slot in active.values())
    return CanonicalGraphState(
        concept_count=len(active),
        candidate_count=len(graph.slots) - len(active),
        edge_count=len(ends),
        orphan_count=len(active.keys() - linked),
        max_depth=max(depth.values(), default=0),
        avg_support=support / len(active) if active else 0.0,
    )
