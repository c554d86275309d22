"""What only grown-ups tell of themselves, and what may be told by anybody."""

from __future__ import annotations

import pytest

from pipeline.conduct.grown_up import speaks_as_grown_up


@pytest.mark.parametrize(
    "text",
    [
        "came off early shift, mince still frozen",
        "My wife is on lates.",
        "My kids don’t notice, that's the point",
        "I'm retired, I have all day.",
        "I am a nurse and I work nights.",
        "the wife's on lates",
    ],
)
def test_grown_ups_are_known_by_what_is_theirs(text: str) -> None:
    assert speaks_as_grown_up(["It was cold.", text])


@pytest.mark.parametrize(
    "text",
    [
        "kids dont notice, thats the point",
        "my mum's husband drives me to school",
        "My teacher's wife makes it.",
        "I want to be a nurse.",
        "my dad is retired",
        "",
    ],
)
def test_what_anybody_may_tell_says_nothing(text: str) -> None:
    assert not speaks_as_grown_up([text])
