"""Grounding: finds a model's quotes in the answer, and checks that labels use the answer's words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from pipeline.language.prompted.delimiting import clean
from pipeline.question.text import words

LABEL_WORDS = 9
"""Longest quote that may be used as a label, in words."""
LABEL_CHARS = 120
_GAP = re.compile(r"\s*(?:\[\s*)?(?:\.{3,}|…)(?:\s*\])?\s*")
_MIN_STEM = 4


class AnswerText:
    """The text of one answer, in which quotes are found regardless of case, white space and punctuation."""

    def __init__(self, text: str) -> None:
        self.text = text
        letters: list[str] = []
        places: list[int] = []
        for index, character in enumerate(text):
            for plain in _comparable_letters(character):
                letters.append(plain)
                places.append(index)
        self._letters = "".join(letters)
        self._places = places
        self.words = frozenset(words(clean(text)))

    def find(self, quote: str) -> str | None:
        """The part of the answer that a quote refers to, verbatim; None if the answer does not contain it.

        A quote with an ellipsis stands for everything from its first to its last part.
        """
        exact = quote.strip()
        if not exact:
            return None
        whole = self._whole_words(exact)
        if whole is not None:
            return whole
        parts = [part for part in (_letters_of(part) for part in _GAP.split(exact)) if part]
        if not parts:
            return None
        span = self._span(parts)
        return self.text[span[0] : self._end(span[1])] if span else None

    def _whole_words(self, exact: str) -> str | None:
        """This part of the answer, extended to whole words; None if the answer does not contain it."""
        at = cut = self.text.find(exact)
        while at >= 0:
            if not self._cuts(at) and not self._cuts(at + len(exact)):
                return exact
            at = self.text.find(exact, at + 1)
        if cut < 0:
            return None
        start, end = cut, cut + len(exact)
        while self._cuts(start):
            start -= 1
        while self._cuts(end):
            end += 1
        return self.text[start:end]

    def _cuts(self, at: int) -> bool:
        """Whether this position is inside a word, in a script that separates words by spaces."""
        if not 0 < at < len(self.text):
            return False
        left, right = self.text[at - 1], self.text[at]
        return left.isalnum() and right.isalnum() and not (_is_dense(left) or _is_dense(right))

    def _span(self, parts: Sequence[str]) -> tuple[int, int] | None:
        """First and last character, in the text, of a run of parts that follow each other."""
        whole = self._place("".join(parts), 0)
        if whole is not None:
            return self._places[whole[0]], self._places[whole[1] - 1]
        if len(parts) == 1:
            return None
        at, first = 0, None
        last = 0
        for part in parts:
            found = self._place(part, at)
            if found is None:
                return None
            first = found[0] if first is None else first
            at = found[1]
            last = found[1] - 1
        assert first is not None
        return self._places[first], self._places[last]

    def _place(self, letters: str, start: int) -> tuple[int, int] | None:
        """Where the letters stand, from a word's beginning to a word's end."""
        at = self._letters.find(letters, start)
        while at >= 0:
            end = at + len(letters)
            if self._is_edge(at) and self._is_edge(end):
                return at, end
            at = self._letters.find(letters, at + 1)
        return None

    def _is_edge(self, at: int) -> bool:
        """Whether a word begins or ends in front of this letter; scripts without spaces have edges everywhere."""
        if at in (0, len(self._places)):
            return True
        left, right = self._places[at - 1], self._places[at]
        return right - left > 1 or _is_dense(self.text[left]) or _is_dense(self.text[right])

    def _end(self, last: int) -> int:
        """The end of a stretch, marks that belong to its last letter included."""
        end = last + 1
        while end < len(self.text) and unicodedata.category(self.text[end]).startswith("M"):
            end += 1
        return end

    def says(self, label: str, synonyms: Iterable[Sequence[str]] = ()) -> bool:
        """Whether at least half of a label's words were said, in this or another inflection, or by a synonym."""
        wanted = [word for word in words(label) if len(word) >= _MIN_STEM] or words(label)
        if not wanted:
            return False
        sets = [frozenset(word for member in members for word in words(member)) for members in synonyms]
        return sum(self._says(word, sets) for word in wanted) * 2 >= len(wanted)

    def _says(self, word: str, sets: Sequence[frozenset[str]]) -> bool:
        if _is_dense(word[0]):
            pairs = [word[i : i + 2] for i in range(max(1, len(word) - 1))]
            return sum(pair in self._letters for pair in pairs) * 2 >= len(pairs)
        if any(_share_a_stem(word, said) for said in self.words):
            return True
        return any(word in members and not members.isdisjoint(self.words) for members in sets)


def short_label(quote: str) -> str | None:
    """A quote as a label, where it is short enough to be one."""
    label = " ".join(quote.split()).strip(" .,;:!?…\"'“”„«»()-–—")
    return label if label and len(label) <= LABEL_CHARS and len(words(label)) <= LABEL_WORDS else None


def _comparable_letters(character: str) -> str:
    """The letters and digits of a character, case-folded; none for anything else."""
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    folded = unicodedata.normalize("NFKC", character).casefold()
    return "".join(ch for ch in folded if ch.isalnum())


def _letters_of(text: str) -> str:
    return "".join(map(_comparable_letters, text))


def _share_a_stem(one: str, other: str) -> bool:
    """Whether two words share a stem: the same beginning, of four letters and two thirds of the shorter at least."""
    if one == other:
        return True
    shorter = min(len(one), len(other))
    if shorter < _MIN_STEM:
        return shorter == 3 and max(len(one), len(other)) <= 6 and one[:3] == other[:3]
    needed = max(_MIN_STEM, -(-2 * shorter // 3))
    return one[:needed] == other[:needed]


def _is_dense(character: str) -> bool:
    """Whether the character's script is written without spaces between words."""
    return "\u0e00" <= character <= "\u0eff" or "\u3040" <= character <= "\u9fff"
