"""Windows: which audio of an answer is kept, where it is cut, and what is transcribed."""

from __future__ import annotations

import numpy as np
import pytest

from audio.endpoint import FRAME_SAMPLES
from audio.types import RATE_HZ, Transcript, Word
from audio.windows import (
    CUT_AT_PAUSE_FRAMES,
    LEAD_IN_FRAMES,
    MAX_OVERLAP_FRAMES,
    MAX_PARTIAL_FRAMES,
    MAX_TRANSCRIBED_FRAMES,
    MAX_WINDOW_FRAMES,
    MIN_OVERLAP_FRAMES,
    OVERLAP_PAUSE_SEARCH_FRAMES,
    TARGET_TRANSCRIBED_FRAMES,
    TRAILING_SILENCE_FRAMES,
    Frame,
    WindowAudio,
    WindowBuffer,
    quietest_index,
)
from tests.audio.scripted_speech import marked, marks

SECOND = RATE_HZ // FRAME_SAMPLES


def filled(frames: int, first: int = 0, probability: float = 0.9) -> WindowBuffer:
    """A window of so much speech."""
    windows = WindowBuffer()
    speak(windows, frames, first, probability)
    return windows


def speak(windows: WindowBuffer, frames: int, first: int, probability: float = 0.9) -> None:
    for n in range(first, first + frames):
        windows.push(Frame(n, marked(n), probability), silent_frames=0)


def be_silent(windows: WindowBuffer, frames: int, first: int) -> None:
    for n in range(first, first + frames):
        windows.push(Frame(n, marked(n), 0.0), silent_frames=n - first + 1)


def read(audio: WindowAudio) -> list[int]:
    return marks(audio.samples)


def test_windows_before_any_speech_keep_only_what_leads_to_it() -> None:
    windows = WindowBuffer()
    for n in range(100):
        windows.push(Frame(n, marked(n), 0.0), silent_frames=None)
    assert read(windows.window_audio()) == []
    assert windows.held_samples == LEAD_IN_FRAMES * FRAME_SAMPLES
    windows.keep_lead_in()
    speak(windows, 5, 100)
    assert read(windows.window_audio()) == list(range(100 - LEAD_IN_FRAMES, 105))


def test_windows_long_silence_is_left_out_and_words_are_placed_beyond_it() -> None:
    windows = filled(10)
    be_silent(windows, 100, 10)
    windows.keep_lead_in()
    speak(windows, 10, 110)
    audio = windows.window_audio()
    kept = [*range(10 + TRAILING_SILENCE_FRAMES), *range(110 - LEAD_IN_FRAMES, 120)]
    assert read(audio) == kept
    at = kept.index(112) * FRAME_SAMPLES + 7
    (word,) = audio.place_words(Transcript("hm", (Word("hm", at, at + 3 * FRAME_SAMPLES, 0.5),)))
    assert word == Word("hm", 112 * FRAME_SAMPLES + 7, 115 * FRAME_SAMPLES + 7, 0.5)


def test_windows_short_silence_is_kept_whole() -> None:
    windows = filled(10)
    be_silent(windows, TRAILING_SILENCE_FRAMES + LEAD_IN_FRAMES, 10)
    windows.keep_lead_in()
    speak(windows, 1, 10 + TRAILING_SILENCE_FRAMES + LEAD_IN_FRAMES)
    assert read(windows.window_audio()) == list(range(11 + TRAILING_SILENCE_FRAMES + LEAD_IN_FRAMES))


def test_windows_end_at_the_next_pause_when_they_are_long() -> None:
    assert not filled(CUT_AT_PAUSE_FRAMES - 1).is_long
    assert filled(CUT_AT_PAUSE_FRAMES).is_long


def test_windows_are_full_at_twenty_eight_seconds() -> None:
    assert not filled(MAX_WINDOW_FRAMES - 1).is_full
    assert filled(MAX_WINDOW_FRAMES).is_full


def test_windows_cut_keep_a_overlap_and_nothing_more() -> None:
    windows = filled(MAX_WINDOW_FRAMES)
    windows.start_window(800, cut_in_speech=True)
    own = MAX_WINDOW_FRAMES - 800
    assert windows.held_samples == (own + MAX_OVERLAP_FRAMES + OVERLAP_PAUSE_SEARCH_FRAMES) * FRAME_SAMPLES
    audio = windows.window_audio()
    assert read(audio)[-own:] == list(range(800, MAX_WINDOW_FRAMES))
    assert (audio.window_start, audio.cut_in_speech) == (800 * FRAME_SAMPLES, True)


