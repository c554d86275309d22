"""The repetition filter: repetitive texts, and answers that must pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.repetitions import compression_ratio, find_repetition, is_repetitive

ANSWERS = [
    ("I usually buy oat milk because it makes my coffee creamy and it does not upset my stomach.", 5.2),
    ("No, no, no, never.", 1.4),
    ("Very, very, very good.", 1.2),
    ("Yes.", 0.4),
    ("I like the taste and I like the smell, and I like that I like it every day.", 4.5),
    (
        "Well I think that it is about the price, and about the time, and about how it feels to be there.",
        8,
    ),
    ("", 1.0),
]
REPETITIONS = [
    (
        "I'm going to the end of the game, and I'm going to the end of the game, and I'm going to the end of the game",
        25,
    ),
    ("Yeah, yeah, yeah, yeah, yeah, yeah, yeah, yeah, yeah, yeah, yeah, yeah, yeah, yeah,", 20),
    (
        "Congratulations, you have installed the exchange. Open source. Open source. Open source. Open source. "
        "It comes with sounds and with files that should help you to get started.",
        14,
    ),
    ("one two three four five six seven eight nine ten", 1.0),
    ("coffee coffee coffee coffee coffee coffee coffee coffee coffee coffee", 1.9),
]


@pytest.mark.parametrize(("text", "duration_s"), ANSWERS)
def test_answer_is_no_repetition(text: str, duration_s: float) -> None:
    assert not is_repetitive(text, duration_s)
    assert find_repetition(text.split()) is None


@pytest.mark.parametrize(("text", "duration_s"), REPETITIONS)
def test_repetition_is_detected(text: str, duration_s: float) -> None:
    assert is_repetitive(text, duration_s)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("coffee coffee coffee coffee coffee coffee", "coffee"),
        ("I need more. I need more. I need more. I need more.", "I need more."),
        ("Well, it is so, and it is so, and it is so, and it", "Well, it is so, and"),
        ("Nothing, nothing. NOTHING nothing nothing", "Nothing,"),
    ],
)
def test_repetition_is_cut_after_its_first_round(text: str, kept: str) -> None:
    words = text.split()
    cut = find_repetition(words)
    assert cut is not None
    assert " ".join(words[: cut.start] + words[cut.stop :]) == kept


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True),
    st.lists(st.sampled_from("ijklmnop"), min_size=1, max_size=6, unique=True),
    st.integers(5, 9),
)
def test_cut_keeps_what_was_before_and_one_round(before: list[str], run: list[str], times: int) -> None:
    cut = find_repetition(before + run * times)
    assert cut is not None
    assert cut.start <= len(before) + len(run)
    assert cut.stop == len(before) + len(run) * times


def test_what_follows_a_repetition_is_kept() -> None:
    words = "It runs the open source open source open source open source exchange, and that is what I like.".split()
    cut = find_repetition(words)
    assert cut is not None
    assert words[: cut.start] + words[cut.stop :] == (
        "It runs the open source exchange, and that is what I like.".split()
    )


def test_dictated_numbers_are_no_repetition() -> None:
    assert not is_repetitive("My number is 12 34 12 34 12 34 12 34, and that of my sister is nearly the same.", 9.0)


def test_compression_ratio_of_nothing_is_zero() -> None:
    assert compression_ratio("") == 0.0
    assert compression_ratio("abc" * 200) > 10 > compression_ratio("The price, the taste, and the way it looks.")
