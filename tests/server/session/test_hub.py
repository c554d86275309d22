"""The sessions of a node: claims, moderators' commands, what becomes of sessions that nobody uses."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from pipeline.state import InterviewState
from pipeline.turn import Answer
from server.hot.errors import StorageUnavailable
from server.hot.journal import START, Journal
from server.hot.redis import HotStore
from server.protocol.codec import parse
from server.protocol.moderator import COMMANDS, AnyCommand
from server.session.commands import QueuedCommand
from server.session.hub import Hub
from server.session.outbox import Outbox
from server.session.problems import SessionProblem
from server.store.repository import StoredSession
from tests.support.client import key
from tests.support.fakes_session import (
    QUICK,
    Calendar,
    CalendarChecks,
    MemoryStore,
    Node,
    Providing,
    TroubledHot,
    eventually,
    running_hub,
    status,
)


def order(kind: str, **fields: object) -> AnyCommand:
    """A moderator's command."""
    return parse({"type": kind, "command_id": key(), **fields}, COMMANDS)


async def opened(node: Node) -> str:
    state = await node.session()
    await (await node.hub.attach(state.session_id)).start()
    return state.session_id


async def test_attach_many_at_once_claims_once(node: Node) -> None:
    state = await node.session()
    owners = await asyncio.gather(*(node.hub.attach(state.session_id) for _ in range(5)))
    assert len(set(owners)) == 1
    assert node.hot.calls.count("claim") == 1


async def test_attach_unknown_or_erased_session_is_not_found(node: Node) -> None:
    state = await node.session()
    await node.hub.erase(state.session_id)
    for session_id in ("nobody", state.session_id, "../x", "a" * 100):
        with pytest.raises(SessionProblem) as refused:
            await node.hub.attach(session_id)
        assert refused.value.code == "not_found"


async def test_attach_cold_session_is_rebuilt_with_its_receipts(node: Node) -> None:
    session_id = await opened(node)
    owner = await node.hub.attach(session_id)
    said = Answer(turn_key=key(), text="Before.")
    receipt = await owner.submit(said)
    kept = await node.hot.inner.read(session_id)
    node.store.snapshots[session_id] = StoredSession(kept.state, kept.rev)
    await node.hot.inner.connection.client.execute_command("FLUSHALL")
    owner.context.worker.taken_over()
    await eventually(lambda: node.hub.owner(session_id) is None)
    again = await node.hub.attach(session_id)
    assert again.context.ledger.epoch != kept.epoch
    assert await again.submit(said) == receipt
    assert (await again.submit(Answer(turn_key=key(), text="After."))).turn_number == 2


async def test_use_session_that_hot_storage_lost_is_rebuilt_and_answered(node: Node) -> None:
    session_id = await opened(node)
    before = await node.hub.attach(session_id)
    kept = await node.hot.inner.read(session_id)
    node.store.snapshots[session_id] = StoredSession(kept.state, kept.rev)
    await node.hot.inner.connection.client.execute_command("FLUSHALL")
    said = Answer(turn_key=key(), text="After.")
    receipt = await node.hub.use(session_id, lambda owner: owner.submit(said))
    after = await node.hub.attach(session_id)
    assert receipt.turn_number == 1
    assert before.leaving is not None
    assert after.context.ledger.epoch != kept.epoch


async def test_use_session_that_is_nowhere_is_not_found(node: Node) -> None:
    session_id = await opened(node)
    await node.hot.inner.connection.client.execute_command("FLUSHALL")
    with pytest.raises(SessionProblem) as refused:
        await node.hub.use(session_id, lambda owner: owner.submit(Answer(turn_key=key(), text="After.")))
    assert refused.value.code == "not_found"


async def test_attach_state_of_a_newer_version_sends_elsewhere(node: Node) -> None:
    state = await node.session()
    newer = state.model_copy(update={"version": 99}).dump()
    await node.hot.inner.create("from-the-future", state=newer)
    with pytest.raises(SessionProblem) as refused:
        await node.hub.attach("from-the-future")
    assert refused.value.code == "storage_unavailable"


async def test_create_without_a_store_is_refused_and_writes_nothing(node: Node) -> None:
    node.store.away = True
    with pytest.raises(StorageUnavailable):
        await node.session()
    assert "create" not in node.hot.calls


async def test_create_takes_limits_from_the_request_then_the_concept(node: Node) -> None:
    assert (await node.session()).max_turns == 15
    assert (await node.session(max_turns=4)).max_turns == 4


