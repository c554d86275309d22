"""One answer from a live stream: samples in, speech events out; runs the voice activity and the transcriber.

    async with SpeechStream(transcriber, activity, language="en") as stream:
        async for event in stream.events():     # ends after `Ended`, or when the stream is closed
            ...

`feed`, `stop`, `hold`, `set_patience` and `aclose` may be called from other tasks; they take effect in the
order of their calls. All rules are in `audio.machine`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from concurrent.futures import Executor
from types import TracebackType
from typing import Any, Self

import numpy as np

from audio.endpoint import Patience
from audio.errors import AudioError, AudioFormat, AudioTooLong
from audio.machine import SpeechMachine
from audio.types import RATE_HZ, Ended, Heard, Purpose, Samples, SpeechEvent, Transcriber
from audio.vad import VoiceActivity
from audio.wishes import DecodeDropped, DecodeWanted, Output

DEADLINES_S: Mapping[Purpose, float] = {"partial": 10.0, "guess": 20.0, "final": 20.0, "recording": 600.0}
"""After so long a transcription counts as failed."""
BACKLOG_SAMPLES = 30 * RATE_HZ
"""Audio that may wait for words before `feed` waits."""
UNREAD_WINDOWS = 3
"""Windows that may be in reading before `feed` waits: audio may come faster than it is understood."""
MOST_EVENTS = 256
"""Events nobody has taken before `feed` waits."""
LEFTOVER_SAMPLES = 60 * RATE_HZ
"""Audio that is kept for the next answer."""


class SpeechStream:
    """One answer.

    Args:
        transcriber: speech → words.
        voice_activity: shared by all streams.
        language: two-letter code.
        patience: how long a silence ends the answer.
        max_answer_s: longest answer in seconds from its first speech; None for no limit.
        partial_every_ms: speech between captions; 0 for none.
        whole: it is a whole recording: its transcriptions come after those of people who wait.
        ahead: whether a pause is read at once, while it is not certain that the answer is over; else when it may be.
        executor: threads for the voice activity; None for the event loop's own.
        deadlines_s: how long a transcription may take, the wait for its turn included.
    """

    def __init__(
        self,
        transcriber: Transcriber,
        voice_activity: VoiceActivity,
        *,
        language: str = "en",
        patience: Patience = "normal",
        max_answer_s: float | None = 300,
        partial_every_ms: int = 1000,
        whole: bool = False,
        ahead: bool = True,
        executor: Executor | None = None,
        deadlines_s: Mapping[Purpose, float] = DEADLINES_S,
    ) -> None:
        self._transcriber = transcriber
        self._voice = voice_activity.open()
        self._language = language
        self._whole = whole
        self._ahead = ahead
        self._executor = executor
        self._deadlines_s = deadlines_s
        self._machine = SpeechMachine(
            language=language,
            patience=patience,
            max_answer_s=max_answer_s,
            partial_every_ms=partial_every_ms,
        )
        self._group = asyncio.TaskGroup()
        self._entered = False
        self._closed = False
        self._turn = asyncio.Lock()
        self._decodes: dict[int, asyncio.Task[None]] = {}
        self._put_off: dict[int, DecodeWanted] = {}
        self._events: deque[SpeechEvent] = deque()
        self._news = asyncio.Event()
        self._room = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
        if isinstance(exc, Exception):
            await self._group.__aexit__(None, None, None)
        else:
            await self._group.__aexit__(kind, exc, trace)

    # -- what is known

    @property
    def ended(self) -> bool:
        """Whether the answer is over; its `Ended` may still wait in `events`."""
        return self._machine.ended

    def leftover(self) -> bytes:
        """After `Ended`: the audio taken beyond the end, to feed the next answer's stream first."""
        return self._machine.leftover().astype("<i2").tobytes()

    async def events(self) -> AsyncIterator[SpeechEvent]:
        """What happens, in order, up to and including `Ended`; for one reader.

        Of captions that were not taken in time only the latest is kept, of other events all.
        """
        while True:
            while self._events:
                event = self._events.popleft()
                self._room.set()
                yield event
                if isinstance(event, Ended):
                    return
            if self._closed:
                return
            self._news.clear()
            await self._news.wait()

    # -- what happens to it

    async def feed(self, pcm: bytes) -> None:
        """Take audio: 16-bit little-endian mono at RATE_HZ, any length, in order.

        Waits while too much is unread or untaken. Whoever cancels it may go on feeding after: nothing is taken by half.

        Raises:
            AudioFormat: half a sample.
            AudioTooLong: the answer is over, and there is more after it than is kept.
        """
        if len(pcm) % 2:
            raise AudioFormat(f"{len(pcm)} bytes are no whole number of samples")
        if self._machine.ended and len(self._machine.leftover()) > LEFTOVER_SAMPLES:
            raise AudioTooLong("The answer is over, and too much was said since")
        await self._in_turn(self._feed(np.frombuffer(pcm, "<i2").astype(np.int16)))

    async def stop(self) -> None:
        """The audio ends here: what was said is read to its end, then comes `Ended` (reason "stop")."""
        await self._in_turn(self._do_stop())

    async def hold(self, seconds: float) -> None:
        """Take your time: no silence ends the answer within so many seconds of audio from here."""
        await self._in_turn(self._do_hold(int(seconds * RATE_HZ)))

    async def set_patience(self, patience: Patience) -> None:
        """From here on another patience."""
        await self._in_turn(self._do_set_patience(patience))

    async def aclose(self) -> None:
        """Let go of everything; `events` ends after what has happened."""
        self._closed = True
        for task in self._decodes.values():
            task.cancel()
        self._news.set()
        self._room.set()

    # -- inside

    async def _in_turn(self, step: Coroutine[Any, Any, None]) -> None:
        if not self._entered or self._closed:
            step.close()
            raise RuntimeError("the stream is not open")
        try:
            task = self._group.create_task(step)
        except RuntimeError:
            # A defect in the transcriber has ended the group.
            step.close()
            raise
        await asyncio.shield(task)

    async def _feed(self, samples: Samples) -> None:
        async with self._turn:
            while self._crowded() and not self._closed:
                self._room.clear()
                await self._room.wait()
            if self._closed:
                return
            if self._machine.closed:
                self._machine.feed(samples, ())
                return
            loop = asyncio.get_running_loop()
            probabilities = await loop.run_in_executor(self._executor, self._voice.push, samples)
            self._apply(self._machine.feed(samples, probabilities))

    async def _do_stop(self) -> None:
        async with self._turn:
            self._apply(self._machine.done())

    async def _do_hold(self, samples: int) -> None:
        async with self._turn:
            self._apply(self._machine.hold(samples))

    async def _do_set_patience(self, patience: Patience) -> None:
        async with self._turn:
            self._apply(self._machine.set_patience(patience))

    def _crowded(self) -> bool:
        return (
            self._machine.backlog > BACKLOG_SAMPLES
            or self._machine.unread >= UNREAD_WINDOWS
            or len(self._events) >= MOST_EVENTS
        )

    def _apply(self, outputs: Sequence[Output]) -> None:
        if self._closed:
            return
        for output in outputs:
            if isinstance(output, DecodeWanted):
                self._put_off[output.decode_id] = output
            elif isinstance(output, DecodeDropped):
                self._put_off.pop(output.decode_id, None)
                task = self._decodes.pop(output.decode_id, None)
                if task is not None:
                    task.cancel()
            else:
                self._tell(output)
        for wanted in list(self._put_off.values()):
            if self._ahead or wanted.purpose != "guess" or self._machine.pressing:
                del self._put_off[wanted.decode_id]
                self._decodes[wanted.decode_id] = self._group.create_task(self._decode(wanted))
        self._room.set()

    def _tell(self, event: SpeechEvent) -> None:
        if isinstance(event, Heard) and self._events and isinstance(self._events[-1], Heard):
            self._events.pop()
        self._events.append(event)
        self._news.set()

    async def _decode(self, wanted: DecodeWanted) -> None:
        purpose: Purpose = "recording" if self._whole else wanted.purpose
        deadline_s = self._deadlines_s[purpose]
        try:
            async with asyncio.timeout(deadline_s):
                transcript = await self._transcriber.transcribe(
                    wanted.samples,
                    language=self._language,
                    purpose=purpose,
                    offset=wanted.offset,
                )
        except TimeoutError:
            outputs = self._machine.failed(wanted.decode_id, f"no words within {deadline_s:g} s")
        except AudioError as exc:
            outputs = self._machine.failed(wanted.decode_id, str(exc) or type(exc).__name__)
        else:
            outputs = self._machine.decoded(wanted.decode_id, transcript)
        self._decodes.pop(wanted.decode_id, None)
        self._apply(outputs)
