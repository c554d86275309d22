"""Recordings through the product's own ears, in audio time: no faster and no slower than the rules count, no clock.

What is fed is a whole recording; where its answer ends before it does, the next answer begins with what was left, as
the server does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

from audio.admission import AdmissionLimits
from audio.endpoint import Patience
from audio.models import find_model
from audio.speech import SpeechStream
from audio.types import (
    RATE_HZ,
    AnswerEnded,
    PartialTranscript,
    ProvisionalTranscript,
    ProvisionalWithdrawn,
    Purpose,
    Samples,
    SpeechStarted,
    Transcriber,
    TranscriptionFailed,
    Word,
)
from audio.vad import SileroDetector, VoiceActivityDetector
from audio.whisper import BeamSizes, WhisperTranscriber
from config.speech import SpeechSettings

CHUNK_S = 0.5
"""Fed at once. The events do not depend on it (`tests/audio/property`)."""
FRAME_S = 0.032
"""What a page sends at once."""
PATIENT_DEADLINES_S: Mapping[Purpose, float] = {"partial": 600.0, "guess": 600.0, "final": 600.0}
"""A busy machine is no reason to understand less here."""


@dataclass(frozen=True)
class Answered:
    """One answer that was heard: places in samples from the start of the recording."""

    text: str
    words: tuple[Word, ...]
    speech_end: int
    at: int
    reason: str


@dataclass
class Listened:
    """What became of one recording."""

    answers: list[Answered] = field(default_factory=list)
    sounds: int = 0
    """How often somebody seemed to begin to speak."""
    guesses: int = 0
    withdrawn: int = 0
    captions: int = 0
    troubles: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Everything that was understood, be it in several answers."""
        return " ".join(answer.text for answer in self.answers if answer.text)

    @property
    def words(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True)
class Ears:
    """What listens: the product's transcriber and voice activity."""

    transcriber: WhisperTranscriber
    activity: VoiceActivityDetector


def model_name() -> str:
    """The model that the settings ask for."""
    return SpeechSettings().whisper_model


@asynccontextmanager
async def ears(*, workers: int = 2, final_beam: int | None = None) -> AsyncIterator[Ears]:
    """The ears of a machine that always has time: finals follow as many hypotheses as they may.

    Args:
        workers: transcriptions at once.
        final_beam: hypotheses of guesses and finals; the product's, if not said.
    """
    beam_sizes = BeamSizes(final_busy=2.0) if final_beam is None else BeamSizes(final=final_beam, final_busy=2.0)
    load = partial(
        WhisperTranscriber.load,
        find_model(model_name()),
        workers=workers,
        limits=AdmissionLimits(final_wait_s=1e9),
        beam_sizes=beam_sizes,
    )
    transcriber = await asyncio.to_thread(load)
    try:
        yield Ears(transcriber, SileroDetector())
    finally:
        await transcriber.aclose()


async def hear(
    samples: Samples,
    transcriber: Transcriber,
    activity: VoiceActivityDetector,
    *,
    patience: Patience = "normal",
    captions: bool = False,
    real_time: bool = False,
) -> Listened:
    """A whole recording, answer after answer.

    Args:
        samples: the recording.
        transcriber: speech → words.
        activity: who speaks when.
        patience: as in the product.
        captions: whether there are partial transcripts each second.
        real_time: whether frames come when they would be spoken, in the size in which a page sends them.
    """
    listened = Listened()
    size = int((FRAME_S if real_time else CHUNK_S) * RATE_HZ)
    begun, at, first, kept = monotonic(), 0, 0, b""
    while at < len(samples) or kept:
        async with SpeechStream(
            transcriber,
            activity,
            patience=patience,
            max_answer_s=None,
            partial_every_ms=1000 if captions else 0,
            deadlines_s=PATIENT_DEADLINES_S,
        ) as stream:
            async with asyncio.TaskGroup() as group:
                reader = group.create_task(_read(stream, listened, first))
                if kept:
                    await stream.feed(kept)
                while at < len(samples) and not stream.ended:
                    piece = samples[at : at + size]
                    at += len(piece)
                    if real_time:
                        await asyncio.sleep(max(0.0, begun + at / RATE_HZ - monotonic()))
                    await stream.feed(piece.astype("<i2").tobytes())
                if not stream.ended:
                    await stream.stop()
                await reader
            kept = stream.leftover()
            first = at - len(kept) // 2
    return listened


async def _read(stream: SpeechStream, listened: Listened, first: int) -> None:
    async for event in stream.events():
        if isinstance(event, AnswerEnded):
            words = tuple(
                Word(word.text, word.start + first, word.end + first, word.probability) for word in event.words
            )
            listened.answers.append(
                Answered(event.text, words, event.speech_end + first, event.at + first, event.reason)
            )
        elif isinstance(event, SpeechStarted):
            listened.sounds += 1
        elif isinstance(event, ProvisionalTranscript):
            listened.guesses += 1
        elif isinstance(event, ProvisionalWithdrawn):
            listened.withdrawn += 1
        elif isinstance(event, PartialTranscript):
            listened.captions += 1
        elif isinstance(event, TranscriptionFailed):
            listened.troubles.append(event.error)
