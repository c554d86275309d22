"""What is said about speech: words with their places, events with their places, and who transcribes.

Places are sample counts from the start of the answer, at `RATE_HZ`; nothing in this package reads a clock to decide
anything, so the same audio gives the same events however it was cut into chunks and however late it came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
Samples = NDArray[np.int16]
Purpose = Literal["partial", "guess", "final", "recording"]
"""What a transcription is for. When there is too much to do, partials are dropped first; finals never wait for them."""


def ms(samples: int) -> int:
    """Samples as whole milliseconds."""
    return samples * 1000 // RATE_HZ


def samples_of(milliseconds: float) -> int:
    """Milliseconds as samples."""
    return int(milliseconds * RATE_HZ / 1000)


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `start` and `end` in samples from the start of the answer, `probability` in [0, 1]."""

    text: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was understood of a stretch of audio.

    `no_speech` is the model's own probability that nobody spoke, `avg_logprob` its mean log probability per token.
    """

    text: str
    words: tuple[Word, ...] = ()
    no_speech: float = 0.0
    avg_logprob: float = 0.0


class Transcriber(Protocol):
    """Speech → words."""

    async def transcribe(self, samples: Samples, *, language: str, purpose: Purpose, offset: int = 0) -> Transcript:
        """The words of one stretch, at most 30 s.

        Args:
            samples: mono at RATE_HZ.
            language: two-letter code, such as `en`.
            purpose: what it is for.
            offset: place of the first sample in the answer; words are placed accordingly.
        Raises:
            TranscriberDropped: a partial that there was no time for.
            TranscriberFailed: the model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Somebody speaks since `at`."""

    at: int


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """Nobody speaks any more since `at`; the answer may go on."""

    at: int


@dataclass(frozen=True, slots=True)
class PartialTranscript:
    """What was understood so far; `at` is how far it reaches.

    The first `stable` characters stay while somebody goes on speaking; the reading at their next pause may mend them.
    """

    text: str
    stable: int
    at: int


@dataclass(frozen=True, slots=True)
class ProvisionalTranscript:
    """The answer, if nobody goes on speaking after `at`."""

    text: str
    words: tuple[Word, ...]
    at: int


@dataclass(frozen=True, slots=True)
class ProvisionalWithdrawn:
    """Somebody went on speaking: the last guess does not count."""

    at: int


@dataclass(frozen=True, slots=True)
class AnswerEnded:
    """The answer is over. `speech_end` is the end of its last word, `at` how much audio it took to be sure.

    `text` equals that of the last guess where there was one that was not withdrawn. Empty text: nothing was understood.
    """

    text: str
    words: tuple[Word, ...]
    speech_end: int
    at: int
    reason: Literal["silence", "stop", "too_long"]


@dataclass(frozen=True, slots=True)
class TimeAlmostUp:
    """The longest answer is nearly reached: so many samples are left."""

    left: int
    at: int


@dataclass(frozen=True, slots=True)
class TranscriptionFailed:
    """The transcriber failed; what was understood before is kept in `text`."""

    text: str
    error: str
    at: int = field(default=0)


SpeechEvent = (
    SpeechStarted
    | SpeechStopped
    | PartialTranscript
    | ProvisionalTranscript
    | ProvisionalWithdrawn
    | AnswerEnded
    | TimeAlmostUp
    | TranscriptionFailed
)
