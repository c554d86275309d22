"""Admission control: which transcription gets a worker. The time is a number that the test sets."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.admission import AdmissionLimits, AdmissionQueue, Ticket
from audio.types import Purpose

PATIENT = AdmissionLimits(partial_wait_s=60.0, partial_load=1.0, final_wait_s=1e9)


def request(admission: AdmissionQueue, purpose: Purpose, session: object, now: float = 0.0) -> Ticket:
    ticket = admission.request(purpose, session, now)
    assert ticket is not None
    return ticket


def begin(admission: AdmissionQueue, now: float = 0.0) -> list[Purpose]:
    """What begins now, in order."""
    begun: list[Purpose] = []
    while (ticket := admission.next(now)) is not None:
        begun.append(ticket.purpose)
    return begun


def occupy(admission: AdmissionQueue, now: float = 0.0) -> list[Ticket]:
    """Take every worker with finals."""
    tickets = [request(admission, "final", f"busy {n}", now) for n in range(admission.workers)]
    assert begin(admission, now) == ["final"] * admission.workers
    return tickets


def test_final_goes_before_guess_goes_before_partial() -> None:
    admission = AdmissionQueue(1, PATIENT)
    [first] = occupy(admission)
    for purpose in ("partial", "guess", "final"):
        request(admission, purpose, purpose)
    order = []
    for now in (1.0, 2.0, 3.0):
        admission.finish(first, now)
        ticket = admission.next(now)
        assert ticket is not None
        order.append(ticket.purpose)
        first = ticket
    assert order == ["final", "guess", "partial"]


def test_guess_that_waited_as_long_as_an_endpoint_takes_goes_before_a_new_final() -> None:
    admission = AdmissionQueue(1)
    [first] = occupy(admission)
    guess = request(admission, "guess", "a", 0.0)
    final = request(admission, "final", "b", 0.8)
    admission.finish(first, 0.8)
    assert admission.next(0.8) is guess
    admission.finish(guess, 1.0)
    assert admission.next(1.0) is final


def test_equals_go_in_the_order_in_which_they_came() -> None:
    admission = AdmissionQueue(1)
    tickets = [request(admission, "final", n, n / 100) for n in range(5)]
    begun = []
    for _ in tickets:
        ticket = admission.next(1.0)
        assert ticket is not None
        begun.append(ticket)
        admission.finish(ticket, 1.0)
    assert begun == tickets


def test_partials_leave_one_worker_free() -> None:
    admission = AdmissionQueue(2)
    for session in "abc":
        admission.request("partial", session, 0.0)
    assert begin(admission) == ["partial"]
    request(admission, "final", "d")
    assert begin(admission) == ["final"]


def test_session_has_one_partial_at_a_time() -> None:
    admission = AdmissionQueue(4)
    request(admission, "partial", "a")
    assert admission.request("partial", "a", 0.0) is None
    assert begin(admission) == ["partial"]
    assert admission.request("partial", "a", 0.1) is None
    assert admission.load(0.1).dropped == {"partial": 2}


def test_session_has_one_guess_at_work_until_its_worker_returns() -> None:
    admission = AdmissionQueue(2)
    first = request(admission, "guess", "a")
    assert admission.next(0.0) is first
    admission.cancel(first)
    second = request(admission, "guess", "a", 0.1)
    other = request(admission, "guess", "b", 0.2)
    assert admission.next(0.2) is other
    assert admission.next(0.2) is None
    admission.finish(other, 0.3)
    assert admission.next(0.3) is None
    admission.finish(first, 0.4)
    assert admission.next(0.4) is second


def test_final_of_a_session_does_not_wait_for_its_guess() -> None:
    admission = AdmissionQueue(2)
    request(admission, "guess", "a")
    request(admission, "final", "a")
    assert begin(admission) == ["final", "guess"]


def test_cancelled_work_keeps_its_worker_until_it_returns() -> None:
    admission = AdmissionQueue(1)
    [running] = occupy(admission)
    admission.cancel(running)
    waiting = request(admission, "final", "b")
    assert admission.next(1.0) is None
    assert admission.load(1.0).running == 1
    admission.finish(running, 2.0)
    assert admission.next(2.0) is waiting
    assert admission.load(2.0).cancelled == {"final": 1}


def test_cancelled_wait_is_forgotten() -> None:
    admission = AdmissionQueue(1)
    [running] = occupy(admission)
    waiting = request(admission, "final", "b")
    admission.cancel(waiting)
    admission.cancel(waiting)
    admission.finish(running, 1.0)
    assert admission.next(1.0) is None
    assert admission.load(1.0).cancelled == {"final": 1}


def test_partial_that_waited_too_long_is_dropped_and_counted() -> None:
    admission = AdmissionQueue(1, AdmissionLimits(partial_wait_s=0.8))
    occupy(admission)
    partial = request(admission, "partial", "a", 0.1)
    assert admission.expire(0.9) == []
    assert admission.expire(0.95) == [partial]
    assert admission.load(1.0).dropped == {"partial": 1}


def test_partial_is_refused_behind_more_than_it_may_wait_for() -> None:
    admission = AdmissionQueue(2, AdmissionLimits(partial_wait_s=0.8))
    occupy(admission)
    for n in range(3):
        request(admission, "final", n)
    assert admission.request("partial", "a", 0.0) is None


def test_partials_stop_when_the_workers_were_busy_for_long_and_come_back() -> None:
    admission = AdmissionQueue(2, AdmissionLimits(partial_load=0.85))
    tickets = occupy(admission, 0.0)
    for ticket in tickets:
        admission.finish(ticket, 60.0)
    assert admission.load(60.0).busy > 0.95
    assert admission.request("partial", "a", 60.0) is None
    assert admission.request("partial", "a", 70.0) is not None


def test_finals_are_refused_only_when_they_would_wait_past_the_limit() -> None:
    admission = AdmissionQueue(1, AdmissionLimits(final_wait_s=1.0))
    occupy(admission)
    taken = [admission.request("final", n, 0.0) for n in range(8)]
    assert [ticket is not None for ticket in taken] == [True, True] + [False] * 6
    assert admission.load(0.0).dropped == {"final": 6}
    assert admission.load(0.0).backlog_s > 1.0


def test_backlog_follows_measured_costs() -> None:
    admission = AdmissionQueue(1)
    [first] = occupy(admission)
    admission.finish(first, 4.0)
    running = request(admission, "final", "a", 4.0)
    assert admission.next(4.0) is running
    request(admission, "final", "b", 4.0)
    assert admission.load(4.0).backlog_s == pytest.approx(8.0)
    assert admission.load(6.0).backlog_s == pytest.approx(6.0)


@given(
    workers=st.integers(1, 4),
    steps=st.lists(
        st.tuples(st.sampled_from(["final", "guess", "partial", "finish", "cancel"]), st.integers(0, 5)), max_size=60
    ),
)
def test_rules_hold_in_any_order_of_events(workers: int, steps: Sequence[tuple[str, int]]) -> None:
    admission = AdmissionQueue(workers, AdmissionLimits(partial_wait_s=0.5))
    alive: list[Ticket] = []
    asked = 0
    for now, (what, which) in enumerate(steps):
        if what == "finish" or what == "cancel":
            running = [ticket for ticket in alive if ticket.state == "running"]
            pick = (running if what == "finish" else alive)[which % len(alive or [0]) :][:1]
            for ticket in pick:
                (admission.finish(ticket, now) if what == "finish" else admission.cancel(ticket))
        else:
            asked += 1
            taken = admission.request(what, which, now)  # type: ignore[arg-type]
            alive += [taken] if taken else []
        admission.expire(now)
        while admission.next(now) is not None:
            pass
        alive = [ticket for ticket in alive if ticket.state != "over"]
        running = [ticket for ticket in alive if ticket.state == "running"]
        load = admission.load(now)
        assert load.running == len(running) <= workers
        assert load.waiting == len(alive) - len(running)
        guesses = [ticket.session for ticket in running if ticket.purpose == "guess"]
        assert len(guesses) == len(set(guesses))
        assert sum(ticket.purpose == "partial" for ticket in running) <= max(1, workers - 1)
        assert 0.0 <= load.busy <= 1.0
        waiting_finals = [ticket for ticket in alive if ticket.state == "waiting" and ticket.purpose == "final"]
        assert not waiting_finals or len(running) == workers


def test_recordings_come_behind_whoever_waits_and_leave_a_worker_free() -> None:
    admission = AdmissionQueue(2)
    recordings = [request(admission, "recording", f"recording {n}") for n in range(3)]
    assert begin(admission) == ["recording"]
    request(admission, "guess", "speaker", 5.0)
    assert begin(admission, 5.0) == ["guess"]
    request(admission, "final", "another", 6.0)
    admission.finish(recordings[0], 7.0)
    assert begin(admission, 7.0) == ["final"]


def test_recordings_are_never_refused_and_do_not_delay_speakers() -> None:
    admission = AdmissionQueue(1, AdmissionLimits(final_wait_s=1.0))
    occupy(admission)
    for number in range(50):
        request(admission, "recording", number)
    assert admission.load(0.0).backlog_s < 1.0
    request(admission, "final", "speaker")


def test_recording_takes_the_only_worker_there_is() -> None:
    admission = AdmissionQueue(1)
    request(admission, "recording", "r")
    assert begin(admission) == ["recording"]


def test_answer_is_read_again_beside_what_runs_on_a_worker_of_its_own() -> None:
    admission = AdmissionQueue(2, read_again=True)
    request(admission, "final", "a")
    assert begin(admission) == ["final"]
    again = request(admission, "again", "b")
    assert begin(admission) == ["again"]
    request(admission, "partial", "c")
    request(admission, "final", "d")
    assert begin(admission) == ["final"], "it takes no worker from others"
    assert admission.give_up() is again, "but all of them are wanted now"
    assert admission.give_up() is None, "that is told once"
    admission.finish(again, 1.0)
    assert admission.load(1.0).dropped == {"again": 1}


@pytest.mark.parametrize("purpose", ["partial", "guess", "final", "recording"])
def test_answer_is_not_read_again_while_all_workers_are_wanted(purpose: Purpose) -> None:
    admission = AdmissionQueue(1, PATIENT, read_again=True)
    request(admission, purpose, "a")
    begin(admission)
    assert admission.request("again", "b", 0.0) is None


def test_answer_is_not_read_again_unless_that_is_wanted() -> None:
    assert AdmissionQueue(2).request("again", "a", 0.0) is None


def test_one_answer_is_read_again_at_a_time() -> None:
    admission = AdmissionQueue(4, read_again=True)
    first = request(admission, "again", "a")
    assert admission.request("again", "b", 0.0) is None
    begin(admission)
    assert admission.request("again", "b", 0.0) is None
    admission.cancel(first)
    assert admission.request("again", "b", 0.0) is None, "its worker is not free yet"
    admission.finish(first, 1.0)
    assert admission.request("again", "b", 1.0) is not None


def test_answer_is_not_read_again_under_load() -> None:
    admission = AdmissionQueue(2, read_again=True)
    tickets = occupy(admission)
    admission.load(60.0)
    for ticket in tickets:
        admission.finish(ticket, 60.0)
    assert admission.request("again", "a", 60.0) is None
    assert admission.request("again", "a", 120.0) is not None


def test_reading_again_neither_delays_captions_nor_counts_as_load() -> None:
    admission = AdmissionQueue(2, read_again=True)
    again = request(admission, "again", "a")
    assert begin(admission) == ["again"]
    request(admission, "partial", "b")
    assert begin(admission) == ["partial"]
    load = admission.load(0.0)
    assert (load.running, load.waiting, load.backlog_s) == (1, 0, 0.0)
    admission.finish(again, 30.0)
    assert admission.load(30.0).busy <= 0.5


def test_cancelled_reading_that_has_not_begun_leaves_room_for_another() -> None:
    admission = AdmissionQueue(2, read_again=True)
    admission.cancel(request(admission, "again", "a"))
    assert begin(admission) == []
    assert admission.request("again", "b", 0.0) is not None
