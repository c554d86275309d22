"""Models that fail, storage that is away: the answer is kept, nothing is written twice, nobody waits in silence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.errors import LLMRejected, LLMUnavailable
from server.hot.redis import HotStore
from server.store.repository import StoredSession
from tests.support.client import RespondentClient, key
from tests.support.fakes_session import (
    QUICK,
    MemoryStore,
    Node,
    Providing,
    TroubledHot,
    eventually,
    running_node,
)


async def greeted(node: Node, client: RespondentClient) -> RespondentClient:
    """The client once the opening question is there."""
    await client.hello()
    await client.until("question.completed")
    return client


async def test_turn_whose_model_fails_is_kept_and_the_same_key_completes_it_once(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        node.providing.extractor.errors.append(LLMUnavailable("down"))
        turn_key = await client.answer("Said once.")
        await client.until("turn.started", attempt=1)
        failed = await client.until("turn.failed", turn_key=turn_key, code="llm_unavailable", retryable=True)
        await client.answer("Said once.", turn_key)
        again = await client.until("turn.started", turn_key=turn_key, attempt=2)
        assert again["id"] == failed["id"] + 1
        assert (await client.until("turn.completed", turn_key=turn_key))["turn_number"] == 1
        assert [f["id"] for f in client.durable()] == list(range(1, len(client.durable()) + 1))
    owner = await node.hub.attach(state.session_id)
    assert [u.text for u in owner.state.utterances if u.speaker == "respondent"] == ["Said once."]


async def test_turn_that_failed_is_superseded_by_another_answer(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        node.providing.extractor.errors.append(LLMRejected("no"))
        first = await client.answer("This one fails.")
        await client.until("turn.failed", turn_key=first, retryable=True)
        done = await client.turn("This one works.")
        assert done["turn_number"] == 1
        await client.answer("This one fails.", first)
        await client.refused("invalid_input", ref=first)


async def test_turn_with_a_defect_fails_as_internal_and_can_be_retried(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        node.providing.extractor.errors.append(ZeroDivisionError("a defect"))
        turn_key = await client.answer("Said once.")
        await client.until("turn.failed", code="internal", retryable=True)
        await client.answer("Said once.", turn_key)
        await client.until("turn.completed", turn_key=turn_key)


async def test_turn_beyond_its_deadline_fails_and_can_be_retried(hot: HotStore) -> None:
    settings = replace(QUICK, turn_deadline_s=0.2, still_thinking_s=0.05)
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), settings=settings) as node:
        state = await node.session()
        async with node.client(state.session_id) as client:
            await greeted(node, client)
            node.providing.writer.close_gate(0)
            turn_key = await client.answer("Said once.")
            await client.until("turn.started")
            await client.until("notice", code="still_thinking")
            await client.until("notice", code="still_thinking")
            await client.until("turn.failed", turn_key=turn_key, code="llm_unavailable", retryable=True)
            node.providing.writer.gate = None
            await client.answer("Said once.", turn_key)
            await client.until("turn.completed", turn_key=turn_key)


async def test_opening_whose_model_fails_is_told_and_made_at_the_next_visit(node: Node) -> None:
    state = await node.session()
    node.providing.writer.errors.extend([LLMUnavailable("down")] * 10)
    async with node.client(state.session_id) as client:
        await client.hello()
        frame = await client.next()
        while frame["type"] not in ("error", "question.completed"):
            frame = await client.next()
        if frame["type"] == "error":
            assert (frame["code"], frame["retryable"], frame["ref"]) == ("llm_unavailable", True, "hello")
            await client.answer("Too early.")
            await client.refused("turn_in_progress")
    node.providing.writer.errors.clear()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        assert (await client.turn("Now."))["turn_number"] == 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_commit_with_unknown_outcome_is_repeated_never_doubled(node: Node, when: str) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        node.hot.lose("commit", when)  # type: ignore[arg-type]
        turn_key = await client.answer("Said once.")
        await client.until("notice", code="answer_kept")
        await client.until("turn.completed", turn_key=turn_key)
        await client.turn("And another.")
        assert [f["id"] for f in client.durable()] == list(range(1, len(client.durable()) + 1))
    assert (await node.hot.inner.read(state.session_id)).rev == 3


@pytest.mark.parametrize("when", ["before", "after"])
async def test_accept_with_unknown_outcome_is_told_and_the_answer_counts_once(node: Node, when: str) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        node.hot.lose("accept", when)  # type: ignore[arg-type]
        turn_key = await client.answer("Said once.")
        await client.refused("storage_unavailable", ref=turn_key, retryable=True)
        assert not any(frame.get("code") == "answer_kept" for frame in client.seen), "nobody knows that yet"
        owner = await node.hub.attach(state.session_id)
        await owner.context.worker.settled()
        await client.answer("Said once.", turn_key)
        await client.until("turn.completed", turn_key=turn_key)
        await owner.context.worker.settled()
        assert owner.state.turn_count == 1
        assert sorted({f["id"] for f in client.durable()}) == list(range(1, client.last_id + 1))
    events = await node.hot.inner.events_after(state.session_id, 0)
    assert sum(e.data["type"] == "turn.completed" for e in events) == 1


async def test_accept_that_was_written_unseen_runs_when_storage_is_back(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        node.hot.lose("accept", "after")
        turn_key = await client.answer("Said once.")
        await client.refused("storage_unavailable", ref=turn_key)
        await client.until("turn.started", turn_key=turn_key)
        await client.until("turn.completed", turn_key=turn_key)


async def test_storage_gone_in_mid_turn_the_turn_commits_when_it_is_back(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        gate = node.providing.writer.close_gate(1)
        turn_key = await client.answer("Said once.")
        await client.until("turn.started", turn_key=turn_key)
        await node.providing.writer.at_gate.wait()
        node.hot.trouble.away = True
        gate.set()
        await client.until("notice", code="answer_kept")
        other = await client.answer("Impatient.")
        await client.refused("turn_in_progress", ref=other)
        await client.send("pause")
        await client.refused("storage_unavailable", ref="pause")
        node.hot.trouble.away = False
        await client.until("turn.completed", turn_key=turn_key)
        assert (await client.turn("And on."))["turn_number"] == 2


async def test_storage_gone_before_an_answer_it_is_refused_and_taken_later(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        node.hot.trouble.away = True
        turn_key = await client.answer("Said once.")
        await client.refused("storage_unavailable", ref=turn_key, retryable=True)
        await client.answer("Said once.", turn_key)
        await client.refused("storage_unavailable", ref=turn_key)
        node.hot.trouble.away = False
        owner = await node.hub.attach(state.session_id)
        await owner.context.worker.settled()
        await client.answer("Said once.", turn_key)
        await client.until("turn.completed", turn_key=turn_key)
        assert owner.state.turn_count == 1


async def test_storage_that_stays_away_the_session_is_given_up_and_found_again(hot: HotStore) -> None:
    settings = replace(QUICK, storage_patience_s=0.1)
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), settings=settings) as node:
        state = await node.session()
        async with node.client(state.session_id) as client:
            await greeted(node, client)
            gate = node.providing.writer.close_gate(1)
            turn_key = await client.answer("Said once.")
            await node.providing.writer.at_gate.wait()
            node.hot.trouble.away = True
            gate.set()
            assert await client.closed() == 1012
        async with node.client(state.session_id) as client:
            await client.send("hello", token=f"token-{state.session_id}")
            await client.refused("storage_unavailable", retryable=True)
            assert await client.closed() == 1012
        node.hot.trouble.away = False
        async with node.client(state.session_id) as client:
            await client.hello()
            await client.until("turn.completed", turn_key=turn_key)
            assert (await node.hot.inner.read(state.session_id)).pending is None


async def test_withdrawing_in_mid_turn_cancels_it_without_a_trace(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        node.providing.writer.close_gate(1)
        await client.answer("Better not.")
        await node.providing.writer.at_gate.wait()
        await client.send("withdraw")
        await client.until("session.state", reason="withdrawn")
        assert await client.closed() == 1000
    assert [m.outcome for m in node.measures] == ["cancelled"]
    left = await node.hot.inner.connection.client.execute_command("KEYS", f"*{state.session_id}*")
    assert [name.decode().rsplit(":", 1)[1] for name in left] == ["gone"]


async def test_finishing_in_mid_turn_waits_for_the_question(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        gate = node.providing.writer.close_gate(1)
        turn_key = await client.answer("The last one.")
        await node.providing.writer.at_gate.wait()
        await client.send("finish")
        gate.set()
        await client.until("turn.completed", turn_key=turn_key)
        await client.expect("question.completed", closing=True)
        await client.expect("session.state", state="completed")


async def test_too_many_sessions_is_told_and_closed_for_later(hot: HotStore) -> None:
    settings = replace(QUICK, max_sessions=1)
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), settings=settings) as node:
        first, second = await node.session(), await node.session()
        async with node.client(first.session_id) as client:
            await greeted(node, client)
            async with node.client(second.session_id) as other:
                await other.send("hello", token=f"token-{second.session_id}")
                await other.refused("too_many_sessions", retryable=True)
                assert await other.closed() == 1012
        await eventually(lambda: not node.hub.owner(first.session_id).context.audience.present)  # type: ignore[union-attr]
        async with node.client(second.session_id) as other:
            await greeted(node, other)
            assert (await other.turn("Now there is room.", key()))["turn_number"] == 1


async def test_answer_when_hot_state_is_gone_closes_with_1012_and_goes_on_after_a_rebuild(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await greeted(node, client)
        kept = await node.hot.inner.read(state.session_id)
        node.store.snapshots[state.session_id] = StoredSession(kept.state, kept.rev)
        await node.hot.inner.connection.client.execute_command("FLUSHALL")
        turn_key = await client.answer("Said once.")
        assert await client.closed() == 1012
    async with node.client(state.session_id) as client:
        await client.hello(last_event_id=2, epoch=kept.epoch)
        assert client.epoch != kept.epoch
        assert (await client.turn("Said once.", turn_key))["turn_number"] == 1


async def test_answer_that_could_not_be_accepted_is_not_called_kept_while_storage_is_away(hot: HotStore) -> None:
    settings = replace(QUICK, still_thinking_s=0.05)
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), settings=settings) as node:
        state = await node.session()
        async with node.client(state.session_id) as client:
            await greeted(node, client)
            node.hot.trouble.away = True
            turn_key = await client.answer("Said once.")
            await client.refused("storage_unavailable", ref=turn_key)
            await client.until("notice", code="still_thinking")
            assert not any(frame.get("code") == "answer_kept" for frame in client.seen)
            node.hot.trouble.away = False
