"""Questions read aloud by the server's own voice, over the respondent's socket; the program is the tests' own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from config.voice import VoiceSettings
from server.hot.redis import HotStore
from server.metrics import Metrics
from server.speech.settings import ListeningSettings
from server.voice.voices import Voices
from tests.support.client import RespondentClient
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, eventually, running_node
from tests.support.speech import ToneSpeech, silence, speech
from tests.support.voice_program import VoiceProgram, sung

QUICK_S = 1.0
"""Longest time for a sentence, where one hangs."""


@pytest.fixture
def program(tmp_path: Path) -> VoiceProgram:
    return VoiceProgram(tmp_path)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def providing() -> Providing:
    return Providing()


@pytest.fixture
async def voices(program: VoiceProgram, metrics: Metrics) -> AsyncIterator[Voices]:
    found = Voices(VoiceSettings(voice_command=program.command, voice_deadline_s=20.0), metrics)
    yield found
    await found.aclose()


@pytest.fixture
async def node(hot: HotStore, providing: Providing, voices: Voices) -> AsyncIterator[Node]:
    listening = ListeningSettings(reopen_s=3.0)
    async with running_node(
        TroubledHot(hot), MemoryStore(), providing, speech=ToneSpeech(), listening=listening, voices=voices
    ) as running:
        yield running


@asynccontextmanager
async def reading(node: Node, session_id: str = "", **changes: Any) -> AsyncIterator[RespondentClient]:
    """A respondent to whom the opening was shown, and who has the questions after it read aloud."""
    session_id = session_id or (await node.session(**changes)).session_id
    async with node.client(session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await client.send("read_aloud", on=True)
        yield client


def outcomes(metrics: Metrics) -> dict[str, float]:
    """How often sentences came to which end."""
    [family] = metrics.voice_sentences.collect()
    return {one.labels["outcome"]: one.value for one in family.samples if one.name.endswith("_total")}


async def asked(client: RespondentClient, providing: Providing, text: str) -> int:
    """Have this question asked; the number of its reading, which has begun."""
    providing.writer.texts = [text]
    await client.answer("I like it warm.")
    number: int = (await client.until("reading.started"))["reading"]
    return number


async def committed(client: RespondentClient) -> None:
    """The turn is over; what is read comes behind its events."""
    if not [frame for frame in client.seen if frame["type"] == "turn.completed"]:
        await client.until("turn.completed")


async def test_question_is_read_sentence_by_sentence_and_whole(
    node: Node, providing: Providing, program: VoiceProgram
) -> None:
    async with reading(node) as client:
        number = await asked(client, providing, "That helps me. What else matters to you here?")
        await client.until("reading.completed", reading=number)
    assert program.said == ["en|That helps me.", "en|What else matters to you here?"]
    assert client.sound(number) == sung("That helps me.") + sung("What else matters to you here?")
    assert all(0 < len(pcm) <= 9600 for _, pcm, _ in client.sounds)


async def test_first_sentence_is_read_while_the_question_is_written(
    node: Node, providing: Providing, program: VoiceProgram
) -> None:
    async with reading(node) as client:
        gate = providing.writer.close_gate(8)
        number = await asked(client, providing, "That helps me. What else matters to you here?")
        await providing.writer.at_gate.wait()
        await eventually(lambda: len(program.said) == 1)
        await client.send("ping", t=1)
        await client.until("pong")
        assert "question.completed" not in [frame["type"] for frame in client.seen if frame.get("turn_number") == 1]
        gate.set()
        await client.until("reading.completed", reading=number)
    assert len(program.said) == 2


async def test_nothing_is_read_to_who_did_not_ask(node: Node, program: VoiceProgram) -> None:
    async with node.client((await node.session()).session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await client.turn("I like it warm.")
        await client.silence()
        await client.send("read_aloud", on=True)
        await client.send("read_aloud", on=False)
        await client.turn("It is sweet.")
        await client.silence()
    assert (client.sounds, program.said) == ([], [])


async def test_open_question_is_read_again_on_request_from_memory(
    node: Node, program: VoiceProgram, metrics: Metrics
) -> None:
    async with reading(node) as client:
        question = client.seen[-1]["text"]
        numbers = []
        for _ in range(2):
            await client.send("read_aloud", on=True, now=True)
            started = await client.until("reading.started", turn_number=0)
            numbers.append(started["reading"])
            await client.until("reading.completed", reading=started["reading"])
    assert numbers[0] < numbers[1]
    assert client.sound(numbers[0]) == client.sound(numbers[1]) == sung(question)
    assert program.said == [f"en|{question}"]
    assert outcomes(metrics) == {"said": 1.0, "remembered": 1.0}


async def test_question_that_is_written_is_read_from_its_start_on_request(node: Node, providing: Providing) -> None:
    async with node.client((await node.session()).session_id) as client:
        await client.hello()
        await client.until("question.completed")
        providing.writer.texts = ["That helps me. What else matters to you here?"]
        gate = providing.writer.close_gate(5)
        await client.answer("I like it warm.")
        await client.until("question.delta")
        await providing.writer.at_gate.wait()
        await client.send("read_aloud", on=True, now=True)
        started = await client.until("reading.started", turn_number=1)
        gate.set()
        await client.until("reading.completed", reading=started["reading"])
    assert client.sound(started["reading"]) == sung("That helps me.") + sung("What else matters to you here?")


async def test_question_that_is_withdrawn_is_not_read_any_further(
    node: Node, providing: Providing, program: VoiceProgram
) -> None:
    async with reading(node) as client:
        providing.writer.texts = ["That HANGS here. What else matters to you?"]
        turn_key = await client.audio_start()
        seq = await client.say(speech("it is warm") + silence(1.2), 0)
        await client.until("answer.ending")
        void = await client.until("reading.started")
        await eventually(lambda: program.said == ["en|That HANGS here."])
        seq = await client.say(silence(0.5) + speech("and sweet") + silence(1.2), seq)
        await client.until("question.withdrawn")
        before = len(client.sounds)
        again = await client.until("reading.started")
        await client.say(silence(3.4), seq)
        await client.until("transcript.final", turn_key=turn_key, text="it is warm and sweet")
        await client.until("reading.completed", reading=again["reading"])
    assert void["reading"] < again["reading"]
    assert [number for number, _, _ in client.sounds[before:] if number != again["reading"]] == []
    assert not [frame for frame in client.seen if frame["type"] in ("error", "reading.failed")]


async def test_reading_that_the_respondent_stops_ends_there_and_the_next_question_is_read(
    node: Node, providing: Providing, program: VoiceProgram
) -> None:
    async with reading(node) as client:
        number = await asked(client, providing, "That HANGS here. What else matters to you?")
        await eventually(lambda: bool(program.said))
        await committed(client)
        await client.send("playback", state="started")
        await client.send("playback", state="stopped")
        await client.silence()
        assert client.sound(number) == b""
        number = await asked(client, providing, "Why is that so for you?")
        await client.until("reading.completed", reading=number)
    assert program.said == ["en|That HANGS here.", "en|Why is that so for you?"]
    assert client.sound(number) == sung("Why is that so for you?")


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("DIES", "exit"),
        ("FAILS", "exit"),
        ("GARBAGE", "sound"),
        ("NOTHING", "sound"),
        ("SILENCE", "sound"),
        ("FLOODS", "too_much"),
        ("HANGS", "deadline"),
    ],
)
async def test_program_that_misbehaves_in_the_middle_leaves_the_rest_to_the_client_and_harms_nobody(
    how: str, reason: str, hot: HotStore, program: VoiceProgram, metrics: Metrics, providing: Providing
) -> None:
    deadline_s = QUICK_S if how == "HANGS" else 30.0
    voices = Voices(VoiceSettings(voice_command=program.command, voice_deadline_s=deadline_s), metrics)
    first, second = "That helps me. ", f"What {how} to you here?"
    async with (
        running_node(TroubledHot(hot), MemoryStore(), providing, voices=voices) as node,
        reading(node) as client,
    ):
        number = await asked(client, providing, first + second)
        failed = await client.until("reading.failed", reading=number)
        await committed(client)
        assert failed["at"] == len(first)
        assert client.sound(number) == sung(first.strip()), "no half of a sentence is heard"
        shown = [frame for frame in client.seen if frame["type"] == "question.completed"]
        assert shown[-1]["text"] == first + second
        number = await asked(client, providing, "Why is that so for you?")
        await client.until("reading.completed", reading=number)
        assert client.sound(number) == sung("Why is that so for you?")
        assert not [frame for frame in client.seen if frame["type"] == "error"]
    await voices.aclose()
    assert outcomes(metrics) == {"said": 2.0, reason: 1.0}


async def test_language_without_a_voice_is_left_to_the_client(hot: HotStore, providing: Providing) -> None:
    async with (
        running_node(TroubledHot(hot), MemoryStore(), providing) as node,
        reading(node) as client,
    ):
        number = await asked(client, providing, "Why is that so for you?")
        assert (await client.until("reading.failed", reading=number))["at"] == 0
        assert client.sounds == []


async def test_connection_that_ends_ends_its_reading(node: Node, providing: Providing, program: VoiceProgram) -> None:
    session_id = (await node.session()).session_id
    async with reading(node, session_id) as client:
        await asked(client, providing, "That HANGS here. What else matters to you?")
        await eventually(lambda: bool(program.said))
    # The fixture of this folder finds a process that is left.
    async with node.client(session_id) as client:
        await client.hello(last_event_id=0)
        await client.until("question.completed", turn_number=1)
        await client.turn("It is sweet.")
        assert client.sounds == [], "a new connection asks anew"


async def test_client_that_does_not_listen_is_waited_for_and_gets_every_event(
    node: Node, providing: Providing, program: VoiceProgram
) -> None:
    async with reading(node) as client:
        number = await asked(client, providing, "That helps me. What else matters to you here?")
        await committed(client)
        [owner] = node.hub._owners.values()
        outbox = owner.context.audience._outbox
        assert outbox is not None
        assert len(outbox._aloud) <= 32
        await client.until("reading.completed", reading=number)


async def test_asking_again_and_again_reads_only_the_last(node: Node, program: VoiceProgram) -> None:
    async with reading(node) as client:
        question = client.seen[-1]["text"]
        for _ in range(6):
            await client.send("read_aloud", on=True, now=True)
        await client.send("ping", t=7)
        await client.until("pong")
        last = max(
            [frame["reading"] for frame in client.seen if frame["type"] == "reading.started"]
            or [(await client.until("reading.started"))["reading"]]
        )
        while (done := await client.until("reading.completed"))["reading"] < max(
            last, *(frame["reading"] for frame in client.seen if frame["type"] == "reading.started")
        ):
            pass
        assert client.sound(done["reading"]) == sung(question)


async def test_wish_without_its_fields_is_refused(node: Node) -> None:
    async with reading(node) as client:
        for fields in ({}, {"on": "yes"}, {"on": True, "voice": "other"}):
            await client.send("read_aloud", **fields)
            await client.refused("invalid_message", ref="read_aloud")


async def test_two_respondents_are_read_to_beside_one_another(
    node: Node, providing: Providing, program: VoiceProgram
) -> None:
    async with reading(node) as one, reading(node) as other:
        questions = [client.seen[-1]["text"] for client in (one, other)]
        await asyncio.gather(*(client.send("read_aloud", on=True, now=True) for client in (one, other)))
        for client, question in zip((one, other), questions, strict=True):
            done = await client.until("reading.completed")
            assert client.sound(done["reading"]) == sung(question)
