"""Messages that are keys struck without a word, such as "asdf jkl"."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from pipeline.language.embedder import known_words

ROWS = ("qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm")
"""The letters of a keyboard's rows, English and German."""
SHORTEST = 4
"""Letters of a word below which it may be an abbreviation."""
NEIGHBOURS = 0.75
"""Share of a word's pairs of letters that lie beside each other on a row from which on it is no word."""
VOWELS = frozenset("aeiouy")
_PLAIN = re.compile(r"[a-z]+")
_DRAWN_OUT = re.compile(r"(.)\1\1")
"""A sound that is drawn out: "hmmm", "pfff"."""


def unreadable(text: str, language: str) -> bool:
    """Whether a message in Latin letters is nothing but keys struck without a word.

    Each of its words must be one that nobody could say, or, in English, one that is in no list of words and runs along
    a row of keys.
    """
    said = [word.strip(".,;:!?…-\"'()") for word in text.split()]
    longer = [word for word in said if len(word) >= SHORTEST]
    shorter = (word for word in said if len(word) < SHORTEST)
    return bool(longer) and all(_struck(w, language) for w in longer) and not any(VOWELS & set(w) for w in shorter)


def _struck(word: str, language: str) -> bool:
    lowered = word.lower()
    if word.isupper() or not _PLAIN.fullmatch(lowered):
        return False
    if _DRAWN_OUT.search(lowered) or lowered in known_words():
        return False
    pairs = [first + second for first, second in pairwise(lowered)]
    beside = sum(pair in _beside() for pair in pairs) / len(pairs)
    return (beside >= NEIGHBOURS and language.startswith("en")) or not VOWELS & set(lowered)


@lru_cache(maxsize=1)
def _beside() -> frozenset[str]:
    """Pairs of letters that lie beside each other on a row, in both orders."""
    pairs = {first + second for row in ROWS for first, second in pairwise(row)}
    return frozenset(pairs | {pair[::-1] for pair in pairs})
