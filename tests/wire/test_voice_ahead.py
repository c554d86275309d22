"""Running ahead of the end of an answer: the same outcome, and no trace of guesses that were wrong."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest

from pipeline.calls import LLMCall, record_call
from pipeline.errors import LLMUnavailable
from pipeline.state import InterviewState
from server.hot.redis import HotStore
from server.speech.engine import Speculate
from tests.support.client import RespondentClient
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, a_call, eventually, running_node
from tests.support.interview import concepts
from tests.support.redis_rows import journal_of
from tests.support.speech import ToneSpeech, silence, speech

PAUSE = silence(2)
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TEXT = "the warm cup calms me"
FOUND = concepts(("warm cup", "attribute"), ("calms me", "consequence"), links=[("warm cup", "calms me")])


@asynccontextmanager
async def hearing(hot: HotStore, speculate: Speculate, providing: Providing) -> AsyncIterator[Node]:
    voice = ToneSpeech(speculate=speculate)
    async with running_node(TroubledHot(hot), MemoryStore(), providing, speech=voice) as node:
        yield node


@asynccontextmanager
async def speaking(node: Node, **changes: Any) -> AsyncIterator[RespondentClient]:
    state = await node.session(**changes)
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        yield client


def state_of(node: Node) -> InterviewState:
    [owner] = node.hub._owners.values()
    return owner.state


async def _interview(hot: HotStore, speculate: Speculate, session_id: str) -> tuple[InterviewState, list[str]]:
    """Three spoken turns with a wrong guess in each; the state and the texts the extractor was asked about."""
    providing = Providing()
    providing.extractor.script[TEXT] = FOUND
    async with hearing(hot, speculate, providing) as node, speaking(node, session_id=session_id) as client:
        seq = 0
        for turn in range(3):
            key = await client.audio_start(str(UUID(int=turn + 1, version=4)), first_seq=seq)
            first, rest = ("the warm cup", "calms me") if turn == 0 else (f"answer {turn}", "has a pause")
            seq = await client.say(speech(first) + silence(0.6), seq)
            await client.until("speech.stopped")
            if speculate == "turn":
                await eventually(lambda: any(asked.text == first for asked in providing.extractor.requests))  # noqa: B023
            seq = await client.say(speech(rest) + PAUSE, seq)
            final = await client.until("transcript.final", turn_key=key)
            assert final["text"] == f"{first} {rest}"
            await client.until("turn.completed", turn_key=key)
        return state_of(node), [request.text for request in providing.extractor.requests]


def _plain(state: InterviewState) -> str:
    """The state without its times, with ids by the order they occur in: they follow from the session's."""
    numbers: dict[str, str] = {}
    dumped = json.dumps(_without_times(json.loads(state.dump()) | {"session_id": ""}))
    return ID.sub(lambda found: numbers.setdefault(found[0], f"id {len(numbers)}"), dumped)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_times(item) for name, item in value.items() if not name.endswith("_at")}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


async def test_interview_that_ran_ahead_is_the_same_as_one_that_did_not(hot: HotStore) -> None:
    off, asked_off = await _interview(hot, "off", "plain")
    ahead, asked_ahead = await _interview(hot, "turn", "ahead")
    assert _plain(off) == _plain(ahead)
    assert asked_off == [TEXT, "answer 1 has a pause", "answer 2 has a pause"]
    assert set(asked_ahead) - set(asked_off) == {"the warm cup", "answer 1", "answer 2"}


async def test_decision_on_a_guess_is_not_made_a_second_time(hot: HotStore) -> None:
    providing = Providing()
    async with hearing(hot, "turn", providing) as node, speaking(node) as client:
        await client.audio_start()
        seq = await client.say(speech("one thought") + silence(0.5))
        await eventually(lambda: len(providing.extractor.requests) == 1)
        assert state_of(node).turn_count == 0
        await client.say(PAUSE, seq)
        await client.until("turn.completed")
        assert [request.text for request in providing.extractor.requests] == ["one thought"]


@pytest.mark.parametrize("speculate", ["off", "transcript"])
async def test_nothing_is_decided_on_a_guess_where_that_is_not_wanted(hot: HotStore, speculate: Speculate) -> None:
    providing = Providing()
    async with hearing(hot, speculate, providing) as node, speaking(node) as client:
        await client.audio_start()
        seq = await client.say(speech("one thought") + silence(0.5))
        await client.until("speech.stopped")
        await client.until("transcript.partial")
        await asyncio.sleep(0.05)
        assert providing.extractor.requests == []
        await client.say(PAUSE, seq)
        await client.until("turn.completed")
        assert len(providing.extractor.requests) == 1


