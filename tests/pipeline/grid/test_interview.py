"""Interviews that elicit a repertory grid, with the shipped methodology."""

from __future__ import annotations

import json

import pytest

from config.loader import Library
from pipeline.concept import Element, PipelineSettings, SessionConfiguration
from pipeline.engines.registry import ENGINES
from pipeline.errors import InvalidAnswer
from pipeline.focus import Target
from pipeline.grid.model import GridProgress
from pipeline.repeating import inputs_of
from pipeline.state import InterviewState
from tests.support.interview import Interview, ScriptedReader, new_state

LIBRARY = Library(PipelineSettings())
NAMES = ("Lidl", "Aldi", "Waitrose", "Spar", "Tesco", "Iceland")


def given(count: int = 4, **concept: object) -> SessionConfiguration:
    """The concept with elements of these names, of which `count` are given."""
    found = LIBRARY.configuration("ways_of_learning_rg")
    elements = tuple(Element(id=name.lower(), label=name) for name in NAMES[:count])
    return found.model_copy(
        update={"concept": found.concept.model_copy(update={"elements": elements, "conduct": {}, **concept})}
    )


def interview(chosen: SessionConfiguration, **state: object) -> Interview:
    turns = chosen.concept.max_turns or 20
    known: dict[str, object] = {"methodology": chosen.methodology.name, "max_turns": turns, **state}
    return Interview(configuration=chosen, state=new_state().model_copy(update=known))


def asked(state: InterviewState) -> Target:
    assert state.question is not None and state.question.target is not None
    return state.question.target


def labels(held: Interview) -> list[str]:
    """The elements of the present comparison, as they are called."""
    found = [held.state.grid.known_element(name) for name in asked(held.state).ids]
    return [element.label for element in found if element is not None]


async def compared(held: Interview, pole: str, contrast: str | None = None) -> None:
    """Go on to the next comparison, and answer it."""
    for _ in range(4):
        if held.state.question is not None and held.state.question.strategy == "compare_three":
            break
        await held.say("That is how it is with them.")
    one, two, third = labels(held)
    await held.say(f"{one} and {two} are {pole}" + (f", {third} is {contrast}." if contrast else "."))


async def test_given_elements_are_compared_from_the_first_question_on() -> None:
    held = interview(given())
    await held.open()
    assert asked(held.state).kind == "elements"
    assert len(set(asked(held.state).ids)) == 3
    question = held.state.question
    assert question is not None
    assert all(label in question.text for label in labels(held))
    assert held.state.grid.compared == (asked(held.state).ids,)


async def test_both_poles_make_a_construct_and_an_edge_between_them() -> None:
    held = interview(given())
    await held.open()
    one, two, third = labels(held)
    await held.say(f"{one} and {two} are cheap, {third} is dear.")
    (construct,) = held.state.grid.constructs
    assert (construct.emergent, construct.contrast) == ("cheap", "dear")
    assert construct.apart == third.lower()
    types = {node.label: node.node_type for node in held.state.nodes}
    assert types["cheap"] == types["dear"] == "construct_pole"
    assert types[third] == "element"
    ends = {(edge.edge_type, edge.basis) for edge in held.state.edges}
    assert ("opposite_of", "stated") in ends
    assert sum(edge.edge_type == "applies_to" for edge in held.state.edges) == 3


@pytest.mark.parametrize(("end", "asked_back"), [(".", False), ("?", True)])
async def test_comparison_that_sounds_like_a_question_asks_nothing_back(end: str, *, asked_back: bool) -> None:
    held = interview(given())
    await held.open()
    one, two, third = labels(held)
    said = f"{one} and {two} show you what it is, {third} is what you make of it{end}"
    held.reader = ScriptedReader({said: [(said, "asks_back", {"heard_by": "reader"})]})
    await held.say(said)
    utterance = next(one for one in reversed(held.state.utterances) if one.speaker == "respondent")
    acts = [act.act for act in utterance.acts]
    assert ("asks_back" in acts) is asked_back


async def test_missing_pole_is_asked_for_once_and_may_stay_missing() -> None:
    held = interview(given())
    await held.open()
    await compared(held, "cheap")
    assert held.state.question is not None and held.state.question.strategy == "ask_opposite"
    await held.say("The opposite would be overpriced.")
    assert held.state.grid.constructs[0].contrast == "overpriced"
    assert any(edge.edge_type == "opposite_of" and edge.basis == "answered" for edge in held.state.edges)

    await compared(held, "friendly")
    assert held.state.question.strategy == "ask_opposite"
    await held.say("", kind="skip")
    assert held.state.grid.constructs[1].contrast is None
    assert held.state.question.strategy != "ask_opposite"


async def test_two_names_without_a_reason_are_asked_in_what_way_they_are_alike() -> None:
    held = interview(given())
    await held.open()
    one, two, third = labels(held)
    await held.say(f"{one} and {two}.")
    assert held.state.question is not None and held.state.question.strategy == "ask_likeness"
    await held.say("They are both noisy.")
    (construct,) = held.state.grid.constructs
    assert construct.emergent == "noisy"
    assert set(construct.alike) == {one.lower(), two.lower()}
    assert construct.apart == third.lower()


async def test_same_construct_twice_counts_once_and_three_empty_comparisons_end_them() -> None:
    held = interview(given(6))
    await held.open()
    await compared(held, "cheap", "dear")
    await compared(held, "very cheap", "posh")
    await compared(held, "dear", "cheap")
    assert len(held.state.grid.constructs) == 1
    assert held.state.grid.barren == 2
    for _ in range(4):
        if held.state.question is not None and held.state.question.strategy == "compare_three":
            break
        await held.say("That is how it is with them.")
    await held.say("They're all the same.")
    assert asked(held.state).kind == "ratings"


