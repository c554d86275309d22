"""What a model takes, which it writes before its question: `[2] What happened then?`, or words of its own choice.

Its own choice is something else that was said, in the respondent's words: `[0: he held the door] What was that like?`.
"""

from __future__ import annotations

import re

MOST_WORDS_CHARS = 300
"""Characters of what a model chooses itself; behind more it is no choice."""
OFFER = re.compile(r"\[(\d{1,3})(?::\s*(.+))?\]", re.S)
"""A piece that says what is taken, as writers send it."""
_OWN = re.compile(r"\s*[\[(]\s*0\s*[:,–—-]\s*([^\]\n]*?)\s*\]\s*[:.–—-]?\s*")
_MAYBE_OWN = re.compile(r"\s*[\[(]\s*0\s*(?:[:,–—-][^\]\n]*(?:\]\s*[:.–—-]?\s*)?)?")
_NUMBER = re.compile(r"\s*(?:[\[(]\s*(\d{1,3})\s*[\])]|(\d{1,3})\s*[.:)](?=\s))\s*[:.–—-]?\s*")
_MAYBE = re.compile(r"\s*(?:[\[(]\s*\d{0,3}\s*[\])]?|\d{1,3}\s*[.:)]?)?\s*[:.–—-]?\s*")


class Announced:
    """Takes the number from the stream: feed pieces, send what is returned, then `finish`.

    `number` is None until it is known and where there is none; a question that begins with a number of its own ("2
    years ago …") has none. It is 0 where the model chose something else: `own` are the words that it gives for it.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self.own = ""
        self._waiting = ""
        self._begun = False

    def feed(self, piece: str) -> str:
        """What of the question can go on now."""
        if self._begun:
            return piece
        self._waiting += piece
        waits = len(self._waiting) <= MOST_WORDS_CHARS and _MAYBE_OWN.fullmatch(self._waiting)
        return "" if waits or _MAYBE.fullmatch(self._waiting) else self.finish()

    def finish(self) -> str:
        """The rest, when the model has ended or the number is there."""
        text, self._waiting = self._waiting, ""
        own = None if self._begun else _OWN.match(text)
        found = None if self._begun else _NUMBER.match(text)
        self._begun = True
        if own is not None:
            self.number, self.own = 0, own[1].strip(" \"'“”‘’…")
            return text[own.end() :]
        if found is None:
            return text
        self.number = int(found[1] or found[2])
        return text[found.end() :]
