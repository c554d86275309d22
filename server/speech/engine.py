"""Speech on this node: the transcriber and the voice activity, loaded once, shared by all sessions, and measured."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import numpy as np
import structlog

from audio.admission import TranscriberLoad
from audio.endpoint import ONSET_FRAMES, SPEECH_ON
from audio.errors import DetectorFailed, ModelMissing, TranscriberDropped
from audio.second_reading import read_pieces
from audio.types import Purpose, Samples, Transcriber, Transcript, Word
from config.settings import Settings
from config.speech import NO_MODEL
from pipeline.concept import Patience, SessionConfiguration
from server.metrics import Metrics
from server.session.problems import SessionProblem
from server.speech.arrivals import Arrivals
from server.speech.decoders import Decoders
from server.speech.second_reading import SecondReading
from server.speech.transcript import SpokenTranscript

if TYPE_CHECKING:
    from audio.answer_sound import AnswerSound
    from audio.speech import SpeechStream
    from audio.turn_detector import TurnDetector
    from audio.vad import VoiceActivityDetector

log = structlog.get_logger("askwell.speech")

MOST_WORKERS: Final = 4
VOICE_THREADS: Final = 3
"""For voice activity, of which a frame takes less than a millisecond, and turn detection, some 50 ms for a pause."""
DECODINGS: Final = 2


class Recogniser(Protocol):
    """Turns speech into words; `audio.whisper.WhisperTranscriber` is the one of the product."""

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
class SpeechModels:
    """The models of a process: for words, for voice activity, and for whether somebody has finished."""

    recogniser: Recogniser
    activity: VoiceActivityDetector
    unverified: str = ""
    """The speech model, where its files have no digests in the table of artefacts."""
    turns: TurnDetector | None = None
    """None: silence and words alone tell when an answer is over."""
    turns_missing: str = ""
    """Why there is no turn detector although one is wanted."""


Loaded = tuple[SpeechModels | None, str, float]
"""Models, or why there are none, and after how many seconds."""

LoadSpeech = Callable[[Settings], Awaitable[SpeechModels | None]]
"""Loads what the settings ask for; None where speech is not wanted. Raises ModelMissing."""


def workers(settings: Settings) -> int:
    """Transcriptions at the same time."""
    return settings.speech.whisper_workers or max(1, min(MOST_WORKERS, os.cpu_count() or 1))


async def load_models(settings: Settings) -> SpeechModels | None:
    """The speech model of the settings, warm. Raises ModelMissing."""
    if settings.speech.whisper_model == NO_MODEL:
        return None
    return await asyncio.to_thread(_load, settings)


def _load(settings: Settings) -> SpeechModels:
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
    recogniser = WhisperTranscriber.load(
        model, workers=workers(settings), compute=speech.whisper_compute, read_again=speech.second_reading
    )
    turns, missing = _turn_detector() if speech.turn_detector else (None, "")
    unverified = "" if model.verified else f"the speech model at {model.path}"
    return SpeechModels(recogniser, activity, unverified, turns, missing)


def _turn_detector() -> tuple[TurnDetector | None, str]:
    """The turn detector, warm, or why there is none: speech goes on without it."""
    from audio.turn_detector import SmartTurn

    try:
        detector = SmartTurn()
        detector.finished(np.zeros(0, np.int16))
    except (ModelMissing, DetectorFailed) as exc:
        log.warning("speech.turn_detector_missing", reason=str(exc))
        return None, str(exc)
    return detector, ""


Speculate = Literal["off", "transcript", "turn"]
"""How far work runs ahead of the certain end of an answer: not at all, to its transcript, to the decision on it."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How one answer is listened to.

    Args:
        session_id: whose answer it is.
        language: two-letter code.
        patience: how long a pause may be.
        max_answer_s: the longest answer, in seconds; None for no limit.
        live: whether somebody is speaking, and sees captions; else it is a whole recording.
        more_ms: what pauses may be longer than the patience says, in milliseconds.
    """

    session_id: str
    language: str
    patience: Patience
    max_answer_s: float | None
    live: bool = True
    more_ms: int = 0


class Speech:
    """Speech recognition of one process.

    Args:
        settings: of the process.
        metrics: of the process.
        models: what was loaded; None where nothing is.
        executor: threads for the voice activity.
        missing: why nothing is loaded.
    """

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        models: SpeechModels | None,
        executor: Executor | None = None,
        *,
        missing: str = "",
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._models = models
        self._executor = executor
        self._missing = missing
        speech = settings.speech
        self.decoders = Decoders(
            at_once=DECODINGS, max_bytes=speech.max_decode_bytes, deadline_s=speech.decode_deadline_s
        )
        """Decode whole recordings."""
        self.arrivals = Arrivals(
            most_per_address=speech.max_uploads_per_address,
            most_bytes=max(speech.max_uploads_bytes, speech.max_audio_bytes),
        )
        """The recordings that are being sent."""

    @property
    def line(self) -> str:
        """Which model recognises speech, for the person who started the process."""
        if self._models is None:
            return f"none: answers are typed{f' ({self._missing})' if self._missing else ''}"
        line = f"{self._models.recogniser.model_id}, {workers(self._settings)} at a time, on this machine"
        missing = self._models.turns_missing
        return f"{line}; silence and words alone end answers: {missing}" if missing else line

    @property
    def turns_missing(self) -> str:
        """Why there is no turn detector although one is wanted; empty where nothing is wrong."""
        return "" if self._models is None else self._models.turns_missing

    @property
    def unverified(self) -> tuple[str, ...]:
        """Models whose files have no digests in the table of artefacts."""
        return (self._models.unverified,) if self._models is not None and self._models.unverified else ()

    def unavailable(self, language: str) -> str | None:
        """The wire code of why speech in that language is never recognised here; None if it is."""
        if self._models is None:
            return "transcriber_unavailable"
        known = self._models.recogniser.languages
        return "language_unsupported" if known is not None and _primary(language) not in known else None

    def check(self, language: str, *, goes_on: bool = False) -> None:
        """Refuse one more answer in that language that can't be listened to now.

        Args:
            language: two-letter code, or a tag that begins with one.
            goes_on: its speaker has been listened to until now, and is not refused because of the load.

        Raises:
            SessionProblem: `transcriber_unavailable`, `language_unsupported`, `too_many_sessions`.
        """
        code = self.unavailable(language)
        if code == "language_unsupported":
            raise SessionProblem("language_unsupported", "Speech in this language can't be understood here.")
        if self._models is None:
            raise SessionProblem("transcriber_unavailable")
        if not goes_on and self._models.recogniser.current_load().backlog_s > self._settings.speech.max_speech_wait_s:
            self._metrics.speech_refused.inc()
            raise SessionProblem(
                "too_many_sessions", "Too many people are speaking at the moment. Please type, or try again shortly."
            )

    def open(self, options: StreamOptions) -> SpeechStream:
        """A stream for one answer. Raises SessionProblem `transcriber_unavailable`."""
        # Imported here: it loads what commands without speech should not spend time on.
        from server.speech.stream import CountedStream

        if self._models is None:
            raise SessionProblem("transcriber_unavailable")
        turns = self._models.turns
        transcriber = _MeasuredTranscriber(self._models.recogniser.for_session(options.session_id), self._metrics)
        return CountedStream(
            transcriber,
            self._models.activity,
            language=_primary(options.language),
            patience=options.patience,
            more_ms=options.more_ms,
            max_answer_s=options.max_answer_s,
            partial_every_ms=self._settings.speech.partial_every_ms if options.live else 0,
            is_recording=not options.live,
            speculate=options.live and self._settings.speech.speculate != "off",
            turns=_MeasuredDetector(turns, self._metrics) if turns is not None and options.live else None,
            keep_sound=options.live and self.reads_again,
            executor=self._executor,
            gauge=self._metrics.speech_streams,
        )

    @property
    def reads_again(self) -> bool:
        """Whether answers are read once more when they are over."""
        return self._settings.speech.second_reading

    def second_reading(
        self, session_id: str, language: str, first: SpokenTranscript, sound: AnswerSound
    ) -> SecondReading | None:
        """A second reading of an answer; None where it would be the first one again, or can't be made.

        Args:
            session_id: whose answer it is.
            language: two-letter code, or a tag that begins with one.
            first: the answer as it was understood.
            sound: of the answer.
        """
        pieces = None if sound.is_whole or not self.reads_again else sound.pieces()
        if self._models is None or not pieces:
            return None
        transcriber = _MeasuredTranscriber(self._models.recogniser.for_session(session_id), self._metrics)
        spoken = _primary(language)

        def read() -> Coroutine[Any, Any, tuple[Word, ...]]:
            return read_pieces(transcriber, pieces, spoken)

        return SecondReading(first, spoken, read, lambda outcome: self._metrics.second_readings.labels(outcome).inc())

    async def voiced(self, pcm: bytes) -> bool:
        """Whether somebody speaks in these samples."""
        if self._models is None:
            return False
        stream = self._models.activity.open()
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


class _MeasuredTranscriber:
    """A transcriber whose work is measured."""

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


class _MeasuredDetector:
    """A turn detector whose work is measured, and whose failures are told."""

    def __init__(self, inner: TurnDetector, metrics: Metrics) -> None:
        self._inner = inner
        self._metrics = metrics

    def finished(self, samples: Samples) -> float:
        began = time.perf_counter()
        try:
            found = self._inner.finished(samples)
        except DetectorFailed as exc:
            self._metrics.speech_unjudged.inc()
            log.warning("speech.turn_detector_failed", reason=str(exc))
            raise
        self._metrics.speech_judge_ms.observe((time.perf_counter() - began) * 1000.0)
        return found


@asynccontextmanager
async def loading_speech(
    settings: Settings, *, load: LoadSpeech = load_models, say: Callable[[str], None]
) -> AsyncIterator[asyncio.Task[Loaded]]:
    """The speech model is being loaded, beside whatever else the block does.

    Args:
        settings: of the process.
        load: loads the models.
        say: told what is being done.
    """
    began = time.perf_counter()

    async def loaded() -> Loaded:
        try:
            return await load(settings), "", time.perf_counter() - began
        except ModelMissing as exc:
            log.warning("speech.model_missing", model=settings.speech.whisper_model, reason=str(exc))
            return None, str(exc), time.perf_counter() - began

    if settings.speech.whisper_model != NO_MODEL:
        say(f"loading the speech model {settings.speech.whisper_model}")
    async with asyncio.TaskGroup() as tasks:
        yield tasks.create_task(loaded(), name="speech model")


@asynccontextmanager
async def open_speech(
    settings: Settings, metrics: Metrics, *, loading: Awaitable[Loaded], say: Callable[[str], None]
) -> AsyncIterator[Speech]:
    """Speech for as long as the block runs. A model that is missing is no failure: answers are typed then.

    Args:
        settings: of the process.
        metrics: of the process.
        loading: the models, from `loading_speech`.
        say: told what is being done.
    """
    models, missing, took_s = await loading
    if models is not None:
        say(f"the speech model is warm after {took_s:.1f} s")
        metrics.watch_speech(models.recogniser.current_load)
    with ThreadPoolExecutor(VOICE_THREADS, thread_name_prefix="voice") as executor:
        speech = Speech(settings, metrics, models, executor, missing=missing)
        try:
            yield speech
        finally:
            await speech.decoders.aclose()
            if models is not None:
                await models.recogniser.aclose()
