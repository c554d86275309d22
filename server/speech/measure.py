"""Measures of spoken answers, for the log and for metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EndReason = Literal["silence", "stop", "too_long"]
"""What ended a spoken answer: a silence, the respondent, or the limit of its length."""
SpokenOutcome = Literal["answer", "offered", "nothing", "failed", "missed"]
"""It became an answer, was offered for review, had no words, or could not be transcribed; `missed` is a sound without
words in an answer that goes on."""


@dataclass(frozen=True, slots=True)
class SpokenAnswerMeasure:
    """One spoken answer.

    `final_ms` is the time from the arrival of its last sound to its words, the silence that ended it included; None
    without words. `waited_ms` is for how long it could still go on after that, and `reopened` how often it did.
    """

    session_id: str
    outcome: SpokenOutcome
    ended_by: EndReason
    audio_s: float = 0.0
    words: int = 0
    final_ms: float | None = None
    waited_ms: float | None = None
    reopened: int = 0
