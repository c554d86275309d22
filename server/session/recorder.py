"""Keeping what respondents say, where a concept asks for it and they agreed."""

from __future__ import annotations

from typing import Protocol


class Recorder(Protocol):
    """Keeps the sound of answers, off the session's way."""

    def keep(self, session_id: str, turn_number: int, turn_key: str, pcm: bytes) -> None:
        """Keep an answer, 16-bit little-endian mono at 16 kHz; nothing to keep is nothing done."""
        ...


class NoRecorder:
    """Keeps nothing."""

    def keep(self, session_id: str, turn_number: int, turn_key: str, pcm: bytes) -> None:
        """Does nothing."""
