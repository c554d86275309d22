"""Transcriptions of overlapping windows are joined: each word once, none split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audio.overlap import (
    SPLIT_WORD_MARGIN,
    align_words,
    join_overlapping,
)
from audio.types import RATE_HZ, Word
from audio.windows import WindowAudio


def window(start_s: float, overlap_s: float, *, in_speech: bool = False) -> WindowAudio:
    """A window from `start_s` on, with an overlap from `overlap_s` on."""
    return WindowAudio(np.zeros(0, np.int16), np.array([int(overlap_s * RATE_HZ)]), int(start_s * RATE_HZ), in_speech)


def words(*placed: tuple[str, float, float]) -> list[Word]:
    return [Word(text, int(start * RATE_HZ), int(end * RATE_HZ), 0.9) for text, start, end in placed]


def joined(left: Sequence[Word], right: Sequence[Word], at: WindowAudio) -> str:
    return " ".join(word.text for word in join_overlapping(left, right, at))


LEFT = words(("he", 8.0, 8.2), ("was", 8.2, 8.5), ("not", 8.5, 9.0), ("ill.", 9.0, 9.5))


def test_join_in_a_pause_takes_each_word_once() -> None:
    right = words(("was", 8.2, 8.5), ("not", 8.5, 9.0), ("ill.", 9.0, 9.7), ("He", 10.3, 10.5), ("was", 10.5, 10.7))
    assert joined(LEFT, right, window(10, 8)) == "he was not ill. He was"


def test_join_in_a_pause_believes_the_left_transcription_of_its_own_words() -> None:
    right = words(("not", 8.5, 9.0), ("old", 9.0, 9.2), ("sport.", 9.2, 9.6), ("He", 10.3, 10.5))
    assert joined(LEFT, right, window(10, 8.4)) == "he was not ill. He"


def test_join_in_a_pause_knows_a_word_that_was_stretched_over_the_cut() -> None:
    right = words(("not", 8.5, 9.0), ("ill.", 9.0, 10.2), ("He", 10.2, 10.5))
    assert joined(LEFT, right, window(10, 8.4)) == "he was not ill. He"


def test_join_in_a_pause_keeps_a_new_word_that_was_stretched_back() -> None:
    right = words(("not", 8.5, 9.0), ("ill.", 9.0, 9.5), ("He", 9.5, 10.5), ("was", 10.5, 10.7))
    assert joined(LEFT, right, window(10, 8.4)) == "he was not ill. He was"


def test_join_in_a_pause_keeps_new_words_that_were_all_placed_before_the_cut() -> None:
    right = words(("ill.", 9.0, 9.5), ("He", 9.5, 9.7), ("was", 9.7, 10.0), ("old.", 11.0, 11.4))
    assert joined(LEFT, right, window(10, 8.9)) == "he was not ill. He was old."


def test_join_in_a_pause_takes_from_the_right_transcription_what_the_left_one_stopped_before() -> None:
    right = words(("Nobody", 10.2, 10.6), ("knew.", 10.6, 11.0), ("He", 12.4, 12.6), ("was", 12.6, 12.8))
    assert joined(LEFT, right, window(12, 10.0)) == "he was not ill. Nobody knew. He was"


def test_join_where_the_right_transcription_left_its_overlap_out_keeps_all_it_has() -> None:
    right = words(("She", 8.1, 9.0), ("is", 9.0, 10.6), ("fine.", 10.6, 11))
    assert joined(LEFT, right, window(10, 8.1)) == "he was not ill. She is fine."


SENTENCE = "he was not an ill disposed young man".split()


def spread(texts: Sequence[str], start_s: float, word_s: float) -> list[Word]:
    return words(*((text, start_s + n * word_s, start_s + (n + 1) * word_s) for n, text in enumerate(texts)))


def test_join_with_an_overlap_that_is_placed_seconds_late_has_its_sentence_once() -> None:
    right = spread([*SENTENCE, "unless", "to"], 11.5, 0.3)
    found = joined(spread(SENTENCE, 8.0, 0.25), right, window(10.3, 8))
    assert found == "he was not an ill disposed young man unless to"


def test_join_with_an_overlap_that_is_stretched_and_heard_differently_has_its_sentence_once() -> None:
    right = spread([*SENTENCE[:3], "a", *SENTENCE[4:], "unless", "to"], 8.0, 0.9)
    found = joined(spread(SENTENCE, 8.0, 0.25), right, window(10.3, 8))
    assert found == "he was not an ill disposed young man unless to"
    left = spread([*SENTENCE, "un"], 8.0, 0.25)
    assert joined(left, right, window(10.2, 8, in_speech=True)) == "he was not an ill disposed young man unless to"


def test_join_does_not_repeat_the_end_where_the_overlap_before_it_was_left_out() -> None:
    left = [*spread(["she", "said", "so", "and", "then"], 3.0, 0.25), *spread(SENTENCE[-3:], 8.0, 0.25)]
    right = spread([*SENTENCE[-3:], "unless"], 3.5, 0.3)
    assert joined(left, right, window(10.3, 3)) == "she said so and then disposed young man unless"


def test_join_knows_the_last_word_that_was_placed_behind_the_cut() -> None:
    left = words(("has", 37.3, 37.8), ("left", 37.8, 38.0), ("the", 38.0, 38.4), ("conference", 38.4, 38.7))
    right = words(
        ("has", 37.3, 37.8),
        ("left", 37.8, 38.0),
        ("the", 38.0, 39.8),
        ("conference.", 39.8, 39.9),
        ("This", 41.1, 41.3),
    )
    assert joined(left, right, window(39.17, 37.2)) == "has left the conference This"


def test_join_in_a_pause_takes_a_word_of_which_only_the_beginning_was_heard_before_the_cut() -> None:
    left = words(("one", 64.2, 64.5), ("other", 64.5, 64.7), ("part-", 64.7, 65.0))
    right = words(("one", 64.2, 64.5), ("other", 64.5, 64.7), ("participant", 64.7, 66.0), ("in", 66.0, 66.7))
    assert joined(left, right, window(65.4, 64)) == "one other participant in"
    assert joined(left[-1:], right[-2:], window(65.4, 64.7)) == "participant in"


def test_join_in_a_pause_keeps_a_stutter() -> None:
    left = words(("one", 64.2, 64.5), ("other", 64.5, 64.7), ("part-", 64.7, 65.0))
    right = words(("other", 64.5, 64.7), ("part", 64.7, 65.0), ("participant", 65.8, 66.4), ("in", 66.4, 66.7))
    assert joined(left, right, window(65.4, 64)) == "one other part- participant in"


def test_join_keeps_an_ending_that_is_said_again_in_the_overlap_where_nothing_was_heard_before() -> None:
    left = spread(["to", "decrease", *SENTENCE[-3:]], 6.0, 0.25)
    right = spread([*SENTENCE[-3:], "has", "joined"], 8.8, 0.3)
    assert joined(left, right, window(10.3, 8.7)) == "to decrease disposed young man disposed young man has joined"


def test_join_keeps_a_sentence_that_is_said_again_after_the_cut() -> None:
    left = spread(SENTENCE, 8.0, 0.25)
    right = [*spread(SENTENCE[-4:], 9.0, 0.25), *spread(SENTENCE, 11.0, 0.25)]
    assert joined(left, right, window(10.5, 9.0)) == " ".join([*SENTENCE, *SENTENCE])
    assert joined(left, spread(SENTENCE, 11.0, 0.25), window(10.5, 10.4)) == " ".join([*SENTENCE, *SENTENCE])


def test_join_within_speech_hears_the_split_word_whole() -> None:
    left = words(("a", 8.0, 8.2), ("very", 8.2, 8.5), ("good", 8.5, 9.0), ("S", 9.0, 9.2))
    right = words(("very", 8.2, 8.5), ("good", 8.5, 9.0), ("S-not", 9.0, 9.6), ("idea", 9.6, 9.9))
    assert joined(left, right, window(9.2, 8.1, in_speech=True)) == "a very good S-not idea"


def test_join_within_speech_without_agreement_goes_by_positions() -> None:
    left = words(("good", 8.5, 9.0), ("S", 9.0, 9.2))
    right = words(("wood", 8.6, 9.0), ("snot", 9.0, 9.6))
    assert joined(left, right, window(9.2, 8.4, in_speech=True)) == "good snot"


def test_join_of_a_first_transcription_is_that_transcription() -> None:
    assert joined([], LEFT, window(0, 7.5)) == "he was not ill."


def test_join_with_an_empty_transcription_keeps_the_other() -> None:
    assert joined(LEFT, [], window(10, 8)) == "he was not ill."
    assert joined(LEFT, [], window(9.5, 8, in_speech=True)) == "he was not ill."
    assert joined([], [], window(10, 8)) == ""


vocabulary = st.sampled_from(["a", "b", "very", "tea,", "Tea"])


@given(
    texts=st.lists(vocabulary, min_size=1, max_size=30),
    cut=st.integers(0, 30),
    tail=st.integers(3, 8),
    forced=st.booleans(),
    data=st.data(),
)
def test_join_of_transcriptions_with_inexact_positions_has_each_word_once(
    texts: list[str], cut: int, tail: int, forced: bool, data: st.DataObject
) -> None:
    """Words of 250 ms; in a pause cut half a second lies between the words before and after it."""
    cut = min(cut, len(texts))
    gap = 0.0 if forced else 0.5

    def place(n: int) -> float:
        return 1.0 + 0.3 * n + (gap if n >= cut else 0.0)

    def reading(first: int, last: int) -> list[Word]:
        shift = data.draw(st.lists(st.floats(-0.06, 0.06), min_size=last - first, max_size=last - first))
        return words(
            *((texts[n], place(n) + s, place(n) + 0.25 + s) for n, s in zip(range(first, last), shift, strict=True))
        )

    begin = max(0, cut - tail)
    own = place(cut) - 0.025 - gap / 2
    left = reading(0, cut)
    if forced and 0 < cut < len(texts):
        left += words(("~", own - 0.05, own))
    right = reading(begin, len(texts))
    assert joined(left, right, window(own, place(begin) - 0.025, in_speech=forced)).split() == texts


def test_agreement_pairs_a_repeated_word_with_itself() -> None:
    left = words(("tea", 1.0, 1.3), ("tea", 1.3, 1.6), ("tea", 1.6, 1.9))
    right = words(("tea", 1.3, 1.6), ("tea", 1.6, 1.9), ("tea", 1.9, 2.2))
    assert align_words(left, right) == [(1, 0), (2, 1)]
    assert align_words(left, right, max_distance=None) == [(0, 0), (1, 1), (2, 2)]


def test_agreement_takes_no_pair_that_lies_too_far_apart() -> None:
    assert align_words(words(("tea", 1, 1.2)), words(("tea", 2.5, 2.7))) == []


def test_agreement_compares_letters_only() -> None:
    assert align_words(words(("Tea,", 1, 1.2), ("…", 1.2, 1.3)), words(("tea", 1, 1.2), ("…", 1.2, 1.3))) == [(0, 0)]


def test_split_is_shorter_than_a_word() -> None:
    assert SPLIT_WORD_MARGIN <= RATE_HZ // 4
