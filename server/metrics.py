"""What operators watch, in a registry of its own."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000)


class Metrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self.turns = Counter("askwell_turns", "Turns by outcome.", ["outcome"], registry=registry)
        self.turn_ms = Histogram("askwell_turn_ms", "Whole turns, in ms.", buckets=_MS, registry=registry)
        self.stage_ms = Histogram(
            "askwell_stage_ms", "Stages of turns, in ms.", ["stage"], buckets=_MS, registry=registry
        )
        self.first_token_ms = Histogram(
            "askwell_first_token_ms",
            "From accepting an answer to the question's first word, in ms.",
            buckets=_MS,
            registry=registry,
        )
        self.fallbacks = Counter(
            "askwell_fallback_questions", "Questions made by a template instead.", registry=registry
        )
        self.sessions = Gauge("askwell_sessions", "Sessions this process runs.", registry=registry)
        self.connections = Gauge("askwell_connections", "Open sockets.", ["role"], registry=registry)
        self.requests = Counter("askwell_requests", "HTTP requests.", ["method", "route", "status"], registry=registry)
        self.request_ms = Histogram(
            "askwell_request_ms", "HTTP requests, in ms.", ["route"], buckets=_MS, registry=registry
        )
        self.errors = Counter("askwell_errors", "Errors told to clients.", ["code"], registry=registry)
        self.hot_retries = Counter(
            "askwell_hot_retries", "Operations on Redis tried again.", ["operation"], registry=registry
        )
        self.journal_length = Gauge(
            "askwell_journal_records", "Records waiting for the store.", ["partition"], registry=registry
        )
        self.journal_lag_s = Gauge(
            "askwell_journal_lag_s", "Age of the oldest waiting record, in s.", ["partition"], registry=registry
        )
        self.dead_letters = Gauge("askwell_journal_dead", "Records that could not be stored.", registry=registry)
        self.ready = Gauge("askwell_ready", "1 when the process can take interviews.", registry=registry)

    def turn(self, outcome: str, total_ms: float, stages_ms: Mapping[str, float], *, fallback: bool) -> None:
        """Count one turn. `outcome` is `completed`, `failed` or `cancelled`."""
        self.turns.labels(outcome).inc()
        self.turn_ms.observe(total_ms)
        for stage, took_ms in stages_ms.items():
            self.stage_ms.labels(stage).observe(took_ms)
        if fallback:
            self.fallbacks.inc()

    def page(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry)