async def test_erase_session_that_lives_here_cancels_its_turn(node: Node) -> None:
    session_id = await opened(node)
    owner = await node.hub.attach(session_id)
    node.providing.writer.close_gate(1)
    handle = owner.turns.begin(Answer(turn_key=key(), text="Said."))
    await node.providing.writer.at_gate.wait()
    await node.hub.erase(session_id)
    with pytest.raises(SessionProblem):
        await handle.committed()
    await eventually(lambda: node.hub.sessions == 0)
    assert [measure.outcome for measure in node.measures] == ["cancelled"]
    await node.hub.erase(session_id)


async def test_erase_reaches_the_node_where_the_session_lives(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with (
        running_hub(TroubledHot(hot), store, providing) as one,
        running_hub(TroubledHot(hot), store, providing) as two,
    ):
        session_id = await opened(one)
        await two.hub.erase(session_id)
        await eventually(lambda: one.hub.sessions == 0)


async def test_command_pause_end_extend_and_note_are_applied_and_recorded(node: Node) -> None:
    session_id = await opened(node)
    owner = await node.hub.attach(session_id)
    assert await node.hub.command(session_id, order("pause"), who="Ada") == 1
    assert (status(owner), owner.state.paused_by) == ("paused", "moderator")
    await node.hub.command(session_id, order("resume"), who="Ada")
    await node.hub.command(session_id, order("extend", turns=5), who="Ada")
    assert owner.state.max_turns == 20
    await node.hub.command(session_id, order("note", text="Interesting."), who="Ben")
    await node.hub.command(session_id, order("end", reason="time"), who="Ada")
    assert (status(owner), owner.state.status_reason) == ("completed", "ended_by_moderator")
    with pytest.raises(SessionProblem) as refused:
        await node.hub.command(session_id, order("pause"), who="Ada")
    assert refused.value.code == "session_completed"
    actions = [record["moderator"] for record in await journal(node, session_id) if "moderator" in record]
    assert [(a["type"], a["who"]) for a in actions] == [
        ("pause", "Ada"),
        ("resume", "Ada"),
        ("extend", "Ada"),
        ("note", "Ben"),
        ("end", "Ada"),
    ]
    assert actions[3]["text"] == "Interesting."


async def journal(node: Node, session_id: str) -> list[dict[str, Any]]:
    hot = node.hot.inner
    reader = Journal(hot.connection)
    records = await reader.read(hot.keys.partition_of(session_id), START, count=1000)
    return [json.loads(r.data) for r in records if r.session_id == session_id and r.data]


async def test_command_same_id_twice_counts_once(node: Node) -> None:
    session_id = await opened(node)
    command = order("extend", turns=5)
    await asyncio.gather(*(node.hub.command(session_id, command, who="Ada") for _ in range(3)))
    owner = await node.hub.attach(session_id)
    assert owner.state.max_turns == 20
    assert (await owner.submit(Answer(turn_key=key(), text="On."))).turn_number == 1
    assert (await node.hot.inner.read(session_id)).rev == owner.state.rev


async def test_command_inject_is_asked_next_word_for_word(node: Node) -> None:
    session_id = await opened(node)
    owner = await node.hub.attach(session_id)
    await node.hub.command(session_id, order("inject", question="And what about the evenings?"), who="Ada")
    await owner.submit(Answer(turn_key=key(), text="I drink it in the morning."))
    assert owner.state.question is not None
    assert owner.state.question.text == "And what about the evenings?"
    assert owner.state.directives == ()


async def test_command_during_a_turn_waits_for_its_commit(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with (
        running_hub(TroubledHot(hot), store, providing) as one,
        running_hub(TroubledHot(hot), store, providing) as two,
    ):
        session_id = await opened(one)
        owner = await one.hub.attach(session_id)
        gate = providing.writer.close_gate(1)
        handle = owner.turns.begin(Answer(turn_key=key(), text="Said."))
        await providing.writer.at_gate.wait()
        async with asyncio.TaskGroup() as tasks:
            command = tasks.create_task(two.hub.command(session_id, order("pause"), who="Ada"))
            await eventually(lambda: "reply" in one.hot.calls)
            assert not command.done()
            gate.set()
        assert command.result() == 2
        assert (await handle.committed()).turn_number == 1
        assert status(owner) == "paused"
        assert two.hub.sessions == 0, "a busy owner is not robbed"


async def test_command_for_a_session_nobody_owns_is_applied_here(node: Node) -> None:
    state = await node.session()
    await node.hub.command(state.session_id, order("extend", turns=1), who="Ada")
    assert (await node.hub.attach(state.session_id)).state.max_turns == 16


async def test_command_whose_owner_is_dead_is_applied_by_this_node(hot: HotStore) -> None:
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing()) as node:
        state = await node.session()
        await hot.claim(state.session_id, "a-node-that-was-killed")
        assert await node.hub.command(state.session_id, order("pause"), who="Ada") == 1


async def test_command_left_by_a_dying_owner_is_applied_at_the_next_claim(node: Node) -> None:
    session_id = (await node.session()).session_id
    waiting = QueuedCommand("c-1", "Ada", "2026-01-05T12:00:00+00:00", order("extend", turns=2))
    await node.hot.inner.inbox.push(session_id, b"not an order")
    await node.hot.inner.inbox.push(session_id, waiting.pack())
    owner = await node.hub.attach(session_id)
    await eventually(lambda: owner.state.max_turns == 17)
    await eventually(lambda: node.hot.calls.count("inbox_drop") == 2)
    assert await node.hot.inner.inbox.read(session_id) == []


STAYING = replace(QUICK, idle_release_s=1e9)


async def test_sweep_abandons_who_was_silent_for_long_and_hello_brings_back(hot: HotStore) -> None:
    calendar = Calendar()
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), calendar=calendar, settings=STAYING) as node:
        session_id = await opened(node)
        owner = await node.hub.attach(session_id)
        node.store.quiet = [session_id, "unknown"]
        calendar.advance(hours=23)
        await node.hub.sweep()
        assert status(owner) == "active"
        calendar.advance(hours=2)
        await node.hub.sweep()
        assert status(owner) == "abandoned"
        with pytest.raises(SessionProblem) as refused:
            await owner.submit(Answer(turn_key=key(), text="Hello?"))
        assert refused.value.code == "session_paused"
        owner.arrive()
        await eventually(lambda: status(owner) == "active")
        assert (await owner.submit(Answer(turn_key=key(), text="Here again."))).turn_number == 1


