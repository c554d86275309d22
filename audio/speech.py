"""One answer from an audio stream: runs voice activity detection, the state machine and the transcriber.

    async with SpeechStream(transcriber, detector, language="en") as stream:
        async for event in stream.events():     # ends after `AnswerEnded`, or when the stream is closed
            ...

`feed`, `stop`, `hold`, `set_patience` and `aclose` may be called from other tasks; they take effect in the order of
their calls. All rules are in `audio.machine`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import numpy as np

from audio.answer_sound import AnswerSound
from audio.endpoint import Patience
from audio.errors import AudioError, AudioFormat, AudioTooLong
from audio.machine import SpeechMachine
from audio.outputs import JudgementRequested, MachineOutput, TranscriptionCancelled, TranscriptionRequested
from audio.turn_detector import TurnDetector
from audio.types import RATE_HZ, AnswerEnded, PartialTranscript, Purpose, Samples, SpeechEvent, Transcriber
from audio.vad import VoiceActivityDetector

DEADLINES_S: Mapping[Purpose, float] = {"partial": 10.0, "guess": 20.0, "final": 20.0, "recording": 600.0}
"""Time after which a transcription counts as failed."""
JUDGEMENT_DEADLINE_S = 10.0
"""Time after which a silence counts without a judgement by the sound."""
MAX_QUEUED_SAMPLES = 30 * RATE_HZ
"""With more samples in the queue of the state machine, `feed` waits."""
MAX_UNFINISHED_WINDOWS = 3
"""With this many unfinished windows, `feed` waits: audio arrives faster than it is transcribed."""
MAX_EVENTS = 256
"""With this many events that were not taken, `feed` waits."""
MAX_LEFTOVER_SAMPLES = 60 * RATE_HZ
"""Most samples after the end of the answer that are accepted for the next one, before `feed` fails."""


class SpeechStream:
    """The stream of one answer, an asynchronous context manager.

    Args:
        transcriber: turns speech into words.
        detector: voice activity detection, shared by all streams.
        language: two-letter code.
        patience: how long a silence must be to end the answer.
        more_ms: how much longer than that, in milliseconds.
        max_answer_s: length of the longest answer, in seconds from its first speech; None for no limit.
        partial_every_ms: milliseconds of speech between partial transcripts; 0 for none.
        is_recording: whether this is an uploaded recording, whose transcriptions yield to those of live speakers.
        speculate: whether every pause is transcribed at once, or only silences that may be the end of the answer.
        turns: judges by the sound whether somebody has finished, shared by all streams; None: by silence and text.
        keep_sound: whether the sound of the whole answer is kept, in `sound`.
        executor: threads for voice activity and turn detection; None for the event loop's own.
        deadlines_s: how long a transcription of each purpose may take, in seconds, including the wait for a worker.
    """

    def __init__(
        self,
        transcriber: Transcriber,
        detector: VoiceActivityDetector,
        *,
        language: str = "en",
        patience: Patience = "normal",
        more_ms: int = 0,
        max_answer_s: float | None = 300,
        partial_every_ms: int = 1000,
        is_recording: bool = False,
        speculate: bool = True,
        turns: TurnDetector | None = None,
        keep_sound: bool = False,
        executor: Executor | None = None,
        deadlines_s: Mapping[Purpose, float] = DEADLINES_S,
    ) -> None:
        self._transcriber = transcriber
        self._detection = detector.open()
        self._language = language
        self._is_recording = is_recording
        self._speculate = speculate
        self._turns = turns
        self._executor = executor
        self._deadlines_s = deadlines_s
        self._machine = SpeechMachine(
            language=language,
            patience=patience,
            more_ms=more_ms,
            max_answer_s=max_answer_s,
            partial_every_ms=partial_every_ms,
            by_sound=turns is not None,
            keep_sound=keep_sound,
        )
        self._group = asyncio.TaskGroup()
        self._entered = False
        self._closed = False
        self._lock = asyncio.Lock()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._deferred: dict[int, TranscriptionRequested] = {}
        self._events: deque[SpeechEvent] = deque()
        self._event_added = asyncio.Event()
        self._capacity_changed = asyncio.Event()

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

    # -- state

    @property
    def ended(self) -> bool:
        """Whether the answer is over; its `AnswerEnded` may still wait in `events`."""
        return self._machine.ended

    @property
    def sound(self) -> AnswerSound | None:
        """The sound of the answer so far; None if it is not kept."""
        return self._machine.sound

    def leftover(self) -> bytes:
        """After `AnswerEnded`: the audio after the end, which is to be fed first to the stream of the next answer."""
        return self._machine.leftover().astype("<i2").tobytes()

    async def events(self) -> AsyncIterator[SpeechEvent]:
        """The events, in order, up to and including `AnswerEnded`, or until the stream is closed; for one reader.

        Of successive partial transcripts that were not taken yet only the latest is kept.
        """
        while True:
            while self._events:
                event = self._events.popleft()
                self._capacity_changed.set()
                yield event
                if isinstance(event, AnswerEnded):
                    return
            if self._closed:
                return
            self._event_added.clear()
            await self._event_added.wait()

    # -- inputs

    async def feed(self, pcm: bytes) -> None:
        """Add audio: 16-bit little-endian mono at RATE_HZ, any length, in order.

        Waits while too much is not transcribed, or too many events were not taken. If this call is cancelled, the
        audio is still added as a whole, and more may be fed.

        Raises:
            AudioFormat: not a whole number of samples.
            AudioTooLong: the answer is over, and more than MAX_LEFTOVER_SAMPLES follow it.
            RuntimeError: the stream is not open.
        """
        if len(pcm) % 2:
            raise AudioFormat(f"{len(pcm)} bytes are no whole number of samples")
        if self._machine.ended and len(self._machine.leftover()) > MAX_LEFTOVER_SAMPLES:
            raise AudioTooLong("The answer is over, and too much was said since")
        await self._run_in_order(self._feed(np.frombuffer(pcm, "<i2").astype(np.int16)))

    async def stop(self) -> None:
        """End the answer here: once all of it is transcribed, `AnswerEnded` follows, with the reason "stop"."""
        await self._run_in_order(self._do_stop())

    async def hold(self, seconds: float) -> None:
        """No silence ends the answer within this many seconds of audio from here."""
        await self._run_in_order(self._do_hold(int(seconds * RATE_HZ)))

    async def set_patience(self, patience: Patience) -> None:
        """Change the patience from here on."""
        await self._run_in_order(self._do_set_patience(patience))

    async def aclose(self) -> None:
        """Cancel all transcriptions; `events` ends after the events so far."""
        self._closed = True
        for task in self._tasks.values():
            task.cancel()
        self._event_added.set()
        self._capacity_changed.set()

    # -- inside

    async def _run_in_order(self, step: Coroutine[Any, Any, None]) -> None:
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
        async with self._lock:
            while self._is_behind() and not self._closed:
                self._capacity_changed.clear()
                await self._capacity_changed.wait()
            if self._closed:
                return
            if self._machine.closed:
                self._machine.feed(samples, ())
                return
            loop = asyncio.get_running_loop()
            probabilities = await loop.run_in_executor(self._executor, self._detection.push, samples)
            self._apply(self._machine.feed(samples, probabilities))

    async def _do_stop(self) -> None:
        async with self._lock:
            self._apply(self._machine.stop())

    async def _do_hold(self, samples: int) -> None:
        async with self._lock:
            self._apply(self._machine.hold(samples))

    async def _do_set_patience(self, patience: Patience) -> None:
        async with self._lock:
            self._apply(self._machine.set_patience(patience))

    def _is_behind(self) -> bool:
        return (
            self._machine.queued_samples > MAX_QUEUED_SAMPLES
            or self._machine.unfinished_windows >= MAX_UNFINISHED_WINDOWS
            or len(self._events) >= MAX_EVENTS
        )

    def _apply(self, outputs: Sequence[MachineOutput]) -> None:
        if self._closed:
            return
        for output in outputs:
            if isinstance(output, TranscriptionRequested):
                self._deferred[output.request_id] = output
            elif isinstance(output, TranscriptionCancelled):
                self._deferred.pop(output.request_id, None)
                task = self._tasks.pop(output.request_id, None)
                if task is not None:
                    task.cancel()
            elif isinstance(output, JudgementRequested):
                self._group.create_task(self._judge(output))
            else:
                self._emit(output)
        for request in list(self._deferred.values()):
            if self._speculate or request.purpose != "guess" or self._machine.needs_provisional:
                del self._deferred[request.request_id]
                self._tasks[request.request_id] = self._group.create_task(self._transcribe(request))
        self._capacity_changed.set()

    def _emit(self, event: SpeechEvent) -> None:
        if isinstance(event, PartialTranscript) and self._events and isinstance(self._events[-1], PartialTranscript):
            self._events.pop()
        self._events.append(event)
        self._event_added.set()

    async def _transcribe(self, request: TranscriptionRequested) -> None:
        purpose: Purpose = "recording" if self._is_recording else request.purpose
        deadline_s = self._deadlines_s[purpose]
        try:
            async with asyncio.timeout(deadline_s):
                transcript = await self._transcriber.transcribe(
                    request.samples,
                    language=self._language,
                    purpose=purpose,
                    offset=request.offset,
                )
        except TimeoutError:
            outputs = self._machine.failed(request.request_id, f"no words within {deadline_s:g} s")
        except AudioError as exc:
            outputs = self._machine.failed(request.request_id, str(exc) or type(exc).__name__)
        else:
            outputs = self._machine.transcribed(request.request_id, transcript)
        self._tasks.pop(request.request_id, None)
        self._apply(outputs)

    async def _judge(self, request: JudgementRequested) -> None:
        """Judge by the sound whether its speaker has finished; where that fails or takes too long, silence decides."""
        finished: float | None = None
        if self._turns is not None:
            judge = asyncio.get_running_loop().run_in_executor(self._executor, self._turns.finished, request.samples)
            with suppress(AudioError, TimeoutError):
                async with asyncio.timeout(JUDGEMENT_DEADLINE_S):
                    finished = await judge
        self._apply(self._machine.judged(request.request_id, finished))
