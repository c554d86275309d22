"""Failures that interview systems are known for, shown over the socket not to happen here."""

from __future__ import annotations

import asyncio
import gc
import weakref
from dataclasses import replace

from pipeline.errors import LLMUnavailable
from server.hot.redis import HotStore
from tests.support.client import Frame, key
from tests.support.fakes_session import QUICK, MemoryStore, Node, Providing, TroubledHot, eventually, running_node


async def test_failed_turn_does_not_wedge_the_session(node: Node) -> None:
    """The model fails once, the retry succeeds, nothing doubled."""
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        for number in range(1, 4):
            node.providing.extractor.errors.append(LLMUnavailable("down"))
            turn_key = await client.answer(f"Answer {number}.")
            await client.until("turn.failed", turn_key=turn_key)
            await client.answer(f"Answer {number}.", turn_key)
            assert (await client.until("turn.completed", turn_key=turn_key))["turn_number"] == number
    owner = await node.hub.attach(state.session_id)
    said = [u.text for u in owner.state.utterances if u.speaker == "respondent"]
    assert said == ["Answer 1.", "Answer 2.", "Answer 3."]
    assert len({u.id for u in owner.state.utterances}) == len(owner.state.utterances)


async def test_two_submits_at_once_one_wins(node: Node) -> None:
    """The other gets `turn_in_progress` or, with the same key, the same result."""
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        first, second = key(), key()
        gate = node.providing.writer.close_gate(1)
        await asyncio.gather(
            client.answer("The same words.", first),
            client.answer("The same words.", first),
            client.answer("Other words.", second),
        )
        seen: list[Frame] = []
        while not any(f["type"] == "turn.completed" for f in seen):
            seen.append(await client.next())
            if seen[-1]["type"] == "error":
                gate.set()
        refused = [f for f in seen if f["type"] == "error"]
        completed = {f["turn_key"] for f in seen if f["type"] == "turn.completed"}
        assert [(f["code"], f["ref"]) for f in refused] == [("turn_in_progress", second)]
        assert completed == {first}
    owner = await node.hub.attach(state.session_id)
    assert owner.state.turn_count == 1


async def test_disconnect_in_mid_reply_leaves_no_stuck_pipeline(node: Node) -> None:
    """The turn completes, the reply is waiting at reconnect, from the last event on."""
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        gate = node.providing.writer.close_gate(2)
        turn_key = await client.answer("Cut off.")
        await node.providing.writer.at_gate.wait()
        last_id, epoch = client.last_id, client.epoch
    gate.set()
    owner = await node.hub.attach(state.session_id)
    await owner.context.worker.settled()
    async with node.client(state.session_id) as client:
        await client.hello(last_event_id=last_id, epoch=epoch)
        await client.until("question.completed", turn_number=1)
        await client.expect("turn.completed", turn_key=turn_key)
        assert (await client.turn("And on."))["turn_number"] == 2


async def test_empty_model_output_becomes_a_fallback_question(hot: HotStore) -> None:
    """A fallback question within the deadline, not a minute of silence."""
    providing = Providing()
    async with running_node(TroubledHot(hot), MemoryStore(), providing) as node:
        state = await node.session()
        async with node.client(state.session_id) as client:
            await client.hello()
            await client.until("question.completed")
            providing.writer.texts.extend([" "] * 4)
            turn_key = await client.answer("Said something.")
            question = await client.until("question.completed", turn_number=1)
            assert question["fallback"] is True
            assert question["text"].strip()
            await client.until("turn.completed", turn_key=turn_key)
    assert node.measures[-1].fallback


async def test_nobody_waits_in_silence(hot: HotStore) -> None:
    """What takes long is told, again and again."""
    settings = replace(QUICK, still_thinking_s=0.05)
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), settings=settings) as node:
        state = await node.session()
        async with node.client(state.session_id) as client:
            await client.hello()
            await client.until("question.completed")
            node.providing.extractor.gate = asyncio.Event()
            turn_key = await client.answer("Think about it.")
            for _ in range(3):
                await client.until("notice", code="still_thinking")
            node.providing.extractor.gate.set()
            await client.until("turn.completed", turn_key=turn_key)


async def test_sessions_that_are_over_leave_nothing_behind(hot: HotStore) -> None:
    """Memory of a session is given back."""
    settings = replace(QUICK, idle_release_s=0.0)
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), settings=settings) as node:
        owners = []
        tasks_before = len(asyncio.all_tasks())
        for number in range(30):
            state = await node.session()
            async with node.client(state.session_id) as client:
                await client.hello()
                await client.until("question.completed")
                await client.turn(f"Answer {number}.")
            owner = node.hub.owner(state.session_id)
            assert owner is not None
            owners.append(weakref.ref(owner))
            del owner
        await eventually(lambda: all((o := ref()) is None or not o.context.audience.present for ref in owners))
        await node.hub.sweep()
        await eventually(lambda: node.hub.sessions == 0)
        await eventually(lambda: len(asyncio.all_tasks()) <= tasks_before)
        gc.collect()
        assert [ref for ref in owners if ref() is not None] == []
