"""Text that repeats itself: what a speech model writes when it has lost the thread.

The two limits are those of the measurements in docs/performance.md: clean speech stays far below both.
"""

from __future__ import annotations

import re
import zlib

MAX_RATIO = 2.0
"""zlib compresses ordinary speech of this length by less; Whisper's own limit is 2.4."""
MIN_CHARS = 40
"""Shorter texts compress too unevenly to tell."""
MAX_WORDS_PER_S = 5.5
"""Fast speakers reach 5."""
REPEATS = 3
"""So many equal runs of words in a row are a loop and not emphasis."""

_WORD = re.compile(r"[\w'’]+")


def compression_ratio(text: str) -> float:
    """Length of the UTF-8 text ÷ its zlib-compressed length; 0 for empty text."""
    data = text.encode("utf-8")
    return len(data) / len(zlib.compress(data)) if data else 0.0


def is_loop(text: str, duration_s: float) -> bool:
    """Whether the text repeats itself too much, or has more words than anybody says in that time.

    Args:
        text: what a model wrote.
        duration_s: length of the audio it is about.
    """
    text = text.strip()
    if len(text) > MIN_CHARS and compression_ratio(text) > MAX_RATIO:
        return True
    words = len(text.split())
    return words > 3 and words > MAX_WORDS_PER_S * max(duration_s, 0.1)


def repeated_from(words: list[str]) -> int | None:
    """Where in a list of words a run of 1 to 8 words begins to be said for the second of at least `REPEATS` times.

    Runs of one word must come `REPEATS` + 2 times ("no, no, no" is said by people). None where nothing is repeated.
    """
    plain = [" ".join(_WORD.findall(word.lower())) for word in words]
    for start in range(len(plain)):
        for size in range(1, min(8, (len(plain) - start) // REPEATS) + 1):
            run = plain[start : start + size]
            times = 1
            while plain[start + times * size : start + (times + 1) * size] == run:
                times += 1
            if times >= (REPEATS + 2 if size == 1 else REPEATS):
                return start + size
    return None
