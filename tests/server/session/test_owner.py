"""One session's owner, as other callers than the socket see it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from pipeline.errors import LLMUnavailable
from pipeline.turn import Answer, answer_digest
from server.hot.errors import Conflict, NotOwner, StorageUnavailable
from server.hot.redis import HotStore
from server.hot.values import HotSettings
from server.session.ledger import answer_payload
from server.session.outbox import Outbox
from server.session.owner import SessionOwner
from server.session.problems import Moved, SessionProblem, TurnFailed
from tests.support.client import key
from tests.support.fakes_session import (
    QUICK,
    MemoryStore,
    Node,
    Providing,
    TroubledHot,
    asking_consent,
    eventually,
    running_hub,
    status,
)
from tests.support.redis_store import connect_store


async def opened(node: Node) -> SessionOwner:
    """The owner of a session whose opening question is there."""
    state = await node.session()
    owner = await node.hub.attach(state.session_id)
    await owner.start()
    return owner


def answer(text: str = "Said once.", turn_key: str | None = None) -> Answer:
    return Answer(turn_key=turn_key or key(), text=text)


async def test_start_twice_at_once_opens_once(node: Node) -> None:
    state = await node.session()
    owner = await node.hub.attach(state.session_id)
    async with asyncio.TaskGroup() as tasks:
        for _ in range(3):
            tasks.create_task(owner.start())
    assert [u.kind for u in owner.state.utterances] == ["opening"]
    assert owner.state.rev == 1


async def test_start_without_consent_is_refused(node: Node) -> None:
    state = await node.session(asking_consent())
    owner = await node.hub.attach(state.session_id)
    with pytest.raises(SessionProblem) as refused:
        await owner.start()
    assert refused.value.code == "consent_required"
    await owner.consent("2", {"agree": True})
    await owner.start()
    assert owner.state.question is not None
    assert owner.state.consent is not None


async def test_submit_same_key_at_once_gives_everybody_the_same_result(node: Node) -> None:
    owner = await opened(node)
    said = answer()
    receipts = await asyncio.gather(*(owner.submit(said) for _ in range(4)))
    assert all(receipt == receipts[0] for receipt in receipts)
    assert await owner.submit(said) == receipts[0]
    assert owner.state.turn_count == 1


async def test_submit_whose_caller_goes_away_completes_all_the_same(node: Node) -> None:
    owner = await opened(node)
    gate = node.providing.writer.close_gate(1)
    said = answer()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await owner.submit(said)
    gate.set()
    receipt = await owner.submit(said)
    assert receipt.turn_number == 1


async def test_submit_while_another_runs_is_refused(node: Node) -> None:
    owner = await opened(node)
    gate = node.providing.writer.close_gate(1)
    first = owner.turns.begin(answer("First."))
    with pytest.raises(SessionProblem) as refused:
        owner.turns.begin(answer("Second."))
    assert refused.value.code == "turn_in_progress"
    with pytest.raises(SessionProblem) as refused:
        await owner.rephrase()
    assert refused.value.code == "turn_in_progress"
    gate.set()
    assert (await first.committed()).turn_number == 1


async def test_submit_failing_is_told_with_its_code_and_retried_by_its_key(node: Node) -> None:
    owner = await opened(node)
    node.providing.extractor.errors.append(LLMUnavailable("down"))
    said = answer()
    with pytest.raises(TurnFailed) as failed:
        await owner.submit(said)
    assert (failed.value.code, failed.value.retryable) == ("llm_unavailable", True)
    assert owner.state.turn_count == 0
    assert (await owner.submit(said)).turn_number == 1
    assert [m.outcome for m in node.measures] == ["failed", "completed"]
    assert [m.attempt for m in node.measures] == [1, 2]


async def test_measure_of_a_turn_says_how_long_what_took(node: Node) -> None:
    owner = await opened(node)
    await owner.submit(answer())
    (measure,) = node.measures
    assert measure.outcome == "completed"
    assert measure.first_token_ms is not None
    assert 0 < measure.accept_ms <= measure.first_token_ms <= measure.total_ms
    assert "extraction" in measure.stages_ms


async def test_answer_of_a_failed_turn_is_not_run_unasked_by_the_next_owner(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with running_hub(TroubledHot(hot), store, providing) as one:
        owner = await opened(one)
        providing.extractor.errors.append(LLMUnavailable("down"))
        said = answer()
        with pytest.raises(TurnFailed):
            await owner.submit(said)
        session_id = owner.session_id
    async with running_hub(TroubledHot(hot), store, providing) as two:
        owner = await two.hub.attach(session_id)
        await owner.context.worker.settled()
        assert owner.state.turn_count == 0
        assert (await owner.submit(said)).turn_number == 1


async def test_kill_between_accept_and_commit_the_next_owner_completes_the_turn(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with running_hub(TroubledHot(hot), store, providing, drain_s=0.01) as one:
        owner = await opened(one)
        providing.writer.close_gate(1)
        said = answer()
        owner.turns.begin(said)
        await providing.writer.at_gate.wait()
        session_id = owner.session_id
    providing.writer.gate = None
    async with running_hub(TroubledHot(hot), store, providing) as two:
        owner = await two.hub.attach(session_id)
        receipt = await owner.submit(said)
        assert receipt.turn_number == 1
        events = [e.data["type"] for e in await hot.events_after(session_id, 0)]
        assert events.count("turn.started") == 2
        assert events.count("turn.completed") == 1


async def test_commit_seen_by_nobody_is_found_by_the_next_owner(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    settings = replace(QUICK, storage_patience_s=0.0)
    async with running_hub(TroubledHot(hot), store, providing, settings=settings) as one:
        owner = await opened(one)
        said = answer()
        one.hot.lose("commit", "after")
        with pytest.raises(SessionProblem) as failed:
            await owner.submit(said)
        assert failed.value.code == "storage_unavailable"
        session_id = owner.session_id
        await eventually(lambda: one.hub.owner(session_id) is None)
        again = await one.hub.attach(session_id)
        assert (await again.submit(said)).turn_number == 1
        assert again.state.turn_count == 1


async def test_owner_that_lost_the_session_refuses_and_leaves(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with (
        running_hub(TroubledHot(hot), store, providing) as one,
        running_hub(TroubledHot(hot), store, providing) as two,
    ):
        old = await opened(one)
        new = await two.hub.attach(old.session_id)
        await eventually(lambda: old.leaving is not None)
        with pytest.raises(Moved):
            await old.submit(answer())
        with pytest.raises(Moved):
            await old.pause()
        assert (await new.submit(answer())).turn_number == 1


async def test_owner_that_does_not_know_yet_is_refused_by_storage(hot: HotStore) -> None:
    store, providing = MemoryStore(), Providing()
    async with running_hub(TroubledHot(hot), store, providing) as one:
        old = await opened(one)
        gate = providing.writer.close_gate(1)
        handle = old.turns.begin(answer())
        await providing.writer.at_gate.wait()
        await hot.claim(old.session_id, "somebody-else")
        gate.set()
        with pytest.raises((SessionProblem,)):
            await handle.committed()
        await eventually(lambda: old.leaving is not None)
        session = await hot.read(old.session_id)
        assert session.rev == 1
        assert session.pending is not None


async def test_commands_while_storage_is_away_are_refused_at_once(node: Node) -> None:
    owner = await opened(node)
    node.hot.trouble.away = True
    with pytest.raises(SessionProblem) as refused:
        await owner.pause()
    assert refused.value.code == "storage_unavailable"
    with pytest.raises(SessionProblem):
        await owner.finish()
    node.hot.trouble.away = False
    await owner.context.worker.settled()
    await owner.pause()
    assert status(owner) == "paused"


async def test_command_with_unknown_outcome_is_looked_up_before_the_next(node: Node) -> None:
    owner = await opened(node)
    node.hot.lose("commit", "after")
    with pytest.raises(SessionProblem):
        await owner.pause()
    await owner.context.worker.settled()
    assert status(owner) == "paused"
    await owner.resume()
    assert status(owner) == "active"
    assert (await owner.submit(answer())).turn_number == 1


async def test_finish_gives_up_an_answer_whose_turn_failed(node: Node) -> None:
    owner = await opened(node)
    node.providing.extractor.errors.append(LLMUnavailable("down"))
    with pytest.raises(TurnFailed):
        await owner.submit(answer())
    await owner.finish()
    session = await node.hot.inner.read(owner.session_id)
    assert session.pending is None
    assert status(owner) == "completed"


async def test_too_many_commands_at_once_are_refused(hot: HotStore) -> None:
    settings = replace(QUICK, max_jobs=2)
    async with running_hub(TroubledHot(hot), MemoryStore(), Providing(), settings=settings) as node:
        owner = await opened(node)
        gate = node.providing.writer.close_gate(1)
        handle = owner.turns.begin(answer())
        await node.providing.writer.at_gate.wait()
        results = asyncio.gather(*(owner.pause() for _ in range(4)), return_exceptions=True)
        await asyncio.sleep(0)
        gate.set()
        await handle.committed()
        refused = [r for r in await results if isinstance(r, SessionProblem)]
        assert [problem.code for problem in refused] == ["rate_limited"] * 2


async def test_attach_while_storage_is_away_says_so(node: Node) -> None:
    state = await node.session()
    node.hot.trouble.away = True
    with pytest.raises(StorageUnavailable):
        await node.hub.attach(state.session_id)
    node.hot.trouble.away = False
    await node.hub.attach(state.session_id)


async def test_submit_of_an_answer_that_is_pending_unknown_to_the_owner_runs_it(node: Node) -> None:
    owner = await opened(node)
    said = answer()
    outbox = Outbox()
    await owner.subscribe(outbox, last_event_id=0, epoch=None)
    await node.hot.inner.accept(
        owner.session_id,
        owner=owner.owner_id,
        rev=owner.state.rev,
        turn_key=said.turn_key,
        payload=answer_payload(said),
        digest=answer_digest(said),
        turn_number=1,
        event={"type": "turn.started", "turn_number": 1, "turn_key": said.turn_key},
    )
    assert (await owner.submit(said)).turn_number == 1
    outbox.close(1000)
    frames = [json.loads(frame) for frame in await everything(outbox)]
    events = [frame for frame in frames if "id" in frame]
    assert [e["attempt"] for e in events if e["type"] == "turn.started"] == [1, 2]
    assert [e["id"] for e in events] == list(range(1, len(events) + 1))


async def everything(outbox: Outbox) -> list[str | bytes]:
    found = []
    while (frame := await outbox.next()) is not None:
        found.append(frame)
    return found


async def advance(node: Node, owner: SessionOwner) -> None:
    """A commit in the owner's name that it does not know of."""
    ahead = owner.state.model_copy(update={"rev": owner.state.rev + 1})
    await node.hot.inner.commit(
        owner.session_id,
        owner=owner.owner_id,
        rev=owner.state.rev,
        turn_key=key(),
        state=ahead.dump(),
        keep_pending=True,
    )


