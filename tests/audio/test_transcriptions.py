"""Transcriptions of windows: merged in the order of the windows, whatever the order in which they complete."""

from __future__ import annotations

import numpy as np

from audio.texts import join_words
from audio.transcriptions import WindowTranscription, WindowTranscriptions
from audio.types import RATE_HZ, Word
from audio.windows import WindowAudio


def window(start_s: float, overlap_s: float) -> WindowAudio:
    """A window from `start_s` on, with an overlap from `overlap_s` on."""
    return WindowAudio(np.zeros(0, np.int16), np.array([int(overlap_s * RATE_HZ)]), int(start_s * RATE_HZ), False)


def words(*placed: tuple[str, float, float]) -> list[Word]:
    return [Word(text, int(start * RATE_HZ), int(end * RATE_HZ), 0.9) for text, start, end in placed]


def test_transcriptions_are_merged_in_the_order_of_their_windows() -> None:
    transcriptions = WindowTranscriptions()
    first, second = (WindowTranscription(window(n, n), 0, "final") for n in (0, 10))
    ids = [transcriptions.register(first), transcriptions.register(second)]
    transcriptions.close(first, 10 * RATE_HZ)
    transcriptions.close(second, 20 * RATE_HZ)
    second.words = tuple(words(("two", 11, 12)))
    assert (transcriptions.merge(), transcriptions.unmerged, transcriptions.all_known(None)) == (False, 2, False)
    first.words = tuple(words(("one", 1, 2)))
    assert (transcriptions.merge(), transcriptions.unmerged, transcriptions.all_known(None)) == (True, 0, True)
    assert join_words(transcriptions.merged_words, "en") == "one two"
    assert transcriptions.merged_until == 20 * RATE_HZ
    assert (transcriptions.take(ids[0]), transcriptions.take(ids[0])) == (first, None)
    assert (transcriptions.cancel(second), transcriptions.take(ids[1])) == ([ids[1]], None)