class Paid:
    """An extractor whose every call costs, with the text in its id."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.requests = inner.requests
        self.errors: list[Exception] = []

    async def extract(self, request: Any) -> Any:
        call = a_call("extraction", "extraction")
        record_call(call.model_copy(update={"id": request.text.replace(" ", "_")}))
        if self.errors:
            raise self.errors.pop(0)
        return await self.inner.extract(request)


async def calls_of(hot: HotStore, session_id: str) -> list[LLMCall]:
    """Calls on record, in order."""
    return [
        LLMCall.model_validate(call)
        for record in await journal_of(hot, session_id)
        if record.data
        for call in json.loads(record.data).get("calls", ())
    ]


async def test_wrong_guess_is_on_record_as_paid_for_and_discarded(hot: HotStore) -> None:
    providing = Providing()
    providing.extractor = Paid(providing.extractor)  # type: ignore[assignment]
    async with hearing(hot, "turn", providing) as node, speaking(node) as client:
        await client.audio_start()
        seq = await client.say(speech("too soon") + silence(0.6))
        await eventually(lambda: len(providing.extractor.requests) == 1)
        await client.say(speech("by far") + PAUSE, seq)
        await client.until("turn.completed")
        state = state_of(node)
    assert state.last_answer() is not None
    found = [(call.id, call.outcome) for call in await calls_of(hot, state.session_id)]
    assert sorted(found) == [("too_soon", "discarded"), ("too_soon_by_far", "completed")]


async def test_right_guess_is_paid_for_once(hot: HotStore) -> None:
    providing = Providing()
    providing.extractor = Paid(providing.extractor)  # type: ignore[assignment]
    async with hearing(hot, "turn", providing) as node, speaking(node) as client:
        for turn, text in enumerate(["soon enough", "and once more"]):
            key = await client.audio_start(first_seq=turn * 100)
            seq = await client.say(speech(text) + silence(0.5), turn * 100)
            await eventually(lambda: len(providing.extractor.requests) == turn + 1)  # noqa: B023
            await client.say(PAUSE, seq)
            await client.until("turn.completed", turn_key=key)
        state = state_of(node)
    found = [(call.id, call.outcome, call.turn_number) for call in await calls_of(hot, state.session_id)]
    assert found == [("soon_enough", "completed", 1), ("and_once_more", "completed", 2)]


async def test_guess_that_fails_costs_the_turn_nothing(hot: HotStore) -> None:
    providing = Providing()
    paid = Paid(providing.extractor)
    paid.errors.append(LLMUnavailable("away"))
    providing.extractor = paid  # type: ignore[assignment]
    async with hearing(hot, "turn", providing) as node, speaking(node) as client:
        await client.audio_start()
        await client.say(speech("one thought") + PAUSE)
        await client.until("turn.completed")
        assert [request.text for request in providing.extractor.requests] == ["one thought"]
        assert state_of(node).turn_count == 1


async def test_guess_in_a_state_that_has_changed_does_not_count(hot: HotStore) -> None:
    """A wish of a moderator between guess and end is heeded: the decision is made anew."""
    providing = Providing()
    async with hearing(hot, "turn", providing) as node, speaking(node) as client:
        await client.audio_start()
        seq = await client.say(speech("one thought") + silence(0.5))
        await eventually(lambda: len(providing.extractor.requests) == 1)
        [owner] = node.hub._owners.values()
        await owner.change_settings({"spoken": True})
        await client.say(PAUSE, seq)
        await client.until("turn.completed")
        assert [request.text for request in providing.extractor.requests] == ["one thought", "one thought"]
        assert state_of(node).settings["spoken"] is True


async def test_guess_that_is_still_being_worked_on_is_waited_for(hot: HotStore) -> None:
    providing = Providing()
    gate = providing.extractor.gate = asyncio.Event()
    async with hearing(hot, "turn", providing) as node, speaking(node) as client:
        await client.audio_start()
        await client.say(speech("one thought") + PAUSE)
        await client.until("turn.started")
        assert providing.extractor.at_gate.is_set()
        gate.set()
        await client.until("turn.completed")
        assert [request.text for request in providing.extractor.requests] == ["one thought"]
        assert state_of(node).turn_count == 1


async def test_cancelled_answer_takes_its_guess_with_it(hot: HotStore) -> None:
    providing = Providing()
    gate = providing.extractor.gate = asyncio.Event()
    async with hearing(hot, "turn", providing) as node, speaking(node) as client:
        await client.audio_start()
        seq = await client.say(speech("forget it") + silence(0.5))
        await eventually(providing.extractor.at_gate.is_set)
        await client.send("audio.cancel")
        gate.set()
        await client.audio_start(first_seq=seq)
        await client.say(speech("another") + PAUSE, seq)
        await client.until("turn.completed")
        assert [u.text for u in state_of(node).utterances if u.speaker == "respondent"] == ["another"]
