"""SpeechStream: the state machine with a transcriber and voice activity detection, on an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest

from audio.endpoint import FRAME_SAMPLES
from audio.errors import AudioFormat, AudioTooLong
from audio.speech import MAX_EVENTS, MAX_LEFTOVER_SAMPLES, SpeechStream
from audio.types import (
    AnswerEnded,
    PartialTranscript,
    ProvisionalTranscript,
    ProvisionalWithdrawn,
    Purpose,
    Samples,
    SpeechEvent,
    SpeechStarted,
    SpeechStopped,
    Transcript,
    TranscriptionFailed,
)
from tests.audio.scripted_speech import Script, ScriptedActivity, ScriptedTranscriber, marks, script
from tests.support.patience import PATIENCE_S


def pcm(samples: Samples) -> bytes:
    return samples.astype("<i2").tobytes()


async def listen(stream: SpeechStream) -> list[SpeechEvent]:
    """Everything until the end, of an answer that is fed already or is being fed."""
    return [event async for event in stream.events()]


async def answer(script_: Script, stream: SpeechStream, chunk: int = 1600, *, stop: bool = False) -> list[SpeechEvent]:
    """Feed a script and hear what comes."""
    async with stream, asyncio.timeout(PATIENCE_S):
        async with asyncio.TaskGroup() as group:
            heard = group.create_task(listen(stream))
            data = pcm(script_.samples)
            for start in range(0, len(data), 2 * chunk):
                await stream.feed(data[start : start + 2 * chunk])
            if stop:
                await stream.stop()
        return heard.result()


class Gate(ScriptedTranscriber):
    """A transcriber that waits until it is let go."""

    def __init__(self, answer: Script) -> None:
        super().__init__(answer)
        self.open = asyncio.Event()
        self.waiting = 0
        self.cancelled = 0

    async def transcribe(self, samples: Samples, *, language: str, purpose: Purpose, offset: int = 0) -> Transcript:
        self.waiting += 1
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.waiting -= 1
        return await super().transcribe(samples, language=language, purpose=purpose, offset=offset)


@asynccontextmanager
async def opened(stream: SpeechStream) -> AsyncIterator[SpeechStream]:
    async with asyncio.timeout(PATIENCE_S), stream:
        yield stream


async def settle() -> None:
    """Let everything that can run do so."""
    for _ in range(50):
        await asyncio.sleep(0)


async def until_fed(activity: ScriptedActivity, samples: int) -> None:
    """Wait until so much was taken."""
    async with asyncio.timeout(PATIENCE_S):
        while activity.taken < samples:
            await asyncio.sleep(0.001)


async def test_stream_answer_with_pause_gives_its_words_and_ends_by_silence() -> None:
    said = script("I like tea and", 0.4, "milk.")
    events = await answer(said, SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said)))
    ended = events[-1]
    assert isinstance(ended, AnswerEnded) and ended.text == "I like tea and milk." and ended.reason == "silence"
    kinds = [type(event) for event in events if not isinstance(event, PartialTranscript)]
    assert kinds[:2] == [SpeechStarted, SpeechStopped] and kinds.count(SpeechStarted) == 2
    assert kinds.count(ProvisionalTranscript) - kinds.count(ProvisionalWithdrawn) == 1


async def test_stream_stopped_in_the_middle_of_speech_reads_what_was_said() -> None:
    said = script("one two three", tail_s=0.0)
    events = await answer(said, SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said)), stop=True)
    ended = events[-1]
    assert isinstance(ended, AnswerEnded) and ended.text == "one two three" and ended.reason == "stop"
    assert ended.at == len(said.samples)


async def test_stream_error_of_its_user_is_not_wrapped() -> None:
    said = script("one")
    with pytest.raises(KeyError, match="mine"):
        async with opened(SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said))):
            raise KeyError("mine")


async def test_stream_half_a_sample_is_refused() -> None:
    said = script("one")
    async with opened(SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said))) as stream:
        with pytest.raises(AudioFormat):
            await stream.feed(b"\0\0\0")


async def test_stream_fed_beyond_the_end_hands_the_rest_to_the_next_answer() -> None:
    both = script("first answer.", 2.0, "second one.")
    stream = SpeechStream(ScriptedTranscriber(both), ScriptedActivity(both))
    events = await answer(both, stream)
    ended = events[-1]
    assert isinstance(ended, AnswerEnded) and ended.text == "first answer."
    rest = np.frombuffer(stream.leftover(), "<i2").astype(np.int16)
    begun = marks(rest)[0]
    assert ended.speech_end <= begun * FRAME_SAMPLES <= ended.at
    assert marks(rest) == list(range(begun, both.frames))


async def test_stream_closed_from_another_task_lets_go_of_everything() -> None:
    said = script("one two three four")
    transcriber = Gate(said)
    async with opened(SpeechStream(transcriber, ScriptedActivity(said))) as stream:
        await stream.feed(pcm(said.samples[: FRAME_SAMPLES * 64]))
        await settle()
        assert (transcriber.waiting, transcriber.cancelled) == (1, 0)
        await stream.aclose()
        assert [event async for event in stream.events()] == [SpeechStarted(8192), SpeechStopped(28672)]
    assert (transcriber.waiting, transcriber.cancelled) == (0, 1)
    with pytest.raises(RuntimeError):
        await stream.feed(b"")


async def test_stream_transcriber_that_fails_once_is_asked_again() -> None:
    said = script("one two.")
    transcriber = ScriptedTranscriber(said, failures=[0])
    events = await answer(said, SpeechStream(transcriber, ScriptedActivity(said), partial_every_ms=0))
    assert isinstance(events[-1], AnswerEnded) and events[-1].text == "one two."
    assert not [event for event in events if isinstance(event, TranscriptionFailed)]
    assert [purpose for purpose, _ in transcriber.calls] == ["guess", "guess"]


async def test_stream_transcriber_that_keeps_failing_is_reported_and_the_words_so_far_are_kept() -> None:
    said = script("one two three four", 0.3)
    transcriber = ScriptedTranscriber(said, failures=[1, 2])
    events = await answer(said, SpeechStream(transcriber, ScriptedActivity(said)), chunk=FRAME_SAMPLES)
    trouble, ended = events[-2:]
    assert (
        isinstance(trouble, TranscriptionFailed) and trouble.error == "scripted" and trouble.text == "one two three f~"
    )
    assert isinstance(ended, AnswerEnded) and ended.text == trouble.text


async def test_stream_transcriber_that_never_answers_is_given_up() -> None:
    said = script("one two.")
    transcriber = Gate(said)
    stream = SpeechStream(
        transcriber, ScriptedActivity(said), deadlines_s={"partial": 0.01, "guess": 0.01, "final": 0.01}
    )
    events = await answer(said, stream)
    trouble, ended = events[-2:]
    assert isinstance(trouble, TranscriptionFailed) and trouble.error == "no words within 0.01 s"
    assert isinstance(ended, AnswerEnded) and (ended.text, ended.reason) == ("", "silence")
    assert transcriber.waiting == 0


async def test_stream_takes_after_its_end_what_the_next_answer_needs_and_no_more() -> None:
    said = script("one two.")
    stream = SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said))
    async with opened(stream):
        await stream.feed(pcm(said.samples))
        await listen(stream)
        before = len(stream.leftover())
        await stream.feed(bytes(2 * MAX_LEFTOVER_SAMPLES))
        assert len(stream.leftover()) == before + 2 * MAX_LEFTOVER_SAMPLES
        with pytest.raises(AudioTooLong):
            await stream.feed(bytes(2))
        assert stream.ended


async def test_stream_patience_can_be_changed_while_it_listens() -> None:
    said = script("one.", 1.5, "two.")
    stream = SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said))
    async with opened(stream), asyncio.TaskGroup() as group:
        heard = group.create_task(listen(stream))
        await stream.feed(pcm(said.samples[: 512 * 28]))
        await stream.set_patience("patient")
        await stream.feed(pcm(said.samples[512 * 28 :]))
    ended = heard.result()[-1]
    assert isinstance(ended, AnswerEnded) and ended.text == "one. two."


@pytest.mark.parametrize(
    "parts",
    [
        ("one two.",),
        ("one two", 0.4, "three."),
        ("one because", 1.4, "two.", 0.3, "three."),
        ("one " * 60, 0.7, "two."),
    ],
)
async def test_stream_that_does_not_run_ahead_hears_the_same(parts: tuple[str | float, ...]) -> None:
    said = script(*parts)
    ends = []
    for speculate in (True, False):
        events = await answer(
            said, SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said), speculate=speculate)
        )
        ends.append(events[-1])
    assert isinstance(ends[0], AnswerEnded) and ends[0].text and ends[0] == ends[1]


async def test_stream_that_does_not_run_ahead_reads_a_pause_only_when_it_may_be_the_end() -> None:
    said = script("one two", 0.6, "three.")
    soon = len(script("one two", 0.6, "three.", tail_s=0.5).samples)
    gate = Gate(said)
    stream = SpeechStream(gate, ScriptedActivity(said), speculate=False, partial_every_ms=0)
    async with opened(stream):
        await stream.feed(pcm(said.samples[:soon]))
        await settle()
        assert gate.waiting == 0
        async with asyncio.TaskGroup() as group:
            heard = group.create_task(listen(stream))
            await stream.feed(pcm(said.samples[soon:]))
            await settle()
            assert gate.waiting == 1
            gate.open.set()
    ended = heard.result()[-1]
    assert isinstance(ended, AnswerEnded) and ended.text == "one two three."


async def test_stream_cancelled_feed_takes_its_samples_whole() -> None:
    said = script("one two.")
    activity = ScriptedActivity(said)
    stream = SpeechStream(ScriptedTranscriber(said), activity)
    half = FRAME_SAMPLES * 20 + 100
    async with opened(stream):
        async with asyncio.TaskGroup() as group:
            feeding = group.create_task(stream.feed(pcm(said.samples[:half])))
            await asyncio.sleep(0)
            feeding.cancel()
        await stream.feed(pcm(said.samples[half:]))
        assert activity.taken == len(said.samples)
        events = await listen(stream)
    assert isinstance(events[-1], AnswerEnded) and events[-1].text == "one two."


async def test_stream_captions_not_taken_are_replaced_by_later_ones() -> None:
    said = script(" ".join(f"w{n}" for n in range(60)), tail_s=0.0)
    stream = SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said))
    async with opened(stream):
        data = pcm(said.samples)
        for start in range(0, len(data), 3200):
            await stream.feed(data[start : start + 3200])
            await settle()
        await stream.aclose()
        events = await listen(stream)
    assert [type(event) for event in events] == [SpeechStarted, PartialTranscript]
    assert isinstance(events[-1], PartialTranscript) and events[-1].at > 18 * 16_000


async def test_stream_events_not_taken_make_feed_wait() -> None:
    parts: list[str | float] = [part for _ in range(MAX_EVENTS) for part in ("a", 0.25)]
    said = script(*parts, word_frames=4)
    activity = ScriptedActivity(said)
    stream = SpeechStream(ScriptedTranscriber(said), activity, max_answer_s=None)
    async with opened(stream), asyncio.TaskGroup() as group:
        feeding = group.create_task(feed_all(stream, said))
        await until_fed(activity, 16_000 * 10)
        await settle()
        assert not feeding.done()
        events = await listen(stream)
        async with asyncio.timeout(PATIENCE_S):
            await feeding
    assert isinstance(events[-1], AnswerEnded) and events[-1].text == said.text


async def feed_all(stream: SpeechStream, said: Script) -> None:
    data = pcm(said.samples)
    for start in range(0, len(data), 3200):
        await stream.feed(data[start : start + 3200])


async def test_stream_audio_faster_than_it_is_read_makes_feed_wait_and_loses_nothing() -> None:
    said = script(" ".join(f"w{n}" for n in range(500)))
    transcriber = Gate(said)
    activity = ScriptedActivity(said)
    stream = SpeechStream(transcriber, activity, partial_every_ms=0)
    async with opened(stream), asyncio.TaskGroup() as group:
        feeding = group.create_task(feed_all(stream, said))
        await until_fed(activity, 16_000 * 60)
        await settle()
        assert not feeding.done() and activity.taken < 16_000 * 100
        transcriber.open.set()
        events = await listen(stream)
    assert isinstance(events[-1], AnswerEnded) and events[-1].text == said.text


async def test_stream_held_outlasts_its_patience() -> None:
    said = script("well", 5.0, "yes.")
    stream = SpeechStream(ScriptedTranscriber(said), ScriptedActivity(said))
    async with opened(stream), asyncio.TaskGroup() as group:
        heard = group.create_task(listen(stream))
        await stream.feed(pcm(said.samples[: 512 * 25]))
        await stream.hold(6)
        await stream.feed(pcm(said.samples[512 * 25 :]))
    ended = heard.result()[-1]
    assert isinstance(ended, AnswerEnded) and ended.text == "well yes."
