"""What the network takes: every word once, with its place, in windows that overlap."""

from __future__ import annotations

import itertools

import pytest

from pipeline.language.embedder import build_tokenizer
from pipeline.language.reader.encoding import OVERLAP, WINDOW, Encoder, focus_text, spread

ENCODER = Encoder(build_tokenizer())


@pytest.mark.parametrize(
    "answer",
    [
        "It's light, so I don't mind.",
        "a",
        "LOUD AND CLEAR",
        "naïve café – 12 €",
        "so well you know " * 120,
        "<b>x</b>{}[]`",
    ],
)
def test_words_are_the_answers_own_characters_in_order(answer: str) -> None:
    words = ENCODER.answer("Why?", "", answer).words
    assert "".join(answer[w.start : w.end] for w in words).lower() == "".join(answer.split()).lower()
    assert all(one.end <= other.start and one.last < other.first for one, other in itertools.pairwise(words))


@pytest.mark.parametrize("answer", ["", "   ", "\n"])
def test_without_words_there_is_nothing_to_read(answer: str) -> None:
    assert ENCODER.answer("Why?", "focus", answer).windows == ()


def test_emoji_are_words_that_nobody_speaks() -> None:
    assert [word.spoken for word in ENCODER.answer("Why?", "", "😀 ok").words] in ([True], [False, True])


def test_windows_cover_a_long_answer_and_overlap() -> None:
    found = spread(1000)
    assert found[0][0] == 0
    assert found[-1][1] == 1000
    for before, after in itertools.pairwise(found):
        assert before[1] - after[0] == OVERLAP
        assert after[1] - after[0] <= WINDOW


def test_each_window_has_question_and_focus_before_the_answer() -> None:
    encoding = ENCODER.answer("Why is that?", "quiet (attribute)", "word " * 400)
    assert len(encoding.windows) > 2
    for window in encoding.windows:
        _start, end = window.focus
        assert window.segments[: end + 1] == [0] * (end + 1)
        assert window.segments[end + 1] == 1
        assert len(window.ids) == len(window.segments) <= 256


def test_focus_is_written_with_its_type() -> None:
    assert focus_text("quiet", "pain_point") == "quiet (pain point)"
    assert focus_text(None, "pain_point") == ""
