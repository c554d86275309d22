"""Audio that can't be used, wishes that can't be granted, and a transcriber that fails: the code, and no word lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from audio.errors import TranscriberFailed
from pipeline.errors import LLMUnavailable
from server.hot.redis import HotStore
from server.protocol.codes import CLOSE_PROTOCOL_ERROR
from server.session.problems import SessionProblem
from server.sockets.settings import SocketSettings
from server.speech.settings import ListeningSettings
from server.transport.limits import ConnectionLimits
from tests.support.client import RespondentClient
from tests.support.fakes_session import (
    QUICK,
    MemoryStore,
    Node,
    Providing,
    StagedExtractor,
    TroubledHot,
    asking_consent,
    eventually,
    running_node,
)
from tests.support.interview import configuration
from tests.support.speech import ToneSpeech, frames, silence, speech

PAUSE = silence(2)


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


# Formats


@pytest.mark.parametrize("wrong", [{"codec": "opus"}, {"sample_rate": 48000}, {"codec": None}])
async def test_audio_in_another_format_is_refused_before_it_comes(node: Node, wrong: dict[str, Any]) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start(**wrong)
        await client.refused("audio_format", ref=turn_key)


@pytest.mark.parametrize("frame", [b"", b"\0\0\0\0", b"\0\0\0\0\1", b"\0\0\0\0\1\2\3"])
async def test_frames_that_are_none_are_refused_and_the_answer_goes_on(node: Node, frame: bytes) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(speech("in spite"))
        await client.raw(frame)
        await client.refused("audio_format")
        await client.say(speech("all that") + PAUSE, seq)
        assert (await client.until("transcript.final", turn_key=turn_key))["text"] == "in spite all that"


# Order


async def test_frames_out_of_order_are_put_in_order(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        cut = frames(speech("one two three four five six") + PAUSE)
        for first in range(0, len(cut), 4):
            for frame in reversed(cut[first : first + 4]):
                await client.raw(frame)
        assert (await client.until("transcript.final"))["text"] == "one two three four five six"


async def test_doubled_frames_count_once(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        for frame in frames(speech("one two three") + PAUSE):
            await client.raw(frame)
            await client.raw(frame)
        assert (await client.until("transcript.final"))["text"] == "one two three"


async def test_missing_frame_is_told_and_healed_when_it_comes(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        cut = frames(speech(" ".join(f"word{n}" for n in range(20))) + PAUSE)
        for frame in (*cut[:5], *cut[6:90]):
            await client.raw(frame)
        await client.refused("audio_gap", ref=turn_key)
        for frame in cut[5:]:
            await client.raw(frame)
        final = await client.until("transcript.final")
    assert final["text"] == " ".join(f"word{n}" for n in range(20))


async def test_missing_frame_that_will_not_come_keeps_what_was_said(node: Node) -> None:
    """The client says so by a new start; a transcript with a hole in it is looked at before it counts."""
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        cut = frames(speech("before the gap") + silence(0.5) + speech("after the gap") + PAUSE)
        for frame in cut[:20]:
            await client.raw(frame)
        await client.audio_start(turn_key, first_seq=26)
        for frame in cut[26:]:
            await client.raw(frame)
        offer = await client.until("transcript.partial", turn_key=turn_key)
        assert offer["text"].startswith("before the gap")
        assert offer["text"].endswith("the gap")
        assert await client.turn(offer["text"], turn_key)


async def test_end_with_a_frame_missing_is_told_and_what_was_said_is_offered(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        cut = frames(speech("a hole in the middle of it"))
        for frame in (*cut[:12], *cut[13:]):
            await client.raw(frame)
        await client.send("audio.stop")
        await client.refused("audio_gap", ref=turn_key)
        offer = await client.until("transcript.partial", turn_key=turn_key)
    assert offer["text"].split()[-3:] == ["middle", "of", "it"]


# Too much


async def test_answer_that_is_too_long_is_told_before_and_taken_as_far_as_it_goes(node: Node) -> None:
    plain = configuration()
    chosen = plain.model_copy(update={"concept": plain.concept.model_copy(update={"max_answer_s": 10})})
    state = await node.session(chosen, config_hash="hash-short")
    async with speaking(node, state.session_id) as client:
        turn_key = await client.audio_start()
        await client.say(speech(" ".join(f"word{n}" for n in range(40))))
        notice = await client.until("notice")
        assert notice["code"] == "time_almost_up"
        assert "seconds are left" in notice["text"]
        await client.refused("audio_too_long", ref=turn_key)
        final = await client.until("transcript.final", turn_key=turn_key)
        await client.until("turn.completed", turn_key=turn_key)
    words = final["text"].split()
    assert 10 <= len(words) <= 30
    assert words == [f"word{n}" for n in range(len(words))]


async def test_words_beyond_the_longest_answer_open_the_next_one(node: Node) -> None:
    plain = configuration()
    chosen = plain.model_copy(update={"concept": plain.concept.model_copy(update={"max_answer_s": 10})})
    state = await node.session(chosen, config_hash="hash-short")
    said = " ".join(f"word{n}" for n in range(36))
    async with speaking(node, state.session_id) as client:
        await client.audio_start()
        seq = await client.say(speech(said))
        first = await client.until("transcript.final")
        await client.until("turn.completed")
        await client.audio_start(first_seq=seq)
        await client.say(silence(8), seq)
        second = await client.until("transcript.final")
    assert f"{first['text']} {second['text']}".replace("- ", " ").split()[-5:] == said.split()[-5:]
    assert len(f"{first['text']} {second['text']}".split()) in (36, 37)


async def test_audio_faster_than_it_can_be_heard_is_refused_and_not_lost(hot: HotStore, voice: ToneSpeech) -> None:
    listening = ListeningSettings(backlog_s=2.0, reopen_s=0.0)
    sockets, limits = SocketSettings(frames_per_s=10_000, patience=1000), ConnectionLimits(frames_per_s=10_000)
    voice.transcriber.gate = asyncio.Event()
    async with (
        running_node(
            TroubledHot(hot),
            MemoryStore(),
            Providing(),
            speech=voice,
            listening=listening,
            sockets=sockets,
            limits=limits,
        ) as node,
        speaking(node) as client,
    ):
        await client.audio_start()
        said = " ".join(f"word{n}" for n in range(200))
        cut = frames(speech(said) + PAUSE)
        for frame in cut:
            await client.raw(frame)
        await client.refused("rate_limited", ref="audio")
        voice.transcriber.gate.set()
        [owner] = node.hub._owners.values()
        while owner.context.audience.first_unreceived_seq < len(cut):
            answer = node.listeners.of(owner)._answer
            await eventually(lambda: answer is None or answer.backlog_s < 0.5)  # noqa: B023
            first = owner.context.audience.first_unreceived_seq
            for frame in cut[first : first + 20]:
                await client.raw(frame)
            await eventually(lambda: owner.context.audience.first_unreceived_seq > first)  # noqa: B023
        final = await client.until("transcript.final")
    assert final["text"] == said


async def test_too_many_frames_a_second_are_refused(hot: HotStore, voice: ToneSpeech) -> None:
    async with (
        running_node(
            TroubledHot(hot), MemoryStore(), Providing(), speech=voice, sockets=SocketSettings(frames_per_s=10)
        ) as node,
        speaking(node) as client,
    ):
        await client.audio_start()
        await client.say(silence(3), 0)
        await client.refused("rate_limited", ref="audio")


# Wishes at the wrong moment


@pytest.mark.parametrize("message", ["audio.stop", "audio.cancel"])
async def test_end_without_a_beginning_is_refused(node: Node, message: str) -> None:
    async with speaking(node) as client:
        await client.send(message)
        await client.refused("invalid_message", ref=message)
        await client.turn("and it goes on")


async def test_end_without_a_beginning_again_and_again_closes_the_socket(node: Node) -> None:
    async with speaking(node) as client:
        for _ in range(10):
            await client.send("audio.stop")
        assert await client.closed() == CLOSE_PROTOCOL_ERROR


async def test_done_at_the_moment_of_the_endpoint_is_no_offence(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        await client.say(speech("just now") + PAUSE)
        await client.until("transcript.final")
        await client.send("audio.stop")
        await client.until("turn.completed")
        await client.silence()


async def test_two_answers_at_once_are_refused_and_the_first_goes_on(node: Node) -> None:
    async with speaking(node) as client:
        first = await client.audio_start()
        seq = await client.say(speech("only one"))
        second = await client.audio_start(first_seq=seq)
        await client.refused("turn_in_progress", ref=second)
        await client.say(speech("at a moment") + PAUSE, seq)
        final = await client.until("transcript.final")
    assert (final["turn_key"], final["text"]) == (first, "only one at a moment")


async def test_speech_before_consent_is_neither_heard_nor_kept(node: Node, voice: ToneSpeech) -> None:
    state = await node.session(asking_consent())
    async with node.client(state.session_id) as client:
        await client.hello()
        turn_key = await client.audio_start()
        seq = await client.say(speech("not yet agreed") + PAUSE)
        await client.refused("consent_required", ref=turn_key)
        assert voice.opened == []
        await client.send("consent", version="2", choices={})
        await client.until("question.completed")
        await client.audio_start(turn_key, first_seq=seq)
        await client.say(speech("now I do") + PAUSE, seq)
        assert (await client.until("transcript.final"))["text"] == "now I do"


async def test_speech_in_a_paused_interview_is_refused(node: Node) -> None:
    async with speaking(node) as client:
        await client.send("pause")
        await client.until("session.state", state="paused")
        turn_key = await client.audio_start()
        await client.refused("session_paused", ref=turn_key)


async def test_speech_after_the_end_is_refused(node: Node) -> None:
    async with speaking(node) as client:
        await client.send("finish")
        await client.until("session.state", state="completed")
        turn_key = await client.audio_start()
        await client.refused("session_completed", ref=turn_key)


async def test_speech_while_the_first_question_is_on_its_way_waits_for_it(node: Node) -> None:
    opened = node.providing.writer.close_gate(6)
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.audio_start()
        seq = await client.say(speech("hello") + PAUSE)
        await client.until("speech.stopped")
        [owner] = node.hub._owners.values()
        answer = node.listeners.of(owner)._answer
        assert answer is not None
        await eventually(lambda: answer.waited)
        opened.set()
        await client.until("question.completed")
        await client.say(speech("is this on air") + PAUSE, seq)
        assert (await client.until("transcript.final"))["text"] == "hello is this on air"


@pytest.mark.parametrize("code", ["too_many_sessions", "language_unsupported", "transcriber_unavailable"])
async def test_node_that_can_not_listen_says_why(node: Node, voice: ToneSpeech, code: str) -> None:
    voice.refusal = SessionProblem(code)  # type: ignore[arg-type]
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(speech("can you hear me"))
        await client.send("audio.stop")
        await client.refused(code, ref=turn_key)
        await client.silence()
        voice.refusal = None
        await client.audio_start(turn_key, first_seq=seq)
        await client.say(speech("now you can") + PAUSE, seq)
        assert (await client.until("transcript.final"))["text"] == "now you can"


# A transcriber that fails


async def test_transcriber_that_fails_once_is_asked_again(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.errors.append(TranscriberFailed("once"))
    async with speaking(node) as client:
        await client.audio_start()
        await client.say(speech("it does") + PAUSE)
        assert (await client.until("transcript.final"))["text"] == "it does"


async def test_transcriber_that_fails_in_the_middle_keeps_the_words_so_far(node: Node, voice: ToneSpeech) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(speech(" ".join(f"word{n}" for n in range(12))) + silence(0.6))
        await client.until("speech.stopped")
        await client.until("transcript.partial")
        voice.transcriber.failing = True
        await client.say(speech("these are lost") + PAUSE, seq)
        await client.refused("transcriber_unavailable", ref=turn_key)
        offer = await client.until("transcript.partial", turn_key=turn_key)
        assert offer["text"].startswith("word0 word1")
        await client.turn(f"{offer['text']} these are found", turn_key)


async def test_transcriber_that_never_works_offers_nothing_and_writing_goes_on(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.failing = True
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await client.say(speech("nobody hears this") + PAUSE)
        await client.refused("transcriber_unavailable", ref=turn_key)
        await client.turn("so I write", turn_key)


async def test_defect_while_hearing_is_told_and_the_session_lives_on(node: Node, voice: ToneSpeech) -> None:
    def fail() -> None:
        raise RuntimeError("a defect")

    voice.before_open = fail
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await client.refused("internal", ref=turn_key)
        voice.before_open = lambda: None
        seq = await client.say(silence(0.1))
        await client.audio_start(first_seq=seq)
        await client.say(speech("still here") + PAUSE, seq)
        assert (await client.until("transcript.final"))["text"] == "still here"


async def test_answer_that_met_a_defect_may_be_sent_again_from_its_first_frame(node: Node, voice: ToneSpeech) -> None:
    voice.transcriber.errors.append(RuntimeError("a defect"))
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        said = speech("all of it counts") + PAUSE
        await client.say(said)
        await client.refused("internal", ref=turn_key)
        await client.audio_start(turn_key)
        await client.say(said)
        assert (await client.until("transcript.final", turn_key=turn_key))["text"] == "all of it counts"
        await client.until("turn.completed", turn_key=turn_key)


async def test_words_that_take_long_are_told_to_be_on_their_way(hot: HotStore, voice: ToneSpeech) -> None:
    voice.transcriber.gate = asyncio.Event()
    quick = replace(QUICK, still_thinking_s=0.05)
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, settings=quick) as node,
        speaking(node) as client,
    ):
        await client.audio_start()
        await client.say(speech("take your time"))
        await client.send("audio.stop")
        assert (await client.until("notice"))["code"] == "still_thinking"
        voice.transcriber.gate.set()
        assert (await client.until("transcript.final"))["text"] == "take your time"


# Storage that is away


async def test_spoken_answer_that_can_not_be_stored_is_offered(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        node.hot.lose("accept", "before")
        node.hot.lose("read", "before")
        await client.say(speech("hold on to this") + PAUSE)
        await client.refused("storage_unavailable", ref=turn_key)
        offer = await client.until("transcript.partial", turn_key=turn_key)
        assert offer["text"] == "hold on to this"
        [owner] = node.hub._owners.values()
        await eventually(lambda: not node.hot.trouble.losses and not owner.context.worker.busy)
        await client.turn(offer["text"], turn_key)


class LateExtractor(StagedExtractor):
    """Waits at its gate and fails then, once."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.failed = False

    async def extract(self, request: Any) -> Any:
        found = await super().extract(request)
        if not self.failed:
            self.failed = True
            raise LLMUnavailable("away")
        return found


async def test_words_said_while_a_turn_fails_do_not_take_its_place(hot: HotStore, voice: ToneSpeech) -> None:
    extractor = LateExtractor()
    providing = Providing(extractor=extractor)
    async with (
        running_node(TroubledHot(hot), MemoryStore(), providing, speech=voice) as node,
        speaking(node) as client,
    ):
        first = await client.audio_start()
        seq = await client.say(speech("the first answer") + PAUSE)
        await client.until("turn.started", turn_key=first)
        second = await client.audio_start(first_seq=seq)
        await client.say(speech("a second one"), seq)
        await client.send("audio.stop")
        await client.until("speech.started")
        assert extractor.gate is not None
        extractor.gate.set()
        await client.until("turn.failed", turn_key=first)
        offer = await client.until("transcript.partial", turn_key=second)
        assert offer["text"] == "a second one"
        await client.turn("the first answer", first)
        await client.turn(offer["text"], second)
