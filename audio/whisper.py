"""faster-whisper in worker threads: one model in memory, one CPU thread each, many sessions.

The encoder and the decoder are called directly, because the encoder's context is cut to the audio's length, which the
library's own loop over 30 s does not do; the calls are those of faster-whisper 1.2, which is why its minor is pinned.
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
"""Mel frames."""
MAX_TOKENS = 448
"""Whisper's decoder holds so many, prompt and text together."""
TIMESTAMP_STEP_S = 0.02
"""What the model counts time in."""
MAX_INITIAL_TIMESTAMP = 50
"""The first sentence begins within so many steps of 20 ms: Whisper's own limit."""
TOKENS_PER_S = 12
"""Nobody speaks faster; a decode that would go on is a loop."""


class FasterWhisper:
    """A CTranslate2 Whisper model that `workers` threads may use at once."""

    def __init__(self, model: SpeechModel, *, workers: int, compute: str = "auto") -> None:
        """Load it.

        Args:
            model: where it lies.
            workers: calls that may run at once, one CPU thread each.
            compute: a CTranslate2 computation type; `auto`: int8 on a CPU, float16 on CUDA.
        Raises:
            ModelMissing: the files are there and can't be used.
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
        """Identifies model, precision and device."""
        return self._id

    @property
    def languages(self) -> frozenset[str] | None:
        """Two-letter codes that the model knows."""
        return frozenset(self._whisper.supported_languages)

    def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
        """As `Engine.decode`."""
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
        """The tokenizer of a language and the tokens that are no speech; threads may both make it, to the same end."""
        known = self._tokenizers.get(language)
        if known is None:
            multilingual = self._whisper.model.is_multilingual
            tokenizer = Tokenizer(self._whisper.hf_tokenizer, multilingual, task="transcribe", language=language)
            known = tokenizer, list(get_suppressed_tokens(tokenizer, [-1]))
            self._tokenizers[language] = known
        return known

    def _mel_features(self, audio: NDArray[np.float32], context_s: int) -> tuple[NDArray[np.float32], int]:
        """Log-mel frames, zero-padded to the context, shape [n_mels, 100 · context_s]; and how many are audio."""
        room = context_s * FRAMES_PER_S
        padded = np.zeros((self._n_mels, room), dtype=np.float32)
        if not audio.size:
            return padded, 0
        found = self._whisper.feature_extractor(audio)[:, :room]
        padded[:, : found.shape[1]] = found
        return padded, found.shape[1]

    def _words(self, tokenizer: Tokenizer, tokens: list[int], encoded: Any, frames: int) -> tuple[DecodedWord, ...]:
        """The words of these text tokens, placed by the decoder's attention."""
        found = self._whisper.find_alignment(tokenizer, [tokens], encoded, frames)[0]
        pieces = [
            DecodedWord(str(piece["word"]), float(piece["start"]), float(piece["end"]), float(piece["probability"]))
            for piece in found
        ]
        return join_word_pieces(pieces, spaced=tokenizer.language_code not in UNSPACED_LANGUAGES)


def _stopped_at_s(written: Sequence[int], first_timestamp: int) -> float | None:
    """Where the model began a sentence that it did not write, in seconds: it ends with an end and a beginning."""
    if len(written) < 2 or min(written[-2:]) < first_timestamp:
        return None
    return (written[-1] - first_timestamp) * TIMESTAMP_STEP_S


@dataclass(frozen=True, slots=True)
class BeamSizes:
    """Hypotheses followed: for partials, and for guesses and finals where there is time."""

    partial: int = 1
    final: int = 5
    final_busy: float = 0.6
    """Share of the workers' time above which finals follow one hypothesis too."""


@dataclass(slots=True)
class _Job:
    samples: Samples
    language: str
    offset: int
    beam_size: int
    result: asyncio.Future[Transcript]
    is_cancelled: threading.Event = field(default_factory=threading.Event)


