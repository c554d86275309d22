"""The elements of a concept in what people say: by label or alias, the longest name first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from pipeline.question.numbers import spoken
from pipeline.question.text import words

Names = tuple[tuple[str, tuple[str, ...]], ...]
"""Pairs (element id, its label and aliases)."""
ARTICLES = frozenset("the a an der die das den dem ein eine einen einem".split())
LONGEST_ID = 40
_SLUG = re.compile(r"[^a-z0-9]+")
_SHORT = 3
"""Words up to this length keep their final s: gas, bus, his."""


def key_of(name: str) -> tuple[str, ...]:
    """The words of a name as they are compared: case-folded, without an article, a possessive or a plural s."""
    said = tuple(_bare(part) for word in words(name) for part in word.split("-"))
    return said[1:] if len(said) > 1 and said[0] in ARTICLES else said


def named(text: str, names: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """The elements that a text names, in the order of `names`.

    Where names overlap in the text the longest one counts alone: "subscription price" does not name "price". Two
    elements of the same name are both named. Words are compared by `key_of`; figures are known when they are spoken.
    """
    table = tuple((element, tuple(own)) for element, own in names)
    found = _found(key_of(text), _index(table)) if table else frozenset()
    return tuple(dict.fromkeys(element for element, _ in table if element in found))


def ids_of(labels: Sequence[str]) -> list[str]:
    """An identifier for each label, in snake_case, each different; `element_3` where the third has no Latin letters."""
    ids: list[str] = []
    for number, label in enumerate(labels, 1):
        stem = _SLUG.sub("_", label.casefold()).strip("_")[:LONGEST_ID].strip("_") or f"element_{number}"
        ids.append(stem if stem not in ids else f"{stem}_{number}")
    return ids


def _bare(word: str) -> str:
    word = word.removesuffix("'s").rstrip("'")
    if len(word) <= _SHORT or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _SHORT + 1:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=64)
def _index(names: Names) -> dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    """By first word: the keys that begin with it, longest first, each with its elements."""
    owners: dict[tuple[str, ...], list[str]] = {}
    for element, own in names:
        for name in own:
            for said in (name, *spoken(name)):
                key = key_of(said)
                if key:
                    owners.setdefault(key, []).append(element)
    index: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for key in sorted(owners, key=len, reverse=True):
        index.setdefault(key[0], []).append((key, tuple(dict.fromkeys(owners[key]))))
    return {first: tuple(keys) for first, keys in index.items()}


def _found(
    said: tuple[str, ...], index: dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]
) -> frozenset[str]:
    """The elements named, the longest names first; of equally long ones that overlap the first in the text."""
    matches = [
        (len(key), start, owners)
        for start, word in enumerate(said)
        for key, owners in index.get(word, ())
        if said[start : start + len(key)] == key
    ]
    taken: set[int] = set()
    found: set[str] = set()
    for length, start, owners in sorted(matches, key=lambda match: (-match[0], match[1])):
        span = range(start, start + length)
        if taken.isdisjoint(span):
            taken.update(span)
            found.update(owners)
    return frozenset(found)
