"""Depth, chains and mention statistics of a graph."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.graph.metrics import chain_completion, chao1_ratio, depths, strong_components
from tests.support.interview import small_methodology


def deepest(nodes: str, edges: list[tuple[str, str]]) -> int:
    return max(depths(nodes, edges)[0].values(), default=0)


def test_depth_empty_graph_is_zero() -> None:
    assert deepest("", []) == 0


def test_depth_isolated_node_is_one() -> None:
    assert deepest("a", []) == 1


def test_depth_chain_of_three_is_three() -> None:
    assert deepest("abc", [("a", "b"), ("b", "c")]) == 3


def test_depth_shortcut_added_stays_three() -> None:
    assert deepest("abc", [("a", "b"), ("b", "c"), ("a", "c")]) == 3


def test_depth_three_cycle_counts_its_size() -> None:
    assert deepest("abc", [("a", "b"), ("b", "c"), ("c", "a")]) == 3


def test_depth_longest_path_is_one_that_exists() -> None:
    by_node, path = depths("abcd", [("a", "b"), ("b", "c"), ("a", "d")])
    assert path == ["a", "b", "c"]
    assert by_node == {"a": 1, "b": 2, "c": 3, "d": 2}


graphs = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=25))
)


@given(graphs)
def test_components_any_graph_agree_with_networkx(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    count, pairs = drawn
    names = [str(i) for i in range(count)]
    successors: dict[str, list[str]] = {name: [] for name in names}
    for a, b in pairs:
        successors[str(a)].append(str(b))
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((str(a), str(b)) for a, b in pairs)
    ours = {frozenset(component) for component in strong_components(successors)}
    assert ours == {frozenset(component) for component in nx.strongly_connected_components(graph)}


@given(graphs)
def test_depth_any_graph_agrees_with_weighted_condensation(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    count, pairs = drawn
    names = [str(i) for i in range(count)]
    edges = [(str(a), str(b)) for a, b in pairs]
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges)
    condensed = nx.condensation(graph)
    best: dict[int, int] = {}
    for component in nx.topological_sort(condensed):
        before = max((best[p] for p in condensed.predecessors(component)), default=0)
        best[component] = before + len(condensed.nodes[component]["members"])
    assert deepest(names, edges) == max(best.values())  # type: ignore[arg-type]


@given(graphs, st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_depth_edge_added_never_shrinks(drawn: tuple[int, list[tuple[int, int]]], extra: tuple[int, int]) -> None:
    count, pairs = drawn
    names = [str(i) for i in range(count)]
    edges = [(str(a), str(b)) for a, b in pairs]
    more = (str(extra[0] % count), str(extra[1] % count))
    assert deepest(names, [*edges, more]) >= deepest(names, edges)  # type: ignore[arg-type]


def test_chain_completion_one_of_two_attributes_reaches_value_is_half() -> None:
    types = {"a": "attribute", "b": "attribute", "c": "consequence", "v": "value"}
    ontology = small_methodology().ontology
    assert chain_completion(types, [("a", "c"), ("c", "v")], ontology) == (0.5, True)


@pytest.mark.parametrize(
    ("types", "edges"),
    [({}, []), ({"a": "attribute"}, []), ({"c": "consequence", "v": "value"}, [("c", "v")])],
)
def test_chain_completion_nothing_to_complete_is_zero(types: dict[str, str], edges: list[tuple[str, str]]) -> None:
    assert chain_completion(types, edges, small_methodology().ontology) == (0.0, False)


def test_chao1_nothing_seen_is_one() -> None:
    assert chao1_ratio([]) == 1.0


def test_chao1_all_seen_twice_is_one() -> None:
    assert chao1_ratio([2, 2, 3]) == 1.0


def test_chao1_bias_corrected_estimate() -> None:
    # f1 = 4, f2 = 1: S_est = 6 + 4·3 / (2·2) = 9
    assert chao1_ratio([1, 1, 1, 1, 2, 5]) == pytest.approx(6 / 9)


@given(st.lists(st.integers(1, 6), max_size=40))
def test_chao1_any_counts_in_unit_interval(counts: list[int]) -> None:
    assert 0 < chao1_ratio(counts) <= 1
