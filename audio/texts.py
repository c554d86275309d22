"""Texts of transcripts: how they are compared, and how they are made of words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from audio.types import Word

UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "my", "km", "yue", "bo"})
"""Codes of the languages that are written without spaces between words."""

_PUNCTUATION = re.compile(r"[^\w\s']+")


def normalised_text(text: str) -> str:
    """The text in lower case, with punctuation other than apostrophes removed and words separated by single spaces."""
    return " ".join(_PUNCTUATION.sub(" ", text.lower().replace("’", "'")).split())


def comparison_key(word: str) -> str:
    """A word for comparison with others: its letters and digits, in lower case. Empty for mere punctuation."""
    return "".join(c for c in word.lower() if c.isalnum())


def join_words(words: Sequence[Word], language: str) -> str:
    """The words as one text, separated by spaces where the language has them or as the words themselves have."""
    if any(word.text[:1].isspace() for word in words):
        return "".join(word.text for word in words).strip()
    return ("" if language in UNSPACED_LANGUAGES else " ").join(word.text for word in words)
