"""Names that come after the question: provisional slots, what becomes of them, and that nothing is forgotten."""

from __future__ import annotations

import pytest

from pipeline.errors import LLMTimeout
from pipeline.graph.canonical import CanonicalSlot
from pipeline.graph.tracker import NodeState
from pipeline.ports import SlotProposal, SlotRequest
from pipeline.state import InterviewState
from tests.support.interview import Interview, OwnSlots, TableEmbedder, concepts, configuration


class SlowSlots(OwnSlots):
    """A proposer that takes its time; fails when told to, and may leave labels out."""

    inline = False

    def __init__(self, names: dict[str, str] | None = None, *, silent_on: tuple[str, ...] = ()) -> None:
        super().__init__(names)
        self.silent_on = silent_on
        self.failing = False

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        if self.failing:
            raise LLMTimeout("no answer in time")
        found = await super().propose(request)
        labels = {node.id: node.label for node in request.nodes}
        return [p for p in found if labels[p.node_ids[0]] not in self.silent_on]


def slot_names(state: InterviewState) -> list[str]:
    return sorted(slot.slot_name for slot in state.slots)


def slot_of(state: InterviewState, label: str) -> CanonicalSlot:
    node = next(node for node in state.nodes if node.label == label)
    found = state.canonical_graph().slot_of(node.id)
    assert found is not None
    return found


def tracked(state: InterviewState, key: str) -> NodeState:
    return next(known for known in state.tracker.states if known.key == key)


async def test_new_nodes_have_slots_of_their_own_name_at_once_and_wait_for_a_better_one() -> None:
    interview = Interview(slots=SlowSlots({"fast car": "speed"}))
    await interview.say("one", concepts(("fast car", "attribute")))
    assert slot_names(interview.state) == ["fast_car"]
    assert interview.state.slot_backlog == (interview.state.nodes[0].id,)
    assert interview.slots.batches == []


async def test_name_renames_the_provisional_slot_and_keeps_its_history() -> None:
    interview = Interview(slots=SlowSlots({"fast car": "speed"}))
    await interview.say("one", concepts(("fast car", "attribute")))
    before = interview.state.slots[0]
    await interview.name_slots()
    outcome = await interview.say("two")
    after = interview.state.slots[0]
    assert (after.id, after.slot_name) == (before.id, "speed")
    assert interview.state.slot_backlog == ()
    assert tracked(interview.state, before.id).focus_count == 2
    assert before.id in outcome.embeddings, "a renamed slot has another vector"


async def test_names_bring_wordings_together_and_merge_their_histories() -> None:
    names = {"fast car": "speed", "quick vehicle": "speed"}
    interview = Interview(slots=SlowSlots(names))
    await interview.say("one", concepts(("fast car", "attribute")))
    await interview.say("two", concepts(("quick vehicle", "attribute")))
    assert slot_names(interview.state) == ["fast_car", "quick_vehicle"]
    focused = sum(known.focus_count for known in interview.state.tracker.states)
    await interview.name_slots()
    await interview.say("three")
    assert slot_names(interview.state) == ["speed"]
    slot = interview.state.slots[0]
    assert (slot.support_count, slot.status) == (2, "active")
    assert tracked(interview.state, slot.id).focus_count == focused + 1
    assert {known.key for known in interview.state.tracker.states} == {slot.id}


async def test_name_like_a_settled_slot_joins_it() -> None:
    interview = Interview(slots=SlowSlots({"fast car": "speed", "rapid engine": "speed"}))
    await interview.say("one", concepts(("fast car", "attribute")))
    await interview.name_slots()
    await interview.say("two", concepts(("rapid engine", "attribute")))
    settled = slot_of(interview.state, "fast car").id
    assert slot_of(interview.state, "rapid engine").id != settled
    await interview.name_slots()
    await interview.say("three")
    assert slot_of(interview.state, "rapid engine").id == settled
    assert len(interview.state.slots) == 1


async def test_name_that_separates_what_the_embedding_had_joined_makes_another_slot() -> None:
    embedder = TableEmbedder([("rapid engine", "speed", 0.9)])
    interview = Interview(slots=SlowSlots({"speed": "speed", "rapid engine": "power"}), embedder=embedder)
    await interview.say("one", concepts(("speed", "attribute")))
    await interview.name_slots()
    interview.configuration = configuration(dedup_method="exact")
    await interview.say("two", concepts(("rapid engine", "attribute")))
    assert len(interview.state.slots) == 1
    await interview.name_slots()
    await interview.say("three")
    assert slot_names(interview.state) == ["power", "speed"]
    keys = {known.key: known.surface_ids for known in interview.state.tracker.states}
    assert sorted(len(ids) for ids in keys.values()) == [1, 1]
    assert keys.keys() == {slot.id for slot in interview.state.slots}


