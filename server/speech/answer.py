"""One spoken answer: audio in, captions as it is spoken, a transcript at its end.

An answer may take several speech streams, each of which ends with an endpoint. Noise without words, and words that come
while the last answer is still worked on, are followed by another stream, so that nothing that is said between two
answers is lost.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from audio.errors import AudioTooLong
from audio.types import (
    RATE_HZ,
    AnswerEnded,
    PartialTranscript,
    ProvisionalTranscript,
    ProvisionalWithdrawn,
    SpeechEvent,
    SpeechStarted,
    SpeechStopped,
    TimeAlmostUp,
    TranscriptionFailed,
    ms,
)
from pipeline.concept import Patience
from server.protocol import outbound
from server.protocol.codec import SAMPLE_BYTES
from server.session import rules
from server.speech.frames import AudioPiece, AudioTimeline
from server.speech.measure import EndReason
from server.speech.spoken_turns import SpokenTurns
from server.speech.transcript import HeardAnswer, SpokenTranscript, one_line

if TYPE_CHECKING:
    from audio.speech import SpeechStream

LEAD = 10 * RATE_HZ
"""How much of a silence before the first speech is remembered, in samples."""
ACK_EVERY = RATE_HZ // 4
"""Samples between two acknowledgements."""
TAIL_BYTES = RATE_HZ * SAMPLE_BYTES
"""When a stream is given up in silence, its last second goes to the next one: a word may just have begun."""


@dataclass(frozen=True, slots=True)
class PatienceChange:
    """From here on: this patience, or no end by silence for so many seconds of audio."""

    patience: Patience | None = None
    hold_s: float = 0.0


class SpokenAnswer:
    """An answer while it is spoken.

    Args:
        turn_key: the client's key.
        turns: of the session that it belongs to.
    """

    def __init__(self, turn_key: str, turns: SpokenTurns) -> None:
        session = turns.session
        self.turn_key = turn_key
        self.transcript = SpokenTranscript()
        self.damaged = False
        """A part of the audio is missing."""
        self.waited = False
        """Some of it was said while no answer could be taken."""
        self.error = ""
        """Why some of it could not be transcribed."""
        self._early = False
        """Speech began while no answer could be taken."""
        self._speech_end = 0
        self._timeline = AudioTimeline()
        self._turns = turns
        self._audience = session.audience
        self._clock = session.services.clock
        self._grace = turns.services.settings.grace_s * RATE_HZ
        self._still_thinking_s = session.services.settings.still_thinking_s
        self._recorded = rules.may_record(session.state, session.configuration)
        self._sound: deque[bytes] = deque()
        self._silent = 0
        self._waiting: deque[AudioPiece | PatienceChange] = deque()
        self._waiting_bytes = 0
        self._changed = asyncio.Event()
        self._stopping = False
        self._over = False
        self._speaking = False
        self._spoken = False
        self._over_reading = False
        self._quiet = 0
        self._base = 0
        self._fed = 0
        self._tail = b""
        self._unacked = 0
        self._last = 0

    # What the respondent does

    @property
    def backlog_s(self) -> float:
        """Seconds of audio that wait to be heard."""
        return self._waiting_bytes / SAMPLE_BYTES / RATE_HZ

    def heard(self, ended_by: EndReason) -> HeardAnswer:
        """What came of it, after `hear`."""
        has_words = bool(self.transcript.text)
        return HeardAnswer(
            turn_key=self.turn_key,
            transcript=self.transcript,
            ended_by=ended_by,
            audio_s=self._timeline.end / RATE_HZ,
            spoken_at=self._timeline.arrived(self._speech_end) if has_words else None,
            last_seq=self._timeline.last_before(self._base),
            early=self._early or self.waited,
            damaged=self.damaged,
            error=self.error,
            sound=self._sound_of_speech,
        )

    def _sound_of_speech(self) -> bytes:
        """The samples from a second before the first speech, where they are recorded; else nothing."""
        return b"".join(self._sound)[: (self._base - self._silent) * SAMPLE_BYTES]

    def put(self, piece: AudioPiece) -> None:
        """The next audio."""
        self._waiting.append(piece)
        self._waiting_bytes += len(piece.pcm)
        self._changed.set()

    def stop(self) -> None:
        """Nothing more comes."""
        self._stopping = True
        self._changed.set()

    def set_patience(self, patience: Patience) -> None:
        """Change how long a pause may be."""
        self._waiting.append(PatienceChange(patience=patience))
        self._changed.set()

    def hold(self, seconds: float) -> None:
        """Don't take silence for the end for so many seconds of audio."""
        self._waiting.append(PatienceChange(hold_s=seconds))
        self._changed.set()

    def rest(self) -> list[AudioPiece]:
        """After `hear`: audio that came and is not part of the answer."""
        rest = [AudioPiece(piece.sequence, piece.pcm) for piece in self._waiting if isinstance(piece, AudioPiece)]
        self._waiting.clear()
        self._waiting_bytes = 0
        return rest

    # Hearing

    async def hear(self, *, hold_s: float = 0.0) -> EndReason:
        """Hear the answer to its end; `transcript` is complete then.

        Args:
            hold_s: for so many seconds of audio silence does not end it.
        """
        while True:
            reason = await self._hear_once(hold_s)
            hold_s = 0.0
            if reason is not None:
                return reason

    async def _hear_once(self, hold_s: float) -> EndReason | None:
        """Hear until a stream ends; None if the answer goes on with another one."""
        self._fed, self._over, self._tail = 0, False, b""
        self._speaking, self._spoken, self._over_reading = False, False, False
        async with self._turns.stream() as stream, asyncio.TaskGroup() as tasks:
            if hold_s:
                await stream.hold(hold_s)
            follower = tasks.create_task(self._follow(stream))
            feeder = tasks.create_task(self._feed(stream))
            await asyncio.wait({follower, feeder}, return_when=asyncio.FIRST_COMPLETED)
            if feeder.done() and not feeder.result():
                await self._wait_for_transcript(follower)
            self._over = True
            self._changed.set()
            await asyncio.wait({feeder})
            end = follower.result() if follower.done() else None
            follower.cancel()
            self._take_back(self._tail if end is None else stream.leftover())
        return await self._after(end)

    async def _after(self, end: AnswerEnded | None) -> EndReason | None:
        base, self._base = self._base, self._base + self._fed
        if end is None:
            return "silence"
        if self._over_reading and one_line(end.text) and self._turns.is_echo(one_line(end.text)):
            self._turns.discard_speculation()
            self._quiet = 0
            return None if end.reason == "silence" else end.reason
        if one_line(end.text):
            self.transcript = self.transcript.plus(end.text, end.words, base)
            self._speech_end = base + end.speech_end
        else:
            self._turns.discard_speculation()
        if end.reason == "silence":
            self._quiet = 0
            if not one_line(end.text):
                self._turns.count_missed()
                await self._audience.broadcast(outbound.Notice.of("didnt_catch"))
                return None
            if not self._turns.ready:
                self.waited = True
                return None
            return "silence"
        if self.transcript.text and not self._turns.ready:
            self.waited = True
            await self._turns.until_ready()
        return end.reason

    async def _wait_for_transcript(self, follower: asyncio.Task[AnswerEnded]) -> None:
        """Wait for the words of a complete answer; the respondent is told if that takes long."""
        limit_s = self._still_thinking_s
        while not (await asyncio.wait({follower}, timeout=limit_s))[0]:
            await self._audience.broadcast(outbound.Notice.of("still_thinking"))

    def _take_back(self, rest: bytes) -> None:
        """Put audio that the stream took and did not use in front of what waits."""
        self._fed -= len(rest) // SAMPLE_BYTES
        for piece in reversed(self._timeline.cut(self._base + self._fed, rest)):
            self._waiting.appendleft(piece)
            self._waiting_bytes += len(piece.pcm)

    # Audio in

    async def _feed(self, stream: SpeechStream) -> bool:
        """Feed what comes; whether the answer, begun before its question, is over by `grace_s` without speech."""
        while not self._over:
            if self._waiting:
                item = self._waiting.popleft()
                if isinstance(item, PatienceChange):
                    await self._change_patience(stream, item)
                    continue
                try:
                    await self._feed_one(stream, item)
                except AudioTooLong:
                    # The answer is over, and so much came since that its end is told only now.
                    self._give_back(item)
                    return False
                if self._is_over():
                    # Speech that this audio began is told before the feeder goes on.
                    await asyncio.sleep(0)
                    if self._is_over():
                        return True
                continue
            await self._ack()
            if self._stopping:
                await stream.stop()
                return False
            self._changed.clear()
            await self._changed.wait()
        return True

    async def _feed_one(self, stream: SpeechStream, piece: AudioPiece) -> None:
        samples = len(piece.pcm) // SAMPLE_BYTES
        self._waiting_bytes -= len(piece.pcm)
        self._over_reading = self._over_reading or piece.over_reading
        if not piece.located:
            self._timeline.add(piece.sequence, samples, self._clock())
            if self._recorded:
                self._sound.append(piece.pcm)
            if not self._spoken and not self.transcript.text:
                self._forget(self._timeline.end - LEAD)
            self._last = piece.sequence
            self._unacked += samples
        self._fed += samples
        if self.transcript.text:
            self._tail = (self._tail + piece.pcm)[-TAIL_BYTES:]
        self._quiet = 0 if self._speaking else self._quiet + samples
        await stream.feed(piece.pcm)
        if self._unacked >= ACK_EVERY:
            await self._ack()

    def _give_back(self, piece: AudioPiece) -> None:
        self._fed -= len(piece.pcm) // SAMPLE_BYTES
        self._waiting.appendleft(replace(piece, located=True))
        self._waiting_bytes += len(piece.pcm)

    async def _change_patience(self, stream: SpeechStream, change: PatienceChange) -> None:
        if change.patience is not None:
            await stream.set_patience(change.patience)
        if change.hold_s:
            self._quiet = -int(change.hold_s * RATE_HZ)
            await stream.hold(change.hold_s)

    def _forget(self, position: int) -> None:
        """Nothing was said up to this position: forget that silence."""
        self._timeline.forget(position)
        while self._sound and self._silent + (first := len(self._sound[0]) // SAMPLE_BYTES) <= position:
            self._silent += first
            self._sound.popleft()

    def _is_over(self) -> bool:
        """Whether an answer that has words is over: a stream in which somebody speaks ends by its own rules."""
        if not self.transcript.text or self._spoken or not self._turns.ready:
            return False
        return self._quiet >= self._grace

    async def _ack(self) -> None:
        if self._unacked:
            self._unacked = 0
            await self._audience.broadcast(outbound.AudioAck(seq=self._last))

    # What is heard

    async def _follow(self, stream: SpeechStream) -> AnswerEnded:
        async for event in stream.events():
            if isinstance(event, AnswerEnded):
                return event
            await self._tell(event)
        raise RuntimeError("a speech stream ended without `AnswerEnded`")

    async def _tell(self, event: SpeechEvent) -> None:
        broadcast, base = self._audience.broadcast, self._base
        match event:
            case SpeechStarted():
                self._speaking = self._spoken = True
                self._early = self._early or not self._turns.ready
                if not self.transcript.text:
                    self._forget(base + event.at - RATE_HZ)
                await broadcast(outbound.SpeechStarted(at_ms=ms(base + event.at)))
            case SpeechStopped():
                self._speaking = False
                await broadcast(outbound.SpeechStopped(at_ms=ms(base + event.at)))
            case PartialTranscript():
                before = f"{self.transcript.text} " if self.transcript.text else ""
                stable = len(before) + event.stable
                caption = outbound.TranscriptPartial(text=before + event.text, stable=stable)
                self._audience.transcript = caption
                await broadcast(caption)
            case ProvisionalTranscript():
                self._turns.speculate(self.turn_key, self.transcript.plus(event.text, event.words, base))
            case ProvisionalWithdrawn():
                self._turns.discard_speculation()
            case TimeAlmostUp():
                seconds = max(1, round(event.left / RATE_HZ))
                text = f"The longest answer is almost reached: {seconds} seconds are left."
                await broadcast(outbound.Notice(code="time_almost_up", text=text))
            case TranscriptionFailed():
                if not self.error:
                    await broadcast(outbound.Error.of("transcriber_unavailable", ref=self.turn_key))
                self.error = event.error
            case AnswerEnded():
                raise AssertionError("the end is not told here")
            case _:
                assert_never(event)