async def test_submit_and_commands_behind_the_truth_are_refused_then_work(node: Node) -> None:
    owner = await opened(node)
    for act in (lambda: owner.submit(answer()), owner.pause, owner.resume):
        await advance(node, owner)
        with pytest.raises((SessionProblem, Conflict)):
            await act()
        await act()
    assert (status(owner), owner.state.turn_count) == ("active", 1)


async def test_turn_whose_commit_comes_too_late_fails_and_can_be_retried(node: Node) -> None:
    owner = await opened(node)
    gate = node.providing.writer.close_gate(1)
    said = answer()
    handle = owner.turns.begin(said)
    await node.providing.writer.at_gate.wait()
    await advance(node, owner)
    gate.set()
    with pytest.raises(TurnFailed) as failed:
        await handle.committed()
    assert (failed.value.code, failed.value.retryable) == ("internal", True)
    assert (await owner.submit(said)).turn_number == 1


@pytest.mark.parametrize("stale", [False, True])
async def test_owner_without_news_learns_from_storage_that_it_lost_the_session(node: Node, stale: bool) -> None:
    node.hot.inbox.deaf = True
    owner = await opened(node)
    if stale:
        node.hot.lose("commit", "before")
        node.hot.lose("read", "before")
        with pytest.raises(SessionProblem):
            await owner.pause()
    await node.hot.inner.claim(owner.session_id, "somebody-else")
    if not stale:
        with pytest.raises((SessionProblem, NotOwner)):
            await owner.submit(answer())
    await eventually(lambda: owner.leaving is not None)
    assert owner.leaving is not None
    assert owner.leaving.close_code == 4001
    assert (await node.hot.inner.read(owner.session_id)).owner == "somebody-else"


