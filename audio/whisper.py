"""Transcription by faster-whisper: one model in memory, worker threads of one CPU thread each, many sessions.

The encoder and the decoder are called directly, because the library itself always encodes 30 s, and here the encoder's
context is cut to the length of the audio. The calls are those of faster-whisper 1.2, whose minor version is pinned.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ctranslate2
import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_ctranslate2_storage, get_suppressed_tokens
from numpy.typing import NDArray

from audio.admission import AdmissionLimits, AdmissionQueue, Ticket, TranscriberLoad
from audio.decoding import (
    FULL_CONTEXT_S,
    DecodedText,
    DecodedWord,
    DecodingEngine,
    decode_filtered,
    join_word_pieces,
)
from audio.errors import ModelMissing, TranscriberDropped, TranscriberFailed, TranscriberUnavailable
from audio.models import SpeechModel
from audio.texts import UNSPACED_LANGUAGES
from audio.types import RATE_HZ, Purpose, Samples, Transcript

FRAMES_PER_S = 100
"""Mel frames per second of audio."""
MAX_TOKENS = 448
"""Most tokens that Whisper's decoder takes, prompt and text together."""
TIMESTAMP_STEP_S = 0.02
"""Unit of the model's timestamps, in seconds."""
MAX_INITIAL_TIMESTAMP = 50
"""Latest timestamp of the first sentence, in units of 20 ms; Whisper's own limit."""
TOKENS_PER_S = 12
"""Most tokens per second of audio. No speech has more, so decoding that reaches this limit is a repetition."""


