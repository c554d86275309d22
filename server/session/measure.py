"""Measures of a turn, for the log and for metrics."""

from __future__ import annotations

from collections.abc import Mapping
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
