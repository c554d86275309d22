from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.question.unions import alternatives, union

PATTERNS = (
    r"\b(?:cat|cot) sat\b|\bdog[|s]\b",
    r"^so,? (?:a|b)\b",
    r"\b(?:a|b)?c\b",
    r"[|(]x",
    r"\bwhat\b(?! if\b)|\(y\)",
)


def test_alternatives_are_split_outside_of_brackets_only() -> None:
    assert list(alternatives(r"a|(?:b|c)|[|)]d|\|e|")) == ["a", "(?:b|c)", "[|)]d", r"\|e", ""]


@given(text=st.lists(st.sampled_from(
    ["cat", "cot", "sat", " ", "dogs", "dog|", "so", ",", "a", "b", "c", "|x", "(x", "what", "if", "(y)", "z"]
), max_size=12).map("".join))  # fmt: skip
def test_union_finds_what_any_of_the_patterns_finds(text: str) -> None:
    assert bool(union(*PATTERNS).search(text)) == any(re.search(pattern, text) for pattern in PATTERNS)


@pytest.mark.parametrize("text", ["the cat sat", "so a thing", "whatever", "a what-if", "what if", "ac"])
def test_union_agrees_on_examples(text: str) -> None:
    assert bool(union(*PATTERNS).search(text)) == any(re.search(pattern, text) for pattern in PATTERNS)
