"""Canonical slots: matching, support, promotion, aggregation, the backlog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from pipeline.ports import SlotProposal, SlotRequest, Vectors
from tests.support.interview import Interview, OwnSlots, TableEmbedder, concepts, configuration


async def test_slot_same_name_maps_both_and_promotes_at_two() -> None:
    names = {"fast car": "speed", "quick vehicle": "speed"}
    interview = Interview(slots=OwnSlots(names))
    await interview.say("one", concepts(("fast car", "attribute")))
    assert interview.state.slots[0].status == "candidate"
    await interview.say("two", concepts(("quick vehicle", "attribute")))
    slot = interview.state.slots[0]
    assert (len(interview.state.slots), slot.status, slot.support_count, slot.promoted_turn) == (1, "active", 2, 2)


async def test_slot_support_counts_distinct_nodes_not_mentions() -> None:
    interview = Interview()
    for turn in range(4):
        await interview.say(f"turn {turn}", concepts(("fast car", "attribute")))
    assert interview.state.slots[0].support_count == 1


@pytest.mark.parametrize(("cosine", "slots"), [(0.61, 1), (0.58, 2)])
async def test_slot_cosine_threshold_is_060(cosine: float, slots: int) -> None:
    interview = Interview(embedder=TableEmbedder([("rapid engine", "speed", cosine)]))
    await interview.say("one", concepts(("speed", "attribute")))
    await interview.say("two", concepts(("rapid engine", "attribute")))
    assert len(interview.state.slots) == slots


async def test_slot_other_type_never_shared() -> None:
    interview = Interview(slots=OwnSlots({"calm": "calm", "calmness": "calm"}))
    await interview.say("one", concepts(("calm", "attribute"), ("calmness", "consequence")))
    assert len(interview.state.slots) == 2


async def test_slot_opposites_stay_apart() -> None:
    interview = Interview(embedder=TableEmbedder([("high price", "low price", 0.9)]))
    await interview.say("one", concepts(("low price", "attribute"), ("high price", "attribute")))
    assert len(interview.state.slots) == 2


async def test_backlog_more_than_a_batch_is_drained_in_batches_of_eight() -> None:
    slots = OwnSlots()
    interview = Interview(slots=slots)
    await interview.say("one", concepts(*((f"thing {i} {chr(97 + i)}", "attribute") for i in range(20))))
    assert slots.batches == [8, 8, 4]
    assert len(interview.state.mappings) == 20 and interview.state.slot_backlog == ()


async def test_canonical_edges_aggregate_and_have_no_self_loops() -> None:
    names = {"fast car": "speed", "quick vehicle": "speed", "fun": "joy", "thrill": "joy"}
    interview = Interview(slots=OwnSlots(names))
    await interview.say(
        "one",
        concepts(
            ("fast car", "attribute"),
            ("quick vehicle", "attribute"),
            ("fun", "consequence"),
            ("thrill", "consequence"),
            links=[("fast car", "fun"), ("quick vehicle", "thrill"), ("fast car", "quick vehicle")],
        ),
    )
    edges = interview.state.canonical_edges
    assert [(edge.support_count, len(edge.surface_edge_ids)) for edge in edges] == [(2, 2)]


async def test_paraphrases_share_focus_count_also_after_reload() -> None:
    interview = Interview(slots=OwnSlots({"fast car": "speed", "quick vehicle": "speed"}))
    await interview.say("one", concepts(("fast car", "attribute")))
    await interview.say("two", concepts(("quick vehicle", "attribute")))
    states = [state for state in interview.state.tracker.states if state.key == interview.state.slots[0].id]
    assert len(states) == 1 and states[0].focus_count == 2 and len(states[0].surface_ids) == 2


async def test_slots_switched_off_leaves_no_trace() -> None:
    interview = Interview(configuration=configuration(enable_canonical_slots=False))
    await interview.say("one", concepts(("fast car", "attribute")))
    assert interview.result.canonical_graph is None and interview.result.graph_comparison is None
    assert "meta.canonical.saturation" not in interview.result.signals
    assert interview.state.slots == ()


async def test_node_that_comes_back_is_mapped_after_all() -> None:
    interview = Interview()
    both = concepts(("low", "attribute"), ("high", "attribute"), links=[("high", "low")], kind="revises")
    await interview.say("one", both)
    await interview.say("two", concepts(("low", "attribute")))
    live = {node.id for node in interview.state.nodes if node.superseded_by is None}
    assert live <= {mapping.surface_node_id for mapping in interview.state.mappings} and len(live) == 2


async def test_edge_through_a_paraphrase_makes_the_slot_fresh_again() -> None:
    interview = Interview(slots=OwnSlots({"milk foam": "foam", "soft bubbles": "foam"}))
    await interview.say("one", concepts(("milk foam", "attribute")))
    key = interview.state.slots[0].id
    for turn in range(3):
        await interview.say(f"other {turn}")
    assert next(s for s in interview.state.tracker.states if s.key == key).turns_since_last_yield >= 3
    found = concepts(("soft bubbles", "attribute"), ("joy", "consequence"), links=[("soft bubbles", "joy")])
    await interview.say("again", found)
    assert next(s for s in interview.state.tracker.states if s.key == key).turns_since_last_yield <= 1


class Counting(TableEmbedder):
    """Keeps what it was asked to embed."""

    def __init__(self, similar: Iterable[tuple[str, str, float]] = ()) -> None:
        super().__init__(similar)
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return await super().embed(texts)


class LabelSlots(OwnSlots):
    """Slots that are described by the labels that they are named after."""

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        found = await super().propose(request)
        return [
            proposal.model_copy(update={"description": node.label})
            for proposal, node in zip(found, request.nodes, strict=True)
        ]


@pytest.mark.parametrize(("cosine", "compared"), [(0.1, False), (0.5, True)])
async def test_slots_are_compared_only_where_the_labels_they_are_named_after_are_alike(
    cosine: float, compared: bool
) -> None:
    embedder = Counting([("rapid engine", "red paint", cosine)])
    interview = Interview(embedder=embedder, slots=LabelSlots())
    await interview.say("one", concepts(("red paint", "attribute")))
    assert "red paint: red paint" not in embedder.embedded
    await interview.say("two", concepts(("rapid engine", "attribute")))
    assert len(interview.state.slots) == 2
    texts = {"red paint: red paint", "rapid engine: rapid engine"}
    assert (texts & {*embedder.embedded}) == (texts if compared else set())


async def test_slot_that_had_no_vector_is_joined_by_what_is_like_it() -> None:
    alike = [("rapid engine", "speed", 0.7), ("rapid engine: rapid engine", "speed: speed", 0.7)]
    interview = Interview(embedder=TableEmbedder(alike), slots=LabelSlots())
    await interview.say("one", concepts(("speed", "attribute")))
    await interview.say("two", concepts(("rapid engine", "attribute")))
    assert [slot.support_count for slot in interview.state.slots] == [2]
