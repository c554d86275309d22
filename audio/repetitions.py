"""The repetition filter: detects text in which a speech model repeats itself instead of transcribing.

Speech recorded in quiet stays far below all limits.
"""

from __future__ import annotations

import re
import zlib

MAX_COMPRESSION_RATIO = 2.0
"""Limit of `compression_ratio`. Whisper's own is 2.4, for segments of 30 s."""
MIN_CHARS = 40
"""Texts up to this length are not judged by their compression, which varies too much there."""
MAX_WORDS_PER_S = 5.5
"""Words per second of audio; fast speakers reach 5."""
MIN_ROUNDS = 3
"""Number of equal runs of words in a row that are a repetition and not emphasis."""
MIN_ROUNDS_IN_VARIED_TEXT = 4
"""Number of equal runs that make a whole text repetitive, however varied the rest is. Runs of digits do not count."""

_WORD = re.compile(r"[\w'’]+")


def compression_ratio(text: str) -> float:
    """Length of the UTF-8 text divided by its zlib-compressed length; 0 for empty text."""
    data = text.encode("utf-8")
    return len(data) / len(zlib.compress(data)) if data else 0.0


def is_repetitive(text: str, duration_s: float) -> bool:
    """Whether the text repeats itself too much, as a whole or in one place, or has more words than fit into the audio.

    Args:
        text: what the model wrote.
        duration_s: length of the audio, in seconds.
    """
    text = text.strip()
    if len(text) > MIN_CHARS and compression_ratio(text) > MAX_COMPRESSION_RATIO:
        return True
    words = text.split()
    if len(words) > 3 and len(words) > MAX_WORDS_PER_S * max(duration_s, 0.1):
        return True
    repeated = find_repetition(words, MIN_ROUNDS_IN_VARIED_TEXT)
    return repeated is not None and any(c.isalpha() for word in words[repeated.start : repeated.stop] for c in word)


def find_repetition(words: list[str], min_rounds: int = MIN_ROUNDS) -> range | None:
    """The words that repeat the words before them: all rounds of a run of 1 to 8 words but the first.

    Args:
        words: of a text, in order; case and punctuation are ignored.
        min_rounds: least number of rounds of a run; a run of one word needs two more, because people say "no, no, no".
    Returns:
        Indices of the repeated words of the first such run; None where there is none.
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
