"""An answer that is over is read once more as a whole while it may still go on; nothing waits for that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from audio.errors import TranscriberDropped, TranscriberFailed
from pipeline.state import Directive, Utterance
from server.hot.redis import HotStore
from server.session import rules
from tests.support.client import RespondentClient
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, eventually, running_node
from tests.support.speech import ToneSpeech, silence, speech
from tests.wire.test_voice_reopened import CLOSED, END, REOPENING, concluded, ended, owner_of, speaking

OUTCOMES = ("differs", "same", "worse", "nothing", "given_up", "failed")


@pytest.fixture
async def voice() -> ToneSpeech:
    return ToneSpeech(speculate="turn", second_reading=True)


@pytest.fixture
async def node(hot: HotStore, voice: ToneSpeech) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, listening=REOPENING) as running:
        yield running


def counted(voice: ToneSpeech) -> dict[str, int]:
    """What became of second readings, where any did."""
    name = "askwell_speech_second_readings_total"
    found = {each: voice.metrics.registry.get_sample_value(name, {"outcome": each}) for each in OUTCOMES}
    return {each: int(count) for each, count in found.items() if count}


def answers(node: Node) -> list[Utterance]:
    return [u for u in owner_of(node).state.utterances if u.speaker == "respondent"]


async def in_two_parts(client: RespondentClient, seq: int = 0) -> int:
    """An answer that was not in one window, with the next question in sight; returns the next frame's number."""
    seq, _ = await ended(client, speech("it is warm"), seq)
    seq = await client.say(speech("and sweet") + silence(1.6), seq)
    await client.until("question.withdrawn")
    await client.until("answer.ending")
    await client.until("question.delta")
    return seq


async def test_other_words_are_stored_beside_the_answer(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.again = "it is warm and suite"
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet", "which stays as it is"
        [answer] = answers(node)
    assert (answer.text, answer.second_reading) == ("it is warm and sweet", "it is warm and suite")
    assert all("suite" not in node_.label for node_ in owner_of(node).state.nodes)
    assert counted(voice) == {"differs": 1}


@pytest.mark.parametrize(
    ("again", "probability", "outcome"),
    [
        (None, 0.95, "same"),
        ("It is warm, and sweet.", 0.95, "same"),
        ("it is worn and suite", 0.5, "worse"),
        ("", 0.95, "nothing"),
        (TranscriberDropped("busy"), 0.95, "given_up"),
        (TranscriberFailed("broken"), 0.95, "failed"),
    ],
)
async def test_reading_that_is_no_better_leaves_nothing(
    node: Node, voice: ToneSpeech, again: Any, probability: float, outcome: str
) -> None:
    voice.transcriber.again, voice.transcriber.again_probability = again, probability
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"
        [answer] = answers(node)
    assert answer.second_reading is None
    assert counted(voice) == {outcome: 1}


async def test_reading_that_takes_too_long_delays_neither_answer_nor_question(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.again, voice.transcriber.again_gate = "other words", asyncio.Event()
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await in_two_parts(client)
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet"
        await eventually(lambda: voice.transcriber.again_cancelled == 1)
        assert answers(node)[0].second_reading is None
    assert counted(voice) == {"given_up": 1}


async def test_answer_that_goes_on_while_it_is_read_again_is_read_as_it_is_in_the_end(
    node: Node, voice: ToneSpeech
) -> None:
    voice.transcriber.again_gate = asyncio.Event()
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        seq = await client.say(speech("like honey") + silence(2.4), seq)
        await eventually(lambda: voice.transcriber.again_cancelled == 1)
        await client.until("answer.ending")
        voice.transcriber.again = "it is warm and sweet as honey"
        voice.transcriber.again_gate.set()
        await eventually(lambda: voice.transcriber.asked.count("again") == 2)
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet like honey"
        [answer] = answers(node)
    assert answer.second_reading == "it is warm and sweet as honey"
    assert counted(voice) == {"given_up": 1, "differs": 1}


async def test_answer_that_goes_on_after_it_was_read_again_counts_as_one_that_was_given_up(
    node: Node, voice: ToneSpeech
) -> None:
    voice.transcriber.again = "it is warm and suite"
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        voice.transcriber.again = None
        seq = await client.say(speech("like honey") + silence(2.4), seq)
        await client.until("answer.ending")
        await eventually(lambda: voice.transcriber.asked.count("again") == 2)
        await client.say(CLOSED, seq)
        assert await concluded(client, turn_key) == "it is warm and sweet like honey"
        assert answers(node)[0].second_reading is None
    assert counted(voice) == {"given_up": 1, "same": 1}


async def test_question_that_is_made_here_is_not_delayed_by_reading_again(node: Node, voice: ToneSpeech) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        made = node.providing.writer.close_gate(1)
        await client.say(speech("and sweet") + silence(1.6), seq)
        await client.until("question.withdrawn")
        await client.until("answer.ending")
        async with asyncio.timeout(client.deadline_s):
            await node.providing.writer.at_gate.wait()
        assert "again" not in voice.transcriber.asked, "the question comes first"
        made.set()
        await eventually(lambda: "again" in voice.transcriber.asked)


async def test_answer_in_one_window_is_not_read_again(node: Node, voice: ToneSpeech) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq, _ = await ended(client, speech("it is warm"), 0)
        await client.say(CLOSED, seq)
        await concluded(client, turn_key)
    assert "again" not in voice.transcriber.asked
    assert counted(voice) == {}


async def test_nothing_is_read_again_where_that_is_off(hot: HotStore) -> None:
    voice = ToneSpeech(speculate="turn")
    voice.transcriber.again = "other words"
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, listening=REOPENING) as node,
        speaking(node) as client,
    ):
        turn_key = await client.audio_start()
        seq = await in_two_parts(client)
        await client.say(CLOSED, seq)
        await concluded(client, turn_key)
        assert answers(node)[0].second_reading is None
    assert "again" not in voice.transcriber.asked