async def test_answer_behind_a_pause_in_line_is_refused(node: Node) -> None:
    owner = await opened(node)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(owner.pause())
        await asyncio.sleep(0)
        with pytest.raises(SessionProblem) as refused:
            await owner.submit(answer())
    assert refused.value.code == "session_paused"
    assert owner.state.turn_count == 0


async def test_opening_kept_back_by_storage_comes_when_it_is_back(node: Node) -> None:
    state = await node.session(asking_consent())
    owner = await node.hub.attach(state.session_id)
    node.hot.lose("commit", "after")
    with pytest.raises(SessionProblem):
        await owner.consent("2", {"agree": True})
    await eventually(lambda: owner.state.question is not None)
    assert owner.state.consent is not None


async def test_submit_same_key_with_other_text_is_refused_while_it_runs_and_after(node: Node) -> None:
    owner = await opened(node)
    gate = node.providing.writer.close_gate(1)
    said = answer()
    handle = owner.turns.begin(said)
    for _ in range(2):
        for other in (answer("Other words.", said.turn_key), Answer(turn_key=said.turn_key, kind="skip")):
            with pytest.raises(SessionProblem) as refused:
                owner.turns.begin(other)
            assert refused.value.code == "invalid_input"
        gate.set()
        await handle.committed()
    again = owner.turns.begin(answer("  Said once.  ", said.turn_key))
    assert await again.committed() == await handle.committed(), "outer blanks say nothing"


