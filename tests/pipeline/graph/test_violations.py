"""Every violation of a graph against the methodology is listed."""

from __future__ import annotations

from pipeline.graph.surface import Basis, KGEdge, KGNode, Mention, SurfaceGraph
from pipeline.graph.violations import violations
from pipeline.methodology import EdgeType, Ontology
from tests.support.interview import Interview, concepts, small_methodology


def node(name: str, kind: str) -> KGNode:
    return KGNode(
        id=name,
        label=name,
        node_type=kind,
        mentions=(Mention(utterance_id="u", quote=name),),
        confidence=0.7,
        created_turn=1,
        last_mention_turn=1,
        sequence=1,
        mention_sequence=1,
    )


def edge(source: str, target: str, kind: str = "leads_to", basis: Basis = "stated") -> KGEdge:
    return KGEdge(
        id=f"{source}-{target}",
        source_id=source,
        target_id=target,
        edge_type=kind,
        mentions=(),
        confidence=0.7,
        basis=basis,
        created_turn=1,
        sequence=1,
    )


def listed(*edges: KGEdge, ontology: Ontology | None = None) -> list[str]:
    nodes = [node("a", "attribute"), node("v", "value"), node("x", "nothing")]
    return list(violations(SurfaceGraph(nodes, edges), ontology or small_methodology().ontology))


def test_every_violation_is_listed() -> None:
    assert listed(edge("a", "v"), edge("a", "a", "causes"), edge("a", "gone"), edge("a", "x", "revises")) == [
        "node x: there is no type nothing",
        "edge a-v: leads_to does not join attribute to value",
        "edge a-a: there is no type causes",
        "edge a-gone: gone is no node",
    ]


def test_what_counts_only_where_it_is_stated_is_no_violation_there() -> None:
    plain = small_methodology().ontology
    kind = EdgeType(
        name="leads_to", permitted_connections=(("value", "value"),), permitted_where_stated=(("attribute", "value"),)
    )
    ontology = plain.model_copy(update={"edges": (kind,)})
    assert listed(edge("a", "v"), ontology=ontology)[1:] == []
    assert listed(edge("a", "v", basis="inferred"), ontology=ontology)[1:] == [
        "edge a-v: leads_to does not join attribute to value"
    ]


async def test_graph_of_an_interview_has_none() -> None:
    interview = Interview()
    await interview.say("taste", concepts(("taste", "attribute"), ("calm", "consequence"), links=[("taste", "calm")]))
    assert interview.state.edges
    assert list(violations(interview.state.surface_graph(), small_methodology().ontology)) == []
