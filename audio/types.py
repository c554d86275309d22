"""Words, transcripts, the events of a spoken answer, and the interface of a transcriber.

Positions are sample counts from the start of the answer, at `RATE_HZ`. No decision about an answer depends on a clock,
so the same audio gives the same answer, whatever the size of its chunks and the time at which they arrive.

The events of one answer, in the order in which they may occur:

    SpeechStarted           the respondent has begun, or resumed, to speak
    PartialTranscript       what has been transcribed so far, for live captions
    SpeechStopped           a pause
    SilenceLengthened       the pause may be longer than usual, because what was said seems unfinished
    ProvisionalTranscript   the whole answer, if the respondent does not resume
    ProvisionalWithdrawn    the respondent has resumed: the last provisional transcript is void
    TimeAlmostUp            the longest answer is nearly reached
    TranscriptionFailed     a part of the answer could not be transcribed
    AnswerEnded             the end and the final transcript; always the last event
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
Samples = NDArray[np.int16]
Purpose = Literal["partial", "guess", "final", "recording", "again"]
"""What a transcription is for.

`partial`: a live caption, dropped first under load. `guess`: a provisional transcript, made in a pause. `final`: a part
of the answer that is certain. `recording`: a part of an uploaded recording, for which nobody is waiting. `again`: a
part of an answer that is over, read once more, which is given up as soon as anything else needs the time.
"""


def ms(samples: int) -> int:
    """Samples as whole milliseconds, rounded down."""
    return samples * 1000 // RATE_HZ


def samples_of(milliseconds: float) -> int:
    """Milliseconds as samples, rounded down."""
    return int(milliseconds * RATE_HZ / 1000)


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `start` and `end` are sample positions in the answer, `probability` is the model's, in [0, 1]."""

    text: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """The words in some audio.

    `no_speech` is the model's probability, in [0, 1], that there is no speech; `avg_logprob` its mean log probability
    (natural logarithm) per token, at most 0.
    """

    text: str
    words: tuple[Word, ...] = ()
    no_speech: float = 0.0
    avg_logprob: float = 0.0


class Transcriber(Protocol):
    """Turns speech into words."""

    async def transcribe(self, samples: Samples, *, language: str, purpose: Purpose, offset: int = 0) -> Transcript:
        """Transcribe at most 30 s of audio.

        Args:
            samples: mono, at RATE_HZ.
            language: two-letter code, such as `en`.
            purpose: what it is for, which sets its priority.
            offset: position of the first sample in the answer; it is added to the positions of the words.
        Raises:
            TranscriberDropped: the load is too high for this request.
            TranscriberFailed: the model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Speech has started, or resumed after a pause, at the position `at`."""

    at: int


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """Speech has stopped at the position `at`; the answer may continue."""

    at: int


@dataclass(frozen=True, slots=True)
class SilenceLengthened:
    """The speech that stopped last seems unfinished: `left` samples of silence from position `at` on end the answer.

    Whether and when it is reported depends on the time that transcriptions take.
    """

    left: int
    at: int


@dataclass(frozen=True, slots=True)
class PartialTranscript:
    """The answer so far, for live captions; `at` is the position up to which audio was transcribed.

    The first `stable` characters do not change until the next pause, at which the answer is transcribed anew.
    """

    text: str
    stable: int
    at: int


@dataclass(frozen=True, slots=True)
class ProvisionalTranscript:
    """The whole answer, if the respondent does not resume after the position `at`.

    It is followed by either `ProvisionalWithdrawn`, or `AnswerEnded` with the same text.
    """

    text: str
    words: tuple[Word, ...]
    at: int


@dataclass(frozen=True, slots=True)
class ProvisionalWithdrawn:
    """The respondent has resumed at the position `at`: the last `ProvisionalTranscript` is void."""

    at: int


@dataclass(frozen=True, slots=True)
class AnswerEnded:
    """The answer is over.

    `text` and `words` are the final transcript, empty where no word was recognised; `speech_end` is the position of the
    end of the last speech with words, `at` that of the audio at which the end was certain. `reason`: a long enough
    silence, the caller's stop, or the longest answer.
    """

    text: str
    words: tuple[Word, ...]
    speech_end: int
    at: int
    reason: Literal["silence", "stop", "too_long"]


@dataclass(frozen=True, slots=True)
class TimeAlmostUp:
    """The longest answer is nearly reached: at the position `at`, `left` samples remain."""

    left: int
    at: int


@dataclass(frozen=True, slots=True)
class TranscriptionFailed:
    """The audio up to the position `at` could not be transcribed, after all attempts.

    `text` is the answer so far, in which live captions stand for what is missing; `error` is the reason.
    """

    text: str
    error: str
    at: int = field(default=0)


SpeechEvent = (
    SpeechStarted
    | SpeechStopped
    | SilenceLengthened
    | PartialTranscript
    | ProvisionalTranscript
    | ProvisionalWithdrawn
    | AnswerEnded
    | TimeAlmostUp
    | TranscriptionFailed
)
