"""Texts of transcripts: normal form, comparison, and words joined."""

from __future__ import annotations

from audio.texts import comparison_key, join_words, normalised_text
from audio.types import Word


def words(*texts: str) -> list[Word]:
    return [Word(text, n, n + 1, 0.9) for n, text in enumerate(texts)]


def test_normalised_text_has_no_punctuation_but_apostrophes() -> None:
    assert normalised_text("  I’ll see you,\nnext... TIME! ") == "i'll see you next time"
    assert normalised_text("… ♪") == ""


def test_comparison_key_has_letters_and_digits_only() -> None:
    assert comparison_key("Ann’s!") == "anns"
    assert comparison_key("…") == ""


def test_words_are_joined_as_the_language_is_written() -> None:
    assert join_words(words("one", "two."), "en") == "one two."
    assert join_words(words(" well", "-known", " man"), "en") == "well-known man"
    assert join_words(words("你", "好"), "zh") == "你好"
    assert join_words([], "en") == ""
