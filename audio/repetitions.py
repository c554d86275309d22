"""Text that repeats itself: what a speech model writes when it has lost the thread.

The two limits are those of the measurements in docs/performance.md: clean speech stays far below both.
"""

from __future__ import annotations

import re
import zlib

MAX_COMPRESSION_RATIO = 2.0
"""zlib compresses ordinary speech of this length by less; Whisper's own limit is 2.4."""
MIN_CHARS = 40
"""Shorter texts compress too unevenly to tell."""
MAX_WORDS_PER_S = 5.5
"""Fast speakers reach 5."""
MIN_ROUNDS = 3
"""So many equal runs of words in a row are a loop and not emphasis."""
MIN_ROUNDS_IN_VARIED_TEXT = 4
"""A run of words that comes so often is a loop even in a text that is varied otherwise; numbers are dictated so."""

_WORD = re.compile(r"[\w'’]+")


def compression_ratio(text: str) -> float:
    """Length of the UTF-8 text ÷ its zlib-compressed length; 0 for empty text."""
    data = text.encode("utf-8")
    return len(data) / len(zlib.compress(data)) if data else 0.0


def is_repetitive(text: str, duration_s: float) -> bool:
    """Whether the text repeats itself too much, as a whole or in one place, or is more than anybody says in that time.

    Args:
        text: what a model wrote.
        duration_s: length of the audio it is about.
    """
    text = text.strip()
    if len(text) > MIN_CHARS and compression_ratio(text) > MAX_COMPRESSION_RATIO:
        return True
    words = text.split()
    if len(words) > 3 and len(words) > MAX_WORDS_PER_S * max(duration_s, 0.1):
        return True
    again = find_repetition(words, MIN_ROUNDS_IN_VARIED_TEXT)
    return again is not None and any(c.isalpha() for word in words[again.start : again.stop] for c in word)


def find_repetition(words: list[str], min_rounds: int = MIN_ROUNDS) -> range | None:
    """Which words of a list only say again what was just said: a run of 1 to 8 words from its second round to its last.

    Runs of one word must come `times` + 2 times ("no, no, no" is said by people). None where nothing is repeated.
    """
    normalised = [" ".join(_WORD.findall(word.lower())) for word in words]
    for start in range(len(normalised)):
        for size in range(1, min(8, (len(normalised) - start) // min_rounds) + 1):
            run = normalised[start : start + size]
            end = start + size
            while normalised[end : end + size] == run:
                end += size
            if end - start >= size * (min_rounds + 2 if size == 1 else min_rounds):
                # A last round may be broken off by the end of the text.
                return range(start + size, len(normalised) if normalised[end:] == run[: len(normalised) - end] else end)
    return None
