"""The number of the offer that a model takes, which it writes before its question: `[2] What happened then?`."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\s*(?:[\[(]\s*(\d{1,3})\s*[\])]|(\d{1,3})\s*[.:)](?=\s))\s*[:.–—-]?\s*")
_MAYBE = re.compile(r"\s*(?:[\[(]\s*\d{0,3}\s*[\])]?|\d{1,3}\s*[.:)]?)?\s*[:.–—-]?\s*")


class Announced:
    """Takes the number from the stream: feed pieces, send what is returned, then `finish`.

    `number` is None until it is known and where there is none; a question that begins with a number of its own ("2
    years ago …") has none.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._waiting = ""
        self._begun = False

    def feed(self, piece: str) -> str:
        """What of the question can go on now."""
        if self._begun:
            return piece
        self._waiting += piece
        return "" if _MAYBE.fullmatch(self._waiting) else self.finish()

    def finish(self) -> str:
        """The rest, when the model has ended or the number is there."""
        text, self._waiting = self._waiting, ""
        found = None if self._begun else _NUMBER.match(text)
        self._begun = True
        if found is None:
            return text
        self.number = int(found[1] or found[2])
        return text[found.end() :]