async def test_sweep_after_the_clock_was_set_abandons_who_was_silent_since(hot: HotStore) -> None:
    calendar = Calendar()
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), calendar=calendar, settings=STAYING) as node:
        session_id = await opened(node)
        owner = await node.hub.attach(session_id)
        node.store.quiet = [session_id]
        calendar.set(days=1)
        await node.hub.sweep()
        assert status(owner) == "active"
        calendar.advance(hours=20)
        await node.hub.sweep()
        assert status(owner) == "active"
        calendar.advance(hours=5)
        await node.hub.sweep()
        assert status(owner) == "abandoned"


async def test_sweep_with_another_time_than_hot_storage_abandons_nobody(hot: HotStore) -> None:
    store, calendar, right = MemoryStore(), Calendar(), Calendar()
    calendar.set(days=3)
    async with running_hub(TroubledHot(hot), store, Providing(), calendar=right, settings=STAYING) as node:
        session_id = await opened(node)
    async with running_hub(TroubledHot(hot), store, Providing(), calendar=calendar, settings=STAYING) as node:
        node.hot.checks = CalendarChecks(hot.connection, right)
        owner = await node.hub.attach(session_id)
        node.store.quiet = [session_id]
        await node.hub.sweep()
        assert status(owner) == "active"
        right.set(days=3)
        await node.hub.sweep()
        assert status(owner) == "abandoned"


async def test_abandoned_for_too_long_is_over(hot: HotStore) -> None:
    calendar = Calendar()
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), calendar=calendar, settings=STAYING) as node:
        session_id = await opened(node)
        owner = await node.hub.attach(session_id)
        node.store.quiet = [session_id]
        calendar.advance(days=8)
        await node.hub.sweep()
        assert status(owner) == "abandoned"
        with pytest.raises(SessionProblem) as refused:
            await owner.resume()
        assert refused.value.code == "session_completed"


async def test_sweep_lets_go_of_sessions_nobody_uses(hot: HotStore) -> None:
    settings = replace(QUICK, idle_release_s=0.0)
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), settings=settings) as node:
        session_id = await opened(node)
        owner = await node.hub.attach(session_id)
        await owner.context.worker.settled()
        await node.hub.sweep()
        await eventually(lambda: node.hub.sessions == 0)
        again = await node.hub.attach(session_id)
        assert again is not owner
        assert (await again.submit(Answer(turn_key=key(), text="Still there."))).turn_number == 1


async def test_sessions_moved_between_processes_have_identical_states(hot: HotStore) -> None:
    async def interview(moving: bool) -> InterviewState:
        store, providing, calendar = MemoryStore(), Providing(), Calendar()
        session_id, hubs = f"moving-{moving}".lower(), 1
        async with running_hub(TroubledHot(hot), store, providing, calendar=calendar) as node:
            await node.session(session_id=session_id)
            await (await node.hub.attach(session_id)).start()
            if not moving:
                for number in range(1, 6):
                    await say(node.hub, session_id, number)
                return (await node.hub.attach(session_id)).state
        for number in range(1, 6):
            async with running_hub(TroubledHot(hot), store, providing, calendar=calendar) as node:
                await say(node.hub, session_id, number)
                state = (await node.hub.attach(session_id)).state
                hubs += 1
        assert hubs == 6
        return state

    async def say(hub: Hub, session_id: str, number: int) -> None:
        turn_key = f"00000000-0000-4000-8000-{number:012d}"
        await (await hub.attach(session_id)).submit(Answer(turn_key=turn_key, text=f"Answer {number}."))

    one, other = await interview(False), await interview(True)
    ours = {"session_id", "utterances", "question", "receipts"}
    assert one.model_dump(exclude=ours) == other.model_dump(exclude=ours)
    assert [u.text for u in one.utterances] == [u.text for u in other.utterances]


