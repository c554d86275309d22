"""Calls of language models: every one is put on record, whatever fails, and none delays a turn."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from pipeline.calls import LLMCall, record_call, recording
from pipeline.state import InterviewState
from pipeline.turn import Answer, Outcome
from server.hot.errors import Conflict, NotOwner, OutcomeUnknown, SessionErased
from server.hot.journal import JournalRecord
from server.hot.redis import HotStore
from server.session.change import Change, ChangeRecord
from server.session.ledger import Ledger
from tests.support.fakes_session import TroubledHot
from tests.support.interview import Interview, new_state
from tests.support.redis_rows import journal_of

ANSWER = Answer("key-1", "It is warm")


def call(name: str) -> LLMCall:
    return LLMCall(id=name, role="generation", task="question", provider="test", model="slow", input_tokens=10)


def on_record(record: JournalRecord) -> list[str]:
    """Ids of the calls that a journal record carries."""
    return [entry["id"] for entry in json.loads(record.data).get("calls", ())]


async def told(hot: HotStore) -> list[tuple[str, list[str]]]:
    """What the journal says of calls: kind of record and ids, for each record that has any."""
    return [(record.kind, on_record(record)) for record in await journal_of(hot, "s1") if on_record(record)]


@pytest.fixture
async def troubled(hot: HotStore) -> TroubledHot:
    await hot.create("s1", state=new_state(session_id="s1").dump())
    return TroubledHot(hot)


@pytest.fixture
async def ledger(troubled: TroubledHot) -> Ledger:
    return await Ledger.claim(troubled, "s1", "anna")


async def opened(ledger: Ledger) -> Interview:
    """The interview after its opening."""
    interview = Interview()
    interview.state = ledger.state
    await ledger.commit("opening", Change.of_outcome(await interview.open()), pending="keep")
    return interview


async def test_calls_made_in_its_log_go_with_the_commit_of_the_turn(hot: HotStore, ledger: Ledger) -> None:
    with recording(ledger.calls):
        record_call(call("o1"))
        interview = await opened(ledger)
        await ledger.accept(ANSWER)
        async with asyncio.TaskGroup() as group:
            group.create_task(_make("t1"))
            group.create_task(_make("t2"))
        await commit_turn(ledger, await interview.say(ANSWER.text))
    assert await told(hot) == [("commit", ["o1"]), ("commit", ["t1", "t2"])]
    assert ledger.calls.peek() == ()
    [call_of_opening] = json.loads((await journal_of(hot, "s1"))[1].data)["calls"]
    assert LLMCall.model_validate(call_of_opening) == call("o1")


async def commit_turn(ledger: Ledger, outcome: Outcome) -> None:
    await ledger.commit(ANSWER.turn_key, Change.of_outcome(outcome, ANSWER.turn_key), pending="clear")


async def _make(name: str) -> None:
    record_call(call(name))


async def test_write_without_calls_says_nothing_of_calls(hot: HotStore, ledger: Ledger) -> None:
    await opened(ledger)
    await ledger.record_calls()
    assert [b"calls" in record.data for record in await journal_of(hot, "s1")] == [False, False]


async def test_calls_of_a_failed_run_go_with_its_failure(hot: HotStore, ledger: Ledger) -> None:
    await opened(ledger)
    await ledger.accept(ANSWER)
    ledger.calls.add(call("t1"))
    await ledger.fail(ANSWER.turn_key, "llm_unavailable", retryable=True, detail="down")
    assert await told(hot) == [("fail", ["t1"])]
    assert json.loads((await journal_of(hot, "s1"))[-1].data)["failure"]["code"] == "llm_unavailable"
    assert ledger.calls.peek() == ()


async def test_calls_of_a_cancelled_run_go_with_the_next_command(hot: HotStore, ledger: Ledger) -> None:
    await opened(ledger)
    ledger.calls.add(call("t1"))
    change = Change(_next(ledger), record=ChangeRecord(action={"command_id": "c1", "type": "pause"}))
    await ledger.commit("c1", change, pending="keep")
    assert await told(hot) == [("commit", ["t1"])]
    assert json.loads((await journal_of(hot, "s1"))[-1].data)["moderator"]["type"] == "pause"


@pytest.mark.parametrize("when", ["before", "after"])
async def test_calls_that_come_while_a_commit_is_repeated_are_not_lost(
    hot: HotStore, troubled: TroubledHot, ledger: Ledger, when: Any
) -> None:
    """Storage may have the first try on record; what came later must go with another write."""
    interview = await opened(ledger)
    await ledger.accept(ANSWER)
    outcome = await interview.say(ANSWER.text)
    ledger.calls.add(call("t1"))
    troubled.lose("commit", when)
    with pytest.raises(OutcomeUnknown):
        await commit_turn(ledger, outcome)
    assert [entry.id for entry in ledger.calls.peek()] == ["t1"]
    ledger.calls.add(call("late"))
    await commit_turn(ledger, outcome)
    assert await told(hot) == [("commit", ["t1"])]
    assert [entry.id for entry in ledger.calls.peek()] == ["late"]
    await ledger.record_calls()
    assert await told(hot) == [("commit", ["t1"]), ("note", ["late"])]


async def test_calls_of_a_commit_that_another_run_made_before_stay_for_the_next_write(
    hot: HotStore, troubled: TroubledHot, ledger: Ledger
) -> None:
    """What storage has is the other run; this one's record was not written."""
    await opened(ledger)
    late = await Ledger.claim(troubled, "s1", "anna")
    late.calls.add(call("t1"))
    other = Change(_next(ledger), ({"type": "session.state", "state": "paused", "reason": ""},))
    await ledger.commit("c1", other, pending="keep")
    await late.commit("c1", Change(_next(late)), pending="keep")
    assert await told(hot) == []
    assert [entry.id for entry in late.calls.peek()] == ["t1"]
    assert late.state == ledger.state


