"""What an answer's machine says: events for whoever listens, and wishes to whoever drives it."""

from __future__ import annotations

from dataclasses import dataclass

from audio.types import Purpose, Samples, SpeechEvent


@dataclass(frozen=True, slots=True)
class TranscriptionRequested:
    """These samples are to be transcribed: say `decoded` or `failed` with this id, in any order.

    `offset` is the place of the first sample, to be handed to the transcriber.
    """

    request_id: int
    purpose: Purpose
    samples: Samples
    offset: int


@dataclass(frozen=True, slots=True)
class TranscriptionCancelled:
    """Nobody waits for this transcription any more; a `decoded` for it does nothing."""

    request_id: int


MachineOutput = SpeechEvent | TranscriptionRequested | TranscriptionCancelled
