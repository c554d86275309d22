"""What can go wrong between a microphone and words.

    AudioError
    ├── AudioFormat             these bytes are no audio that can be used
    ├── AudioGap                a part is missing and will not come
    ├── AudioTooLong            more than one answer may take
    └── TranscriberUnavailable  no words to be had
        ├── ModelMissing        the speech model is not there; the message says what to install
        ├── TranscriberDropped  there was no time for this one (partials only)
        └── TranscriberFailed   the model failed

Every error carries `code` (a wire code of the protocol) and `retryable`.
"""

from __future__ import annotations

from typing import ClassVar


class AudioError(Exception):
    """Base of everything this package raises on purpose."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class AudioFormat(AudioError):
    """These bytes are no audio that can be used."""

    code = "audio_format"


class AudioGap(AudioError):
    """A part of the audio is missing and will not come."""

    code = "audio_gap"
    retryable = True


class AudioTooLong(AudioError):
    """More audio than one answer may take."""

    code = "audio_too_long"


class TranscriberUnavailable(AudioError):
    """No words are to be had now."""

    code = "transcriber_unavailable"
    retryable = True


class ModelMissing(TranscriberUnavailable):
    """The speech model is not there; the message says what to install."""

    retryable = False


class TranscriberDropped(TranscriberUnavailable):
    """There was no time for this one."""


class TranscriberFailed(TranscriberUnavailable):
    """The model failed on this audio."""