@pytest.mark.parametrize("own", [0, 1 * SECOND, 3 * SECOND, 5 * SECOND, 7 * SECOND, 20 * SECOND, MAX_WINDOW_FRAMES])
def test_windows_overlap_is_longer_for_a_short_window(own: int) -> None:
    windows = filled(400)
    windows.start_window(400, cut_in_speech=False)
    speak(windows, own, 400)
    frames = read(windows.window_audio())
    tail = frames.index(400) if own else len(frames)
    wanted = max(MIN_OVERLAP_FRAMES, min(MAX_OVERLAP_FRAMES, TARGET_TRANSCRIBED_FRAMES - own))
    assert wanted <= tail <= wanted + SECOND
    assert frames == list(range(400 - tail, 400 + own))
    assert len(frames) <= MAX_TRANSCRIBED_FRAMES


def test_windows_overlap_begins_in_a_pause_where_there_is_one() -> None:
    windows = filled(400)
    windows.note_pause(300)
    windows.note_pause(330)
    windows.start_window(400, cut_in_speech=False)
    speak(windows, 5 * SECOND, 400)
    assert read(windows.window_audio())[0] == 300


def test_windows_overlap_begins_where_it_is_quiet_where_there_is_no_pause() -> None:
    windows = filled(300)
    speak(windows, 1, 300, probability=0.4)
    speak(windows, 99, 301)
    windows.start_window(400, cut_in_speech=False)
    speak(windows, 5 * SECOND, 400)
    assert read(windows.window_audio())[0] == 300


def test_windows_read_up_to_a_frame_leave_out_what_follows() -> None:
    windows = filled(100)
    assert read(windows.window_audio(60)) == list(range(60))


def test_windows_partial_is_twelve_seconds_at_most_and_begins_in_a_pause() -> None:
    windows = filled(MAX_PARTIAL_FRAMES)
    assert read(windows.partial_audio()) == list(range(MAX_PARTIAL_FRAMES))
    speak(windows, 100, MAX_PARTIAL_FRAMES)
    assert read(windows.partial_audio()) == list(range(100, MAX_PARTIAL_FRAMES + 100))
    windows.note_pause(90)
    windows.note_pause(150)
    windows.note_pause(200)
    assert read(windows.partial_audio()) == list(range(150, MAX_PARTIAL_FRAMES + 100))


def test_windows_partial_has_no_overlap() -> None:
    windows = filled(400)
    windows.start_window(390, cut_in_speech=False)
    assert read(windows.partial_audio()) == list(range(390, 400))


def test_windows_quietest_frame_lies_within_the_last_six_seconds() -> None:
    windows = filled(100, probability=0.0)
    speak(windows, 600, 100)
    speak(windows, 1, 700, probability=0.4)
    speak(windows, 50, 701)
    assert windows.quietest_frame() == 700


def test_windows_quietest_frame_does_not_lie_before_a_silence_that_was_not_kept() -> None:
    windows = filled(60, probability=0.1)
    be_silent(windows, TRAILING_SILENCE_FRAMES + LEAD_IN_FRAMES + 1, 60)
    windows.keep_lead_in()
    speak(windows, 60, 61 + TRAILING_SILENCE_FRAMES + LEAD_IN_FRAMES)
    assert windows.quietest_frame() > 60 + TRAILING_SILENCE_FRAMES


def test_windows_quietest_frame_is_inside_the_window_however_short() -> None:
    for length in (1, 2, 3, 4):
        windows = filled(100)
        windows.start_window(100, cut_in_speech=True)
        speak(windows, length, 100)
        assert 100 <= windows.quietest_frame() < 100 + length


def test_quietest_prefers_silence_to_sound_of_the_same_probability() -> None:
    loud, soft = np.full(FRAME_SAMPLES, 9000, np.int16), np.zeros(FRAME_SAMPLES, np.int16)
    frames = [Frame(n, soft if n == 5 else loud, 0.5) for n in range(9)]
    assert quietest_index(frames) == 5


def test_audio_words_without_positions_are_spread_evenly() -> None:
    audio = filled(8, first=10).window_audio()
    words = audio.place_words(Transcript("a b c d"))
    assert [(word.text, word.start // FRAME_SAMPLES, word.end // FRAME_SAMPLES) for word in words] == [
        ("a", 10, 12), ("b", 12, 14), ("c", 14, 16), ("d", 16, 18),
    ]  # fmt: skip


def test_audio_word_beyond_its_end_is_placed_at_its_end() -> None:
    audio = filled(4, first=10).window_audio()
    offset = 10 * FRAME_SAMPLES
    (word,) = audio.place_words(Transcript("a", (Word("a", offset + 100, offset + 10**6, 0.5),)))
    assert (word.start, word.end) == (offset + 100, 14 * FRAME_SAMPLES)


def test_empty_audio_has_no_words() -> None:
    assert WindowBuffer().window_audio().place_words(Transcript("a", (Word("a", 0, 1, 0.5),))) == ()
    assert WindowBuffer().window_audio().offset == 0
