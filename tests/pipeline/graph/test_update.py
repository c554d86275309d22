"""What becomes part of the surface graph, and what is kept as a tension."""

from __future__ import annotations

from pipeline.ports import DroppedElement, Extraction
from tests.support.interview import Interview, concepts


async def test_edge_across_turns_resolves_by_label() -> None:
    interview = Interview()
    await interview.say("one", concepts(("strong taste", "attribute")))
    await interview.say("two", concepts(("more awake", "consequence"), links=[("Strong  Taste", "more awake")]))
    edge = interview.state.edges[0]
    assert (edge.source_id, edge.target_id) == (interview.state.nodes[0].id, interview.state.nodes[1].id)


async def test_edge_repeated_adds_provenance_and_is_no_yield() -> None:
    interview = Interview()
    found = concepts(("taste", "attribute"), ("awake", "consequence"), links=[("taste", "awake")])
    await interview.say("one", found)
    await interview.say("two", found)
    assert len(interview.state.edges) == 1
    assert len(interview.state.edges[0].mentions) == 2
    assert interview.result.edges_added == ()
    assert interview.state.saturation.consecutive_low_info == 1


async def test_edge_not_permitted_becomes_tension() -> None:
    interview = Interview()
    await interview.say("one", concepts(("taste", "attribute"), ("freedom", "value"), links=[("taste", "freedom")]))
    tension = interview.state.tensions[0]
    assert interview.state.edges == ()
    assert (tension.source, tension.target, tension.type) == ("taste", "freedom", "leads_to")
    assert tension.quote and "not_permitted" in tension.reason


async def test_bad_elements_are_dropped_with_reason_and_the_rest_is_used() -> None:
    interview = Interview()
    good = concepts(("taste", "attribute"), ("magic", "spell"), links=[("taste", "taste"), ("taste", "nowhere")])
    noted = DroppedElement(source="x", type="attribute", reason="missing_quote")
    await interview.say("one", good.model_copy(update={"dropped": (noted,)}))
    assert [node.label for node in interview.state.nodes] == ["taste"]
    reasons = {tension.reason for tension in interview.state.tensions}
    assert reasons == {"unknown_node_type", "self_loop", "unresolved_endpoint", "missing_quote"}
    assert interview.result.graph_state["tension_count"] == 4


async def test_revises_supersedes_the_older_and_leaves_every_measure() -> None:
    interview = Interview()
    await interview.say("one", concepts(("sweet", "attribute"), ("happy", "consequence"), links=[("sweet", "happy")]))
    await interview.say("two", concepts(("bitter", "attribute"), links=[("bitter", "sweet")], kind="revises"))
    sweet = next(node for node in interview.state.nodes if node.label == "sweet")
    bitter = next(node for node in interview.state.nodes if node.label == "bitter")
    result = interview.result
    assert sweet.superseded_by == bitter.id
    assert result.graph_state["node_count"] == 2 and result.graph_state["max_depth"] == 1
    assert "sweet" not in {state.label for state in interview.state.tracker.states}


async def test_correction_supersedes_what_only_the_corrected_answer_said() -> None:
    interview = Interview()
    await interview.say("one", concepts(("cheap", "attribute")))
    await interview.say("two", concepts(("loud", "attribute"), ("cheap", "attribute")))
    corrected = interview.state.last_answer()
    assert corrected is not None
    await interview.say("fixed", concepts(("silent", "attribute")), kind="correct", corrects=corrected.id)
    by_label = {node.label: node for node in interview.state.nodes}
    assert by_label["loud"].superseded_by == by_label["silent"].id
    assert by_label["cheap"].superseded_by is None
    assert [edge.edge_type for edge in interview.state.edges] == ["revises"]


async def test_concept_superseded_and_said_again_is_live_again() -> None:
    interview = Interview()
    await interview.say("one", concepts(("sweet", "attribute")))
    await interview.say("two", concepts(("bitter", "attribute"), links=[("bitter", "sweet")], kind="revises"))
    await interview.say("three", concepts(("sweet", "attribute")))
    sweet = next(node for node in interview.state.nodes if node.label == "sweet")
    assert sweet.superseded_by is None
    assert "sweet" in {state.label for state in interview.state.tracker.states}


