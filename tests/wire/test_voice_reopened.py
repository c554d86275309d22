"""An answer that is taken up again after its end: one transcript, one turn, nothing of what was begun remains."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any
from uuid import uuid4

import pytest

from audio.endpoint import PATIENCE_MS
from config.conduct import ConductFiles
from pipeline.state import Directive
from server.hot.redis import HotStore
from server.session import rules
from server.speech.listening import Listening
from server.speech.settings import ListeningSettings
from tests.support.client import Frame, RespondentClient
from tests.support.fakes_session import (
    MemoryStore,
    Node,
    Providing,
    TroubledHot,
    a_call,
    eventually,
    running_node,
)
from tests.support.interview import configuration
from tests.support.speech import ToneSpeech, noise, silence, speech

END = silence(1.2)
"""Ends an answer with the usual patience."""
CLOSED = silence(3.4)
"""After that, nobody can take it up again."""
REOPENING = ListeningSettings(reopen_s=3.0)


@pytest.fixture
async def voice() -> ToneSpeech:
    return ToneSpeech(speculate="turn")


@pytest.fixture
async def node(hot: HotStore, voice: ToneSpeech) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, listening=REOPENING) as running:
        yield running


@asynccontextmanager
async def speaking(node: Node, session_id: str = "", **changes: Any) -> AsyncIterator[RespondentClient]:
    session_id = session_id or (await node.session(**changes)).session_id
    async with node.client(session_id) as client:
        await client.hello()
        await client.until("question.completed")
        yield client


def owner_of(node: Node) -> Any:
    [owner] = node.hub._owners.values()
    return owner


def listening_of(node: Node) -> Listening:
    return node.listeners.of(owner_of(node))


def kinds(client: RespondentClient) -> list[str]:
    return [frame["type"] for frame in client.seen]


def turns_of(node: Node) -> list[str]:
    return [u.text for u in owner_of(node).state.utterances if u.speaker == "respondent"]


async def ended(client: RespondentClient, said: bytes, seq: int) -> tuple[int, Frame]:
    """Say something and wait until it is over unless its speaker goes on, with the next question in sight."""
    seq = await client.say(said + END, seq)
    ending = await client.until("answer.ending")
    await client.until("question.delta")
    return seq, ending


async def concluded(client: RespondentClient, turn_key: str) -> str:
    text: str = (await client.until("transcript.final", turn_key=turn_key))["text"]
    await client.until("turn.completed", turn_key=turn_key)
    return text


async def test_answer_that_nobody_goes_on_with_is_committed_with_the_question_that_was_shown(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, ending = await ended(client, speech("it is warm"), 0)
        assert (ending["turn_key"], ending["left_ms"]) == (turn_key, 3000)
        assert "transcript.final" not in kinds(client)
        assert not turns_of(node)
        await client.say(CLOSED, seq)
        final = await client.until("transcript.final", turn_key=turn_key)
        question = await client.until("question.completed")
        await client.until("turn.completed", turn_key=turn_key)
        shown = "".join(frame["text"] for frame in client.seen if frame["type"] == "question.delta")
    assert final["text"] == "it is warm"
    assert shown.endswith(question["text"])
    assert shown.count(question["text"]) == 1, "the question was made once"
    assert kinds(client).count("question.started") == 2, "the opening, and the question"


async def test_going_on_withdraws_the_question_and_makes_one_answer(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        seq = await client.say(silence(0.5) + speech("and sweet") + END, seq)
        void = await client.until("question.withdrawn")
        again = await client.until("question.started")
        assert (void["turn_number"], void["attempt"]) == (again["turn_number"], again["attempt"] - 1)
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"
        assert turns_of(node) == ["it is warm and sweet"]
        assert owner_of(node).state.turn_count == 1
    assert kinds(client).count("transcript.final") == kinds(client).count("turn.started") == 1
    assert not [frame for frame in client.seen if frame["type"] in ("error", "notice")]


async def test_three_reopenings_in_a_row_are_one_answer(node: Node) -> None:
    async with speaking(node) as client:
        turn_key, seq = await client.audio_start(), 0
        for part in ("one", "two", "three", "four"):
            # Patience grows each time, so that the silence has to be longer.
            seq = await client.say(speech(part) + silence(3.0), seq)
            await client.until("answer.ending")
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "one two three four"
        assert turns_of(node) == ["one two three four"]
        assert node.heard[-1].reopened == 3
    attempts = [frame["attempt"] for frame in client.seen if frame["type"] == "question.started"]
    assert attempts[1:] == sorted(set(attempts[1:])), "each question is a higher attempt"


async def test_patience_grows_when_an_answer_is_reopened_and_shrinks_slowly(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("one"), 0)
        seq = await client.say(speech("two") + silence(1.6) + CLOSED, seq)
        assert await concluded(client, turn_key) == "one two"
        waits = [frame["ends_ms"] for frame in client.seen if frame["type"] == "speech.stopped"]
        grown = await client.audio_start(first_seq=seq)
        seq = await client.say(speech("three") + silence(1.6) + CLOSED, seq)
        await concluded(client, grown)
        following = await client.audio_start(first_seq=seq)
        await client.say(speech("four") + silence(1.6) + CLOSED, seq)
        await concluded(client, following)
    waits = [frame["ends_ms"] for frame in client.seen if frame["type"] == "speech.stopped"]
    usual = PATIENCE_MS["normal"]
    assert waits[0] == usual
    assert waits[2] == usual + 400, "grown by the reopening"
    assert waits[2] > waits[3] > usual + 200, "and a little smaller after an answer that was not reopened"


async def test_speech_in_the_moment_the_question_comes_is_part_of_the_answer(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        # The silence is just as long as the patience: what follows arrives with the question.
        seq = await client.say(speech("it is warm") + silence(0.96) + speech("and sweet") + END, 0)
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"
        assert turns_of(node) == ["it is warm and sweet"]


async def test_noise_without_words_after_the_end_leaves_the_answer_and_its_question(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        await client.say(noise(0.3) + silence(1.6) + CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm"
    assert "notice" not in kinds(client), "a sound after the answer is no answer that was not understood"


async def test_done_ends_the_time_to_go_on(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await ended(client, speech("it is warm"), 0)
        await client.send("audio.stop")
        assert await concluded(client, turn_key) == "it is warm"


async def test_asking_for_time_after_the_end_withdraws_the_question_and_waits(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        await client.send("set", take_your_time=True)
        await client.until("question.withdrawn")
        seq = await client.say(silence(8) + speech("and sweet"), seq)
        await client.say(silence(9) + CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"


async def test_answer_is_taken_although_no_more_audio_comes(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await ended(client, speech("it is warm"), 0)
        assert await concluded(client, turn_key) == "it is warm"


async def test_answer_is_taken_although_its_speaker_has_gone(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        await ended(client, speech("it is warm"), 0)
    await eventually(lambda: turns_of(node) == ["it is warm"])


async def test_server_that_stops_takes_an_answer_that_is_over(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        await ended(client, speech("it is warm"), 0)
        owner = owner_of(node)
        await node.hub.drain(5.0)
        assert [u.text for u in owner.state.utterances if u.speaker == "respondent"] == ["it is warm"]


async def test_second_tab_takes_what_was_said_and_what_it_says_is_the_next_answer(node: Node) -> None:
    session_id = (await node.session()).session_id
    async with speaking(node, session_id) as client:
        turn_key = await client.audio_start()
        await ended(client, speech("it is warm"), 0)
        async with node.client(session_id) as other:
            await other.hello(last_event_id=client.last_id)
            assert await concluded(other, turn_key) == "it is warm"
            await other.turn("and something typed")
            assert turns_of(node) == ["it is warm", "and something typed"]


@pytest.mark.parametrize("command", ["pause", "finish"])
async def test_command_after_the_end_comes_after_the_answer(node: Node, command: str) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await ended(client, speech("it is warm"), 0)
        await client.send(command)
        assert await concluded(client, turn_key) == "it is warm"
        await client.until("session.state")
        assert turns_of(node) == ["it is warm"]
    assert "error" not in kinds(client)


async def test_withdrawal_after_the_end_leaves_nothing(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        await ended(client, speech("it is warm"), 0)
        await client.send("withdraw")
        await client.until("session.state", reason="withdrawn")
    assert "turn.started" not in kinds(client)


async def test_cancelling_after_the_end_withdraws_the_question(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        seq, _ = await ended(client, speech("never mind"), 0)
        await client.send("audio.cancel")
        await client.until("question.withdrawn")
        turn_key = await client.audio_start(first_seq=seq)
        await client.say(speech("it is warm") + END + CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm"
        assert turns_of(node) == ["it is warm"]


async def test_last_answer_waits_before_it_ends_the_interview(hot: HotStore, voice: ToneSpeech) -> None:
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, listening=REOPENING) as node,
        speaking(node, max_turns=3) as client,
    ):
        await client.turn("because I like it")
        await client.turn("because it helps")
        turn_key = await client.audio_start()
        seq = await client.say(speech("it is warm") + END)
        await client.until("answer.ending")
        seq = await client.say(speech("and sweet") + silence(1.6), seq)
        await client.until("answer.ending")
        assert owner_of(node).state.status == "active"
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"
        await eventually(lambda: owner_of(node).state.status == "completed")


async def test_question_of_a_moderator_in_that_time_follows_the_answer_as_it_was(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        owner = owner_of(node)
        directive = Directive(command_id=uuid4().hex, kind="inject", question="What do you drink it from?")
        change = rules.direct(owner.state, owner.context.configuration, directive, owner.context.services.now())
        await owner.context.worker.do("inject", lambda: owner.commands.commit(directive.command_id, change))
        assert await concluded(client, turn_key) == "it is warm"
        asked = [frame["text"] for frame in client.seen if frame["type"] == "question.completed"][-1]
        assert asked == "What do you drink it from?"
        following = await client.audio_start(first_seq=seq)
        await client.say(speech("a cup") + END + CLOSED, seq)
        assert await concluded(client, following) == "a cup"
        assert turns_of(node) == ["it is warm", "a cup"]


async def test_going_on_while_storage_is_away_loses_nothing(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        node.hot.trouble.away = True
        seq = await client.say(speech("and sweet") + silence(1.6), seq)
        await client.until("answer.ending")
        node.hot.trouble.away = False
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"
        assert turns_of(node) == ["it is warm and sweet"]


async def test_storage_that_is_away_when_the_time_is_over_leaves_the_whole_answer_to_be_sent(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        node.hot.trouble.away = True
        seq = await client.say(speech("and sweet") + silence(1.6), seq)
        await client.until("answer.ending")
        await client.say(CLOSED, seq)
        offered = await client.until("transcript.partial", turn_key=turn_key)
        assert offered["text"] == "it is warm and sweet"
        node.hot.trouble.away = False
        await eventually(lambda: bool(owner_of(node).context.worker.able))
        await client.turn(offered["text"], turn_key)
        assert turns_of(node) == ["it is warm and sweet"]


async def test_calls_for_a_question_that_was_withdrawn_are_recorded_as_discarded(node: Node) -> None:
    node.providing.extractor.costs = True
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        seq = await client.say(speech("and sweet") + silence(1.6), seq)
        await client.until("answer.ending")
        await client.until("question.delta")
        outcomes = [call.outcome for call in owner_of(node).context.ledger.calls.peek()]
        assert set(outcomes) == {"discarded"}
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"
    assert a_call("extraction", "extraction").outcome == "completed"


async def test_client_that_connects_in_that_time_finds_no_word_lost(node: Node) -> None:
    session_id = (await node.session()).session_id
    async with speaking(node, session_id) as client:
        last = client.last_id
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
    async with node.client(session_id) as client:
        ready = await client.hello(last_event_id=last)
        assert ready["first_unreceived_seq"] == seq
        assert await concluded(client, turn_key) == "it is warm"
        following = await client.audio_start(first_seq=seq)
        await client.say(speech("and sweet") + END + CLOSED, seq)
        assert await concluded(client, following) == "and sweet"


async def conducted(node: Node) -> str:
    policy = ConductFiles((files("config"),)).plain("en")
    plain = configuration()
    return (await node.session(plain.model_copy(update={"conduct": policy}))).session_id


async def test_alert_of_care_does_not_wait_whether_there_is_more(node: Node) -> None:
    async with speaking(node, await conducted(node)) as client:
        turn_key = await client.audio_start()
        await client.say(speech("I want to kill myself") + END)
        replied = await client.until("interviewer.replied", turn_key=turn_key)
        assert replied["act"] == "risk"
        assert node.heard[-1].waited_ms is not None
        assert node.heard[-1].waited_ms < 2500
        assert owner_of(node).state.conduct.alerts


async def test_wish_to_stop_waits_whether_there_is_more(node: Node) -> None:
    async with speaking(node, await conducted(node)) as client:
        turn_key = await client.audio_start()
        seq = await client.say(speech("I want to stop the interview now") + END)
        await client.until("answer.ending")
        await client.until("question.delta")
        assert owner_of(node).state.conduct.stopping_until is None
        seq = await client.say(speech("is what my brother always says when he is tired") + silence(1.6), seq)
        await client.until("answer.ending")
        await client.say(CLOSED, seq)
        said = (await client.until("transcript.final", turn_key=turn_key))["text"]
    assert said == "I want to stop the interview now is what my brother always says when he is tired"
    assert [frame["state"] for frame in client.seen if frame["type"] == "session.state"] == ["active"]


async def test_answer_in_an_interview_that_is_claimed_waits_for_the_moderator_as_one(node: Node) -> None:
    async with speaking(node) as client:
        owner = owner_of(node)
        change = rules.claim(owner.state, "ada", owner.context.services.now())
        await owner.context.worker.do("claim", lambda: owner.commands.commit(uuid4().hex, change))
        turn_key = await client.audio_start()
        seq = await client.say(speech("it is warm") + END)
        await client.until("answer.ending")
        seq = await client.say(speech("and sweet") + silence(1.6), seq)
        await client.until("answer.ending")
        await client.say(CLOSED, seq)
        final = await client.until("transcript.final", turn_key=turn_key)
        await client.until("notice", code="moderator_here")
    assert final["text"] == "it is warm and sweet"
    assert kinds(client).count("question.started") == 1, "nothing was asked but the opening"


async def test_question_that_takes_long_leaves_more_time(node: Node) -> None:
    async with speaking(node) as client:
        opened = node.providing.writer.close_gate(1)
        turn_key = await client.audio_start()
        seq = await client.say(speech("it is warm") + END)
        await client.until("answer.ending")
        async with asyncio.timeout(client.deadline_s):
            await node.providing.writer.at_gate.wait()
        seq = await client.say(silence(6) + speech("and sweet") + silence(1.6), seq)
        await client.until("answer.ending")
        opened.set()
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"


async def test_who_goes_on_speaking_is_not_refused_because_many_speak(node: Node, voice: ToneSpeech) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(speech("it is warm") + END)
        await client.until("answer.ending")
        voice.recogniser.backlog_s = 60.0
        await client.send("audio.stop")
        await concluded(client, turn_key)
        following = await client.audio_start(first_seq=seq)
        seq = await client.say(speech("and sweet") + END, seq)
        await client.send("audio.stop")
        assert await concluded(client, following) == "and sweet"
        node.calendar.advance(seconds=30)
        await client.audio_start(first_seq=seq)
        await client.refused("too_many_sessions")
    other = (await node.session()).session_id
    async with node.client(other) as client:
        await client.hello()
        await client.until("question.completed")
        await client.audio_start()
        await client.refused("too_many_sessions")