async def test_all_the_same_from_the_start_ends_without_ratings() -> None:
    held = interview(given())
    await held.open()
    for _ in range(3):
        await held.say("They're all the same.")
    assert held.state.grid.constructs == ()
    assert held.state.status == "closing"


async def test_elements_are_named_in_answer_to_prompts_each_asked_once() -> None:
    held = interview(LIBRARY.configuration("food_shops_rg"))
    await held.open()
    await held.say("Lidl, Aldi, and the market.")
    await held.say("lidl.")
    await held.say("The Kwik Save, it closed.")
    grid = held.state.grid
    assert [element.label for element in grid.elements] == ["Lidl", "Aldi", "the market", "the Kwik Save"]
    assert grid.roles == ("known", "avoided", "once")
    assert asked(held.state).kind == "elements"


async def test_two_elements_are_compared_with_each_other_and_one_with_nothing() -> None:
    held = interview(LIBRARY.configuration("food_shops_rg"))
    await held.open()
    await held.say("Lidl.")
    await held.say("None.")
    await held.say("The market.")
    assert held.state.question is not None and held.state.question.strategy == "compare_two"
    await held.say("Lidl is quick, the market is slow.")
    (construct,) = held.state.grid.constructs
    assert (construct.emergent, construct.contrast) == ("quick", "slow")

    alone = interview(LIBRARY.configuration("food_shops_rg"))
    await alone.open()
    for said in ("Lidl.", "None.", "None."):
        await alone.say(said)
    assert alone.state.grid.constructs == ()
    assert alone.state.question is not None and alone.state.question.strategy == "wrap_up"


async def test_forty_named_elements_are_cut_to_what_can_be_rated() -> None:
    held = interview(LIBRARY.configuration("food_shops_rg"))
    await held.open()
    await held.say(", ".join(f"shop {'x' * n}" for n in range(1, 41)))
    grid = held.configuration.methodology.grid
    assert grid is not None
    assert len(held.state.grid.elements) == grid.most_elements


async def test_ratings_are_asked_for_two_turns_before_the_end_and_kept() -> None:
    held = interview(given(max_turns=5))
    await held.open()
    await compared(held, "cheap", "dear")
    while asked(held.state).kind != "ratings":
        await held.say("They're all the same.")
        assert held.state.turn_count <= 4
    event = next(e for e in held.outcomes[-1].events if e["type"] == "question.completed")
    assert [c["emergent"] for c in event["ratings"]["constructs"]] == ["cheap"]
    assert len(event["ratings"]["elements"]) == 4
    told = json.dumps({"c1": {"lidl": 1, "aldi": 5}})
    outcome = await held.say(told, kind="rate")
    assert held.state.grid.ratings == {"c1": {"lidl": 1, "aldi": 5}}
    said = held.state.last_answer()
    assert said is not None and (said.kind, said.text) == ("rate", "cheap – dear: Lidl 1, Aldi 5")
    assert outcome.record is not None
    assert held.state.status == "closing"
    assert InterviewState.load(held.state.dump()) == held.state


@pytest.mark.parametrize(
    "told",
    [
        {"c1": {"lidl": 0}},
        {"c1": {"lidl": 6}},
        {"c1": {"lidl": True}},
        {"c1": {"lidl": 2.5}},
        {"c1": {"nowhere": 2}},
        {"c9": {"lidl": 2}},
        {"c1": {}},
        {},
        [],
        {"c1": 3},
    ],
)
async def test_ratings_that_do_not_fit_are_refused_and_change_nothing(told: object) -> None:
    held = interview(given(max_turns=5))
    await held.open()
    await compared(held, "cheap", "dear")
    while asked(held.state).kind != "ratings":
        await held.say("They're all the same.")
    before = held.state
    with pytest.raises(InvalidAnswer):
        await held.say(json.dumps(told), kind="rate")
    assert held.state == before


async def test_ratings_that_nobody_asked_for_are_refused() -> None:
    held = interview(given())
    await held.open()
    await compared(held, "cheap", "dear")
    with pytest.raises(InvalidAnswer, match="No ratings are asked for"):
        await held.say('{"c1":{"lidl":2}}', kind="rate")


async def test_correction_reads_the_comparison_again() -> None:
    held = interview(given())
    await held.open()
    one, two, third = labels(held)
    await held.say(f"{one} and {two} are cheap, {third} is dear.")
    said = held.state.last_answer()
    assert said is not None
    await held.say(f"{one} and {two} are small, {third} is vast.", kind="correct", corrects=said.id)
    (construct,) = held.state.grid.constructs
    assert (construct.emergent, construct.contrast) == ("small", "vast")


async def test_choice_can_be_made_again_from_what_was_stored() -> None:
    held = interview(given())
    await held.open()
    await compared(held, "cheap")
    record = held.outcomes[-1].record
    assert record is not None and record.inputs.step is not None
    engine = ENGINES["signal_pools"]
    again = engine.decide(inputs_of(held.state, record, held.configuration, engine.strategies(held.configuration)))
    assert (again.strategy, again.target) == (record.strategy, record.target)


async def test_rephrased_comparison_is_about_the_same_elements() -> None:
    held = interview(given())
    await held.open()
    before = held.state.question
    outcome = await held.pipeline().rephrase(
        held.state, held.configuration, now=held.state.created_at, sink=held.listener
    )
    after = outcome.state.question
    assert before is not None and after is not None
    assert after.text != before.text
    assert all(label in after.text for label in labels(held))
    assert after.target == before.target


def test_state_from_before_there_were_grids_loads() -> None:
    data = json.loads(new_state().dump())
    del data["grid"]
    data["version"] = 7
    assert InterviewState.load(json.dumps(data).encode()).grid == GridProgress()
