"""How long a spoken answer may pause, and what of it counts: over a real socket, every word is a tone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from server.hot.redis import HotStore
from server.speech.answer import SpokenAnswer
from server.speech.frames import AudioPiece
from server.speech.settings import ListeningSettings
from server.speech.spoken_turns import SpeechServices, SpokenTurns
from tests.support.client import RespondentClient
from tests.support.fakes_session import (
    MemoryStore,
    Node,
    Providing,
    TroubledHot,
    asking_consent,
    eventually,
    running_node,
)
from tests.support.speech import ToneSpeech, silence, speech

PAUSE = silence(2)


class SlowToAccept(TroubledHot):
    """A store whose disk is slow at the first answer, until the gate is opened."""

    def __init__(self, inner: HotStore) -> None:
        super().__init__(inner)
        self.gate, self.at_gate = asyncio.Event(), asyncio.Event()

    async def accept(self, *args: Any, **kwargs: Any) -> Any:
        self.at_gate.set()
        await self.gate.wait()
        return await super().accept(*args, **kwargs)


@pytest.fixture
async def voice() -> ToneSpeech:
    return ToneSpeech()


@pytest.fixture
async def node(hot: HotStore, voice: ToneSpeech) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice) as running:
        yield running


@asynccontextmanager
async def speaking(node: Node, session_id: str = "") -> AsyncIterator[RespondentClient]:
    session_id = session_id or (await node.session()).session_id
    async with node.client(session_id) as client:
        await client.hello()
        await client.until("question.completed")
        yield client


def waits(node: Node) -> bool:
    """Whether words wait for their question."""
    [owner] = node.hub._owners.values()
    answer = node.listeners.of(owner)._answer
    return answer is not None and answer.waited


async def patient(node: Node, client: RespondentClient) -> None:
    await client.send("set", patience="patient")
    [owner] = node.hub._owners.values()
    await eventually(lambda: owner.state.settings.get("patience") == "patient")


async def test_patience_said_with_the_answer_is_that_patience_and_no_more(node: Node) -> None:
    async with speaking(node) as client:
        await client.send("set", patience="patient")
        turn_key = await client.audio_start()
        await client.say(speech("that is all I have to say") + silence(3.2))
        final = await client.until("transcript.final", turn_key=turn_key)
    assert final["text"] == "that is all I have to say"


async def test_wishes_said_in_the_middle_of_an_answer_do_not_hold_it(node: Node) -> None:
    async with speaking(node) as client:
        await patient(node, client)
        turn_key = await client.audio_start()
        seq = await client.say(speech("that is"))
        await client.until("speech.started")
        await client.send("set", patience="patient", spoken=False, review_transcript=False)
        await client.send("ping", t=1)
        await client.until("pong")
        await client.say(speech("all") + silence(3.2), seq)
        final = await client.until("transcript.final", turn_key=turn_key)
    assert final["text"] == "that is all"


async def test_taking_ones_time_lets_a_long_silence_pass(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(speech("well"))
        await client.until("speech.started")
        await client.send("set", take_your_time=True)
        await client.send("ping", t=1)
        await client.until("pong")
        await client.say(silence(8) + speech("now I know") + silence(9), seq)
        final = await client.until("transcript.final", turn_key=turn_key)
        [owner] = node.hub._owners.values()
        assert "take_your_time" not in owner.state.settings
    assert final["text"] == "well now I know"


async def test_pauses_are_no_end_for_whoever_takes_their_time_and_spoke_before_the_question(node: Node) -> None:
    async with speaking(node) as client:
        opened = node.providing.writer.close_gate(2)
        first = await client.audio_start()
        seq = await client.say(speech("first thought") + PAUSE)
        await client.until("turn.started", turn_key=first)
        second = await client.audio_start(first_seq=seq)
        seq = await client.say(speech("one more thing") + PAUSE, seq)
        await eventually(lambda: waits(node))
        opened.set()
        await client.until("turn.completed", turn_key=first)
        await client.send("set", take_your_time=True)
        await client.send("ping", t=1)
        await client.until("pong")
        seq = await client.say(speech("and this matters") + silence(4) + speech("very much indeed"), seq)
        await client.say(silence(12), seq)
        final = await client.until("transcript.final", turn_key=second)
    assert final["text"] == "one more thing and this matters very much indeed"


async def test_words_that_take_long_to_be_understood_are_waited_for(node: Node, voice: ToneSpeech) -> None:
    async with speaking(node) as client:
        opened = node.providing.writer.close_gate(2)
        first = await client.audio_start()
        seq = await client.say(speech("first thought") + PAUSE)
        await client.until("turn.started", turn_key=first)
        second = await client.audio_start(first_seq=seq)
        seq = await client.say(speech("one more thing") + PAUSE, seq)
        await eventually(lambda: waits(node))
        opened.set()
        await client.until("turn.completed", turn_key=first)
        gate = voice.transcriber.gate = asyncio.Event()
        seq = await client.say(speech("and this matters") + silence(6), seq)
        await client.until("audio.ack", seq=seq - 1)
        gate.set()
        final = await client.until("transcript.final", turn_key=second)
    assert final["text"] == "one more thing and this matters"


async def test_audio_sent_again_for_an_answer_that_was_taken_opens_no_other(hot: HotStore, voice: ToneSpeech) -> None:
    store, providing = MemoryStore(), Providing()
    said = silence(0.3) + speech("only once") + silence(1.3)
    async with running_node(TroubledHot(hot), store, providing, speech=voice) as first:
        state = await first.session()
        async with speaking(first, state.session_id) as client:
            last = client.last_id
            taken = await client.audio_start()
            await client.say(said)
            await client.until("turn.completed")
    async with (
        running_node(TroubledHot(hot), store, providing, speech=voice) as other,
        other.client(state.session_id) as client,
    ):
        await client.hello(last_event_id=last)
        await client.audio_start(taken, first_seq=0)
        sent = await client.say(said)
        await client.until("turn.completed")
        following = await client.audio_start(first_seq=sent)
        await client.say(silence(0.5) + speech("new words") + PAUSE, sent)
        final = await client.until("transcript.final", turn_key=following)
    assert final["text"] == "new words"


async def test_question_that_comes_back_from_the_loudspeaker_is_no_answer(hot: HotStore, voice: ToneSpeech) -> None:
    settings = ListeningSettings(barge_in=True, reopen_s=0.0)
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, listening=settings) as node,
        speaking(node) as client,
    ):
        question = next(frame for frame in reversed(client.seen) if frame["type"] == "question.completed")["text"]
        await client.send("playback", state="started")
        turn_key = await client.audio_start()
        seq = await client.say(speech(question) + PAUSE)
        await client.until("speech.stopped")
        await client.say(speech("wait I do have something to add") + PAUSE, seq)
        final = await client.until("transcript.final", turn_key=turn_key)
        assert final["text"] == "wait I do have something to add"
        assert [frame["type"] for frame in client.seen].count("transcript.final") == 1


async def test_frame_of_more_than_a_second_is_refused(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        await client.raw((0).to_bytes(4, "big") + silence(1.1))
        refused = await client.until("error")
    assert refused["code"] == "audio_format"


async def test_answer_announced_again_while_it_is_accepted_is_not_opened_twice(
    hot: HotStore, voice: ToneSpeech
) -> None:
    slow = SlowToAccept(hot)
    async with running_node(slow, MemoryStore(), Providing(), speech=voice) as node:
        session_id = (await node.session()).session_id
        async with speaking(node, session_id) as client:
            last = client.last_id
            first = await client.audio_start()
            await client.say(speech("first answer") + silence(1.2))
            await slow.at_gate.wait()
        async with node.client(session_id) as client:
            ready = await client.hello(last_event_id=last)
            seq = ready["first_unreceived_seq"]
            await client.audio_start(first, first_seq=seq)
            await client.send("ping", t=1)
            await client.until("pong")
            slow.gate.set()
            assert (await client.until("transcript.final", turn_key=first))["text"] == "first answer"
            await client.until("turn.completed", turn_key=first)
            second = await client.audio_start(first_seq=seq)
            await client.say(silence(0.3) + speech("second answer") + silence(1.5), seq)
            final = await client.until("transcript.final", turn_key=second)
            assert final["text"] == "second answer"
        assert not [frame for frame in client.seen if frame["type"] == "error"]


async def test_sound_is_kept_from_just_before_the_first_word(node: Node, voice: ToneSpeech) -> None:
    asking = asking_consent()
    recorded = asking.model_copy(update={"concept": asking.concept.model_copy(update={"record_audio": True})})
    owner = await node.hub.attach((await node.session(recorded)).session_id)
    await owner.consent("2", {})
    await owner.start()
    services = SpeechServices(voice, ListeningSettings(reopen_s=0.0), None, node.heard.append)
    answer = SpokenAnswer("k", SpokenTurns(owner, services))
    async with asyncio.TaskGroup() as tasks:
        heard = tasks.create_task(answer.hear())
        for number in range(120):
            answer.put(AudioPiece(number, silence(0.5)))
            await eventually(lambda: answer.backlog_s == 0)
        answer.put(AudioPiece(120, speech("yes") + silence(1)))
        found = answer.heard(await heard)
    assert found.transcript.text == "yes"
    assert 1.0 < len(found.sound()) / 32_000 < 4.0
