"""Keeps what a model thinks aloud out of what it says.

Servers without a parser for it send a model's reasoning at the beginning of the answer, between `<think>` and
`</think>`. A respondent must never hear it.
"""

from __future__ import annotations

from typing import Final, Literal

OPENING: Final = "<think>"
CLOSING: Final = "</think>"


class ThinkingFilter:
    """Takes the pieces of an answer and passes on those that are said. Holds back a few characters at most."""

    __slots__ = ("_held", "_state")

    def __init__(self) -> None:
        self._state: Literal["unsure", "thinking", "after", "saying"] = "unsure"
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; returns what of it, and of what was held back, is said."""
        if self._state == "saying":
            return piece
        self._held += piece
        if self._state == "unsure":
            start = self._held.lstrip()
            if start.startswith(OPENING):
                self._state = "thinking"
                self._held = start[len(OPENING) :]
            elif OPENING.startswith(start):
                return ""
            else:
                return self._say()
        if self._state == "thinking":
            _, closing, rest = self._held.partition(CLOSING)
            if not closing:
                self._held = self._held[-len(CLOSING) :]
                return ""
            self._state = "after"
            self._held = rest
        self._held = self._held.lstrip()
        return self._say() if self._held else ""

    def flush(self) -> str:
        """What is still held back at the end; nothing while the model thinks."""
        return "" if self._state in ("thinking", "after") else self._say()

    def _say(self) -> str:
        self._state = "saying"
        said, self._held = self._held, ""
        return said
