"""What the reader's network takes: word pieces of question, focus and answer in windows, and the answer's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category

from tokenizers import Tokenizer

from pipeline.language.embedder import clean

MOST_QUESTION = 40
"""Word pieces of the question that count; of a longer one the last."""
MOST_FOCUS = 24
"""Word pieces of the focus that count; of a longer one the first."""
WINDOW = 180
"""Word pieces of the answer in one window."""
REMEMBERED = 16
"""Answers whose words are kept: acts and concepts are judged with another focus, on the same words."""
OVERLAP = 40
"""Word pieces that two neighbouring windows share."""
WORD = re.compile(r"[^\W_]+(?:['’ʼ‘`´\u0300-\u036f\u200b-\u200d][^\W_]+)*|_+|[^\w\s]")
_PICTURES = ("So", "Sk", "Cf", "Cn", "Co")
"""Unicode categories of what is no word and would make one unknown that it is glued to, such as emoji."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a mark of an answer: its characters, and its word pieces (`first` to `last`, both inclusive)."""

    start: int
    end: int
    first: int
    last: int
    spoken: bool
    """Whether it has a letter or a digit."""


@dataclass(frozen=True, slots=True)
class Window:
    """One run of the network: `ids` and `segments` (0 question and focus, 1 answer), equally long.

    `shift` added to a word's piece gives its position in `ids`; `pieces` are the answer's pieces in it, `focus` the
    positions of the focus; both are half open, the focus (0, 0) where there is none.
    """

    ids: list[int]
    segments: list[int]
    shift: int
    pieces: tuple[int, int]
    focus: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Encoding:
    """An answer in its context, ready for the network."""

    words: tuple[Word, ...]
    windows: tuple[Window, ...]


def plain_name(name: str) -> str:
    """A name of a methodology as words: `pain_point` is "pain point"."""
    return name.replace("_", " ")


def focus_text(label: str | None, node_type: str | None) -> str:
    """How the focus is written for the network; empty without one."""
    if not label:
        return ""
    return f"{label} ({plain_name(node_type)})" if node_type else label


def described(name: str, description: str) -> str:
    """How a type of concept or of relation is written for the network."""
    return f"{plain_name(name)}: {description}"


class Encoder:
    """Makes encodings with a BERT tokenizer that adds no special tokens of its own.

    Args:
        tokenizer: word pieces; truncation and padding are switched off here.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._words = lru_cache(maxsize=REMEMBERED)(self._split)
        vocabulary = tokenizer.get_vocab()
        self._begin, self._separator = vocabulary["[CLS]"], vocabulary["[SEP]"]

    def answer(self, question: str, focus: str, answer: str) -> Encoding:
        """The encoding of an answer; long ones have several windows, one without words has none."""
        words, ids = self._words(answer)
        if not words:
            return Encoding((), ())
        asked = self._ids(question)[-MOST_QUESTION:]
        about = self._ids(focus)[:MOST_FOCUS]
        head = [self._begin, *asked, self._separator, *about, self._separator]
        begin = len(asked) + 2
        windows = []
        for start, end in spread(len(ids)):
            part = ids[start:end]
            windows.append(
                Window(
                    ids=[*head, *part, self._separator],
                    segments=[0] * len(head) + [1] * (len(part) + 1),
                    shift=len(head) - start,
                    pieces=(start, end),
                    focus=(begin, begin + len(about)) if about else (0, 0),
                )
            )
        return Encoding(words, tuple(windows))

    def phrase(self, text: str, most: int = 64) -> list[int]:
        """Word pieces of a description or an exemplar, with the special tokens around them."""
        return [self._begin, *self._ids(text)[:most], self._separator]

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(without_pictures(clean(text)), add_special_tokens=False).ids
        return ids

    def _split(self, text: str) -> tuple[tuple[Word, ...], tuple[int, ...]]:
        text = without_pictures(clean(text))
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        words: list[Word] = []
        at = 0
        offsets = encoded.offsets
        for match in WORD.finditer(text):
            while at < len(offsets) and offsets[at][1] <= match.start():
                at += 1
            last = at
            while last < len(offsets) and offsets[last][0] < match.end():
                last += 1
            if last > at:
                spoken = any(char.isalnum() for char in match[0])
                words.append(Word(match.start(), match.end(), at, last - 1, spoken))
                at = last
        return tuple(words), tuple(encoded.ids)


def without_pictures(text: str) -> str:
    """The text with a space for each emoji and the like; as long as before."""
    if text.isascii():
        return text
    return "".join(" " if category(char) in _PICTURES or char == "\ufe0f" else char for char in text)


def spread(count: int) -> Sequence[tuple[int, int]]:
    """Windows over so many word pieces, half open, overlapping."""
    windows = [(0, min(count, WINDOW))]
    while windows[-1][1] < count:
        start = windows[-1][1] - OVERLAP
        windows.append((start, min(count, start + WINDOW)))
    return windows