class FasterWhisper:
    """A CTranslate2 Whisper model that `workers` threads may use at once."""

    def __init__(self, model: SpeechModel, *, workers: int, compute: str = "auto") -> None:
        """Load the model.

        Args:
            model: its name and directory.
            workers: number of calls that may run at once, one CPU thread each.
            compute: a CTranslate2 computation type; `auto` is int8 on a CPU and float16 on CUDA.
        Raises:
            ModelMissing: the files cannot be loaded.
        """
        device = "cuda" if ctranslate2.get_cuda_device_count() else "cpu"
        kind = compute if compute != "auto" else {"cpu": "int8", "cuda": "float16"}[device]
        try:
            self._whisper = WhisperModel(
                str(model.path),
                device=device,
                compute_type=kind,
                cpu_threads=1,
                num_workers=workers,
                local_files_only=True,
            )
        except (RuntimeError, ValueError, OSError) as exc:
            raise ModelMissing(f"The speech model at {model.path} can't be used: {exc}") from exc
        self._id = f"{model.model_id} {kind} on {device}"
        self._n_mels = self._whisper.model.n_mels
        self._tokenizers: dict[str, tuple[Tokenizer, list[int]]] = {}

    @property
    def model_id(self) -> str:
        """Identifies the model, its precision and the device."""
        return self._id

    @property
    def languages(self) -> frozenset[str] | None:
        """Two-letter codes of the languages that the model supports."""
        return frozenset(self._whisper.supported_languages)

    def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
        """As `DecodingEngine.decode`."""
        tokenizer, suppressed = self._tokenizer_for(language)
        features, frames = self._mel_features(audio, context_s)
        encoded = self._whisper.model.encode(get_ctranslate2_storage(features[None]))
        prompt = list(tokenizer.sot_sequence)
        result = self._whisper.model.generate(
            encoded,
            [prompt],
            beam_size=beam_size,
            patience=1,
            length_penalty=1,
            max_length=min(MAX_TOKENS, len(prompt) + 16 + TOKENS_PER_S * -(-frames // FRAMES_PER_S)),
            max_initial_timestamp_index=MAX_INITIAL_TIMESTAMP,
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=suppressed,
            sampling_temperature=0,
        )[0]
        written = result.sequences_ids[0]
        tokens = [token for token in written if token < tokenizer.eot]
        return DecodedText(
            text=tokenizer.decode(tokens).strip(),
            words=self._words(tokenizer, tokens, encoded, frames) if tokens else (),
            no_speech=float(result.no_speech_prob),
            avg_logprob=float(result.scores[0]) * len(written) / (len(written) + 1),
            stopped_at_s=_stopped_at_s(written, tokenizer.timestamp_begin),
        )

    def _tokenizer_for(self, language: str) -> tuple[Tokenizer, list[int]]:
        """The tokenizer of a language and its tokens for other sounds than speech; two threads may make equal ones."""
        known = self._tokenizers.get(language)
        if known is None:
            multilingual = self._whisper.model.is_multilingual
            tokenizer = Tokenizer(self._whisper.hf_tokenizer, multilingual, task="transcribe", language=language)
            known = tokenizer, list(get_suppressed_tokens(tokenizer, [-1]))
            self._tokenizers[language] = known
        return known

    def _mel_features(self, audio: NDArray[np.float32], context_s: int) -> tuple[NDArray[np.float32], int]:
        """Log-mel frames, zero-padded, shape `[n_mels, 100 * context_s]`, and how many of them are of the audio."""
        room = context_s * FRAMES_PER_S
        padded = np.zeros((self._n_mels, room), dtype=np.float32)
        if not audio.size:
            return padded, 0
        found = self._whisper.feature_extractor(audio)[:, :room]
        padded[:, : found.shape[1]] = found
        return padded, found.shape[1]

    def _words(self, tokenizer: Tokenizer, tokens: list[int], encoded: Any, frames: int) -> tuple[DecodedWord, ...]:
        """The words of these text tokens, with times from the decoder's attention."""
        found = self._whisper.find_alignment(tokenizer, [tokens], encoded, frames)[0]
        pieces = [
            DecodedWord(str(piece["word"]), float(piece["start"]), float(piece["end"]), float(piece["probability"]))
            for piece in found
        ]
        return join_word_pieces(pieces, spaced=tokenizer.language_code not in UNSPACED_LANGUAGES)


def _stopped_at_s(written: Sequence[int], first_timestamp: int) -> float | None:
    """The start of a sentence that the model did not write, in seconds: its output then ends with two timestamps."""
    if len(written) < 2 or min(written[-2:]) < first_timestamp:
        return None
    return (written[-1] - first_timestamp) * TIMESTAMP_STEP_S


@dataclass(frozen=True, slots=True)
class BeamSizes:
    """Numbers of hypotheses in beam search: `partial` for live captions, `final` for whatever may be the answer.

    `again` is for an answer that is read again. They don't depend on the load, so that no words do.
    """

    partial: int = 1
    final: int = 5
    again: int = 10

    def of(self, purpose: Purpose) -> int:
        """The number for that purpose."""
        return {"partial": self.partial, "again": self.again}.get(purpose, self.final)


@dataclass(slots=True)
class _Job:
    """A transcription that is waiting or running."""

    samples: Samples
    language: str
    offset: int
    beam_size: int
    result: asyncio.Future[Transcript]
    is_cancelled: threading.Event = field(default_factory=threading.Event)


class WhisperTranscriber:
    """A `Transcriber` that runs an engine in worker threads. Belongs to one event loop."""

    def __init__(
        self,
        engine: DecodingEngine,
        *,
        workers: int = 2,
        limits: AdmissionLimits | None = None,
        beam_sizes: BeamSizes | None = None,
        read_again: bool = False,
    ) -> None:
        """Threads are started when they are needed.

        Args:
            engine: runs the model; must allow `workers` calls at once, and one more with `read_again`.
            workers: number of threads.
            limits: when transcriptions are dropped or refused.
            beam_sizes: numbers of hypotheses.
            read_again: whether there is one more thread, for answers that are read again.
        """
        self._engine = engine
        self._admission = AdmissionQueue(workers, limits or AdmissionLimits(), read_again)
        self._beam_sizes = beam_sizes or BeamSizes()
        self._threads = ThreadPoolExecutor(workers + read_again, thread_name_prefix="whisper")
        self._jobs: dict[Ticket, _Job] = {}
        self._closed = False

    @classmethod
    def load(
        cls,
        model: SpeechModel,
        *,
        workers: int = 2,
        compute: str = "auto",
        limits: AdmissionLimits | None = None,
        beam_sizes: BeamSizes | None = None,
        read_again: bool = False,
    ) -> WhisperTranscriber:
        """Load the model and run it once; blocks for about a second. Raises ModelMissing."""
        engine = FasterWhisper(model, workers=workers + read_again, compute=compute)
        engine.decode(np.zeros(RATE_HZ, np.float32), context_s=10, beam_size=1, language="en")
        return cls(engine, workers=workers, limits=limits, beam_sizes=beam_sizes, read_again=read_again)

    @property
    def model_id(self) -> str:
        """As `DecodingEngine.model_id`."""
        return self._engine.model_id

    @property
    def languages(self) -> frozenset[str] | None:
        """As `DecodingEngine.languages`."""
        return self._engine.languages

    def current_load(self) -> TranscriberLoad:
        """The load of the workers, and counts of what was done and dropped."""
        return self._admission.load(time.monotonic())

    def for_session(self, session: Hashable) -> SessionTranscriber:
        """A view of this transcriber for one session, which has at most one guess and one partial running."""
        return SessionTranscriber(self, session)

    async def transcribe(
        self,
        samples: Samples,
        *,
        language: str,
        purpose: Purpose,
        offset: int = 0,
        session: Hashable = None,
    ) -> Transcript:
        """As `Transcriber.transcribe`; each call without a `session` counts as a session of its own.

        A waiting call that is cancelled leaves the queue; a running one keeps its worker until the thread returns.

        Raises:
            TranscriberDropped: the load is too high for a partial, for reading again, or for any transcription.
            TranscriberFailed: the model failed, or the audio is longer than 30 s.
            TranscriberUnavailable: the transcriber is closed, or the model does not support the language.
        """
        if self._closed:
            raise TranscriberUnavailable("The transcriber is closed.")
        known = self._engine.languages
        if known is not None and language not in known:
            raise TranscriberUnavailable(f"{self.model_id} does not know the language {language!r}.")
        if len(samples) > FULL_CONTEXT_S * RATE_HZ:
            raise TranscriberFailed(f"{len(samples) / RATE_HZ:.1f} s at once; the model takes {FULL_CONTEXT_S} s.")
        now = time.monotonic()
        ticket = self._admission.request(purpose, object() if session is None else session, now)
        if ticket is None:
            raise TranscriberDropped(f"No time for a {purpose}.")
        result: asyncio.Future[Transcript] = asyncio.get_running_loop().create_future()
        self._jobs[ticket] = _Job(
            np.array(samples, dtype=np.int16), language, offset, self._beam_sizes.of(purpose), result
        )
        self._start_due(now)
        try:
            return await result
        finally:
            if not result.done() or result.cancelled():
                self._abandon(ticket)

    async def aclose(self) -> None:
        """Fail the waiting calls, and return once the running ones have returned."""
        self._closed = True
        for ticket, job in list(self._jobs.items()):
            if ticket.state == "waiting":
                self._admission.cancel(ticket)
                del self._jobs[ticket]
                if not job.result.done():
                    job.result.set_exception(TranscriberUnavailable("The transcriber is closed."))
        await asyncio.to_thread(self._threads.shutdown, wait=True)

    def _start_due(self, now: float) -> None:
        """Drop partials that waited too long, start transcriptions while there are free workers, and give up reading
        an answer again if there are none.
        """
        loop = asyncio.get_running_loop()
        for late in self._admission.expire(now):
            dropped = self._jobs.pop(late)
            if not dropped.result.done():
                dropped.result.set_exception(TranscriberDropped("No time for a partial."))
        while (ticket := self._admission.next(now)) is not None:
            job = self._jobs[ticket]
            work = self._threads.submit(self._decode, job)
            work.add_done_callback(partial(self._return_result, loop, ticket))
        given_up = self._admission.give_up()
        if given_up is not None:
            self._give_up(given_up)

    def _give_up(self, ticket: Ticket) -> None:
        job = self._jobs[ticket]
        job.is_cancelled.set()
        if ticket.state == "over":
            del self._jobs[ticket]
        if not job.result.done():
            job.result.set_exception(TranscriberDropped("No time to read an answer again."))

    def _decode(self, job: _Job) -> Transcript:
        """Runs in a worker thread."""
        return decode_filtered(
            self._engine,
            job.samples,
            language=job.language,
            beam_size=job.beam_size,
            offset=job.offset,
            is_cancelled=job.is_cancelled.is_set,
        )

    def _return_result(self, loop: asyncio.AbstractEventLoop, ticket: Ticket, done: Future[Transcript]) -> None:
        """Runs in a worker thread: pass the result to the event loop, unless that is closed."""
        try:
            loop.call_soon_threadsafe(self._finish, ticket, done)
        except RuntimeError:
            if not loop.is_closed():
                raise

    def _finish(self, ticket: Ticket, done: Future[Transcript]) -> None:
        now = time.monotonic()
        self._admission.finish(ticket, now)
        job = self._jobs.pop(ticket)
        error = done.exception()
        if not job.result.done():
            if error is not None:
                failure = TranscriberFailed(f"The speech model failed: {error}")
                failure.__cause__ = error
                job.result.set_exception(failure)
            else:
                job.result.set_result(done.result())
        self._start_due(now)

    def _abandon(self, ticket: Ticket) -> None:
        """The caller was cancelled: remove the waiting job, or ask the running one to make no further run."""
        job = self._jobs.get(ticket)
        if job is None:
            return
        job.is_cancelled.set()
        waiting = ticket.state == "waiting"
        self._admission.cancel(ticket)
        if waiting:
            del self._jobs[ticket]


@dataclass(frozen=True, slots=True)
class SessionTranscriber:
    """A `Transcriber` for one session."""

    transcriber: WhisperTranscriber
    session: Hashable

    async def transcribe(self, samples: Samples, *, language: str, purpose: Purpose, offset: int = 0) -> Transcript:
        """As `Transcriber.transcribe`."""
        return await self.transcriber.transcribe(
            samples, language=language, purpose=purpose, offset=offset, session=self.session
        )
