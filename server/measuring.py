"""Updates metrics from what the parts of a process report."""

from __future__ import annotations

from collections.abc import Callable

from server.hot.journal import JournalRecord
from server.metrics import Metrics
from server.session.measure import TurnMeasure
from server.speech.measure import SpokenAnswerMeasure
from server.writer import Lag


def lags(metrics: Metrics) -> Callable[[dict[int, Lag]], None]:
    """For how far the store is behind, by partition."""

    def measured(found: dict[int, Lag]) -> None:
        for partition, lag in found.items():
            metrics.journal_length.labels(str(partition)).set(lag.records)
            metrics.journal_lag_s.labels(str(partition)).set(lag.seconds)

    return measured


def burials(metrics: Metrics) -> Callable[[JournalRecord], None]:
    """For records that were given up."""

    def buried(record: JournalRecord) -> None:
        metrics.dead_letters.inc()

    return buried


def turns(metrics: Metrics) -> Callable[[TurnMeasure], None]:
    """For every run of a turn."""

    def observe(turn: TurnMeasure) -> None:
        metrics.turn(turn.outcome, turn.total_ms, turn.stages_ms, fallback=turn.fallback)
        if turn.first_token_ms is not None:
            metrics.first_token_ms.observe(turn.first_token_ms)

    return observe


def spoken_answers(metrics: Metrics) -> Callable[[SpokenAnswerMeasure], None]:
    """For every spoken answer, and for sounds without words."""

    def observe(answer: SpokenAnswerMeasure) -> None:
        if answer.outcome in ("missed", "nothing"):
            metrics.didnt_catch.inc()
        if answer.outcome != "missed":
            metrics.speech_answers.labels(answer.outcome, answer.ended_by).inc()
        if answer.final_ms is not None:
            metrics.speech_final_ms.observe(answer.final_ms)

    return observe
