"""Slots get their names while nobody waits; what that costs is on record whatever happens."""

from __future__ import annotations

import asyncio
import json

import pytest

from pipeline.errors import LLMUnavailable
from server.hot.journal import START, Journal
from server.hot.redis import HotStore
from server.session.owner import SessionOwner
from server.session.problems import TurnFailed
from tests.server.session.test_owner import answer, opened
from tests.support.fakes_session import MemoryStore, Node, Providing, StagedSlots, TroubledHot, eventually, running_hub
from tests.support.interview import concepts

NAMES = {"fast car": "speed", "quick vehicle": "speed", "red paint": "colour"}


def slow(*said: tuple[str, str]) -> tuple[Providing, StagedSlots]:
    """Providers that name late; `said` are answers with the one label found in each."""
    slots = StagedSlots(NAMES)
    providing = Providing(slots=slots)
    for text, label in said:
        providing.extractor.script[text] = concepts((label, "attribute"))
    return providing, slots


def names(owner: SessionOwner) -> list[str]:
    return sorted(slot.slot_name for slot in owner.state.slots)


async def settled(owner: SessionOwner) -> None:
    """Wait until neither turns nor names are worked on."""
    await eventually(lambda: not owner.context.worker.busy and not owner.naming.busy)


async def recorded_calls(hot: HotStore, session_id: str) -> list[str]:
    """Tasks of the calls in the journal, each id once."""
    journal = Journal(hot.connection)
    found: dict[str, str] = {}
    partition = hot.keys.partition_of(session_id)
    for record in await journal.read(partition, START, count=1000):
        if record.session_id == session_id:
            for call in json.loads(record.data).get("calls", ()):
                found.setdefault(call["id"], f"{call['task']} {call['turn_number']}")
    return list(found.values())


async def test_names_are_found_after_the_turn_and_applied_by_the_next(hot: HotStore) -> None:
    store = MemoryStore()
    providing, slots = slow(("one", "fast car"))
    slots.gate = asyncio.Event()
    async with running_hub(TroubledHot(hot), store, providing) as node:
        owner = await opened(node)
        await owner.submit(answer("one"))
        assert names(owner) == ["fast_car"], "the turn did not wait"
        rev = owner.state.rev
        slots.gate.set()
        await settled(owner)
        assert owner.state.rev == rev, "names never commit"
        await owner.submit(answer("two"))
        assert names(owner) == ["speed"]


async def test_turn_does_not_wait_for_names_that_are_late(hot: HotStore) -> None:
    store = MemoryStore()
    providing, slots = slow(("one", "fast car"), ("two", "red paint"))
    slots.gate = asyncio.Event()
    async with running_hub(TroubledHot(hot), store, providing) as node:
        owner = await opened(node)
        await owner.submit(answer("one"))
        await owner.submit(answer("two"))
        assert names(owner) == ["fast_car", "red_paint"]
        slots.gate.set()
        await settled(owner)
        await owner.submit(answer("three"))
        assert names(owner) == ["colour", "speed"] and not owner.state.slot_backlog


async def test_names_that_failed_are_asked_for_after_the_next_turn(hot: HotStore) -> None:
    store = MemoryStore()
    providing, slots = slow(("one", "fast car"))
    slots.errors.append(LLMUnavailable("down"))
    async with running_hub(TroubledHot(hot), store, providing) as node:
        owner = await opened(node)
        await owner.submit(answer("one"))
        await settled(owner)
        assert await recorded_calls(hot, owner.session_id) == ["slots 1"], "the call that failed was paid for"
        await owner.submit(answer("two"))
        await settled(owner)
        await owner.submit(answer("three"))
        assert names(owner) == ["speed"]


async def test_names_lost_with_a_node_are_found_by_the_next_one(hot: HotStore) -> None:
    store = MemoryStore()
    providing, slots = slow(("one", "fast car"))
    slots.gate = asyncio.Event()
    async with running_hub(TroubledHot(hot), store, providing) as first:
        owner = await opened(first)
        session_id = owner.session_id
        await owner.submit(answer("one"))
    slots.gate.set()
    async with running_hub(TroubledHot(hot), store, providing) as second:
        owner = await second.hub.attach(session_id)
        await settled(owner)
        await owner.submit(answer("two"))
        assert names(owner) == ["speed"]


async def test_respondent_who_finishes_leaves_no_provisional_names(hot: HotStore) -> None:
    store = MemoryStore()
    providing, slots = slow(("one", "fast car"), ("two", "quick vehicle"))
    slots.gate = asyncio.Event()
    async with running_hub(TroubledHot(hot), store, providing) as node:
        owner = await opened(node)
        await owner.submit(answer("one"))
        await owner.submit(answer("two"))
        await owner.finish()
        assert owner.state.status == "completed" and names(owner) == ["fast_car", "quick_vehicle"]
        slots.gate.set()
        await settled(owner)
        assert names(owner) == ["speed"] and not owner.state.slot_backlog
        assert owner.state.status == "completed"


async def test_owner_that_finds_names_is_not_released(hot: HotStore) -> None:
    store = MemoryStore()
    providing, slots = slow(("one", "fast car"))
    slots.gate = asyncio.Event()
    async with running_hub(TroubledHot(hot), store, providing) as node:
        owner = await opened(node)
        await owner.submit(answer("one"))
        await eventually(lambda: owner.naming.busy)
        assert owner.unused_s() is None
        slots.gate.set()


async def test_calls_of_names_are_on_record_without_another_turn(hot: HotStore) -> None:
    store = MemoryStore()
    providing, _ = slow(("one", "fast car"))
    async with running_hub(TroubledHot(hot), store, providing) as node:
        owner = await opened(node)
        await owner.submit(answer("one"))
        await settled(owner)
        assert await recorded_calls(hot, owner.session_id) == ["slots 1"]


async def test_calls_of_names_that_were_cancelled_are_on_record(hot: HotStore) -> None:
    store = MemoryStore()
    providing, slots = slow(("one", "fast car"))
    slots.gate = asyncio.Event()
    async with running_hub(TroubledHot(hot), store, providing) as node:
        owner = await opened(node)
        await owner.submit(answer("one"))
        await eventually(lambda: owner.naming.busy)
    assert await recorded_calls(hot, owner.session_id) == ["slots 1"]


async def test_calls_of_a_failed_turn_are_on_record(node: Node) -> None:
    owner = await opened(node)
    providing = node.providing
    providing.extractor.errors.append(LLMUnavailable("down"))
    providing.extractor.costs = True
    with pytest.raises(TurnFailed):
        await owner.submit(answer("one", "k1"))
    assert await recorded_calls(node.hot.inner, owner.session_id) == ["extraction 1"]
    await owner.submit(answer("one", "k1"))
    assert await recorded_calls(node.hot.inner, owner.session_id) == ["extraction 1", "extraction 1"]
