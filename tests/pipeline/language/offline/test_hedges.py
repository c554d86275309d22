"""Hedges are blanked out at the edges of sentences, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.language.offline.hedges import without_hedges


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It could be that they take the hum away but I might be wrong there.", "they take the hum away"),
        ("I suppose, sort of, they weigh nothing or something like that, I guess.", "they weigh nothing"),
        ("Honestly, the quiet. Maybe the dark, too.", "the quiet. the dark, too"),
        ("I’m not sure, maybe the smell", "the smell"),
        ("They are kind to me.", "They are kind to me"),
        ("I think of her when I hold it.", "of her when I hold it"),
        ("I know what I like.", "I know what I like"),
    ],
)
def test_what_is_said_stays(text: str, left: str) -> None:
    assert " ".join(without_hedges(text).split()).rstrip(" .") == left


@given(st.text(alphabet="maybe perhaps, it is so. I guess!", max_size=80))
def test_everything_stays_in_its_place(text: str) -> None:
    found = without_hedges(text)
    assert len(found) == len(text)
    assert all(new in (" ", old) or old == "’" for new, old in zip(found, text, strict=True))
