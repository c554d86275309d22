"""What an interviewer follows: which answer leads a thread on, begins one, or ends one."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.graph.surface import KGEdge, KGNode, Mention, SurfaceGraph
from pipeline.graph.tracker import NodeState, NodeStateTracker
from pipeline.methodology import EdgeType, NodeType, Ontology
from pipeline.threads import Thread, followed, judged, left

LADDER = Ontology(
    nodes=(
        NodeType(name="attribute", level=1, description="What it has."),
        NodeType(name="consequence", level=2, description="What that does."),
        NodeType(name="value", level=3, terminal=True, description="What it is worth."),
    ),
    edges=(EdgeType(name="leads_to", permitted_connections=(("*", "*"),)),),
)
STORY = LADDER.model_copy(update={"nodes": tuple(n.model_copy(update={"level": 0}) for n in LADDER.nodes)})


def node(name: str, kind: str = "attribute", salience: int | None = 2, at: int = 1) -> KGNode:
    return KGNode(
        id=name, label=name, node_type=kind, mentions=(Mention(utterance_id="u", quote=name),), confidence=0.8,
        salience=salience, created_turn=at, last_mention_turn=at, sequence=at, mention_sequence=at,
    )  # fmt: skip


def edge(source: str, target: str, basis: str = "stated") -> KGEdge:
    return KGEdge.model_validate(
        {
            "id": f"{source}-{target}",
            "source_id": source,
            "target_id": target,
            "edge_type": "leads_to",
            "mentions": (),
            "confidence": 0.8,
            "basis": basis,
            "created_turn": 1,
            "sequence": 1,
        }
    )


def after(
    said: Sequence[KGNode],
    threads: Sequence[Thread] = (),
    edges: Sequence[KGEdge] = (),
    known: Sequence[KGNode] = (),
    focus: Sequence[str] = (),
    turn: int = 1,
    ontology: Ontology = LADDER,
) -> tuple[Thread, ...]:
    graph = SurfaceGraph((*known, *said), edges, ())
    return followed(threads, graph, said, focus=focus, turn=turn, ontology=ontology, session_id="s")


def test_what_is_linked_is_one_thread_with_the_highest_as_its_head() -> None:
    (thread,) = after([node("calm", "consequence"), node("silence")], edges=[edge("silence", "calm")])
    assert thread.kind == "ladder"
    assert thread.head == "calm"


def test_what_is_only_inferred_stays_apart() -> None:
    threads = after([node("silence"), node("calm", "consequence")], edges=[edge("silence", "calm", "inferred")])
    assert [thread.head for thread in threads] == ["silence", "calm"]


def test_details_begin_no_thread_beside_something_of_weight() -> None:
    (thread,) = after([node("cup", salience=0), node("silence", salience=3), node("spoon", salience=1)])
    assert thread.head == "silence"


def test_brief_answer_is_followed_though_nothing_of_it_is_salient() -> None:
    (thread,) = after([node("price", salience=1)])
    assert thread.head == "price"


def test_answer_to_a_question_about_a_thread_leads_it_on() -> None:
    before = after([node("silence")])
    first, second = after(
        [node("concentrate", "consequence", 3, 2), node("big cup", "attribute", 2, 2)],
        before, known=[node("silence")], focus=["silence"], turn=2,
    )  # fmt: skip
    assert first.id == before[0].id
    assert first.node_ids == ("silence", "concentrate")
    assert (first.advanced_turn, first.dry) == (2, 0)
    assert second.node_ids == ("big cup",)


def test_questions_that_bring_nothing_exhaust_a_thread() -> None:
    threads = after([node("silence")])
    tracker = tracker_of("silence")
    for turn in (2, 3):
        assert judged(threads, SurfaceGraph([node("silence")]), tracker, str, LADDER)[0].ended == ""
        threads = after([], threads, known=[node("silence")], focus=["silence"], turn=turn)
    assert judged(threads, SurfaceGraph([node("silence")]), tracker, str, LADDER)[0].ended == "exhausted"


def test_ladder_ends_at_a_value_and_a_story_only_once_that_was_asked_about() -> None:
    graph, threads = SurfaceGraph([node("freedom", "value")]), after([node("freedom", "value")])
    assert judged(threads, graph, tracker_of("freedom"), str, LADDER)[0].ended == "terminal"
    assert judged(threads, graph, tracker_of("freedom"), str, STORY)[0].ended == ""
    assert judged(threads, graph, tracker_of("freedom", focus_count=1), str, STORY)[0].ended == "terminal"


def test_value_that_weighs_most_is_asked_about_before_its_ladder_ends() -> None:
    peak = node("be a better mum", "value", salience=3)
    graph, threads = SurfaceGraph([peak]), after([peak])
    assert judged(threads, graph, tracker_of(peak.id), str, LADDER)[0].ended == ""
    assert judged(threads, graph, tracker_of(peak.id, focus_count=1), str, LADDER)[0].ended == "terminal"


def test_declined_subject_ends_its_thread() -> None:
    graph, threads = SurfaceGraph([node("silence")]), after([node("silence")])
    assert judged(threads, graph, tracker_of("silence", declined=True), str, LADDER)[0].ended == "declined"


def test_retracted_node_leaves_its_thread_and_an_empty_thread_goes() -> None:
    gone = node("silence").model_copy(update={"superseded_by": "u2"})
    assert after([], after([node("silence")]), known=[gone], turn=2) == ()


def test_thread_remembers_when_it_was_left_and_forgets_it_when_it_is_followed_again() -> None:
    threads = left(after([node("silence"), node("price")]), ["silence"], 1)
    assert [thread.left_turn for thread in threads] == [None, 1]
    assert [thread.left_turn for thread in left(threads, ["price"], 3)] == [3, None]


def tracker_of(key: str, **more: object) -> NodeStateTracker:
    fields = {
        "key": key,
        "label": key,
        "node_type": "attribute",
        "created_turn": 1,
        "sequence": 1,
        "surface_ids": (key,),
    }
    return NodeStateTracker([NodeState.model_validate({**fields, **more})])


def test_story_goes_on_from_what_was_told_before_where_its_head_is_at_its_end() -> None:
    nodes = [node("the scarf"), node("the shame")]
    threads = after(nodes, edges=[edge("the scarf", "the shame")], ontology=STORY)
    graph = SurfaceGraph(nodes, [edge("the scarf", "the shame")], ())
    tracker = tracker_of("the scarf", focus_count=1)
    tracker.states |= tracker_of("the shame", declined=True).states
    [story] = judged(threads, graph, tracker, str, STORY)
    assert (story.head, story.ended) == ("the scarf", "")
    tracker.states |= tracker_of("the scarf", focus_count=2).states
    [story] = judged(threads, graph, tracker, str, STORY)
    assert story.ended == "declined"
    [ladder] = judged(threads, graph, tracker, str, LADDER)
    assert ladder.ended == "declined"
