"""Windows: what of an answer is kept, where it is cut, and what is read."""

from __future__ import annotations

import numpy as np
import pytest

from audio.endpoint import FRAME_SAMPLES
from audio.types import RATE_HZ, Transcript, Word
from audio.windows import (
    KEPT_AFTER_FRAMES,
    KEPT_BEFORE_FRAMES,
    LEAST_TAIL_FRAMES,
    LONG_WINDOW_FRAMES,
    LONGEST_READ_FRAMES,
    LONGEST_WINDOW_FRAMES,
    MOST_TAIL_FRAMES,
    PARTIAL_FRAMES,
    READ_AT_LEAST_FRAMES,
    TAIL_SNAP_FRAMES,
    Frame,
    Stretch,
    Windows,
    quietest,
)
from tests.audio.scripted_speech import marked, marks

SECOND = RATE_HZ // FRAME_SAMPLES


def filled(frames: int, first: int = 0, probability: float = 0.9) -> Windows:
    """A window of so much speech."""
    windows = Windows()
    speak(windows, frames, first, probability)
    return windows


def speak(windows: Windows, frames: int, first: int, probability: float = 0.9) -> None:
    for n in range(first, first + frames):
        windows.push(Frame(n, marked(n), probability), quiet=0)


def be_silent(windows: Windows, frames: int, first: int) -> None:
    for n in range(first, first + frames):
        windows.push(Frame(n, marked(n), 0.0), quiet=n - first + 1)


def read(stretch: Stretch) -> list[int]:
    return marks(stretch.samples)


def test_windows_before_any_speech_keep_only_what_leads_to_it() -> None:
    windows = Windows()
    for n in range(100):
        windows.push(Frame(n, marked(n), 0.0), quiet=None)
    assert read(windows.stretch()) == []
    assert windows.held == KEPT_BEFORE_FRAMES * FRAME_SAMPLES
    windows.onset()
    speak(windows, 5, 100)
    assert read(windows.stretch()) == list(range(100 - KEPT_BEFORE_FRAMES, 105))


def test_windows_long_silence_is_left_out_and_words_are_placed_beyond_it() -> None:
    windows = filled(10)
    be_silent(windows, 100, 10)
    windows.onset()
    speak(windows, 10, 110)
    stretch = windows.stretch()
    kept = [*range(10 + KEPT_AFTER_FRAMES), *range(110 - KEPT_BEFORE_FRAMES, 120)]
    assert read(stretch) == kept
    at = kept.index(112) * FRAME_SAMPLES + 7
    (word,) = stretch.words(Transcript("hm", (Word("hm", at, at + 3 * FRAME_SAMPLES, 0.5),)))
    assert word == Word("hm", 112 * FRAME_SAMPLES + 7, 115 * FRAME_SAMPLES + 7, 0.5)


def test_windows_short_silence_is_kept_whole() -> None:
    windows = filled(10)
    be_silent(windows, KEPT_AFTER_FRAMES + KEPT_BEFORE_FRAMES, 10)
    windows.onset()
    speak(windows, 1, 10 + KEPT_AFTER_FRAMES + KEPT_BEFORE_FRAMES)
    assert read(windows.stretch()) == list(range(11 + KEPT_AFTER_FRAMES + KEPT_BEFORE_FRAMES))


def test_windows_end_at_the_next_pause_when_they_are_long() -> None:
    assert not filled(LONG_WINDOW_FRAMES - 1).long
    assert filled(LONG_WINDOW_FRAMES).long


def test_windows_are_full_at_twenty_eight_seconds() -> None:
    assert not filled(LONGEST_WINDOW_FRAMES - 1).full
    assert filled(LONGEST_WINDOW_FRAMES).full


def test_windows_cut_keep_a_tail_and_nothing_more() -> None:
    windows = filled(LONGEST_WINDOW_FRAMES)
    windows.cut(800, forced=True)
    own = LONGEST_WINDOW_FRAMES - 800
    assert windows.held == (own + MOST_TAIL_FRAMES + TAIL_SNAP_FRAMES) * FRAME_SAMPLES
    stretch = windows.stretch()
    assert read(stretch)[-own:] == list(range(800, LONGEST_WINDOW_FRAMES))
    assert (stretch.own, stretch.forced) == (800 * FRAME_SAMPLES, True)