async def test_done_gives_reading_again_up(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.again_gate = asyncio.Event()
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await in_two_parts(client)
        await client.send("audio.stop")
        assert await concluded(client, turn_key) == "it is warm and sweet"
    assert counted(voice) == {"given_up": 1}


async def test_reading_again_goes_on_although_its_speaker_has_gone(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.again = "it is warm and suite"
    async with speaking(node) as client:
        await client.audio_start()
        await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
    await eventually(lambda: [u.second_reading for u in answers(node)] == ["it is warm and suite"])


@pytest.mark.parametrize("how", ["withdraw", "audio.cancel"])
async def test_withdrawn_or_cancelled_answer_leaves_no_reading(node: Node, voice: ToneSpeech, how: str) -> None:
    voice.transcriber.again_gate = asyncio.Event()
    async with speaking(node) as client:
        await client.audio_start()
        await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        await client.send(how)
        await eventually(lambda: voice.transcriber.again_cancelled == 1)
        if how == "withdraw":
            await client.until("session.state", reason="withdrawn")
    assert counted(voice) == {"given_up": 1}


async def test_server_that_stops_gives_reading_again_up(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.again_gate = asyncio.Event()
    async with speaking(node) as client:
        await client.audio_start()
        await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        await node.hub.drain(5.0)
    assert voice.transcriber.again_cancelled == 1
    assert counted(voice) == {"given_up": 1}


async def test_question_of_a_moderator_keeps_the_reading(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.again = "it is warm and suite"
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        owner = owner_of(node)
        directive = Directive(command_id=uuid4().hex, kind="inject", question="What do you drink it from?")
        change = rules.direct(owner.state, owner.context.configuration, directive, owner.context.services.now())
        await owner.context.worker.do("inject", lambda: owner.commands.commit(directive.command_id, change))
        await concluded(client, turn_key)
        assert answers(node)[0].second_reading == "it is warm and suite"


async def test_correcting_the_answer_forgets_its_second_reading(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.again = "it is warm and suite"
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        await client.say(CLOSED, seq)
        await concluded(client, turn_key)
        [answer] = answers(node)
        assert answer.second_reading
        key = str(uuid4())
        await client.send("correct", turn_key=key, utterance_id=answer.id, text="it is warm and a suite")
        await client.until("turn.completed", turn_key=key)
        assert [u.second_reading for u in answers(node)] == [None, None]
        assert b"warm and suite" not in owner_of(node).state.dump()


async def test_offered_answer_is_not_read_again(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.again = "other words"
    async with speaking(node) as client:
        await client.send("set", review_transcript=True)
        turn_key = await client.audio_start()
        await client.say(speech("it is warm") + END, 0)
        await client.until("transcript.partial", turn_key=turn_key)
    assert "again" not in voice.transcriber.asked


async def test_answer_that_can_not_be_stored_is_offered_without_its_second_reading(
    node: Node, voice: ToneSpeech
) -> None:
    voice.transcriber.again_gate = asyncio.Event()
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await in_two_parts(client)
        await eventually(lambda: "again" in voice.transcriber.asked)
        node.hot.trouble.away = True
        await client.say(CLOSED, seq)
        offered = await client.until("transcript.partial", turn_key=turn_key)
        node.hot.trouble.away = False
        await eventually(lambda: bool(owner_of(node).context.worker.able))
        await client.turn(offered["text"], turn_key)
        assert [(u.text, u.second_reading) for u in answers(node)] == [("it is warm and sweet", None)]
    assert counted(voice) == {"given_up": 1}
