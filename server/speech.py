"""Speech on this node: the transcriber and the voice activity, loaded once, shared by all sessions, and measured."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol, Self

import numpy as np
import structlog

from audio.admission import TranscriberLoad
from audio.endpoint import ONSET_FRAMES, SPEECH_ON
from audio.errors import ModelMissing, TranscriberDropped
from audio.types import Purpose, Samples, Transcriber, Transcript
from config.settings import Settings
from config.speech import NO_MODEL
from pipeline.concept import SessionConfiguration
from server.metrics import Metrics
from server.session.problems import SessionProblem
from server.session.voice import Ear, Hearing, Speculate

if TYPE_CHECKING:
    from audio.vad import VoiceActivityDetector

log = structlog.get_logger("askwell.speech")

MOST_WORKERS: Final = 4
VAD_THREADS: Final = 2
DECODINGS: Final = 2


class Recogniser(Protocol):
    """What turns speech into words, as `audio.whisper.WhisperTranscriber` does."""

    @property
    def model_id(self) -> str:
        """Identifies model, precision and device."""
        ...

    @property
    def languages(self) -> frozenset[str] | None:
        """Two-letter codes of what can be understood; None: anything."""
        ...

    def current_load(self) -> TranscriberLoad:
        """How busy it is."""
        ...

    def for_session(self, session: Hashable) -> Transcriber:
        """The transcriber of one session."""
        ...

    async def aclose(self) -> None:
        """Refuse what waits, and return when nothing runs any more."""
        ...


@dataclass(frozen=True)
class Heard:
    """What listening needs: who recognises words and who recognises voices."""

    recogniser: Recogniser
    activity: VoiceActivityDetector


LoadSpeech = Callable[[Settings], Awaitable[Heard | None]]
"""Loads what the settings ask for; None where speech is not wanted. Raises ModelMissing."""


def workers(settings: Settings) -> int:
    """Transcriptions at the same time."""
    return settings.speech.whisper_workers or max(1, min(MOST_WORKERS, os.cpu_count() or 1))


async def load_heard(settings: Settings) -> Heard | None:
    """The speech model of the settings, warm. Raises ModelMissing."""
    if settings.speech.whisper_model == NO_MODEL:
        return None
    return await asyncio.to_thread(_load, settings)


def _load(settings: Settings) -> Heard:
    # Imported here: it takes seconds that commands without speech should not spend.
    try:
        from audio.models import find_model
        from audio.vad import SileroDetector
        from audio.whisper import WhisperTranscriber
    except ImportError as exc:
        raise ModelMissing(f"the package {exc.name} is not installed") from exc
    speech = settings.speech
    model = find_model(speech.whisper_model, download=speech.whisper_download)
    activity = SileroDetector()
    return Heard(WhisperTranscriber.load(model, workers=workers(settings), compute=speech.whisper_compute), activity)


class Speech:
    """Implements `server.session.voice.Voice`.

    Args:
        settings: of the process.
        metrics: told what is heard.
        heard: what was loaded; None where nothing is.
        executor: threads for the voice activity.
        missing: why nothing is loaded.
    """

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        heard: Heard | None,
        executor: Executor | None = None,
        *,
        missing: str = "",
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._heard = heard
        self._executor = executor
        self._missing = missing
        self.decoding = asyncio.Semaphore(DECODINGS)
        """Held while a recording is decoded: each takes memory for all of it."""

    @property
    def line(self) -> str:
        """What speech is understood by, for the person who started the process."""
        if self._heard is None:
            return f"none: answers are typed{f' ({self._missing})' if self._missing else ''}"
        return f"{self._heard.recogniser.model_id}, {workers(self._settings)} at a time, on this machine"

    def unavailable(self, language: str) -> str | None:
        """The wire code of why speech in that language is never understood here; None if it is."""
        if self._heard is None:
            return "transcriber_unavailable"
        known = self._heard.recogniser.languages
        return "language_unsupported" if known is not None and _primary(language) not in known else None

    def check(self, language: str) -> None:
        """Whether one more answer can be listened to now; see `Voice.check`."""
        code = self.unavailable(language)
        if code == "language_unsupported":
            raise SessionProblem("language_unsupported", "Speech in this language can't be understood here.")
        if self._heard is None:
            raise SessionProblem("transcriber_unavailable")
        if self._heard.recogniser.current_load().backlog_s > self._settings.speech.max_speech_wait_s:
            self._metrics.speech_refused.inc()
            raise SessionProblem(
                "too_many_sessions", "Too many people are speaking at the moment. Please type, or try again shortly."
            )

    def open(self, hearing: Hearing) -> Ear:
        """Begin to listen. Raises SessionProblem `transcriber_unavailable`."""
        from audio.speech import SpeechStream

        if self._heard is None:
            raise SessionProblem("transcriber_unavailable")
        transcriber = _Measured(self._heard.recogniser.for_session(hearing.session_id), self._metrics)
        stream = SpeechStream(
            transcriber,
            self._heard.activity,
            language=_primary(hearing.language),
            patience=hearing.patience,
            max_answer_s=hearing.max_answer_s,
            partial_every_ms=self._settings.speech.partial_every_ms if hearing.live else 0,
            is_recording=not hearing.live,
            speculate=hearing.live and self._settings.speech.speculate != "off",
            executor=self._executor,
        )
        return _Counted(stream, self._metrics)

    async def voiced(self, pcm: bytes) -> bool:
        """Whether somebody speaks in these samples."""
        if self._heard is None:
            return False
        stream = self._heard.activity.open()
        samples = np.frombuffer(pcm, "<i2").astype(np.int16)
        probabilities = await asyncio.get_running_loop().run_in_executor(self._executor, stream.push, samples)
        return int((probabilities >= SPEECH_ON).sum()) >= ONSET_FRAMES

    def speculates(self, configuration: SessionConfiguration) -> Speculate:
        """How far the work runs ahead in such a session."""
        wish = self._settings.speech.speculate
        if wish != "auto":
            return wish
        return "transcript" if configuration.prompts else "turn"


def _primary(language: str) -> str:
    """The first part of a language tag, which is what speech models know: `en` of `en-GB`."""
    return language.partition("-")[0].lower()


class _Measured:
    """A transcriber whose work is counted."""

    def __init__(self, inner: Transcriber, metrics: Metrics) -> None:
        self._inner = inner
        self._metrics = metrics

    async def transcribe(self, samples: Samples, *, language: str, purpose: Purpose, offset: int = 0) -> Transcript:
        began = time.perf_counter()
        try:
            found = await self._inner.transcribe(samples, language=language, purpose=purpose, offset=offset)
        except TranscriberDropped:
            self._metrics.speech_dropped.labels(purpose).inc()
            raise
        self._metrics.speech_decode_ms.labels(purpose).observe((time.perf_counter() - began) * 1000.0)
        return found


class _Counted:
    """An ear that is counted while it listens."""

    def __init__(self, inner: Ear, metrics: Metrics) -> None:
        self._inner = inner
        self._gauge = metrics.speech_streams
        self.feed = inner.feed
        self.events = inner.events
        self.stop = inner.stop
        self.hold = inner.hold
        self.set_patience = inner.set_patience
        self.leftover = inner.leftover

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        self._gauge.inc()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gauge.dec()
        await self._inner.__aexit__(kind, exc, trace)


@asynccontextmanager
async def open_speech(
    settings: Settings, metrics: Metrics, *, load: LoadSpeech = load_heard, say: Callable[[str], None]
) -> AsyncIterator[Speech]:
    """Speech for as long as the block runs. A model that is missing is no failure: answers are typed then.

    Args:
        settings: of the process.
        metrics: told what is heard.
        load: loads the models.
        say: told what is being done.
    """
    began = time.perf_counter()
    if settings.speech.whisper_model != NO_MODEL:
        say(f"loading the speech model {settings.speech.whisper_model}")
    try:
        heard, missing = await load(settings), ""
    except ModelMissing as exc:
        log.warning("speech.model_missing", model=settings.speech.whisper_model, reason=str(exc))
        heard, missing = None, str(exc)
    if heard is not None:
        say(f"the speech model is warm after {time.perf_counter() - began:.1f} s")
        metrics.watch_speech(heard.recogniser.current_load)
    with ThreadPoolExecutor(VAD_THREADS, thread_name_prefix="voice") as executor:
        try:
            yield Speech(settings, metrics, heard, executor, missing=missing)
        finally:
            if heard is not None:
                await heard.recogniser.aclose()
