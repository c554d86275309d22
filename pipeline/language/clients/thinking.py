"""Removal of reasoning from answers.

Servers without a parser for it send a model's reasoning at the beginning of the answer, between `<think>` and
`</think>`. It is never shown to a respondent.
"""

from __future__ import annotations

from typing import Final, Literal

OPENING: Final = "<think>"
CLOSING: Final = "</think>"


class ThinkingFilter:
    """Takes the pieces of an answer and returns them without the reasoning; delays a few characters at most."""

    __slots__ = ("_held", "_state")

    def __init__(self) -> None:
        self._state: Literal["undecided", "reasoning", "after", "answer"] = "undecided"
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; returns the text that follows for certain, held back characters included."""
        if self._state == "answer":
            return piece
        self._held += piece
        if self._state == "undecided":
            start = self._held.lstrip()
            if start.startswith(OPENING):
                self._state = "reasoning"
                self._held = start[len(OPENING) :]
            elif OPENING.startswith(start):
                return ""
            else:
                return self._release()
        if self._state == "reasoning":
            _, closing, rest = self._held.partition(CLOSING)
            if not closing:
                self._held = self._held[-len(CLOSING) :]
                return ""
            self._state = "after"
            self._held = rest
        self._held = self._held.lstrip()
        return self._release() if self._held else ""

    def flush(self) -> str:
        """The characters still held back at the end; none within the reasoning."""
        return "" if self._state in ("reasoning", "after") else self._release()

    def _release(self) -> str:
        self._state = "answer"
        said, self._held = self._held, ""
        return said