async def test_backlog_is_named_in_batches_of_eight_and_nothing_is_forgotten() -> None:
    interview = Interview(slots=SlowSlots())
    await interview.say("one", concepts(*((f"thing {i} {chr(97 + i)}", "attribute") for i in range(20))))
    assert len(interview.state.slot_backlog) == 20
    while await interview.name_slots():
        pass
    assert interview.slots.batches == [8, 8, 4]
    await interview.say("two")
    assert interview.state.slot_backlog == ()
    assert len(interview.state.mappings) == 20


async def test_node_that_the_model_forgets_keeps_its_own_name_for_good() -> None:
    interview = Interview(slots=SlowSlots(silent_on=("fast car",)))
    await interview.say("one", concepts(("fast car", "attribute"), ("red paint", "attribute")))
    await interview.name_slots()
    await interview.say("two")
    assert interview.state.slot_backlog == ()
    assert "fast_car" in slot_names(interview.state)


async def test_names_that_never_came_are_asked_for_again() -> None:
    slots = SlowSlots({"fast car": "speed"})
    slots.failing = True
    interview = Interview(slots=slots)
    await interview.say("one", concepts(("fast car", "attribute")))
    with pytest.raises(LLMTimeout):
        await interview.name_slots()
    await interview.say("two")
    assert len(interview.state.slot_backlog) == 1
    slots.failing = False
    await interview.name_slots()
    await interview.say("three")
    assert slot_names(interview.state) == ["speed"] and not interview.state.slot_backlog


async def test_what_waits_after_the_last_turn_is_settled_once_the_interview_is_over() -> None:
    interview = Interview(slots=SlowSlots({"fast car": "speed", "red paint": "colour"}))
    interview.state = interview.state.model_copy(update={"max_turns": 3})
    await interview.say("one", concepts(("fast car", "attribute")))
    await interview.say("two")
    await interview.say("three", concepts(("red paint", "attribute")))
    assert interview.state.status == "completed" and len(interview.state.slot_backlog) == 2
    assert interview.slots.batches == [], "the thanks did not wait for names"
    names = await interview.name_slots()
    outcome = await interview.pipeline().settle(
        interview.state, interview.configuration, names, embeddings=interview.embeddings
    )
    assert outcome is not None and outcome.events == ()
    assert slot_names(outcome.state) == ["colour", "speed"] and not outcome.state.slot_backlog
    assert outcome.state.rev == interview.state.rev + 1 and outcome.state.turn_count == interview.state.turn_count
    again = await interview.pipeline().settle(outcome.state, interview.configuration, names, embeddings={})
    assert again is None, "nothing waits any more"


async def test_names_for_nodes_that_were_superseded_meanwhile_are_passed_over() -> None:
    interview = Interview(slots=SlowSlots({"low": "price_low", "high": "price_high"}))
    await interview.say("one", concepts(("low", "attribute")))
    await interview.name_slots()
    await interview.say(
        "two", concepts(("low", "attribute"), ("high", "attribute"), links=[("high", "low")], kind="revises")
    )
    assert len(interview.state.slot_backlog) == 1
    assert slot_of(interview.state, "high").slot_name == "high"


async def test_canonical_saturation_counts_nodes_when_they_get_their_name() -> None:
    names = {"fast car": "speed", "quick vehicle": "speed", "red paint": "colour"}
    interview = Interview(slots=SlowSlots(names))
    found = concepts(*((label, "attribute") for label in names))
    await interview.say("one", found)
    assert interview.result.signals["meta.canonical.saturation"] == 0, "nothing has its final slot yet"
    await interview.name_slots()
    await interview.say("two")
    assert interview.result.signals["meta.canonical.saturation"] == pytest.approx(1 - 2 / 3)


async def test_inline_setting_names_within_the_turn() -> None:
    interview = Interview(slots=SlowSlots({"fast car": "speed"}), configuration=configuration(slot_discovery="inline"))
    await interview.say("one", concepts(("fast car", "attribute")))
    assert slot_names(interview.state) == ["speed"] and interview.state.slot_backlog == ()
    assert not interview.pipeline().defers_naming(interview.configuration)


async def test_name_that_only_describes_better_is_taken_over_too() -> None:
    class Describing(SlowSlots):
        async def propose(self, request: SlotRequest) -> list[SlotProposal]:
            return [p.model_copy(update={"description": "how quick it is"}) for p in await super().propose(request)]

    interview = Interview(slots=Describing({"fast car": "fast_car"}))
    await interview.say("one", concepts(("fast car", "attribute")))
    await interview.name_slots()
    outcome = await interview.say("two")
    slot = interview.state.slots[0]
    assert (slot.slot_name, slot.description) == ("fast_car", "how quick it is")
    assert slot.id in outcome.embeddings
