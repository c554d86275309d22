"""What the state machine of an answer returns: speech events, and requests to its driver."""

from __future__ import annotations

from dataclasses import dataclass

from audio.types import Purpose, Samples, SpeechEvent


@dataclass(frozen=True, slots=True)
class TranscriptionRequested:
    """These samples are to be transcribed; the driver then calls `transcribed` or `failed` with this id, in any order.

    `offset` is the position of the first sample in the answer, for the transcriber.
    """

    request_id: int
    purpose: Purpose
    samples: Samples
    offset: int


@dataclass(frozen=True, slots=True)
class TranscriptionCancelled:
    """This transcription is no longer needed; a `transcribed` or `failed` for it has no effect."""

    request_id: int


@dataclass(frozen=True, slots=True)
class JudgementRequested:
    """Whether the speaker has finished is to be judged by this sound, the last before a silence.

    The driver then calls `judged` with this id.
    """

    request_id: int
    samples: Samples


MachineOutput = SpeechEvent | TranscriptionRequested | TranscriptionCancelled | JudgementRequested
