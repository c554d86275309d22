"""Whether the conversation gains or loses momentum."""

from __future__ import annotations

from typing import Literal

from pipeline.records import Record

Momentum = Literal["high", "neutral", "low"]

POINTS: dict[Momentum, float] = {"high": 1.0, "neutral": 0.5, "low": 0.0}
WINDOW = 5
"""Latest levels that are kept."""
KEPT = 0.7
"""Weight of what was before in the weighted mean."""
LOW_MEAN = 0.3
LOW_TURNS = 3


class MomentumState(Record):
    """Levels of the latest rated answers, oldest first, at most WINDOW; and their weighted mean, in [0, 1].

    `consecutive_low` counts low levels in a row, `turns_below` the turns in a row with a mean below LOW_MEAN.
    """

    levels: tuple[Momentum, ...] = ()
    mean: float = 0.5
    consecutive_low: int = 0
    turns_below: int = 0

    @property
    def fatigued(self) -> bool:
        """Three low levels in a row, or a mean that stayed low for three turns, so that one outlier resets nothing."""
        return self.consecutive_low >= LOW_TURNS or self.turns_below >= LOW_TURNS

    def after(self, level: Momentum | None) -> MomentumState:
        """The state after one more answer; unchanged where it was not rated."""
        if level is None:
            return self
        mean = KEPT * self.mean + (1 - KEPT) * POINTS[level]
        return MomentumState(
            levels=(*self.levels, level)[-WINDOW:],
            mean=mean,
            consecutive_low=self.consecutive_low + 1 if level == "low" else 0,
            turns_below=self.turns_below + 1 if mean < LOW_MEAN else 0,
        )
