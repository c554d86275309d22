"""Metrics of language models: what is counted, and that nothing else becomes a label."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.calls import LLMCall
from server.metrics import Circuit, Metrics


def call(**fields: Any) -> LLMCall:
    usual: dict[str, Any] = {
        "id": "c", "role": "generation", "task": "question", "provider": "anthropic", "model": "claude-x",
        "input_tokens": 100, "cached_tokens": 40, "output_tokens": 7, "latency_ms": 900.0, "first_token_ms": 300.0,
        "cost": 0.5, "currency": "USD",
    }  # fmt: skip
    return LLMCall(**{**usual, **fields})


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_call_is_counted_timed_and_priced() -> None:
    metrics = Metrics()
    metrics.llm_call(call())
    metrics.llm_call(call(id="d", cached_tokens=None, cost=0.25))
    labels = {"role": "generation", "task": "question", "provider": "anthropic", "model": "claude-x"}
    assert value(metrics, "askwell_llm_calls_total", **labels, outcome="completed") == 2
    assert value(metrics, "askwell_llm_ms_sum", role="generation") == 1800
    assert value(metrics, "askwell_llm_first_token_ms_count", role="generation") == 2
    assert value(metrics, "askwell_llm_tokens_total", role="generation", direction="input") == 200
    assert value(metrics, "askwell_llm_tokens_total", role="generation", direction="cached") == 40
    assert value(metrics, "askwell_llm_tokens_total", role="generation", direction="output") == 14
    assert value(metrics, "askwell_llm_cost_total", currency="USD") == 0.75


@pytest.mark.parametrize("outcome", ["failed", "discarded"])
def test_call_without_an_answer_is_counted_and_not_timed(outcome: str) -> None:
    metrics = Metrics()
    nothing = dict.fromkeys(("input_tokens", "cached_tokens", "output_tokens", "first_token_ms", "cost", "currency"))
    metrics.llm_call(call(outcome=outcome, error="LLMTimeout", **nothing))
    labels = {"role": "generation", "task": "question", "provider": "anthropic", "model": "claude-x"}
    assert value(metrics, "askwell_llm_calls_total", **labels, outcome=outcome) == 1
    assert value(metrics, "askwell_llm_ms_count", role="generation") is None
    assert value(metrics, "askwell_llm_cost_total", currency="USD") is None


def test_call_that_was_paid_for_and_not_used_has_its_cost() -> None:
    metrics = Metrics()
    metrics.llm_call(call(outcome="discarded"))
    assert value(metrics, "askwell_llm_cost_total", currency="USD") == 0.5


def test_circuits_are_read_when_somebody_looks() -> None:
    metrics = Metrics()
    circuit = {"role": "scoring", "provider": "openai", "host": "api.openai.com", "model": "m"}
    assert value(metrics, "askwell_llm_circuit_open", **circuit) is None
    is_open = False
    metrics.watch_circuits(lambda: [Circuit(**circuit, is_open=is_open)])
    assert value(metrics, "askwell_llm_circuit_open", **circuit) == 0
    is_open = True
    assert value(metrics, "askwell_llm_circuit_open", **circuit) == 1


def test_fallbacks_are_counted_by_role() -> None:
    metrics = Metrics()
    metrics.llm_fallback("scoring")
    assert value(metrics, "askwell_llm_fallbacks_total", role="scoring") == 1
