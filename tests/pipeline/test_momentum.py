"""Momentum: levels, their weighted mean, and fatigue."""

from __future__ import annotations

import pytest

from pipeline.momentum import Momentum, MomentumState, by_rules
from tests.support.interview import FixedRater, Interview, concepts, conduct_policy


def after(*levels: Momentum | None) -> MomentumState:
    state = MomentumState()
    for level in levels:
        state = state.after(level)
    return state


def test_mean_starts_in_the_middle_and_weighs_the_latest_by_three_tenths() -> None:
    assert after().mean == 0.5
    assert after("high").mean == pytest.approx(0.65)
    assert after("low", "low").mean == pytest.approx(0.245)


def test_answer_that_was_not_rated_changes_nothing() -> None:
    assert after("high", None, "low") == after("high", "low")


def test_three_low_levels_in_a_row_are_fatigue() -> None:
    assert not after("low", "low", "high").fatigued
    assert after("high", "low", "low", "low").fatigued


def test_one_better_answer_does_not_end_a_fatigue_of_many() -> None:
    tired = after("low", "low", "low", "low", "low")
    assert tired.turns_below == 4
    assert tired.after("neutral").fatigued
    assert not after("low", "low", "low", "low", "low", "high", "high", "high").fatigued


def test_five_levels_are_kept() -> None:
    assert after("high", "high", "high", "high", "low", "neutral", "low").levels == (
        "high",
        "high",
        "low",
        "neutral",
        "low",
    )


@pytest.mark.parametrize(
    ("depth", "engagement", "tells", "expected"),
    [
        ("surface", 0.25, False, "low"),
        ("surface", 0.25, True, "neutral"),
        ("surface", 0.5, False, "neutral"),
        ("shallow", 0.0, False, "neutral"),
        ("moderate", 0.75, True, "high"),
        ("shallow", 1.0, True, "neutral"),
        ("deep", 0.5, True, "neutral"),
    ],
)
def test_momentum_by_rules_is_low_only_where_nothing_speaks_against_it(
    depth: str, engagement: float, tells: bool, expected: str
) -> None:
    assert by_rules(depth, engagement, tells=tells) == expected


def test_one_lively_answer_among_weary_ones_resets_nothing_for_good() -> None:
    weary = after("low", "high", "low", "low", "low")
    assert weary.consecutive_low == 3
    assert weary.fatigued
    assert after("low", "low", "low", "low", "low", "neutral").fatigued


async def test_answer_that_only_says_no_is_low_and_a_brief_one_that_tells_is_not() -> None:
    interview = Interview(rater=FixedRater(depth=1))
    interview.configuration = interview.configuration.model_copy(update={"conduct": conduct_policy()})
    await interview.say("foam", concepts(("foam", "attribute")))
    await interview.say("I don't know.")
    assert interview.state.momentum.levels == ("neutral", "low")
