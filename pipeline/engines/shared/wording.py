"""How reasons put numbers."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as "one answer" or "3 answers"; the plural takes an s."""
    return f"one {noun}" if number == 1 else f"{number or 'no'} {noun}s"