def _next(ledger: Ledger) -> InterviewState:
    return ledger.state.model_copy(update={"rev": ledger.state.rev + 1})


async def test_calls_of_a_refused_failure_stay_for_the_next_write(hot: HotStore, ledger: Ledger) -> None:
    await opened(ledger)
    ledger.calls.add(call("t1"))
    with pytest.raises(Conflict):
        await ledger.fail("nothing pending", "internal", retryable=True, detail="")
    assert [entry.id for entry in ledger.calls.peek()] == ["t1"]


async def test_note_carries_calls_that_nothing_else_will(hot: HotStore, ledger: Ledger) -> None:
    interview = await opened(ledger)
    await ledger.accept(ANSWER)
    await commit_turn(ledger, await interview.say(ANSWER.text))
    before = await hot.read("s1")
    ledger.calls.add(call("slots"))
    await ledger.record_calls()
    await ledger.record_calls()
    assert await told(hot) == [("note", ["slots"])]
    assert json.loads((await journal_of(hot, "s1"))[-1].data)["turn_number"] == 1
    assert await hot.read("s1") == before


@pytest.mark.parametrize("when", ["before", "after"])
async def test_note_of_unknown_outcome_is_told_again(
    hot: HotStore, troubled: TroubledHot, ledger: Ledger, when: Any
) -> None:
    await opened(ledger)
    ledger.calls.add(call("t1"))
    troubled.lose("note", when)
    with pytest.raises(OutcomeUnknown):
        await ledger.record_calls()
    assert [entry.id for entry in ledger.calls.peek()] == ["t1"]
    await ledger.record_calls()
    assert {tuple(ids) for _, ids in await told(hot)} == {("t1",)}
    assert ledger.calls.peek() == ()


async def test_displaced_owner_says_so_to_put_its_calls_on_record(hot: HotStore, ledger: Ledger) -> None:
    await opened(ledger)
    ledger.calls.add(call("t1"))
    await hot.claim("s1", "bert")
    with pytest.raises(NotOwner):
        await ledger.record_calls()
    assert await told(hot) == []
    await ledger.record_calls(owned=False)
    assert await told(hot) == [("note", ["t1"])]
    assert await hot.owner_of("s1") == "bert"


async def test_note_of_an_erased_session_is_refused(hot: HotStore, ledger: Ledger) -> None:
    ledger.calls.add(call("t1"))
    await hot.erase("s1")
    with pytest.raises(SessionErased):
        await ledger.record_calls(owned=False)
    assert await told(hot) == []


async def test_calls_with_names_that_are_no_text_keep_no_commit_from_being_made(hot: HotStore, ledger: Ledger) -> None:
    """A provider's words may hold half a surrogate pair, as JSON allows."""
    ledger.calls.add(call("t1").model_copy(update={"model": "half \ud83d"}))
    await opened(ledger)
    [entry] = json.loads((await journal_of(hot, "s1"))[-1].data)["calls"]
    assert entry["model"] == "half ?"
