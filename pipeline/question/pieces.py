"""Cuts a finished text into the pieces it is streamed in."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\s*\S+\s*|\s+")


def in_words(text: str) -> list[str]:
    """The text word by word, every piece with the white space that follows it; joined, they are the text."""
    return _PIECE.findall(text)
