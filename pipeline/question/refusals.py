"""Why a question may not be asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pipeline.records import Record

Code = Literal[
    "empty",
    "unsafe",
    "leak",
    "markup",
    "refusal",
    "machinery",
    "not_a_question",
    "language",
    "double",
    "closed",
    "leading",
    "too_long",
    "repeated",
]
RETRACTING: frozenset[Code] = frozenset(
    {"unsafe", "leak", "markup", "refusal", "machinery", "language", "not_a_question"}
)
"""Refusals after which text that was sent already has to be withdrawn."""


class Refusal(Record):
    """Why a question may not be asked; `detail` is for logs and for the writer's second try."""

    code: Code
    detail: str


def unique(found: Iterable[Refusal]) -> list[Refusal]:
    """The first refusal of every code, in order."""
    first: dict[str, Refusal] = {}
    for refusal in found:
        first.setdefault(refusal.code, refusal)
    return list(first.values())