@pytest.mark.parametrize("own", [0, 1 * SECOND, 3 * SECOND, 5 * SECOND, 7 * SECOND, 20 * SECOND, LONGEST_WINDOW_FRAMES])
def test_windows_tail_is_longer_for_a_short_window(own: int) -> None:
    windows = filled(400)
    windows.cut(400, forced=False)
    speak(windows, own, 400)
    frames = read(windows.stretch())
    tail = frames.index(400) if own else len(frames)
    wanted = max(LEAST_TAIL_FRAMES, min(MOST_TAIL_FRAMES, READ_AT_LEAST_FRAMES - own))
    assert wanted <= tail <= wanted + SECOND
    assert frames == list(range(400 - tail, 400 + own))
    assert len(frames) <= LONGEST_READ_FRAMES


def test_windows_tail_begins_in_a_pause_where_there_is_one() -> None:
    windows = filled(400)
    windows.pause(300)
    windows.pause(330)
    windows.cut(400, forced=False)
    speak(windows, 5 * SECOND, 400)
    assert read(windows.stretch())[0] == 300


def test_windows_tail_begins_where_it_is_quiet_where_there_is_no_pause() -> None:
    windows = filled(300)
    speak(windows, 1, 300, probability=0.4)
    speak(windows, 99, 301)
    windows.cut(400, forced=False)
    speak(windows, 5 * SECOND, 400)
    assert read(windows.stretch())[0] == 300


def test_windows_read_up_to_a_frame_leave_out_what_follows() -> None:
    windows = filled(100)
    assert read(windows.stretch(60)) == list(range(60))


def test_windows_partial_is_twelve_seconds_at_most_and_begins_in_a_pause() -> None:
    windows = filled(PARTIAL_FRAMES)
    assert read(windows.partial()) == list(range(PARTIAL_FRAMES))
    speak(windows, 100, PARTIAL_FRAMES)
    assert read(windows.partial()) == list(range(100, PARTIAL_FRAMES + 100))
    windows.pause(90)
    windows.pause(150)
    windows.pause(200)
    assert read(windows.partial()) == list(range(150, PARTIAL_FRAMES + 100))


def test_windows_partial_has_no_tail() -> None:
    windows = filled(400)
    windows.cut(390, forced=False)
    assert read(windows.partial()) == list(range(390, 400))


def test_windows_quietest_frame_lies_within_the_last_six_seconds() -> None:
    windows = filled(100, probability=0.0)
    speak(windows, 600, 100)
    speak(windows, 1, 700, probability=0.4)
    speak(windows, 50, 701)
    assert windows.quietest() == 700


def test_windows_quietest_frame_does_not_lie_before_a_silence_that_was_not_kept() -> None:
    windows = filled(60, probability=0.1)
    be_silent(windows, KEPT_AFTER_FRAMES + KEPT_BEFORE_FRAMES + 1, 60)
    windows.onset()
    speak(windows, 60, 61 + KEPT_AFTER_FRAMES + KEPT_BEFORE_FRAMES)
    assert windows.quietest() > 60 + KEPT_AFTER_FRAMES


def test_windows_quietest_frame_is_inside_the_window_however_short() -> None:
    for length in (1, 2, 3, 4):
        windows = filled(100)
        windows.cut(100, forced=True)
        speak(windows, length, 100)
        assert 100 <= windows.quietest() < 100 + length


def test_quietest_prefers_silence_to_sound_of_the_same_probability() -> None:
    loud, soft = np.full(FRAME_SAMPLES, 9000, np.int16), np.zeros(FRAME_SAMPLES, np.int16)
    frames = [Frame(n, soft if n == 5 else loud, 0.5) for n in range(9)]
    assert quietest(frames) == 5


def test_stretch_words_without_places_are_spread_evenly() -> None:
    stretch = filled(8, first=10).stretch()
    words = stretch.words(Transcript("a b c d"))
    assert [(word.text, word.start // FRAME_SAMPLES, word.end // FRAME_SAMPLES) for word in words] == [
        ("a", 10, 12), ("b", 12, 14), ("c", 14, 16), ("d", 16, 18),
    ]  # fmt: skip


def test_stretch_word_beyond_its_end_is_placed_at_its_end() -> None:
    stretch = filled(4, first=10).stretch()
    offset = 10 * FRAME_SAMPLES
    (word,) = stretch.words(Transcript("a", (Word("a", offset + 100, offset + 10**6, 0.5),)))
    assert (word.start, word.end) == (offset + 100, 14 * FRAME_SAMPLES)


def test_stretch_of_nothing_has_no_words() -> None:
    assert Windows().stretch().words(Transcript("a", (Word("a", 0, 1, 0.5),))) == ()
    assert Windows().stretch().offset == 0
