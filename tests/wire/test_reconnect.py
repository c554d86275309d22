"""Losing the connection loses nothing: everything durable once and in order, the running text as one piece."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.turn import Answer
from server.hot.redis import HotStore
from server.protocol.outbound import QuestionDelta
from server.sockets.settings import SocketSettings
from server.store.repository import StoredSession
from tests.support.client import Frame, RespondentClient, key
from tests.support.fakes_session import (
    MemoryStore,
    Node,
    Providing,
    TroubledHot,
    eventually,
    running_node,
)
from tests.support.patience import PATIENCE_S


async def opened(node: Node) -> str:
    """A session whose opening question is there; its id."""
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
    return state.session_id


def in_order_once(*parts: list[Frame]) -> list[int]:
    """The ids of what several connections saw, which must continue each other without a gap or a repetition."""
    ids = [frame["id"] for part in parts for frame in part]
    assert ids == list(range(1, len(ids) + 1)), ids
    return ids


async def test_disconnect_in_mid_turn_the_turn_completes_and_waits(node: Node) -> None:
    state = await node.session()
    gate = None
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        gate = node.providing.writer.close_gate(2)
        turn_key = await client.answer("Then the line drops.")
        await client.until("turn.started", turn_key=turn_key)
        await node.providing.writer.at_gate.wait()
        before = client.durable()
    owner = await node.hub.attach(state.session_id)
    await eventually(lambda: not owner.context.audience.present)
    gate.set()
    await eventually(lambda: owner.state.turn_count == 1)
    async with node.client(state.session_id) as again:
        ready = await again.hello(last_event_id=before[-1]["id"], epoch=client.epoch)
        assert ready["pending"] is None
        await again.until("turn.completed", turn_key=turn_key)
        await again.silence()
        in_order_once(before, again.durable())
    assert node.providing.writer.runs == 2


async def test_reconnect_in_mid_stream_gets_the_running_text_as_one_delta(node: Node) -> None:
    session_id = await opened(node)
    async with node.client(session_id) as client:
        await client.hello()
        await client.until("question.completed")
        gate = node.providing.writer.close_gate(5)
        turn_key = await client.answer("Then the line drops.")
        await node.providing.writer.at_gate.wait()
        heard = ""
        while (frame := await client.next())["type"] != "question.delta":
            pass
        heard = frame["text"]
        last_id, epoch = client.last_id, client.epoch
    async with node.client(session_id) as again:
        ready = await again.hello(last_event_id=last_id, epoch=epoch)
        assert ready["pending"] == {"turn_key": turn_key, "turn_number": 1, "attempt": 1}
        await again.expect("question.started", turn_number=1, attempt=1)
        whole = (await again.expect("question.delta"))["text"]
        assert whole.startswith(heard)
        assert len(whole.split()) >= 2
        gate.set()
        while (frame := await again.next())["type"] == "question.delta":
            whole += frame["text"]
        assert frame["type"] == "question.completed"
        assert frame["text"] == whole
        await again.expect("turn.completed", turn_key=turn_key)


async def test_interview_cut_after_every_event_is_replayed_once_and_in_order(node: Node) -> None:
    state = await node.session(max_turns=4)
    seen: list[Frame] = []
    epoch: str | None = None
    answers = [f"Answer {number}." for number in range(1, 5)]
    keys = [key() for _ in answers]
    while not any(f["type"] == "session.state" and f["state"] == "completed" for f in seen):
        async with node.client(state.session_id) as client:
            last_id = seen[-1]["id"] if seen else 0
            await client.hello(last_event_id=last_id, epoch=epoch)
            epoch = client.epoch
            done = sum(f["type"] == "turn.completed" for f in seen)
            started = sum(f["type"] == "turn.started" for f in seen)
            if any(f["type"] == "question.completed" for f in seen) and started == done < 4:
                await client.answer(answers[done], keys[done])
            while not client.durable():
                await client.next()
            seen.append(client.durable()[0])
    in_order_once(seen)
    assert [f["turn_key"] for f in seen if f["type"] == "turn.completed"] == keys
    owner = await node.hub.attach(state.session_id)
    assert [u.text for u in owner.state.utterances if u.speaker == "respondent"] == answers


async def test_reconnect_with_another_epoch_gets_no_replay(node: Node) -> None:
    session_id = await opened(node)
    async with node.client(session_id) as client:
        ready = await client.hello(last_event_id=1, epoch="another")
        assert ready["epoch"] != "another"
        await client.silence()
        assert (await client.turn("Goes on."))["id"] > ready["last_event_id"]


async def test_reconnect_with_an_id_from_the_future_gets_no_replay(node: Node) -> None:
    session_id = await opened(node)
    async with node.client(session_id) as client:
        await client.hello(last_event_id=999)
        await client.silence()
        await client.turn("Goes on.")


async def test_hot_state_gone_session_continues_from_its_snapshot_in_a_new_epoch(hot: HotStore) -> None:
    store, providing, troubled = MemoryStore(), Providing(), TroubledHot(hot)
    async with running_node(troubled, store, providing) as node:
        session_id = await opened(node)
        async with node.client(session_id) as client:
            await client.hello()
            done = await client.turn("Before the loss.")
            epoch = client.epoch
        kept = await hot.read(session_id)
        store.snapshots[session_id] = StoredSession(kept.state, kept.rev)
    await hot.connection.client.execute_command("FLUSHALL")
    async with running_node(troubled, store, providing) as node, node.client(session_id) as client:
        ready = await client.hello(last_event_id=done["id"], epoch=epoch)
        assert ready["epoch"] != epoch
        assert (ready["last_event_id"], ready["turn_number"]) == (0, 2)
        await client.silence()
        assert (await client.turn("After it."))["turn_number"] == 2


async def test_session_on_another_node_takes_over_and_the_old_socket_closes(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with (
        running_node(TroubledHot(hot), store, providing) as one,
        running_node(TroubledHot(hot), store, providing) as two,
    ):
        session_id = await opened(one)
        async with one.client(session_id) as first, two.client(session_id) as second:
            await first.hello()
            await first.turn("On the first node.")
            ready = await second.hello(last_event_id=first.last_id, epoch=first.epoch)
            assert ready["epoch"] == first.epoch
            assert await first.closed() == 4001
            await eventually(lambda: one.hub.owner(session_id) is None)
            done = await second.turn("On the second node.")
            assert done["turn_number"] == 2
            in_order_once(first.durable(), second.durable())


async def test_takeover_in_mid_turn_runs_the_pending_answer_once_unasked(hot: HotStore) -> None:
    store, providing, others = MemoryStore(), Providing(), Providing()
    async with (
        running_node(TroubledHot(hot), store, providing) as one,
        running_node(TroubledHot(hot), store, others) as two,
    ):
        session_id = await opened(one)
        providing.writer.close_gate(3)
        async with one.client(session_id) as first, two.client(session_id) as second:
            await first.hello()
            await first.until("question.completed")
            turn_key = await first.answer("Carried over.")
            await first.until("turn.started", attempt=1)
            await providing.writer.at_gate.wait()
            gate = others.writer.close_gate(1)
            ready = await second.hello(last_event_id=first.last_id, epoch=first.epoch)
            assert ready["pending"]["turn_key"] == turn_key
            assert await first.closed() == 4001
            await second.until("turn.started", turn_key=turn_key, attempt=2)
            started = await second.until("question.started", turn_number=1)
            assert started["attempt"] > 1
            gate.set()
            await second.until("turn.completed", turn_key=turn_key)
            await second.silence()
            in_order_once(first.durable(), second.durable())
        session = await hot.read(session_id)
        assert session.pending is None
        assert session.rev == 2
    assert [m.outcome for m in one.measures] == ["cancelled"]


async def test_node_leaving_finishes_the_running_turn_and_says_come_again(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with running_node(TroubledHot(hot), store, providing) as node:
        session_id = await opened(node)
        async with node.client(session_id) as client:
            await client.hello()
            await client.until("question.completed")
            gate = providing.writer.close_gate(1)
            turn_key = await client.answer("Just before the restart.")
            await providing.writer.at_gate.wait()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(node.hub.drain(PATIENCE_S))
                gate.set()
                await client.until("turn.completed", turn_key=turn_key)
                assert await client.closed() == 1012
        async with node.client(session_id) as late:
            await late.send("hello", token=f"token-{session_id}")
            assert await late.closed() == 1012


async def test_replay_longer_than_the_outbox_waits_and_arrives_whole(hot: HotStore) -> None:
    sockets = SocketSettings(outbox_events=1)
    store, providing = MemoryStore(), Providing()
    async with running_node(TroubledHot(hot), store, providing, sockets=sockets) as node:
        state = await node.session()
        owner = await node.hub.attach(state.session_id)
        await owner.start()
        for number in range(3):
            await owner.submit(Answer(turn_key=key(), text=f"Number {number}."))
        async with node.client(state.session_id) as client:
            await client.hello()
            await client.until("turn.completed", turn_number=3)
            in_order_once(client.durable())


async def test_client_vanishing_without_a_close_frame_does_not_disturb(node: Node) -> None:
    session_id = await opened(node)
    client = RespondentClient(node.url, f"token-{session_id}")
    await client.__aenter__()
    await client.hello()
    client.socket.transport.abort()
    owner = await node.hub.attach(session_id)
    await eventually(lambda: not owner.context.audience.present)
    async with node.client(session_id) as again:
        await again.hello()
        assert (await again.turn("Here again."))["turn_number"] == 1


@pytest.mark.parametrize("rounds", [5])
async def test_many_sessions_at_once_never_mix(node: Node, rounds: int) -> None:
    async def interview(name: str) -> list[str]:
        state = await node.session()
        async with node.client(state.session_id) as client:
            await client.hello()
            await client.until("question.completed")
            for number in range(rounds):
                await client.turn(f"{name} says {number}.")
            in_order_once(client.durable())
        owner = await node.hub.attach(state.session_id)
        return [u.text for u in owner.state.utterances if u.speaker == "respondent"]

    async with asyncio.TaskGroup() as tasks:
        running = {name: tasks.create_task(interview(name)) for name in ("Ada", "Ben", "Cleo", "Dov")}
    for name, task in running.items():
        assert task.result() == [f"{name} says {number}." for number in range(rounds)]


async def test_client_that_does_not_read_is_dropped_without_holding_anybody_up(hot: HotStore) -> None:
    sockets = SocketSettings(outbox_events=4, outbox_wait_s=0.05, close_wait_s=0.05)
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), sockets=sockets) as node:
        session_id = await opened(node)
        owner = await node.hub.attach(session_id)
        async with node.client(session_id) as client:
            await client.hello()
            await eventually(lambda: owner.context.audience.present)
            client.socket.transport.pause_reading()
            async with asyncio.timeout(PATIENCE_S):
                while owner.context.audience.present:
                    await owner.context.audience.broadcast(QuestionDelta(turn_number=9, attempt=1, text="x" * 200_000))
                    await asyncio.sleep(0)
            await owner.submit(Answer(turn_key=key(), text="Meanwhile, over HTTP."))
            client.socket.transport.abort()
        async with node.client(session_id) as again:
            await again.hello()
            await again.until("turn.completed", turn_number=1)
