"""The circuit breaker: when it opens, whom it lets through, and what closes it."""

from __future__ import annotations

import pytest
import structlog.testing

from pipeline.language.clients.breaker import (
    FAILURES,
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    PROBES,
    Breaker,
    CircuitOpen,
    Result,
    State,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


FAILED: tuple[Result, ...] = ("failure",) * FAILURES


def state(breaker: Breaker) -> State:
    return breaker.state


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker("openai", "m", clock)


def tell(breaker: Breaker, *results: Result) -> None:
    for result in results:
        breaker.admit().settle(result)


def test_breaker_after_three_failures_in_a_row_opens_and_says_so(breaker: Breaker) -> None:
    with structlog.testing.capture_logs() as logs:
        tell(breaker, "failure", "failure")
        assert state(breaker) == "closed"
        tell(breaker, "failure")
    assert state(breaker) == "open"
    assert [(line["event"], line["log_level"], line["pause_s"]) for line in logs] == [
        ("llm_circuit_open", "warning", 30.0)
    ]
    with pytest.raises(CircuitOpen) as caught:
        breaker.admit()
    assert caught.value.wait_s == FIRST_PAUSE_S


def test_breaker_after_a_success_between_failures_stays_closed(breaker: Breaker) -> None:
    tell(breaker, "failure", "failure", "success", "failure", "failure")
    assert state(breaker) == "closed"


def test_breaker_takes_what_is_unknown_for_neither(breaker: Breaker) -> None:
    tell(breaker, "failure", "unknown", "failure", "unknown", "failure")
    assert state(breaker) == "open"


def test_breaker_after_its_pause_lets_a_few_probes_through(breaker: Breaker, clock: Clock) -> None:
    tell(breaker, *FAILED)
    clock.now += FIRST_PAUSE_S - 0.1
    with pytest.raises(CircuitOpen):
        breaker.admit()
    clock.now += 0.1
    assert state(breaker) == "half_open"
    probes = [breaker.admit() for _ in range(PROBES)]
    with pytest.raises(CircuitOpen):
        breaker.admit()
    probes[0].settle("success")
    assert state(breaker) == "closed"
    tell(breaker, "failure", "failure")
    assert state(breaker) == "closed"


def test_breaker_with_several_failing_probes_opens_once(breaker: Breaker, clock: Clock) -> None:
    tell(breaker, *FAILED)
    clock.now += FIRST_PAUSE_S
    probes = [breaker.admit() for _ in range(PROBES)]
    for probe in probes:
        probe.settle("failure")
    with pytest.raises(CircuitOpen) as caught:
        breaker.admit()
    assert caught.value.wait_s == 2 * FIRST_PAUSE_S


def test_breaker_with_a_probe_given_up_by_its_turn_lets_the_other_lane_find_out(breaker: Breaker, clock: Clock) -> None:
    tell(breaker, *FAILED)
    clock.now += FIRST_PAUSE_S
    rating, extraction = breaker.admit(), breaker.admit()
    rating.settle("unknown")
    extraction.settle("success")
    assert state(breaker) == "closed"


def test_breaker_with_failing_probes_pauses_twice_as_long_up_to_a_limit(breaker: Breaker, clock: Clock) -> None:
    tell(breaker, *FAILED)
    pauses = []
    for _ in range(6):
        with pytest.raises(CircuitOpen) as caught:
            breaker.admit()
        pauses.append(caught.value.wait_s)
        clock.now += caught.value.wait_s
        tell(breaker, "failure")
    assert pauses == [30, 60, 120, 240, LONGEST_PAUSE_S, LONGEST_PAUSE_S]
    clock.now += LONGEST_PAUSE_S
    tell(breaker, "success", "failure", "failure", "failure")
    with pytest.raises(CircuitOpen) as caught:
        breaker.admit()
    assert caught.value.wait_s == FIRST_PAUSE_S


def test_breaker_with_a_probe_given_up_lets_the_next_one_through(breaker: Breaker, clock: Clock) -> None:
    tell(breaker, *FAILED)
    clock.now += FIRST_PAUSE_S
    tell(breaker, "unknown")
    assert state(breaker) == "half_open"
    tell(breaker, "success")
    assert state(breaker) == "closed"


def test_breaker_hears_of_calls_let_through_before_it_opened(breaker: Breaker, clock: Clock) -> None:
    early = [breaker.admit() for _ in range(5)]
    for permit in early[:4]:
        permit.settle("failure")
    with pytest.raises(CircuitOpen) as caught:
        breaker.admit()
    assert caught.value.wait_s == FIRST_PAUSE_S
    with structlog.testing.capture_logs() as logs:
        early[4].settle("success")
    assert state(breaker) == "closed"
    assert [line["event"] for line in logs] == ["llm_circuit_closed"]


def test_breaker_with_a_probe_that_answers_does_not_wait_for_its_end(breaker: Breaker, clock: Clock) -> None:
    first = breaker.admit()
    first.answer_began()
    tell(breaker, "failure", "failure")
    first.settle("failure")
    assert state(breaker) == "open"
    clock.now += FIRST_PAUSE_S
    probe = breaker.admit()
    probe.answer_began()
    assert state(breaker) == "closed"
    probe.settle("failure")
    tell(breaker, "failure", "failure")
    assert state(breaker) == "closed"


def test_permit_settled_twice_counts_once(breaker: Breaker) -> None:
    permit = breaker.admit()
    for _ in range(FAILURES):
        permit.settle("failure")
    assert state(breaker) == "closed"
