"""Endpointing: segments of speech, unfinished sentences, and the silence that ends an answer."""

from __future__ import annotations

import pytest

from audio.endpoint import (
    COMPLETE_FACTOR,
    LONG_ANSWER_S,
    MAX_UNFINISHED_SILENCE_MS,
    PATIENCE_MS,
    PAUSE_FRAMES,
    UNFINISHED_FACTOR,
    Patience,
    SpeechSegmenter,
    is_complete,
    is_unfinished,
    last_spoken_end,
    minimum_silence,
    required_silence,
)
from audio.types import RATE_HZ, ms

PATIENCES: tuple[Patience, ...] = ("quick", "normal", "patient")
LONG = LONG_ANSWER_S * RATE_HZ


def changes(*probabilities: float) -> list[tuple[int, str]]:
    """What changes at which frame."""
    runs = SpeechSegmenter()
    return [(n, change) for n, p in enumerate(probabilities) if (change := runs.push(p)) is not None]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I bought it because"),
        ("en", "I bought it because."),
        ("en", "It was cheap and..."),
        ("en", "It was cheap, and"),
        ("en", "First of all,"),
        ("en", "Um."),
        ("en", "I went to the"),
        ("en", "What I like about it is"),
        ("en", "It\u2019s"),
        ("en", "He said “well –"),
        ("de", "Ich mag das, weil"),
        ("de", "Und dann, ähm."),
        ("de", "Das ist ein"),
        ("fr", "J'aime bien parce que"),
        ("es", "Me gusta porque."),
        ("xx", "wait, ..."),
    ],
)
def test_unfinished_hanging_sentence_is_seen(language: str, text: str) -> None:
    assert is_unfinished(text, language)
    assert not is_complete(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I think so."),
        ("en", "That is what I was looking for."),
        ("en", "I like that."),
        ("en", 'She said "yes."'),
        ("en", "No"),
        ("en", "Do you?"),
        ("de", "Das gefällt mir."),
        ("de", "Ich mag das."),
        ("xx", "because"),
        ("en", ""),
        ("en", "…?"),
    ],
)
def test_unfinished_closed_sentence_is_not(language: str, text: str) -> None:
    assert not is_unfinished(text, language)


@pytest.mark.parametrize("patience", PATIENCES)
def test_required_silence_follows_the_patience_and_the_sentence(patience: Patience) -> None:
    base = PATIENCE_MS[patience]
    needed = {
        text: ms(required_silence(patience, text, language="en", spoken=RATE_HZ)) for text in (None, "Yes.", "and", "")
    }
    assert needed == {
        None: base,
        "Yes.": base,
        "and": min(int(base * (1 + UNFINISHED_FACTOR)), MAX_UNFINISHED_SILENCE_MS),
        "": min(base, 1500),
    }
    assert ms(required_silence(patience, "It was fine.", language="en", spoken=LONG)) == int(base * COMPLETE_FACTOR)
    assert ms(required_silence(patience, "It was fine", language="en", spoken=LONG)) == base


@pytest.mark.parametrize("patience", PATIENCES)
@pytest.mark.parametrize("spoken", [0, LONG - 1, LONG, 10 * LONG])
def test_minimum_silence_is_reached_by_some_text_and_passed_by_none(patience: Patience, spoken: int) -> None:
    texts = (None, "", "Yes.", "and", "well", "It was fine.")
    needed = [required_silence(patience, text, language="en", spoken=spoken) for text in texts]
    assert minimum_silence(patience, spoken=spoken) == min(needed)


def test_most_patient_silence_outlasts_a_pause_of_one_and_a_half_seconds() -> None:
    assert ms(required_silence("patient", "It was fine.", language="en", spoken=LONG)) > 1500


def test_runs_speech_begins_at_its_first_frame_and_ends_after_its_last() -> None:
    runs = SpeechSegmenter()
    seen = [runs.push(p) for p in [0.1, 0.1, 0.6, 0.9, 0.9, 0.9, 0.4, *[0.1] * PAUSE_FRAMES]]
    assert seen == [None, None, None, None, "onset", None, None, *[None] * (PAUSE_FRAMES - 1), "pause"]
    assert (runs.onset, runs.end, runs.speech_frames) == (2, 7, 5)


def test_runs_click_makes_no_speech() -> None:
    assert changes(*[0.1] * 5, 0.9, 0.9, *[0.1] * 20) == []


def test_runs_clicks_far_apart_do_not_add_up() -> None:
    assert changes(*[0.9, 0.1, 0.1, 0.1, 0.1] * 6) == []


def test_runs_beginning_may_dip() -> None:
    assert changes(0.9, 0.2, 0.2, 0.2, 0.9, 0.1, 0.9) == [(6, "onset")]


def test_runs_gap_shorter_than_a_pause_is_part_of_speech() -> None:
    gap = [0.1] * (PAUSE_FRAMES - 1)
    assert changes(*[0.9] * 3, *gap, *[0.9] * 3, *gap, 0.4, *gap) == [(2, "onset")]


def test_runs_click_in_a_pause_does_not_make_it_shorter() -> None:
    runs = SpeechSegmenter()
    for p in [*[0.9] * 5, *[0.1] * 10, 0.9, 0.9, *[0.1] * 5]:
        runs.push(p)
    assert (runs.speaking, runs.end, runs.pending) == (False, 5, False)


def test_runs_settled_takes_what_has_begun_for_speech() -> None:
    runs = SpeechSegmenter()
    assert not runs.confirm()
    runs.push(0.1)
    runs.push(0.9)
    assert runs.pending and runs.confirm() and runs.speaking
    assert (runs.onset, runs.end, runs.speech_frames) == (1, 2, 1)


def test_worded_end_leaves_out_sounds_after_the_last_word() -> None:
    stretches = [(1000, 20_000), (30_000, 50_000), (70_000, 75_000)]
    assert last_spoken_end(stretches, 40_000, default=75_000) == 50_000
    assert last_spoken_end(stretches, 69_000, default=75_000) == 75_000
    assert last_spoken_end(stretches, 60_000, default=75_000) == 50_000
    assert last_spoken_end([], 60_000, default=75_000) == 75_000