class WhisperTranscriber:
    """A `Transcriber` over an engine and `workers` threads. Belongs to one event loop."""

    def __init__(
        self,
        engine: DecodingEngine,
        *,
        workers: int = 2,
        limits: AdmissionLimits | None = None,
        beam_sizes: BeamSizes | None = None,
    ) -> None:
        """Start the threads when they are needed.

        Args:
            engine: runs the model; may be used by `workers` threads at once.
            workers: decodes at once.
            limits: who is dropped when.
            beams: how many hypotheses are followed.
        """
        self._engine = engine
        self._admission = AdmissionQueue(workers, limits or AdmissionLimits())
        self._beam_sizes = beam_sizes or BeamSizes()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="whisper")
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
    ) -> WhisperTranscriber:
        """Load the model and warm it; blocks for a second or so. Raises ModelMissing."""
        engine = FasterWhisper(model, workers=workers, compute=compute)
        engine.decode(np.zeros(RATE_HZ, np.float32), context_s=10, beam_size=1, language="en")
        return cls(engine, workers=workers, limits=limits, beam_sizes=beam_sizes)

    @property
    def model_id(self) -> str:
        """Identifies model and precision."""
        return self._engine.model_id

    @property
    def languages(self) -> frozenset[str] | None:
        """Two-letter codes that can be transcribed; None: any."""
        return self._engine.languages

    def current_load(self) -> TranscriberLoad:
        """How busy the workers are, and what was dropped."""
        return self._admission.load(time.monotonic())

    def for_session(self, session: Hashable) -> SessionTranscriber:
        """The same transcriber for one session, which has at most one guess and one partial at work."""
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
        """As `Transcriber.transcribe`; calls without a `session` are each other's strangers.

        A cancelled call that waits is forgotten; one that runs keeps its worker until the thread returns.

        Raises:
            TranscriberDropped: there was no time: a partial, or more work than the workers will ever do.
            TranscriberFailed: the model failed.
            TranscriberUnavailable: the transcriber is closed, or does not know the language.
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
            np.array(samples, dtype=np.int16), language, offset, self._beam_size(purpose, now), result
        )
        self._start_due(now)
        try:
            return await result
        finally:
            if not result.done() or result.cancelled():
                self._abandon(ticket)

    async def aclose(self) -> None:
        """Refuse what waits, and return when the threads have returned."""
        self._closed = True
        for ticket, job in list(self._jobs.items()):
            if ticket.state == "waiting":
                self._admission.cancel(ticket)
                del self._jobs[ticket]
                if not job.result.done():
                    job.result.set_exception(TranscriberUnavailable("The transcriber is closed."))
        await asyncio.to_thread(self._threads.shutdown, wait=True)

    def _beam_size(self, purpose: Purpose, now: float) -> int:
        if purpose == "partial" or self._admission.load(now).busy > self._beam_sizes.final_busy:
            return self._beam_sizes.partial
        return self._beam_sizes.final

    def _start_due(self, now: float) -> None:
        """Give free workers what is due."""
        loop = asyncio.get_running_loop()
        for late in self._admission.expire(now):
            dropped = self._jobs.pop(late)
            if not dropped.result.done():
                dropped.result.set_exception(TranscriberDropped("No time for a partial."))
        while (ticket := self._admission.next(now)) is not None:
            job = self._jobs[ticket]
            work = self._threads.submit(self._decode, job)
            work.add_done_callback(partial(self._hand_back, loop, ticket))

    def _decode(self, job: _Job) -> Transcript:
        """On a worker's thread."""
        return decode_filtered(
            self._engine,
            job.samples,
            language=job.language,
            beam_size=job.beam_size,
            offset=job.offset,
            is_cancelled=job.is_cancelled.is_set,
        )

    def _hand_back(self, loop: asyncio.AbstractEventLoop, ticket: Ticket, done: Future[Transcript]) -> None:
        """On a worker's thread: hand the result to the loop, if there still is one."""
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
        """The caller is gone."""
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
