"""The operator's PIN: what it opens, for how long, and what guessing costs."""

from __future__ import annotations

import pytest

from server.errors import ApiError
from server.operator_lock import FORGET_S, FREE_TRIES, LONGEST_WAIT_S, UNLOCKED_S, OperatorLock


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def corner(clock: Clock) -> OperatorLock:
    return OperatorLock("4711", clock)


def refused(corner: OperatorLock, pin: str, holder: str = "kiosk") -> ApiError:
    with pytest.raises(ApiError) as error:
        corner.unlock(holder, pin)
    return error.value


def locked(corner: OperatorLock, key: str, holder: str = "kiosk") -> bool:
    try:
        corner.check(holder, key)
    except ApiError as error:
        return error.code == "forbidden"
    return False


def test_right_pin_opens_for_a_while(corner: OperatorLock, clock: Clock) -> None:
    key = corner.unlock("kiosk", "4711")
    assert not locked(corner, key)
    clock.now += UNLOCKED_S - 1
    assert not locked(corner, key)
    clock.now += 2
    assert locked(corner, key)


def test_key_is_good_for_its_holder_and_process_only(corner: OperatorLock, clock: Clock) -> None:
    key = corner.unlock("kiosk", "4711")
    assert locked(corner, key, "another")
    assert locked(OperatorLock("4711", clock), key)


@pytest.mark.parametrize("key", ["", ".", "9999", "9999999999.", "9999999999.00", "９.a", "x.y", "1.ü"])
def test_key_that_is_made_up_opens_nothing(corner: OperatorLock, key: str) -> None:
    assert locked(corner, key)


def test_guessing_costs_more_each_time_and_the_right_pin_waits_too(corner: OperatorLock, clock: Clock) -> None:
    assert [refused(corner, "0000").code for _ in range(FREE_TRIES)] == ["forbidden"] * FREE_TRIES
    waits = []
    for _ in range(12):
        while_waiting = refused(corner, "4711")
        assert while_waiting.code == "rate_limited"
        assert while_waiting.retry_after_s is not None
        waits.append(while_waiting.retry_after_s)
        clock.now += while_waiting.retry_after_s
        assert refused(corner, "0001").code == "forbidden"
    assert waits[:4] == [5, 10, 20, 40]
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_WAIT_S


def test_guesses_of_one_holder_cost_another_nothing(corner: OperatorLock) -> None:
    for _ in range(FREE_TRIES):
        refused(corner, "0000")
    assert refused(corner, "4711").code == "rate_limited"
    assert corner.unlock("another", "4711")


def test_success_and_time_let_failures_be_forgotten(corner: OperatorLock, clock: Clock) -> None:
    for _ in range(FREE_TRIES - 1):
        refused(corner, "0000")
    corner.unlock("kiosk", "4711")
    for _ in range(FREE_TRIES - 1):
        assert refused(corner, "0000").code == "forbidden"
    clock.now += FORGET_S + 1
    for _ in range(FREE_TRIES - 1):
        refused(corner, "0000")
    assert corner.unlock("kiosk", "4711")


def test_without_a_pin_nothing_opens(clock: Clock) -> None:
    corner = OperatorLock(None, clock)
    assert not corner.possible
    assert "ASKWELL_KIOSK_PIN" in str(refused(corner, ""))
    assert locked(corner, "")
