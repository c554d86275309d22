"""Slot proposals: one per node, shared where wordings mean the same, never across types or opposites."""

from __future__ import annotations

import re

import pytest

from pipeline.graph.canonical import CanonicalSlot
from pipeline.graph.surface import KGNode, Mention
from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.offline.slots import OfflineSlotProposer, slot_name
from pipeline.language.srl import SpacyParser
from pipeline.ports import SlotProposer, SlotRequest
from tests.quality.run import methodology


@pytest.fixture(scope="module")
def proposer(parser: SpacyParser, embedder: OnnxEmbedder) -> OfflineSlotProposer:
    return OfflineSlotProposer(parser, embedder)


def node(label: str, node_type: str = "attribute", stance: int = 0) -> KGNode:
    return KGNode(
        id=f"{node_type}/{label}",
        label=label,
        node_type=node_type,
        mentions=(Mention(utterance_id="u", quote=label),),
        confidence=0.8,
        stance=stance,
        created_turn=1,
        last_mention_turn=1,
        sequence=1,
        mention_sequence=1,
    )


def request_of(*nodes: KGNode, slots: tuple[CanonicalSlot, ...] = ()) -> SlotRequest:
    return SlotRequest(nodes=nodes, slots=slots, methodology=methodology("means_end_chain"), language="en")


async def groups(proposer: OfflineSlotProposer, *nodes: KGNode) -> list[set[str]]:
    return [set(p.node_ids) for p in await proposer.propose(request_of(*nodes))]


def test_proposer_is_one_of_the_ports_and_works_within_the_turn(proposer: OfflineSlotProposer) -> None:
    assert isinstance(proposer, SlotProposer)
    assert proposer.inline


async def test_propose_every_node_once(proposer: OfflineSlotProposer) -> None:
    nodes = [node(label) for label in ("creamy texture", "the price", "nice creamy texture", "ok", "🙂 x")]
    proposals = await proposer.propose(request_of(*nodes))
    assert sorted(i for p in proposals for i in p.node_ids) == sorted(n.id for n in nodes)
    assert all(re.fullmatch(r"\w+", p.slot_name) for p in proposals)


async def test_propose_wordings_of_one_idea_share_a_slot(proposer: OfflineSlotProposer) -> None:
    a, b, c = node("saves time"), node("saving time in the morning"), node("peace of mind")
    assert await groups(proposer, a, b, c) == [{a.id, b.id}, {c.id}]


async def test_propose_opposites_stay_apart(proposer: OfflineSlotProposer) -> None:
    assert len(await groups(proposer, node("easy to clean"), node("not easy to clean"))) == 2
    assert len(await groups(proposer, node("low price"), node("high price"))) == 2
    assert len(await groups(proposer, node("the smell", stance=1), node("the smell", "attribute", stance=-1))) == 2


async def test_propose_types_stay_apart(proposer: OfflineSlotProposer) -> None:
    assert len(await groups(proposer, node("being safe"), node("being safe", "terminal_value"))) == 2


async def test_propose_known_slot_in_nearly_the_same_words_is_named_again(proposer: OfflineSlotProposer) -> None:
    slot = CanonicalSlot(
        id="s",
        slot_name="save_time",
        description="saves time",
        node_type="attribute",
        status="candidate",
        support_count=1,
        first_seen_turn=1,
    )
    (proposal,) = await proposer.propose(request_of(node("saves a lot of time"), slots=(slot,)))
    assert proposal.slot_name == "save_time"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("fast cars", "fast_car"),
        ("be more than a mother", "be_more_than_a_mother"),
        ("I react to everything", "react_to_everything"),
        ("don't have to worry", "do_not_have_to_worry"),
        ("the smell", "smell"),
        ("!!", "slot"),
    ],
)
async def test_slot_name_keeps_what_makes_it_itself(proposer: OfflineSlotProposer, label: str, name: str) -> None:
    (proposal,) = await proposer.propose(request_of(node(label)))
    assert proposal.slot_name == name


async def test_same_words_with_another_meaning_stay_apart(proposer: OfflineSlotProposer) -> None:
    assert len(await groups(proposer, node("sit down for it"), node("drink it standing"))) == 2
    assert len(await groups(proposer, node("be a mother"), node("be more than a mother"))) == 2


def test_slot_name_without_words() -> None:
    assert slot_name((), "!!") == "slot"
