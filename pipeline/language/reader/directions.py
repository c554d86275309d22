"""Which of two things that were said brings about the other, where a connector between them says so (English)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from pipeline.language.connectors import Connector, connector_at, normalised_text

_WORD = re.compile(r"[\w'’]+")
_SENTENCE_END = re.compile(r"[.!?…;\n]")
_BEFORE_CONNECTORS = frozenset(
    "and but just mostly mainly only partly simply really probably maybe perhaps especially also then that's".split()
)
"""Words that may stand before a connector: “… mostly because it is light”."""
_CLAUSE_BREAK = re.compile(r"[,–—-]")
FEW = 5
"""Words of a sentence, its connector counted, up to which a concept behind them is what the connector opens."""
_SAYS_WHICH = frozenset({"cause", "purpose"})
"""Kinds of connectors that say what brings about what."""


def said_directions(answer: str, spans: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Pairs of neighbouring concepts, by their number, the cause first.

    Args:
        answer: what was said.
        spans: where each concept begins and ends, in characters.
    """
    order = sorted(range(len(spans)), key=lambda number: spans[number])
    found: set[tuple[int, int]] = set()
    for left, right in pairwise(order):
        between = answer[spans[left][1] : spans[right][0]]
        if _SENTENCE_END.search(between):
            continue
        connector = _begins(between) or _begins(answer[slice(*spans[right])], alone=True)
        if connector is not None:
            found.add((left, right) if connector.effect == "after" else (right, left))
            continue
        opening = _opening(answer[: spans[left][0]]) if _CLAUSE_BREAK.search(between) else None
        if opening is not None and opening.effect == "before":  # “Because it is soft, it doesn't hurt.”
            found.add((left, right))
    return found


def _begins(text: str, *, alone: bool = False) -> Connector | None:
    """The connector that a text begins with, behind the words that may stand before one, unless it stands `alone`."""
    spoken = [normalised_text(word) for word in _WORD.findall(text)]
    for at in range(len(spoken)):
        connector = connector_at(spoken, at)
        if connector is not None and connector.kind in _SAYS_WHICH:
            return connector
        if alone or spoken[at] not in _BEFORE_CONNECTORS:
            return None
    return None


def _opening(text: str) -> Connector | None:
    """The connector with which the sentence begins that a text breaks off in, if nothing else was said in it."""
    last = _SENTENCE_END.split(text)[-1]
    return _begins(last) if len(_WORD.findall(last)) <= FEW else None
