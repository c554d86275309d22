"""One spoken answer: audio in, captions as it is spoken, a transcript at its end.

An answer may take several speech streams, each of which ends with an endpoint. Noise without words, and words that come
while the last answer is still worked on, are followed by another stream, so that nothing that is said between two
answers is lost.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from audio.answer_sound import AnswerSound
from audio.errors import AudioTooLong
from audio.types import (
    RATE_HZ,
    AnswerEnded,
    PartialTranscript,
    ProvisionalTranscript,
    ProvisionalWithdrawn,
    SilenceLengthened,
    SpeechEvent,
    SpeechStarted,
    SpeechStopped,
    TimeAlmostUp,
    TranscriptionFailed,
    ms,
)
from server.protocol import outbound
from server.protocol.codec import SAMPLE_BYTES
from server.session import rules
from server.session.context import SessionContext
from server.speech.ending import Ending
from server.speech.frames import AudioPiece, AudioTimeline
from server.speech.measure import EndReason
from server.speech.spoken_turns import SpokenTurns
from server.speech.transcript import HeardAnswer, SpokenTranscript, one_line
from server.speech.waiting import PatienceChange, SpeechSound, WaitingAudio

if TYPE_CHECKING:
    from audio.speech import SpeechStream

LEAD = 10 * RATE_HZ
"""How much of a silence before the first speech is remembered, in samples."""
ACK_EVERY = RATE_HZ // 4
"""Samples between two acknowledgements."""
TAIL_BYTES = RATE_HZ * SAMPLE_BYTES
"""When a stream is given up in silence, its last second goes to the next one: a word may just have begun."""


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
        self._recorded = rules.may_record(session.state, session.configuration)
        self._sound = SpeechSound()
        self._waiting = WaitingAudio()
        self._changed = asyncio.Event()
        self.stopping = False
        """Nothing more comes."""
        self._over = False
        self._speaking = self._spoken = self._over_reading = False
        self._quiet = 0
        self.ending = Ending(turns, self._clock)
        """Its end, while it may still go on."""
        self._base = 0
        self._fed = 0
        self._tail = b""
        self._unacked = 0
        self._last = 0

    # What the respondent does

    @property
    def backlog_s(self) -> float:
        """Seconds of audio that wait to be heard."""
        return self._waiting.seconds

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
            sound=lambda: self._sound.until(self._base),
            ended_at=self.ending.at,
            reopened=self.ending.reopened,
        )

    def put(self, piece: AudioPiece) -> None:
        """The next audio."""
        self._waiting.put(piece)
        self._changed.set()

    def stop(self) -> None:
        """Nothing more comes."""
        self.stopping = True
        self._changed.set()

    def wish(self, change: PatienceChange) -> None:
        """Change how long a pause may be, after the audio so far."""
        self._waiting.put(change)
        self._changed.set()

    @property
    def lingers(self) -> bool:
        """Whether it is over unless its speaker goes on, and nobody is doing so."""
        return self.ending.open and not self._spoken

    def settle(self) -> None:
        """It is over now if nobody is going on with it."""
        self.ending.settled = True
        self._changed.set()

    def rest(self) -> list[AudioPiece]:
        """After `hear`: audio that came and is not part of the answer."""
        return self._waiting.drain()

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
        async with self._turns.stream(used_s=self.transcript.length / RATE_HZ) as stream, asyncio.TaskGroup() as tasks:
            if hold_s:
                await stream.hold(hold_s)
            follower = tasks.create_task(self._follow(stream))
            feeder = tasks.create_task(self._feed(stream))
            await asyncio.wait({follower, feeder}, return_when=asyncio.FIRST_COMPLETED)
            if feeder.done() and not feeder.result():
                await _transcribed(follower, self._turns.session)
            self._over = True
            self._changed.set()
            await asyncio.wait({feeder})
            end = follower.result() if follower.done() else None
            follower.cancel()
            self._take_back(self._tail if end is None else stream.leftover())
        return await self._after(end, stream.sound)

    async def _after(self, end: AnswerEnded | None, sound: AnswerSound | None) -> EndReason | None:
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
            self.ending.add(sound)
        else:
            self._turns.discard_speculation()
        if end.reason == "silence":
            self._quiet = 0
            if not one_line(end.text):
                if self.ending.open:
                    return await self._linger(worded=False)
                self._turns.count_missed()
                await self._audience.broadcast(outbound.Notice.of("didnt_catch"))
                return None
            if not self._turns.ready:
                self.waited = True
                return None
            return await self._linger(worded=True)
        if self.transcript.text and not self._turns.ready:
            self.waited = True
            await self._turns.until_ready()
        return end.reason

    async def _linger(self, *, worded: bool) -> EndReason | None:
        """It is over; None while its speaker may still go on."""
        self._spoken = False
        if self.damaged or self.error:
            return "silence"
        early, done = self._early or self.waited, self._changed.set
        goes_on = await self.ending.begin(self.turn_key, self.transcript, early=early, worded=worded, done=done)
        return None if goes_on else "silence"

    def _take_back(self, rest: bytes) -> None:
        """Put audio that the stream took and did not use in front of what waits."""
        self._fed -= len(rest) // SAMPLE_BYTES
        self._waiting.put_back(self._timeline.cut(self._base + self._fed, rest))

    # Audio in

    async def _feed(self, stream: SpeechStream) -> bool:
        """Feed what comes; whether the answer, begun before its question, is over by `grace_s` without speech."""
        while not self._over:
            if self._waiting:
                item = self._waiting.take()
                if isinstance(item, PatienceChange):
                    await self._change_patience(stream, item)
                    continue
                try:
                    await self._feed_one(stream, item)
                except AudioTooLong:
                    # The answer is over, and so much came since that its end is told only now.
                    self._fed -= len(item.pcm) // SAMPLE_BYTES
                    self._waiting.put_back([replace(item, located=True)])
                    return False
                if self._is_over():
                    # Speech that this audio began is told before the feeder goes on.
                    await asyncio.sleep(0)
                    if self._is_over():
                        return True
                continue
            await self._ack()
            if self.stopping:
                await stream.stop()
                return False
            if self._is_over() or not await self._more():
                return True
        return True

    async def _more(self) -> bool:
        """Wait for audio or a wish; False where none comes although it is over unless there is more."""
        self._changed.clear()
        if not self.lingers:
            await self._changed.wait()
            return True
        try:
            async with asyncio.timeout(self.ending.wait_s):
                await self._changed.wait()
        except TimeoutError:
            return self._spoken or not self._turns.ready
        return True

    async def _feed_one(self, stream: SpeechStream, piece: AudioPiece) -> None:
        samples = len(piece.pcm) // SAMPLE_BYTES
        self._over_reading = self._over_reading or piece.over_reading
        if not piece.located:
            self._timeline.add(piece.sequence, samples, self._clock())
            if self._recorded:
                self._sound.add(piece.pcm)
            if not self._spoken and not self.transcript.text:
                self._forget(self._timeline.end - LEAD)
            self._last = piece.sequence
            self._unacked += samples
            self.ending.pass_by(samples)
        self._fed += samples
        if self.transcript.text:
            self._tail = (self._tail + piece.pcm)[-TAIL_BYTES:]
        self._quiet = 0 if self._speaking else self._quiet + samples
        await stream.feed(piece.pcm)
        if self._unacked >= ACK_EVERY:
            await self._ack()

    async def _change_patience(self, stream: SpeechStream, change: PatienceChange) -> None:
        if change.patience is not None:
            await stream.set_patience(change.patience)
        if change.hold_s:
            await self.ending.withdraw()
            held = int(change.hold_s * RATE_HZ)
            self._quiet = -held
            self.ending.hold(held, self._timeline.end)
            await stream.hold(change.hold_s)

    def _forget(self, position: int) -> None:
        """Nothing was said up to this position: forget that silence."""
        self._timeline.forget(position)
        self._sound.forget(position)

    def _is_over(self) -> bool:
        """Whether an answer that has words is over: a stream in which somebody speaks ends by its own rules."""
        if not self.transcript.text or self._spoken or not self._turns.ready:
            return False
        return (
            self.ending.closes if self.ending.open else self._quiet >= self._turns.services.settings.grace_s * RATE_HZ
        )

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
                if not self.ending.playing:
                    await self.ending.withdraw()
                await broadcast(outbound.SpeechStarted(at_ms=ms(base + event.at)))
            case SpeechStopped():
                self._speaking = False
                await broadcast(self.ending.pause(base + event.at, self._timeline.end))
            case SilenceLengthened():
                await broadcast(self.ending.pause(base + event.at, self._timeline.end, left=event.left))
            case PartialTranscript():
                before = f"{self.transcript.text} " if self.transcript.text else ""
                stable = len(before) + event.stable
                caption = outbound.TranscriptPartial(text=before + event.text, stable=stable)
                self._audience.transcript = caption
                if self._over_reading and not self._turns.is_echo(event.text):
                    await self.ending.withdraw()
                await broadcast(caption)
            case ProvisionalTranscript():
                self._turns.speculate(self.turn_key, self.transcript.plus(event.text, event.words, base))
            case ProvisionalWithdrawn():
                self._turns.discard_speculation()
            case TimeAlmostUp():
                await broadcast(_time_left(event.left))
            case TranscriptionFailed():
                if not self.error:
                    await broadcast(outbound.Error.of("transcriber_unavailable", ref=self.turn_key))
                self.error = event.error
            case AnswerEnded():
                raise AssertionError("the end is not told here")
            case _:
                assert_never(event)


async def _transcribed(follower: asyncio.Task[AnswerEnded], session: SessionContext) -> None:
    """Wait for the words of a complete answer; the respondent is told if that takes long."""
    while not (await asyncio.wait({follower}, timeout=session.services.settings.still_thinking_s))[0]:
        await session.audience.broadcast(outbound.Notice.of("still_thinking"))


def _time_left(samples: int) -> outbound.Notice:
    seconds = max(1, round(samples / RATE_HZ))
    text = f"The longest answer is almost reached: {seconds} seconds are left."
    return outbound.Notice(code="time_almost_up", text=text)
