"""Errors of audio input and transcription.

    AudioError
    ├── AudioFormat             the bytes are not in a supported audio format
    ├── AudioGap                a part of the audio is missing
    ├── AudioTooLong            more audio than is accepted
    ├── DetectorFailed          the turn detector failed on some audio
    └── TranscriberUnavailable  nothing can be transcribed at the moment
        ├── ModelMissing        the speech model is not installed; the message says how to install it
        ├── TranscriberDropped  the request was refused or dropped because of the load
        └── TranscriberFailed   the model failed

Every error carries `code` (a wire code of the protocol) and `retryable`.
"""

from __future__ import annotations

from typing import ClassVar


class AudioError(Exception):
    """Base of all errors that this package raises."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class AudioFormat(AudioError):
    """The bytes are not in a supported audio format."""

    code = "audio_format"


class AudioGap(AudioError):
    """A part of the audio is missing."""

    code = "audio_gap"
    retryable = True


class AudioTooLong(AudioError):
    """More audio than is accepted."""

    code = "audio_too_long"


class DetectorFailed(AudioError):
    """The turn detector failed on this audio."""


class TranscriberUnavailable(AudioError):
    """Nothing can be transcribed at the moment."""

    code = "transcriber_unavailable"
    retryable = True


class ModelMissing(TranscriberUnavailable):
    """The speech model is not installed; the message says how to install it."""

    retryable = False


class TranscriberDropped(TranscriberUnavailable):
    """The request was refused or dropped because of the load."""


class TranscriberFailed(TranscriberUnavailable):
    """The model failed on this audio."""
