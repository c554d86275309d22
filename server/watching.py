"""What the parts of a process tell its metrics."""

from __future__ import annotations

from collections.abc import Callable

from server.hot.journal import JournalRecord
from server.metrics import Metrics
from server.session.measure import HeardMeasure, TurnMeasure
from server.writer import Lag


def lags(metrics: Metrics) -> Callable[[dict[int, Lag]], None]:
    """Told how far the store is behind, by partition."""

    def measured(found: dict[int, Lag]) -> None:
        for partition, lag in found.items():
            metrics.journal_length.labels(str(partition)).set(lag.records)
            metrics.journal_lag_s.labels(str(partition)).set(lag.seconds)

    return measured


def burials(metrics: Metrics) -> Callable[[JournalRecord], None]:
    """Told of records that were given up."""

    def buried(record: JournalRecord) -> None:
        metrics.dead_letters.inc()

    return buried


def turns(metrics: Metrics) -> Callable[[TurnMeasure], None]:
    """Told of every run of a turn."""

    def observe(turn: TurnMeasure) -> None:
        metrics.turn(turn.outcome, turn.total_ms, turn.stages_ms, fallback=turn.fallback)
        if turn.first_token_ms is not None:
            metrics.first_token_ms.observe(turn.first_token_ms)

    return observe


def spoken_answers(metrics: Metrics) -> Callable[[HeardMeasure], None]:
    """Told of every spoken answer, and of sounds without words."""

    def observe(heard: HeardMeasure) -> None:
        if heard.outcome in ("missed", "nothing"):
            metrics.didnt_catch.inc()
        if heard.outcome != "missed":
            metrics.speech_answers.labels(heard.outcome, heard.ended_by).inc()
        if heard.final_ms is not None:
            metrics.speech_final_ms.observe(heard.final_ms)

    return observe
