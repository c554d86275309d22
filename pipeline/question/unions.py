"""Many patterns as one that is quick to search.

A pattern that begins with a word boundary, joined with others of its kind behind a single boundary, is only tried where
a word begins, and there only if the first letter fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_BOUNDARY = r"\b"


def union(*patterns: str) -> re.Pattern[str]:
    """One pattern that finds what any of the patterns finds, though perhaps another of several matches.

    Args:
        patterns: sources of regular expressions without back references and named groups; `|` between alternatives.
    """
    bounded: list[str] = []
    free: list[str] = []
    for alternative in dict.fromkeys(part for pattern in patterns for part in alternatives(pattern)):
        if alternative.startswith(_BOUNDARY):
            bounded += _opened(alternative[len(_BOUNDARY) :])
        else:
            free.append(alternative)
    joined = [rf"\b(?:{'|'.join(dict.fromkeys(bounded))})"] if bounded else []
    return re.compile("|".join([*joined, *free]))


def alternatives(pattern: str) -> Iterator[str]:
    """The alternatives of a pattern, split where no bracket is open."""
    depth, in_class, start, at = 0, False, 0, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif sign == "|" and depth == 0:
            yield pattern[start:at]
            start = at + 1
        at += 1
    yield pattern[start:]


def _opened(alternative: str) -> Iterable[str]:
    """An alternative that begins with a choice, as several, each with its first letter in front."""
    if not alternative.startswith("(?:"):
        return [alternative]
    end = _closing(alternative)
    rest = alternative[end + 1 :]
    if rest[:1] in ("?", "*", "+", "{"):
        return [alternative]
    return [choice + rest for choice in alternatives(alternative[3:end])]


def _closing(pattern: str) -> int:
    """Where the group that opens a pattern closes."""
    depth, in_class, at = 0, False, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            if depth == 0:
                return at
        at += 1
    raise ValueError(f"a group that does not close: {pattern}")
