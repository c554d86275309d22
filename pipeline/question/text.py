"""Words, sentences and word overlap of short texts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

REMEMBERED: Final = 1024
"""Texts whose words and sentences are kept: a turn looks at the same few again and again."""
LEAST_ENDED: Final = 3
"""Words of a text from which on it is a sentence."""
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?…؟。！？])[\"'”’»)]*\s+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def words(text: str) -> list[str]:
    """The words of a text, case-folded, apostrophes straight."""
    return [*_words(text)]


def word_count(text: str) -> int:
    """Words as a reader counts them; two characters of a script without spaces count as one word."""
    dense = len(_CJK.findall(text))
    return len(WORD.findall(_CJK.sub(" ", text))) + (dense + 1) // 2


def sentences(text: str) -> list[str]:
    """The sentences of a short text, in order, stripped; a quotation's own full stop doesn't end one."""
    return [*_sentences(text)]


def ended(text: str) -> str:
    """The text with a full stop behind its last word, where it has no other mark: who chats leaves it out, and whatever
    reads texts knows them with one.
    """
    return f"{text}." if text[-1:].isalnum() and len(text.split()) >= LEAST_ENDED else text


def jaccard(one: str, other: str) -> float:
    """Shared words over all words of two texts, in [0, 1]; 0 when both are empty."""
    left, right = set(_words(one)), set(_words(other))
    union = left | right
    return len(left & right) / len(union) if union else 0.0


@lru_cache(REMEMBERED)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("’", "'") for word in WORD.findall(text.casefold()))


@lru_cache(REMEMBERED)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in _SENTENCE_END.split(text.strip()) if part.strip())