async def test_answer_waits_for_room_in_the_journal(embedded_url: str, hot: HotStore) -> None:
    small = connect_store(embedded_url, HotSettings(journal_limit=2))
    async with running_hub(TroubledHot(small), MemoryStore(), Providing()) as node:
        owner = await opened(node)
        handle = owner.turns.begin(answer())
        await eventually(lambda: node.hot.calls.count("accept") >= 2)
        await hot.connection.client.execute_command("XTRIM", hot.keys.session(owner.session_id).journal, "MAXLEN", 0)
        assert (await handle.committed()).turn_number == 1
    await small.close()


async def test_answer_without_room_in_the_journal_is_refused_and_all_else_goes_on(
    embedded_url: str, hot: HotStore
) -> None:
    small = connect_store(embedded_url, HotSettings(journal_limit=2))
    settings = replace(QUICK, journal_wait_s=0.1)
    async with running_hub(TroubledHot(small), MemoryStore(), Providing(), settings=settings) as node:
        owner = await opened(node)
        with pytest.raises(SessionProblem) as refused:
            await owner.submit(answer())
        assert refused.value.code == "storage_unavailable"
        await owner.pause()
        assert status(owner) == "paused"
        assert "read" not in node.hot.calls, "nothing has to be found out"
    await small.close()
