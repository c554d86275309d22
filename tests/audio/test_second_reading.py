"""Which of two readings of an answer is the surer one."""

from __future__ import annotations

from audio.second_reading import is_surer, same_words
from audio.types import Word


def words(text: str, probability: float = 0.9) -> tuple[Word, ...]:
    return tuple(Word(each, 0, 0, probability) for each in text.split())


def test_same_words_ignores_case_and_punctuation() -> None:
    assert same_words(words("It is warm, and sweet."), words("it is warm. And sweet"))
    assert not same_words(words("it is warm"), words("it is warm and"))
    assert same_words((), ())


def test_likelier_words_are_surer() -> None:
    assert is_surer(words("it is worn", 0.95), words("it is warm", 0.9))
    assert not is_surer(words("it is worn", 0.9), words("it is warm", 0.9))
    assert not is_surer((*words("it is", 1.0), *words("worn", 0.1)), words("it is warm", 0.9))


def test_reading_without_words_is_never_surer_and_any_other_is_surer_than_it() -> None:
    assert not is_surer((), words("it"))
    assert not is_surer((), ())
    assert is_surer(words("it", 0.0), ())


def test_impossible_word_does_not_weigh_more_than_it_can() -> None:
    assert is_surer((*words("a b c d", 1.0), *words("e", 0.0)), words("a b c d", 0.1))
