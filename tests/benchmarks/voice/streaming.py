"""Transcribes recordings as the server transcribes live speech, as fast as the machine allows or in real time.

A whole recording is fed; where an answer ends before it does, the next answer begins with the audio that is left over,
as on the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

from audio.admission import AdmissionLimits
from audio.answer_sound import AnswerSound
from audio.endpoint import Patience
from audio.errors import TranscriberDropped
from audio.models import find_model
from audio.second_reading import is_surer, read_pieces, same_words
from audio.speech import SpeechStream
from audio.turn_detector import TurnDetector
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
"""Seconds of audio that are fed at once. The events do not depend on it (`tests/audio/property`)."""
FRAME_S = 0.032
"""Seconds of audio that a page sends at once."""
PATIENT_DEADLINES_S: Mapping[Purpose, float] = {"partial": 600.0, "guess": 600.0, "final": 600.0}
"""Long deadlines, so that a busy machine does not change the result."""


@dataclass(frozen=True)
class AnswerResult:
    """One answer; positions are samples from the start of the recording."""

    text: str
    words: tuple[Word, ...]
    speech_end: int
    at: int
    reason: str


@dataclass
class RecordingResult:
    """The answers and the counts of events of one recording."""

    answers: list[AnswerResult] = field(default_factory=list)
    sounds: int = 0
    """Number of onsets of speech that were detected."""
    guesses: int = 0
    withdrawn: int = 0
    captions: int = 0
    troubles: list[str] = field(default_factory=list)
    sound: AnswerSound = field(default_factory=AnswerSound)
    """Of all answers, as if each had been gone on with."""

    @property
    def text(self) -> str:
        """The text of all answers."""
        return " ".join(answer.text for answer in self.answers if answer.text)

    @property
    def words(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True)
class SpeechModels:
    """The transcriber and the voice activity detection of the product."""

    transcriber: WhisperTranscriber
    activity: VoiceActivityDetector


def model_name() -> str:
    """The name of the model in the settings."""
    return SpeechSettings().whisper_model


@asynccontextmanager
async def open_models(*, workers: int = 2, final_beam: int | None = None) -> AsyncIterator[SpeechModels]:
    """Load the models.

    Args:
        workers: transcriptions at once.
        final_beam: hypotheses of all transcriptions but partials; None for the product's number.
    """
    beam_sizes = BeamSizes() if final_beam is None else BeamSizes(final=final_beam)
    load = partial(
        WhisperTranscriber.load,
        find_model(model_name()),
        workers=workers,
        limits=AdmissionLimits(final_wait_s=1e9, again_load=1.0),
        beam_sizes=beam_sizes,
        read_again=True,
    )
    transcriber = await asyncio.to_thread(load)
    try:
        yield SpeechModels(transcriber, SileroDetector())
    finally:
        await transcriber.aclose()


async def transcribe_recording(
    samples: Samples,
    transcriber: Transcriber,
    activity: VoiceActivityDetector,
    *,
    patience: Patience = "normal",
    captions: bool = False,
    real_time: bool = False,
    turns: TurnDetector | None = None,
) -> RecordingResult:
    """Transcribe a whole recording, answer by answer.

    Args:
        samples: the recording.
        transcriber: turns speech into words.
        activity: voice activity detection.
        patience: as in the product.
        captions: whether partial transcripts are made, one per second.
        real_time: whether frames are fed at the time at which they would be spoken, in the size that a page sends.
        turns: turn detection; None: silence and words alone end answers.
    """
    result = RecordingResult()
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
            turns=turns,
            keep_sound=True,
        ) as stream:
            async with asyncio.TaskGroup() as group:
                reader = group.create_task(_read(stream, result, first))
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
            if stream.sound is not None and result.answers and result.answers[-1].text:
                result.sound.append(stream.sound)
            kept = stream.leftover()
            first = at - len(kept) // 2
    return result


async def read_again(result: RecordingResult, transcriber: Transcriber) -> str | None:
    """What the product stores of a second reading of the whole recording; None if that is nothing.

    Args:
        result: of the first reading.
        transcriber: as of `transcribe_recording`; unlike in the product, this waits until it has time.
    """
    pieces = None if result.sound.is_whole else result.sound.pieces()
    while pieces:
        try:
            words = await read_pieces(transcriber, pieces, "en")
        except TranscriberDropped:
            await asyncio.sleep(0.05)
            continue
        first = [word for answer in result.answers for word in answer.words]
        differs = not same_words(first, words) and is_surer(words, first)
        return " ".join(word.text.strip() for word in words) if differs else None
    return None


async def _read(stream: SpeechStream, result: RecordingResult, first: int) -> None:
    async for event in stream.events():
        if isinstance(event, AnswerEnded):
            words = tuple(
                Word(word.text, word.start + first, word.end + first, word.probability) for word in event.words
            )
            result.answers.append(
                AnswerResult(event.text, words, event.speech_end + first, event.at + first, event.reason)
            )
        elif isinstance(event, SpeechStarted):
            result.sounds += 1
        elif isinstance(event, ProvisionalTranscript):
            result.guesses += 1
        elif isinstance(event, ProvisionalWithdrawn):
            result.withdrawn += 1
        elif isinstance(event, PartialTranscript):
            result.captions += 1
        elif isinstance(event, TranscriptionFailed):
            result.troubles.append(event.error)