async def test_skip_is_a_turn_without_content_and_is_not_probed_again() -> None:
    interview = Interview()
    await interview.say("one", concepts(("salary", "attribute")))
    assert interview.state.question is not None and interview.state.question.focus_label == "salary"
    await interview.say("", kind="skip")
    assert interview.state.turn_count == 2
    for turn in range(3, 8):
        await interview.say(f"turn {turn}", concepts((f"thing {turn}", "attribute")))
        assert interview.state.focus_history[-1].label != "salary"


async def test_turn_failing_later_leaves_the_given_state_untouched() -> None:
    interview = Interview()
    await interview.say("one", concepts(("taste", "attribute")))
    before = interview.state.dump()
    await interview.say("two", Extraction())
    assert interview.outcomes[0].state.dump() == before


async def test_correction_takes_back_relations_that_only_the_corrected_answer_stated() -> None:
    interview = Interview()
    await interview.say("one", concepts(("foam", "attribute"), ("joy", "consequence")))
    await interview.say("two", concepts(("foam", "attribute"), links=[("foam", "joy")]))
    corrected = interview.state.last_answer()
    assert corrected is not None and len(interview.state.edges) == 1
    await interview.say("three", concepts(("mug", "attribute")), kind="correct", corrects=corrected.id)
    assert [edge.edge_type for edge in interview.state.edges if edge.edge_type != "revises"] == []
    assert "corrected" in {tension.reason for tension in interview.state.tensions}


async def test_correction_of_a_correction_takes_back_what_both_said() -> None:
    interview = Interview()
    await interview.say("one", concepts(("foam", "attribute"), ("mug", "attribute")))
    for text, label in (("two", "cup"), ("three", "glass")):
        last = interview.state.last_answer()
        assert last is not None
        found = (
            concepts(("foam", "attribute"), (label, "attribute")) if text == "two" else concepts((label, "attribute"))
        )
        await interview.say(text, found, kind="correct", corrects=last.id)
    live = {node.label for node in interview.state.nodes if node.superseded_by is None}
    assert live == {"glass"}


async def test_correction_is_credited_to_the_question_it_answers() -> None:
    interview = Interview()
    await interview.say("one", concepts(("taste", "attribute")))
    asked = interview.state.question
    await interview.say("two", concepts(("smell", "attribute")))
    last = interview.state.last_answer()
    assert asked is not None and last is not None
    await interview.say("fixed", concepts(("scent", "attribute")), kind="correct", corrects=last.id)
    assert interview.extractor.requests[-1].question == asked.text
    assert interview.rater.requests[-1].question == asked.text
    assert interview.extractor.requests[-1].focus_label == asked.focus_label


async def test_revises_between_two_old_nodes_supersedes_its_target() -> None:
    interview = Interview()
    await interview.say("one", concepts(("low", "attribute")))
    await interview.say("two", concepts(("high", "attribute")))
    await interview.say("low after all", concepts(("low", "attribute"), links=[("low", "high")], kind="revises"))
    by_label = {node.label: node for node in interview.state.nodes}
    assert by_label["high"].superseded_by == by_label["low"].id and by_label["low"].superseded_by is None


async def test_revises_said_again_supersedes_again() -> None:
    interview = Interview()
    await interview.say("one", concepts(("low", "attribute")))
    revise = concepts(("high", "attribute"), links=[("high", "low")], kind="revises")
    await interview.say("two", revise)
    await interview.say("three", concepts(("low", "attribute")))
    await interview.say("four", revise)
    live = {node.label for node in interview.state.nodes if node.superseded_by is None}
    assert live == {"high"}


async def test_relation_without_a_quote_is_kept_as_tension_only() -> None:
    interview = Interview()
    found = concepts(("taste", "attribute"), ("awake", "consequence"), links=[("taste", "awake")])
    silent = found.relationships[0].model_copy(update={"quote": " "})
    await interview.say("one", found.model_copy(update={"relationships": (silent,)}))
    assert interview.state.edges == ()
    assert [tension.reason for tension in interview.state.tensions] == ["missing_quote"]
