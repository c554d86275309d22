"""When a session needs a person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from config.alerts import AlertSettings
from server.watch.alerts import ActiveAlerts, Facts, codes_of
from server.watch.rows import row_of
from tests.support.interview import NOW, new_state

SETTINGS = AlertSettings(alert_stuck_s=300, alert_disconnected_s=60)


def facts(**changes: Any) -> Facts:
    """A respondent who is there and thinks."""
    return Facts(**{"connected": True, "activity": "thinking", "changed_at": NOW, **changes})


def codes(after_s: float = 1.0, *, state: dict[str, Any] | None = None, **changes: Any) -> set[str]:
    """What needs a person, so many seconds after something changed."""
    known = new_state(**{"status": "active", **(state or {})})
    return set(codes_of(known, facts(**changes), SETTINGS, NOW + timedelta(seconds=after_s)))


def test_interview_that_goes_well_needs_nobody() -> None:
    assert codes(state={"depths": ("deep", "moderate", "deep", "shallow")}) == set()


def test_three_shallow_answers_in_a_row_need_a_person() -> None:
    assert codes(state={"depths": ("deep", "shallow", "surface", "shallow")}) == {"shallow_answers"}
    assert codes(state={"depths": ("shallow", "shallow")}) == set()


def test_mostly_shallow_answers_are_fatigue() -> None:
    depths = ("shallow", "surface", "deep", "shallow", "shallow", "moderate")
    assert codes(state={"depths": depths}) == {"fatigue"}


def test_failing_model_and_absent_kiosk_need_a_person() -> None:
    assert codes(failing=True, kiosk_offline=True) == {"model_failing", "kiosk_offline"}


@pytest.mark.parametrize(
    ("after_s", "changes", "expected"),
    [
        (299, {}, set()),
        (300, {}, {"stuck"}),
        (3000, {"activity": "typing"}, set()),
        (3000, {"activity": "working"}, set()),
        (59, {"connected": False, "activity": "idle"}, set()),
        (60, {"connected": False, "activity": "idle"}, {"disconnected"}),
        (19, {"activity": "held", "waits_since": NOW}, set()),
        (20, {"activity": "held", "waits_since": NOW}, {"waiting_for_moderator"}),
        (
            20,
            {"activity": "held", "waits_since": NOW, "changed_at": NOW + timedelta(seconds=19)},
            {"waiting_for_moderator"},
        ),
    ],
)
def test_time_without_a_sign_is_told_once_it_is_long(
    after_s: float, changes: dict[str, Any], expected: set[str]
) -> None:
    assert codes(after_s, **changes) == expected


@pytest.mark.parametrize("status", ["completed", "abandoned", "failed"])
def test_interview_that_is_over_needs_nobody(status: str) -> None:
    state = {"status": status, "depths": ("surface",) * 6}
    assert codes(9999, state=state, connected=False, failing=True) == set()


@pytest.mark.parametrize("status", ["created", "paused"])
def test_pause_is_no_reason_to_miss_a_respondent(status: str) -> None:
    assert codes(9999, state={"status": status}, connected=False, activity="idle") == set()


def test_alert_keeps_its_beginning_until_it_is_over() -> None:
    standing = ActiveAlerts()
    later = NOW + timedelta(seconds=5)
    assert standing.update({"stuck"}, NOW) == (["stuck"], [])
    assert standing.update({"stuck", "fatigue"}, later) == (["fatigue"], [])
    assert [(one.code, one.since) for one in standing.view()] == [
        ("stuck", NOW.isoformat()),
        ("fatigue", later.isoformat()),
    ]
    assert standing.update({"fatigue"}, later) == ([], ["stuck"])
    assert standing.update({"fatigue", "stuck"}, later) == (["stuck"], [])


def test_row_has_the_latest_of_each_history_and_short_texts() -> None:
    state = new_state(
        depths=("deep",) * 30,
        engagements=tuple(number / 100 for number in range(30)),
        phase="mid",
        saturation_score=0.25,
    )
    row = row_of(state, facts(), ())
    assert (row.depth, row.engagement[0], row.engagement[-1]) == ((4,) * 20, 0.1, 0.29)
    assert (row.phase, row.saturation, row.last_answer) == ("mid", 0.25, None)
