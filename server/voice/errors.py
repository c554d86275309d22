"""Errors of the server's voice.

VoiceError
└── VoiceFailed     a sentence was not read; the question is there as text, and the browser may read it
"""

from __future__ import annotations

from typing import ClassVar, Literal

Reason = Literal["unavailable", "resting", "busy", "start", "exit", "deadline", "too_much", "sound"]
"""No program reads that language; it failed again and again and is left alone for a while; too many sentences wait; it
can't be started; it ended with an error; it took too long; it wrote more than a sentence can be; it wrote no sound."""


class VoiceError(Exception):
    """Base of all errors of this package."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = True


class VoiceFailed(VoiceError):
    """A sentence was not read.

    Args:
        reason: why, as one word.
        told: why, for operators; nothing of the sentence.
        said: the end of what the program wrote to its standard error, which may repeat the sentence.
    """

    def __init__(self, reason: Reason, told: str, said: str = "") -> None:
        super().__init__(told)
        self.reason: Reason = reason
        self.told = told
        self.said = said
