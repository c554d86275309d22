"""When a session needs a person; rules without I/O."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from config.alerts import AlertSettings
from pipeline.signals.llm import DEPTH_POINTS, response_trend
from pipeline.state import UNFINISHED, InterviewState
from server.protocol.watched import Activity, Alert, AlertCode

SHALLOW_IN_A_ROW = 3
SHALLOW_POINTS = 2
WAITING_S = 20.0
"""An answer that waits for a moderator this long needs one."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a session besides its state.

    Args:
        connected: whether a respondent is there.
        activity: doing what.
        changed_at: when one of these two last changed.
        failing: whether a model did not do its work in the latest turn.
        kiosk_offline: whether the session's device is not heard of.
        waits_since: since when an answer waits for a moderator; None if none does.
    """

    connected: bool
    activity: Activity
    changed_at: datetime
    failing: bool = False
    kiosk_offline: bool = False
    waits_since: datetime | None = None


def codes_of(state: InterviewState, facts: Facts, settings: AlertSettings, now: datetime) -> set[AlertCode]:
    """What about the session needs a person now."""
    found: set[AlertCode] = {alert.code for alert in state.conduct.alerts if alert.acknowledged_by is None}
    if state.status not in UNFINISHED or state.conduct.stopping_until is not None:
        return found
    since = now - facts.changed_at
    if response_trend(state.depths) == "fatigued":
        found.add("fatigue")
    if is_shallow(state):
        found.add("shallow_answers")
    if facts.failing:
        found.add("model_failing")
    if facts.kiosk_offline:
        found.add("kiosk_offline")
    if facts.waits_since is not None and now - facts.waits_since >= timedelta(seconds=WAITING_S):
        found.add("waiting_for_moderator")
    going = state.status in ("active", "closing")
    if (
        going
        and not state.conduct.waiting
        and facts.connected
        and facts.activity == "thinking"
        and since >= timedelta(seconds=settings.alert_stuck_s)
    ):
        found.add("stuck")
    if going and not facts.connected and since >= timedelta(seconds=settings.alert_disconnected_s):
        found.add("disconnected")
    return found


def is_shallow(state: InterviewState) -> bool:
    """Whether the latest answers in a row were surface or shallow."""
    latest = state.depths[-SHALLOW_IN_A_ROW:]
    return len(latest) == SHALLOW_IN_A_ROW and all(DEPTH_POINTS[depth] <= SHALLOW_POINTS for depth in latest)


class ActiveAlerts:
    """The alerts of one session, and since when each holds."""

    def __init__(self) -> None:
        self._since: dict[AlertCode, datetime] = {}

    def update(self, codes: set[AlertCode], now: datetime) -> tuple[list[AlertCode], list[AlertCode]]:
        """Take what holds now; what is new, and what is over."""
        new = sorted(codes - set(self._since))
        over = sorted(set(self._since) - codes)
        for code in over:
            del self._since[code]
        for code in new:
            self._since[code] = now
        return new, over

    def view(self) -> tuple[Alert, ...]:
        """The alerts, oldest first."""
        return tuple(
            Alert(code=code, since=since.isoformat())
            for code, since in sorted(self._since.items(), key=lambda item: item[1])
        )
