"""What is worth knowing about a turn, for the log and for metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class TurnMeasure:
    """One run of a turn; times in milliseconds.

    `accept_ms` is the write before the run, `commit_ms` the one after, `first_token_ms` the time from the start of
    accepting to the first piece of the question (None when none came).
    """

    session_id: str
    turn_number: int
    outcome: Literal["completed", "failed", "cancelled"]
    attempt: int
    total_ms: float
    accept_ms: float = 0.0
    commit_ms: float = 0.0
    first_token_ms: float | None = None
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    fallback: bool = False
    code: str | None = None


HeardOutcome = Literal["answer", "offered", "nothing", "failed", "missed"]


@dataclass(frozen=True, slots=True)
class HeardMeasure:
    """One spoken answer.

    `outcome`: it became an answer, was offered for correction, had no words, or could not be heard; `missed` is a sound
    without words within an answer that goes on. `final_ms` is the
    time from the arrival of its last sound to its words, the silence that ended it included; None without words.
    """

    session_id: str
    outcome: HeardOutcome
    ended_by: Literal["silence", "stop", "too_long"]
    audio_s: float = 0.0
    words: int = 0
    final_ms: float | None = None


HeardObserver = Callable[[HeardMeasure], None]
Observer = Callable[[TurnMeasure], None]


def ignore(measure: TurnMeasure | HeardMeasure) -> None:
    """An observer for those who don't count."""
