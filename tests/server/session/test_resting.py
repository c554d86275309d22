"""Sessions that nobody uses are packed, and nobody notices."""

from __future__ import annotations

import asyncio
import gc
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.records import Record
from pipeline.state import InterviewState
from pipeline.turn import Answer
from server.hot.redis import HotStore
from server.session.events import SessionEvent, SessionRests
from server.session.outbox import Outbox
from server.session.owner import SessionOwner
from server.session.resting import Resting
from tests.support.client import key
from tests.support.fakes_session import (
    QUICK,
    Calendar,
    MemoryStore,
    Node,
    Providing,
    TroubledHot,
    running_hub,
)

AT_ONCE = replace(QUICK, rest_after_s=0.0)
MOST_BYTES = 40_000
"""A packed state of about thirty turns."""


async def connected(node: Node) -> SessionOwner:
    """The owner of an interview that has begun and whose respondent is there."""
    state = await node.session()
    owner = await node.hub.attach(state.session_id)
    await owner.start()
    await owner.subscribe(Outbox(), last_event_id=0, epoch=None)
    await owner.context.worker.settled()
    return owner


def rests(owner: SessionOwner) -> bool:
    """Whether the session is packed now."""
    return owner.context.ledger.resting


def kept_bytes(thing: object) -> int:
    """What an object and all that it alone leads to take, classes and modules left out."""
    seen: dict[int, object] = {}
    waiting = [thing]
    while waiting:
        found = waiting.pop()
        if id(found) not in seen and not isinstance(found, type | types.ModuleType | types.FunctionType):
            seen[id(found)] = found
            waiting.extend(gc.get_referents(found))
    return sum(sys.getsizeof(found) for found in seen.values())


async def test_session_at_rest_has_its_state_when_somebody_looks(hot: HotStore) -> None:
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), settings=AT_ONCE) as node:
        owner = await connected(node)
        for number in range(3):
            await owner.submit(Answer(turn_key=key(), text=f"Answer {number}."))
        ledger, before = owner.context.ledger, owner.state
        await owner.context.worker.settled()
        vectors = {name: vector.tolist() for name, vector in (await ledger.embeddings()).items()}
        await node.hub.tidy()
        assert rests(owner)
        outline = ledger.outline
        assert rests(owner), "an outline wakes nobody"
        assert (outline.nodes, len(outline.utterances)) == ((), 1)
        assert outline.last_answer() == before.last_answer()
        emptied = {name for name in type(before).model_fields if getattr(outline, name) != getattr(before, name)}
        assert emptied <= {
            "utterances", "receipts", "nodes", "edges", "tensions", "slots", "mappings", "canonical_edges",
            "slot_backlog", "tracker", "strategy_history", "focus_history", "qualities", "coverage", "threads",
            "guide", "grid", "engine_state",
        }  # fmt: skip
        assert owner.state == before
        assert not rests(owner)
        assert {name: vector.tolist() for name, vector in (await ledger.embeddings()).items()} == vectors
        stored = InterviewState.load((await node.hot.inner.read(owner.session_id)).state)
        assert owner.state == stored


async def test_interview_with_rests_is_the_same_as_without(hot: HotStore) -> None:
    async def interview(resting: bool) -> InterviewState:
        calendar = Calendar()
        async with running_hub(
            TroubledHot(hot), MemoryStore(), Providing(), calendar=calendar, settings=AT_ONCE
        ) as node:
            await node.session(session_id=f"resting-{resting}".lower())
            owner = await node.hub.attach(f"resting-{resting}".lower())
            await owner.start()
            for number in range(1, 6):
                if resting:
                    await owner.context.worker.settled()
                    await node.hub.tidy()
                    assert rests(owner)
                turn_key = f"00000000-0000-4000-8000-{number:012d}"
                await owner.submit(Answer(turn_key=turn_key, text=f"Answer {number}."))
            return owner.state

    one, other = await interview(False), await interview(True)
    ours = {"session_id", "utterances", "question", "receipts"}
    assert one.model_dump(exclude=ours) == other.model_dump(exclude=ours)
    assert [u.text for u in one.utterances] == [u.text for u in other.utterances]


async def test_session_that_is_used_does_not_rest(hot: HotStore) -> None:
    calendar = Calendar()
    settings = replace(QUICK, rest_after_s=40.0, idle_release_s=1e9)
    providing = Providing()
    async with running_hub(TroubledHot(hot), MemoryStore(), providing, calendar=calendar, settings=settings) as node:
        owner = await connected(node)
        calendar.advance(seconds=39)
        await node.hub.tidy()
        assert not rests(owner)
        calendar.advance(seconds=1)
        with owner.in_use():
            await node.hub.tidy()
            assert not rests(owner)
        await node.hub.tidy()
        assert rests(owner)
        await owner.submit(Answer(turn_key=key(), text="I am back."))
        await node.hub.tidy()
        assert not rests(owner)


async def test_change_made_while_the_state_is_packed_is_kept(hot: HotStore) -> None:
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), settings=AT_ONCE) as node:
        owner = await connected(node)
        ledger = owner.context.ledger
        packing = asyncio.gather(ledger.rest(), owner.pause())
        await packing
        assert owner.state.status == "paused"
        assert owner.state == InterviewState.load((await node.hot.inner.read(owner.session_id)).state)


async def test_observers_are_told_once_per_rest(hot: HotStore) -> None:
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), settings=AT_ONCE) as node:
        owner = await connected(node)
        told: list[SessionEvent] = []
        owner.context.observers.append(told.append)
        await node.hub.tidy()
        await node.hub.tidy()
        assert [event for event in told if isinstance(event, SessionRests)] == [SessionRests()]
        assert owner.state.status == "active"
        await node.hub.tidy()
        assert told.count(SessionRests()) == 2


async def test_state_of_thirty_turns_at_rest_takes_little(hot: HotStore) -> None:
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), settings=AT_ONCE) as node:
        owner = await connected(node)
        for number in range(3):
            await owner.submit(Answer(turn_key=key(), text=f"Answer {number}."))
        small = owner.state
    grown = {
        name: tuple(many(getattr(small, name), most))
        for name, most in (("nodes", 100), ("utterances", 160), ("receipts", 30))
        if getattr(small, name)
    }
    large = small.model_copy(update=grown)
    resting = Resting.of(large)
    assert resting.state() == large
    assert kept_bytes(resting) < MOST_BYTES < kept_bytes(large) / 5


def many(records: Sequence[Record], most: int) -> Iterator[Record]:
    """As many as are wanted, each with an id of its own."""
    for number in range(most):
        record = records[number % len(records)]
        name = "id" if "id" in type(record).model_fields else "turn_key"
        yield record.model_copy(update={name: key()})
