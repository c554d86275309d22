"""Prometheus metrics of the process, in a registry of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from audio.admission import TranscriberLoad
from pipeline.calls import LLMCall, Role

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_FINAL_MS = (200, 400, 550, 700, 900, 950, 1_000, 1_100, 1_300, 1_600, 1_900, 2_200, 3_000, 5_000, 10_000)
"""Buckets around the silences that end an answer: 500, 900 and 1 800 ms."""
_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000)


@dataclass(frozen=True, slots=True)
class Circuit:
    """The circuit breaker of a model in its role."""

    role: str
    provider: str
    host: str
    model: str
    is_open: bool


class _Circuits(Collector):
    """Reads the circuit breakers whenever metrics are collected."""

    def __init__(self) -> None:
        self.read: Callable[[], Iterable[Circuit]] = tuple

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(
            "askwell_llm_circuit_open",
            "1 while a language model is not asked because it failed again and again.",
            labels=["role", "provider", "host", "model"],
        )
        for circuit in self.read():
            family.add_metric([circuit.role, circuit.provider, circuit.host, circuit.model], float(circuit.is_open))
        yield family


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
        self.refused_connections = Counter(
            "askwell_refused_connections",
            "Connections refused or ended because of what they cost.",
            ["reason"],
            registry=registry,
        )
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
        self.loop_lag_ms = Histogram(
            "askwell_loop_lag_ms",
            "How late the event loop was, looked at twenty times a second, in ms.",
            buckets=_MS,
            registry=registry,
        )
        self.garbage_ms = Histogram(
            "askwell_garbage_ms",
            "Looking through all objects for garbage, during which nothing else is done, in ms.",
            buckets=_MS,
            registry=registry,
        )
        self.ready = Gauge("askwell_ready", "1 when the process can take interviews.", registry=registry)
        self._language_models(registry)
        self._speech(registry)
        self._voice(registry)
        self._watching(registry)

    def _language_models(self, registry: CollectorRegistry) -> None:
        self.llm_calls = Counter(
            "askwell_llm_calls",
            "Calls of language models, each try by itself.",
            ["role", "task", "provider", "model", "outcome"],
            registry=registry,
        )
        self.llm_ms = Histogram(
            "askwell_llm_ms", "Completed calls of language models, in ms.", ["role"], buckets=_MS, registry=registry
        )
        self.llm_first_token_ms = Histogram(
            "askwell_llm_first_token_ms",
            "From the request to a streaming language model to its first token, in ms.",
            ["role"],
            buckets=_MS,
            registry=registry,
        )
        self.llm_tokens = Counter(
            "askwell_llm_tokens",
            "Tokens by direction: input, cached (of the input), output.",
            ["role", "direction"],
            registry=registry,
        )
        self.llm_cost = Counter("askwell_llm_cost", "Cost by the price table.", ["currency"], registry=registry)
        self.llm_fallbacks = Counter(
            "askwell_llm_fallbacks",
            "Tasks that the offline provider did because a language model failed.",
            ["role"],
            registry=registry,
        )
        self._circuits = _Circuits()
        registry.register(self._circuits)

    def _watching(self, registry: CollectorRegistry) -> None:
        self.watch_snapshots = Counter(
            "askwell_watch_snapshots",
            "Whole sessions sent to moderators: one each time they begin to look, more if slow.",
            registry=registry,
        )
        self.watch_letters_lost = Counter(
            "askwell_watch_letters_lost",
            "Live news for moderators on other nodes that could not be sent.",
            registry=registry,
        )
        self.alerts = Counter("askwell_alerts", "Interviews that began to need a person.", ["code"], registry=registry)
        self.alerts_lost = Counter("askwell_alerts_lost", "Alerts that the webhook did not take.", registry=registry)

    def _speech(self, registry: CollectorRegistry) -> None:
        self.speech_streams = Gauge("askwell_speech_streams", "Spoken answers that are being heard.", registry=registry)
        self.speech_answers = Counter(
            "askwell_speech_answers",
            "Spoken answers: they became an answer, were offered for correction, had no words, or failed.",
            ["outcome", "ended_by"],
            registry=registry,
        )
        self.speech_final_ms = Histogram(
            "askwell_speech_final_ms",
            "From the arrival of the last sound of an answer to its words, the silence that ended it included, in ms.",
            buckets=_FINAL_MS,
            registry=registry,
        )
        self.speech_decode_ms = Histogram(
            "askwell_speech_decode_ms",
            "Transcriptions, their wait included, in ms.",
            ["purpose"],
            buckets=_MS,
            registry=registry,
        )
        self.speech_judge_ms = Histogram(
            "askwell_speech_judge_ms",
            "Judgements by the sound whether a speaker has finished, one for each pause, in ms.",
            buckets=_MS,
            registry=registry,
        )
        self.speech_unjudged = Counter(
            "askwell_speech_unjudged", "Pauses that the turn detector could not judge.", registry=registry
        )
        self.speech_dropped = Counter(
            "askwell_speech_dropped", "Transcriptions there was no time for.", ["purpose"], registry=registry
        )
        self.second_readings = Counter(
            "askwell_speech_second_readings",
            "Spoken answers that were read once more: with other words that are surer (and stored) or worse, with the "
            "same, with none; given up for want of time, failed.",
            ["outcome"],
            registry=registry,
        )
        self.speech_refused = Counter(
            "askwell_speech_refused", "Spoken answers refused because of the load.", registry=registry
        )
        self.didnt_catch = Counter(
            "askwell_speech_didnt_catch", "Sounds of which no word was understood.", registry=registry
        )
        self.recordings_lost = Counter(
            "askwell_recordings_lost", "Recordings of answers that could not be kept.", registry=registry
        )
        self._speech_busy = Gauge(
            "askwell_speech_busy", "Share of the transcriber's time that is used, in [0, 1].", registry=registry
        )
        self._speech_wait_s = Gauge(
            "askwell_speech_wait_s", "How long an answer would wait for the transcriber now, in s.", registry=registry
        )

    def _voice(self, registry: CollectorRegistry) -> None:
        self.voice_sentences = Counter(
            "askwell_voice_sentences",
            "Sentences for the server's voice: said, remembered from before, or why they were not read.",
            ["outcome"],
            registry=registry,
        )
        self.voice_ms = Histogram(
            "askwell_voice_ms", "Sentences that a program read aloud, in ms.", buckets=_MS, registry=registry
        )

    def watch_speech(self, load: Callable[[], TranscriberLoad]) -> None:
        """Have the transcriber's load read whenever metrics are."""
        self._speech_busy.set_function(lambda: load().busy)
        self._speech_wait_s.set_function(lambda: load().backlog_s)

    def watch_circuits(self, read: Callable[[], Iterable[Circuit]]) -> None:
        """Have the circuit breakers read whenever metrics are."""
        self._circuits.read = read

    def llm_call(self, call: LLMCall) -> None:
        """Count one try to get an answer from a language model."""
        self.llm_calls.labels(call.role, call.task, call.provider, call.model, call.outcome).inc()
        if call.outcome == "completed":
            self.llm_ms.labels(call.role).observe(call.latency_ms)
        if call.first_token_ms is not None:
            self.llm_first_token_ms.labels(call.role).observe(call.first_token_ms)
        tokens = {"input": call.input_tokens, "cached": call.cached_tokens, "output": call.output_tokens}
        for direction, number in tokens.items():
            if number:
                self.llm_tokens.labels(call.role, direction).inc(number)
        if call.cost is not None and call.currency is not None:
            self.llm_cost.labels(call.currency).inc(call.cost)

    def llm_fallback(self, role: Role) -> None:
        """Count one task that the offline provider did in a language model's place."""
        self.llm_fallbacks.labels(role).inc()

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

    def families(self) -> list[dict[str, Any]]:
        """All metrics as JSON values, for `joint_page` of another process."""
        return [
            {
                "name": family.name,
                "documentation": family.documentation,
                "type": family.type,
                "samples": [[sample.name, sample.labels, sample.value] for sample in family.samples],
            }
            for family in self.registry.collect()
        ]


class _Collected(Collector):
    """Metrics that were collected already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


def joint_page(families: Mapping[int, list[dict[str, Any]]], *, restarts: int) -> bytes:
    """The metrics of several workers on one page, each sample with the label `worker`.

    Nothing is added up: a counter begins anew with its worker, which Prometheus knows how to add up and a sum would
    hide.

    Args:
        families: by the worker's number, from `Metrics.families`.
        restarts: how many workers were started again.
    """
    joint: dict[str, Metric] = {}
    for number, told in families.items():
        for family in told:
            metric = joint.setdefault(family["name"], Metric(family["name"], family["documentation"], family["type"]))
            for name, labels, value in family["samples"]:
                metric.add_sample(name, {**labels, "worker": str(number)}, value)
    answering = GaugeMetricFamily("askwell_workers", "Workers that take part in this page.", value=len(families))
    again = CounterMetricFamily("askwell_worker_restarts", "Workers that ended and were started again.", value=restarts)
    registry = CollectorRegistry()
    registry.register(_Collected([*joint.values(), answering, again]))
    return generate_latest(registry)
