"""Simulated respondents who speak over a WebSocket in real time and measure the server, which is another process.

A frame leaves when its last sample would have been recorded, 32 ms apart as a page sends them. A microphone never
stops: after the words comes the quiet room, until the words are understood.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Any, Self

import httpx
import numpy as np

from audio.endpoint import Patience, required_silence
from audio.types import RATE_HZ, ms
from tests.benchmarks.latency import begin
from tests.benchmarks.voice.corpus import ROOM_DBFS, Recording
from tests.benchmarks.voice.streaming import FRAME_S
from tests.support.client import Frame, RespondentClient, key
from tests.support.speech_sounds import at_dbfs, coloured, frames_of, samples_of

FRAME_SAMPLES = int(FRAME_S * RATE_HZ)
ROOM_S = 20.0
PATIENCE_S = 15.0
"""Seconds that a speaker waits after the last word."""


@dataclass(frozen=True)
class SpokenResult:
    """What happened to one spoken answer. Times in seconds after the true end of speech; None: it did not happen."""

    name: str
    said: str
    text: str
    speech_s: float
    """Length of the answer, first word to last."""
    final_s: float | None
    """Until its words were known."""
    question_s: float | None
    silence_s: float
    """The silence that the rules ask for after this text."""
    captions: int
    heard: tuple[str, ...] = ()
    """Everything the client was shown of this answer."""
    refused: str | None = None
    committed_s: float | None = None
    """Until it was an answer: later than `final_s` where it may be gone on with."""

    @property
    def cut_off(self) -> bool:
        """Whether the answer was ended in one of its own pauses."""
        return self.final_s is not None and self.final_s < 0

    @property
    def final_ms(self) -> float:
        """Milliseconds from the true end of speech to the final transcript, beyond the silence applied."""
        return float("nan") if self.final_s is None else (self.final_s - self.silence_s) * 1000

    @property
    def question_ms(self) -> float:
        """Milliseconds from the true end of speech to the first piece of the next question, beyond the silence."""
        return float("nan") if self.question_s is None else (self.question_s - self.silence_s) * 1000


@dataclass
class _Received:
    """The messages that were received during one answer, with their times."""

    frames: list[tuple[float, Frame]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def first(self, kind: str, *, since: float = 0.0, **fields: Any) -> tuple[float, Frame] | None:
        return next(iter(self._all(kind, since, fields)), None)

    def last(self, kind: str) -> tuple[float, Frame] | None:
        return next(reversed(self._all(kind, 0.0, {})), None)

    def _all(self, kind: str, since: float, fields: dict[str, Any]) -> list[tuple[float, Frame]]:
        return [
            (at, frame)
            for at, frame in self.frames
            if frame["type"] == kind and at >= since and all(frame.get(name) == fields[name] for name in fields)
        ]


class Speaker:
    """One respondent with a microphone, in one session at a time."""

    def __init__(self, url: str, http: httpx.AsyncClient, seed: int = 0, patience: Patience = "normal") -> None:
        self._url, self._http, self._patience = url, http, patience
        room = at_dbfs(coloured(np.random.default_rng(seed), ROOM_S, 1.0), ROOM_DBFS)
        self._room = samples_of(room)
        self._client: RespondentClient | None = None
        self._reader: asyncio.Task[None] | None = None
        self._group = asyncio.TaskGroup()
        self._received = _Received()
        self._seq = 0

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._leave()
        await self._group.__aexit__(None, None, None)

    async def answer(self, recording: Recording) -> SpokenResult:
        """Say one answer to the question that waits, and wait for the next question; a new session where need be."""
        if self._client is None:
            await self._enter()
        client = self._client
        assert client is not None
        self._received = received = _Received()
        turn_key, first_seq = key(), self._seq
        await client.audio_start(turn_key, first_seq=first_seq)
        begun = perf_counter()
        await self._speak(recording, begun, lambda: bool(received.first("transcript.final") or received.first("error")))
        end = begun + recording.speech_end / RATE_HZ
        await self._until(lambda: bool(received.first("turn.completed") or received.first("error")))
        return await self._outcome(recording, turn_key, end)

    async def _speak(self, recording: Recording, begun: float, understood: Callable[[], bool]) -> None:
        """Frames at their time, then the room, until the answer is understood or nobody ever will."""
        samples = samples_of(recording.sound)
        sound = np.concatenate([samples, np.resize(self._room, frames_of(PATIENCE_S))])
        for at in range(0, len(sound) - FRAME_SAMPLES, FRAME_SAMPLES):
            await asyncio.sleep(max(0.0, begun + (at + FRAME_SAMPLES) / RATE_HZ - perf_counter()))
            if understood():
                return
            pcm = sound[at : at + FRAME_SAMPLES].astype("<i2").tobytes()
            assert self._client is not None
            await self._client.raw(self._seq.to_bytes(4, "big") + pcm)
            self._seq += 1

    async def _outcome(self, recording: Recording, turn_key: str, end: float) -> SpokenResult:
        received = self._received
        final, error = received.first("transcript.final", turn_key=turn_key), received.first("error")
        # Where an answer may be gone on with, its words are known at its last ending, and the question follows that.
        known = received.last("answer.ending") or final
        delta = received.first("question.delta", since=known[0]) if known else None
        text = final[1]["text"] if final else ""
        speech = recording.speech_end - recording.speech_start
        completed = received.first("turn.completed")
        if error or completed is None or not completed[1]["result"]["should_continue"]:
            await self._leave()
        return SpokenResult(
            name=recording.name,
            said=recording.text,
            text=text,
            speech_s=speech / RATE_HZ,
            final_s=known[0] - end if final and known else None,
            question_s=delta[0] - end if final and delta else None,
            committed_s=final[0] - end if final else None,
            silence_s=self._silence_s(text, speech, [frame for _, frame in received.frames]),
            captions=sum(frame["type"] == "transcript.partial" for _, frame in received.frames),
            heard=tuple(frame["text"] for _, frame in received.frames if frame["type"].startswith("transcript.")),
            refused=error[1]["code"] if error else None,
        )

    def _silence_s(self, text: str, spoken: int, frames: list[Frame]) -> float:
        """The silence that the rules ask for after that text, or the longer one that was told of the last pause."""
        needed_ms = ms(required_silence(self._patience, text, language="en", spoken=spoken))
        kinds = [frame["type"] for frame in frames]
        last = max((n for n, kind in enumerate(kinds) if kind == "speech.started"), default=-1)
        told = [frame for frame in frames[last + 1 :] if frame["type"] == "speech.stopped" and frame["ends_ms"]]
        if len(told) > 1:
            needed_ms = max(needed_ms, told[-1]["at_ms"] + told[-1]["ends_ms"] - told[0]["at_ms"])
        return needed_ms / 1000

    async def _until(self, true: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not true():
                    self._received.changed.clear()
                    await self._received.changed.wait()
        except TimeoutError:
            return

    async def _enter(self) -> None:
        self._client = await begin(self._url, self._http)
        self._seq = 0
        self._reader = self._group.create_task(self._read(self._client))

    async def _leave(self) -> None:
        client, reader = self._client, self._reader
        self._client = self._reader = None
        if client is not None and reader is not None:
            reader.cancel()
            await client.__aexit__(None, None, None)

    async def _read(self, client: RespondentClient) -> None:
        async for data in client.socket:
            self._received.frames.append((perf_counter(), json.loads(data)))
            self._received.changed.set()


@asynccontextmanager
async def visiting(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """An HTTP client, for creating sessions."""
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:
        yield http
