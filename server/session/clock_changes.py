"""Notices that the wall clock was set: durations that were measured with it are then wrong."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import structlog

log = structlog.get_logger("askwell.session")
TOLERANCE_S = 60.0
"""Smaller changes don't count."""


class ClockChanges:
    """Compares the wall clock with the monotonic one each time that it is asked to.

    Args:
        now: wall clock, with zone.
        clock: monotonic seconds.
    """

    def __init__(self, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        self._now = now
        self._clock = clock
        self._offset_s = self._measure()
        self._changed_at: float | None = None

    def look(self) -> None:
        """Look whether the wall clock was set since the last look."""
        offset_s = self._measure()
        by_s, self._offset_s = offset_s - self._offset_s, offset_s
        if abs(by_s) > TOLERANCE_S:
            self._changed_at = self._clock()
            log.warning("clock.set", by_s=round(by_s))

    def none_for(self, seconds: float) -> bool:
        """Whether no change was found for so long, or since this process began."""
        return self._changed_at is None or self._clock() - self._changed_at >= seconds

    def _measure(self) -> float:
        return self._now().timestamp() - self._clock()
