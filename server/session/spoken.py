"""One spoken answer: audio in, what is heard told as it comes, words out.

An answer may take several ears: each ends with an endpoint. Noise without words, and words that come while the last
answer is still worked on, are followed by another ear, so that nothing that is said falls between two answers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, assert_never

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
from server.session.audience import Audience
from server.session.places import Piece, Places
from server.session.said import Said, plain
from server.session.voice import Ear

LEAD = 10 * RATE_HZ
"""Of a silence before the first speech so much is remembered, in samples."""
ACK_EVERY = RATE_HZ // 4
"""Samples between two acknowledgements."""
TAIL_BYTES = RATE_HZ * SAMPLE_BYTES
"""Of an ear that is given up in silence, the last second goes to the next one: a word may just have begun."""
Fate = Literal["silence", "stop", "too_long"]


@dataclass(frozen=True, slots=True)
class Wish:
    """To be patient, from here on: this patience, or no end by silence for so many seconds of audio."""

    patience: Patience | None = None
    hold_s: float = 0.0


class Company(Protocol):
    """What an answer needs of the session it belongs to."""

    @property
    def busy(self) -> bool:
        """Whether no answer can be taken yet: the last one is worked on, or there is no question."""
        ...

    async def until_free(self) -> None:
        """Wait until an answer can be taken."""
        ...

    def guessed(self, turn_key: str, said: Said) -> None:
        """This is the answer, if nothing follows."""
        ...

    def withdrawn(self) -> None:
        """The last guess does not count."""
        ...

    def missed(self) -> None:
        """There was a sound, and no word in it."""
        ...

    def echoed(self, text: str) -> bool:
        """Whether that is nothing but words of the question that is read aloud."""
        ...


@dataclass(frozen=True, slots=True)
class Manner:
    """How an answer is heard.

    Args:
        grace_s: audio without speech that ends an answer which was begun before its question was there.
        still_thinking_s: how long the words of a complete answer may take until the respondent is told.
    """

    grace_s: float
    still_thinking_s: float


class SpokenAnswer:
    """An answer while it is spoken.

    Args:
        turn_key: the client's key.
        open_ear: a fresh ear.
        audience: is told what is heard.
        company: the session.
        clock: monotonic seconds.
        manner: times.
        recorded: whether the sound is kept, for `sound`.
    """

    def __init__(
        self,
        turn_key: str,
        open_ear: Callable[[], Ear],
        audience: Audience,
        company: Company,
        clock: Callable[[], float],
        manner: Manner,
        *,
        recorded: bool = False,
    ) -> None:
        self.turn_key = turn_key
        self.said = Said()
        self.damaged = False
        """A part of the audio is missing."""
        self.early = False
        """Somebody began to speak while no answer could be taken."""
        self.waited = False
        """Some of it was said while no answer could be taken."""
        self.error = ""
        """Why some of it could not be understood."""
        self.speech_end = 0
        self.places = Places()
        self.caption: outbound.TranscriptPartial | None = None
        self._open_ear = open_ear
        self._audience = audience
        self._company = company
        self._clock = clock
        self._manner = manner
        self._recorded = recorded
        self._sound: deque[bytes] = deque()
        self._silent = 0
        self._waiting: deque[Piece | Wish] = deque()
        self._waiting_bytes = 0
        self._changed = asyncio.Event()
        self._stopping = False
        self._over = False
        self._speaking = False
        self._heard = False
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

    @property
    def last_seq(self) -> int | None:
        """Number of the last frame that belongs to what was said."""
        return self.places.last_before(self._base)

    def sound(self) -> bytes:
        """The sound of what was said, from a second before its first speech, where that is recorded; else nothing."""
        return b"".join(self._sound)[: (self._base - self._silent) * SAMPLE_BYTES]

    def put(self, piece: Piece) -> None:
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
        self._waiting.append(Wish(patience=patience))
        self._changed.set()

    def hold(self, seconds: float) -> None:
        """Don't take silence for the end for so many seconds of audio."""
        self._waiting.append(Wish(hold_s=seconds))
        self._changed.set()

    def rest(self) -> list[Piece]:
        """After `hear`: audio that came and is not part of the answer."""
        rest = [Piece(piece.sequence, piece.pcm) for piece in self._waiting if isinstance(piece, Piece)]
        self._waiting.clear()
        self._waiting_bytes = 0
        return rest

    # Hearing

    async def hear(self, *, hold_s: float = 0.0) -> Fate:
        """Hear the answer to its end; `said` has its words then.

        Args:
            hold_s: for so many seconds of audio silence does not end it.
        """
        while True:
            fate = await self._hear_once(hold_s)
            hold_s = 0.0
            if fate is not None:
                return fate

    async def _hear_once(self, hold_s: float) -> Fate | None:
        """Hear until an ear is done; None if the answer goes on with another one."""
        self._fed, self._over, self._tail = 0, False, b""
        self._speaking, self._heard, self._over_reading = False, False, False
        async with self._open_ear() as ear, asyncio.TaskGroup() as tasks:
            if hold_s:
                await ear.hold(hold_s)
            follower = tasks.create_task(self._follow(ear))
            feeder = tasks.create_task(self._feed(ear))
            await asyncio.wait({follower, feeder}, return_when=asyncio.FIRST_COMPLETED)
            if feeder.done() and not feeder.result():
                await self._patiently(follower)
            self._over = True
            self._changed.set()
            await asyncio.wait({feeder})
            end = follower.result() if follower.done() else None
            follower.cancel()
            self._take_back(self._tail if end is None else ear.leftover())
        return await self._after(end)

    async def _after(self, end: AnswerEnded | None) -> Fate | None:
        base, self._base = self._base, self._base + self._fed
        if end is None:
            return "silence"
        if self._over_reading and plain(end.text) and self._company.echoed(plain(end.text)):
            self._company.withdrawn()
            self._quiet = 0
            return None if end.reason == "silence" else end.reason
        if plain(end.text):
            self.said = self.said.plus(end.text, end.words, base)
            self.speech_end = base + end.speech_end
        else:
            self._company.withdrawn()
        if end.reason == "silence":
            self._quiet = 0
            if not plain(end.text):
                self._company.missed()
                await self._audience.broadcast(outbound.Notice.of("didnt_catch"))
                return None
            if self._company.busy:
                self.waited = True
                return None
            return "silence"
        if self.said.text and self._company.busy:
            self.waited = True
            await self._company.until_free()
        return end.reason

    async def _patiently(self, follower: asyncio.Task[AnswerEnded]) -> None:
        """Wait for the words of a complete answer; the respondent is told if that takes long."""
        limit_s = self._manner.still_thinking_s
        while not (await asyncio.wait({follower}, timeout=limit_s))[0]:
            await self._audience.broadcast(outbound.Notice.of("still_thinking"))

    def _take_back(self, rest: bytes) -> None:
        """Put what the ear took and did not use in front of what waits."""
        self._fed -= len(rest) // SAMPLE_BYTES
        for piece in reversed(self.places.cut(self._base + self._fed, rest)):
            self._waiting.appendleft(piece)
            self._waiting_bytes += len(piece.pcm)

    # Audio in

    async def _feed(self, ear: Ear) -> bool:
        """Feed what comes; whether that was enough: what was said before the question is not followed by more."""
        while not self._over:
            if self._waiting:
                item = self._waiting.popleft()
                if isinstance(item, Wish):
                    await self._grant(ear, item)
                    continue
                try:
                    await self._feed_one(ear, item)
                except AudioTooLong:
                    # The answer is over, and so much came since that its end is told only now.
                    self._give_back(item)
                    return False
                if self._had_enough():
                    # Speech that this audio began is told before the feeder goes on.
                    await asyncio.sleep(0)
                    if self._had_enough():
                        return True
                continue
            await self._ack()
            if self._stopping:
                await ear.stop()
                return False
            self._changed.clear()
            await self._changed.wait()
        return True

    async def _feed_one(self, ear: Ear, piece: Piece) -> None:
        samples = len(piece.pcm) // SAMPLE_BYTES
        self._waiting_bytes -= len(piece.pcm)
        self._over_reading = self._over_reading or piece.over_reading
        if not piece.placed:
            self.places.add(piece.sequence, samples, self._clock())
            if self._recorded:
                self._sound.append(piece.pcm)
            if not self._heard and not self.said.text:
                self._forget(self.places.end - LEAD)
            self._last = piece.sequence
            self._unacked += samples
        self._fed += samples
        if self.said.text:
            self._tail = (self._tail + piece.pcm)[-TAIL_BYTES:]
        self._quiet = 0 if self._speaking else self._quiet + samples
        await ear.feed(piece.pcm)
        if self._unacked >= ACK_EVERY:
            await self._ack()

    def _give_back(self, piece: Piece) -> None:
        self._fed -= len(piece.pcm) // SAMPLE_BYTES
        self._waiting.appendleft(replace(piece, placed=True))
        self._waiting_bytes += len(piece.pcm)

    async def _grant(self, ear: Ear, wish: Wish) -> None:
        if wish.patience is not None:
            await ear.set_patience(wish.patience)
        if wish.hold_s:
            self._quiet = -int(wish.hold_s * RATE_HZ)
            await ear.hold(wish.hold_s)

    def _forget(self, place: int) -> None:
        """Nothing was said up to there: keep no trace of that silence."""
        self.places.forget(place)
        while self._sound and self._silent + (first := len(self._sound[0]) // SAMPLE_BYTES) <= place:
            self._silent += first
            self._sound.popleft()

    def _had_enough(self) -> bool:
        """Whether nothing more comes of an answer that has words: an ear that hears somebody ends by its own rules."""
        if not self.said.text or self._heard or self._company.busy:
            return False
        return self._quiet >= self._manner.grace_s * RATE_HZ

    async def _ack(self) -> None:
        if self._unacked:
            self._unacked = 0
            await self._audience.broadcast(outbound.AudioAck(seq=self._last))

    # What is heard

    async def _follow(self, ear: Ear) -> AnswerEnded:
        async for event in ear.events():
            if isinstance(event, AnswerEnded):
                return event
            await self._tell(event)
        raise RuntimeError("an ear ended without a word")

    async def _tell(self, event: SpeechEvent) -> None:
        broadcast, base = self._audience.broadcast, self._base
        match event:
            case SpeechStarted():
                self._speaking = self._heard = True
                self.early = self.early or self._company.busy
                if not self.said.text:
                    self._forget(base + event.at - RATE_HZ)
                await broadcast(outbound.SpeechStarted(at_ms=ms(base + event.at)))
            case SpeechStopped():
                self._speaking = False
                await broadcast(outbound.SpeechStopped(at_ms=ms(base + event.at)))
            case PartialTranscript():
                before = f"{self.said.text} " if self.said.text else ""
                stable = len(before) + event.stable
                self.caption = outbound.TranscriptPartial(text=before + event.text, stable=stable)
                await broadcast(self.caption)
            case ProvisionalTranscript():
                self._company.guessed(self.turn_key, self.said.plus(event.text, event.words, base))
            case ProvisionalWithdrawn():
                self._company.withdrawn()
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
