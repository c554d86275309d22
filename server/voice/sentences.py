"""Cuts a text that is still being written into sentences, each as soon as it is certain to be over."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Final

LONGEST_CHARS: Final = 240
"""A longer sentence is read in parts, so that the first words need not wait for the last."""
_END = re.compile(r"(?:[.!?…؟。？！]+[\"'”’»)\]]*)(?=\s)|\n")
_LAST = re.compile(r"[.!?…؟。？！]+[\"'”’»)\]]*\s*$")
_SHORT = re.compile(r"(?:^|[\s(\"'“‘«])(?:[^\W\d_]|[A-ZÄÖÜ][^\W\d_]{1,2})$")
"""Ends in a single letter or a short word with a capital, which may be shortened: "Dr.", "Mr.", "z. B."."""
_SOFT = re.compile(r"[,;:،؛—–)](?=\s)")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; `end` is its end in the whole text, in characters, with the space behind it."""

    text: str
    end: int


class Sentences:
    """The sentences of one text."""

    def __init__(self) -> None:
        self.text = ""
        """All of it so far."""
        self._cut = 0
        self._ready: deque[Sentence] = deque()

    def add(self, text: str) -> None:
        """The next piece of the text."""
        self.text += text
        while (end := self._certain_end()) is not None:
            self._put(end)

    def end(self) -> None:
        """Nothing more comes."""
        while (end := self._certain_end()) is not None:
            self._put(end)
        if self._cut < len(self.text):
            self._put(len(self.text))

    def settle(self) -> None:
        """Nothing came for a while: what looks like the end of a sentence is one."""
        if _LAST.search(self.text, self._cut):
            self._put(len(self.text))

    def take(self) -> Sentence | None:
        """The next sentence, if there is one."""
        return self._ready.popleft() if self._ready else None

    def _put(self, end: int) -> None:
        text = " ".join(self.text[self._cut : end].split())
        self._cut = end
        if _WORD.search(text):
            self._ready.append(Sentence(text, end))

    def _certain_end(self) -> int | None:
        """Where the first sentence ends that was not cut off yet, with the space behind it; None if it may go on."""
        text, start = self.text, self._cut
        for found in _END.finditer(text, start):
            following = len(text) - len(text[found.end() :].lstrip())
            if following >= len(text):
                break
            if found.group() != "\n" and _goes_on(text[start : found.start()], found.group(), text[following]):
                continue
            if following - start <= LONGEST_CHARS:
                return following
            break
        if len(text) - start <= LONGEST_CHARS:
            return None
        return start + _soft_end(text[start : start + LONGEST_CHARS])


def _goes_on(before: str, ending: str, following: str) -> bool:
    """Whether a sentence goes on after what looks like its end."""
    if not ending.startswith("."):
        return False
    return following.islower() or (ending == "." and _SHORT.search(before) is not None)


def _soft_end(text: str) -> int:
    """Where a long sentence is best parted: behind its last clause in the second half, else between two words."""
    clauses = [found.end() for found in _SOFT.finditer(text) if found.end() > len(text) // 2]
    at = clauses[-1] if clauses else text.rfind(" ")
    return at + 1 if at > 0 else len(text)
