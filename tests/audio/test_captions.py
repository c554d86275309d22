"""Captions: words on which two partial transcriptions agree do not change any more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from audio.captions import Captions
from audio.types import Word


def placed(text: str, start: int = 0, each: int = 100) -> list[Word]:
    return [Word(word, start + n * each, start + (n + 1) * each, 0.5) for n, word in enumerate(text.split())]


def shown(captions: Captions) -> tuple[str, str]:
    """What is stable and what is not."""
    heard = captions.partial_transcript(0)
    return heard.text[: heard.stable], heard.text[heard.stable :].strip()


def test_captions_first_transcription_is_not_stable() -> None:
    captions = Captions("en")
    captions.add_transcription(placed("I like"), 0)
    assert shown(captions) == ("", "I like")


def test_captions_what_two_transcriptions_agree_on_is_stable() -> None:
    captions = Captions("en")
    for text in ("I like", "I like teeth", "I like tea and"):
        captions.add_transcription(placed(text), 0)
    assert shown(captions) == ("I like", "tea and")


def test_captions_stable_words_stay_though_a_later_transcription_says_otherwise() -> None:
    captions = Captions("en")
    for text in ("I like tea", "I like tea and", "Eye like tea and milk", "Eye like tea and milk too"):
        captions.add_transcription(placed(text), 0)
    assert shown(captions) == ("I like tea and milk", "too")


def test_captions_transcriptions_from_a_later_place_leave_what_lies_before() -> None:
    captions = Captions("en")
    captions.add_transcription(placed("one two three four"), 0)
    captions.add_transcription(placed("one two three four five"), 0)
    captions.add_transcription(placed("three four five six", 90), 250)
    assert shown(captions) == ("one two three four five", "six")
    captions.add_transcription(placed("three four five six seven", 70), 250)
    assert shown(captions) == ("one two three four five six", "seven")


def test_captions_take_the_words_of_a_final_transcription() -> None:
    captions = Captions("en")
    captions.add_transcription(placed("one too three four"), 0)
    captions.set_final(placed("one two three"), 300)
    assert shown(captions) == ("one two three", "four")
    captions.add_transcription(placed("four five", 300), 300)
    assert shown(captions) == ("one two three four", "five")


def test_captions_replaced_by_a_whole_transcription_show_it() -> None:
    captions = Captions("en")
    captions.set_final(placed("one two"), 200)
    captions.add_transcription(placed("three for", 200), 200)
    captions.replace_all(placed("one two three four"))
    assert shown(captions) == ("one two three", "four")
    assert [word.text for word in captions.words] == ["one", "two", "three", "four"]


def test_captions_between_two_places_leave_out_final_words() -> None:
    captions = Captions("en")
    captions.set_final(placed("one two"), 200)
    captions.add_transcription(placed("three four five", 200), 200)
    assert [word.text for word in captions.between(0, 400)] == ["three", "four"]


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=8).map(" ".join), max_size=12))
def test_captions_stable_text_only_grows(texts: list[str]) -> None:
    captions, stable = Captions("en"), ""
    for text in texts:
        captions.add_transcription(placed(text), 0)
        now, _ = shown(captions)
        assert now.startswith(stable)
        stable = now
