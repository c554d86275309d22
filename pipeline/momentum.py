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


LITTLE, MUCH = 0.25, 0.75
"""Engagement up to which, and from which on, an answer has little or much of it."""


def by_rules(depth: str, engagement: float, *, tells: bool) -> Momentum:
    """The level of an answer whose rater does not tell it.

    Neutral is what is expected. An answer is low only where it is short, volunteers nothing and tells nothing: hedging
    beside an explanation is thinking aloud, and who is brief and says something is not weary.

    Args:
        depth: how much elaboration it has, `surface`, `shallow`, `moderate` or `deep`.
        engagement: how much the respondent volunteers, in [0, 1].
        tells: whether it mentions any concept.
    """
    if depth == "surface" and engagement <= LITTLE and not tells:
        return "low"
    return "high" if engagement >= MUCH and depth in ("moderate", "deep") else "neutral"


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