async def test_command_applied_but_still_in_the_inbox_is_not_applied_again(node: Node) -> None:
    session_id = await opened(node)
    command = order("extend", turns=5)
    await node.hub.command(session_id, command, who="Ada")
    again = QueuedCommand(command.command_id, "Ada", "2026-01-05T12:00:00+00:00", command)
    await node.hot.inner.inbox.push(session_id, again.pack())
    await eventually(lambda: node.hot.calls.count("inbox_drop") == 2)
    owner = await node.hub.attach(session_id)
    stored = await node.hot.inner.read(session_id)
    assert (owner.state.max_turns, owner.state.rev) == (20, stored.rev)
    assert (await owner.submit(Answer(turn_key=key(), text="On."))).turn_number == 1


async def test_attach_where_news_of_a_newer_claim_have_not_come_claims_again(hot: HotStore) -> None:
    store = MemoryStore()
    async with (
        running_hub(TroubledHot(hot), store, Providing()) as one,
        running_hub(TroubledHot(hot), store, Providing()) as other,
    ):
        session_id = await opened(one)
        stale = await one.hub.attach(session_id)
        one.hot.inbox.deaf = True
        await other.hub.attach(session_id)
        again = await one.hub.attach(session_id)
        assert again is not stale
        assert await hot.owner_of(session_id) == again.owner_id
        assert (await again.submit(Answer(turn_key=key(), text="Still here."))).turn_number == 1


async def test_sweep_leaves_alone_who_is_connected(hot: HotStore) -> None:
    calendar = Calendar()
    settings = replace(QUICK, idle_release_s=0.0)
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), calendar=calendar, settings=settings) as node:
        session_id = await opened(node)
        owner = await node.hub.attach(session_id)
        outbox = Outbox()
        await owner.subscribe(outbox, last_event_id=0, epoch=None)
        node.store.quiet = [session_id]
        calendar.advance(days=3)
        await node.hub.sweep()
        assert (status(owner), node.hub.owner(session_id)) == ("active", owner)
        owner.unsubscribe(outbox)
        await node.hub.sweep()
        assert status(await node.hub.attach(session_id)) == "abandoned"


async def test_cold_session_attached_on_two_nodes_at_once_is_rebuilt_once(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with (
        running_hub(TroubledHot(hot), store, providing) as one,
        running_hub(TroubledHot(hot), store, providing) as two,
    ):
        state = await one.session()
        store.snapshots[state.session_id] = StoredSession(state.dump(), state.rev)
        await hot.connection.client.execute_command("FLUSHALL")
        store.meeting = asyncio.Barrier(2)
        first, second = await asyncio.gather(one.hub.attach(state.session_id), two.hub.attach(state.session_id))
        assert first.context.ledger.epoch == second.context.ledger.epoch
        await eventually(lambda: (first.leaving is None) != (second.leaving is None))


async def test_sweep_keeps_the_hot_state_of_who_is_connected(node: Node) -> None:
    session_id = await opened(node)
    owner = await node.hub.attach(session_id)
    keys = node.hot.inner.keys.session(session_id)
    client = node.hot.inner.connection.client

    async def left_ms() -> list[int]:
        return [await client.execute_command("PTTL", name) for name in (keys.meta, keys.state, keys.events)]

    for name in (keys.meta, keys.state, keys.events):
        await client.execute_command("PEXPIRE", name, 60_000)
    await node.hub.sweep()
    assert all(left <= 60_000 for left in await left_ms())
    await owner.subscribe(Outbox(), last_event_id=0, epoch=None)
    await node.hub.sweep()
    assert all(left > 60_000 for left in await left_ms())


async def test_sweep_lets_go_of_a_connected_session_that_hot_storage_lost(node: Node) -> None:
    owner = await node.hub.attach(await opened(node))
    outbox = Outbox()
    await owner.subscribe(outbox, last_event_id=0, epoch=None)
    await node.hot.inner.connection.client.execute_command("FLUSHALL")
    await node.hub.sweep()
    await outbox.closed()
    assert outbox.close_code == 1012
