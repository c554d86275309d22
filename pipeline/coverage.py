"""How far the elements of a concept test were spoken of."""

from __future__ import annotations

from typing import Literal

from pipeline.records import Record

Reaction = Literal["positive", "negative", "neutral", "skeptical", "curious"]


class ElementCoverage(Record):
    """One element of the concept: what was said about it, and how often questions were about it.

    `node_ids` are the surface nodes that mention it; `comprehension` is in [0, 1], None before anybody could tell.
    `focused` counts all questions about it, `focused_in_a_row` the latest ones.
    """

    element_id: str
    node_ids: tuple[str, ...] = ()
    reactions: tuple[Reaction, ...] = ()
    comprehension: float | None = None
    focused: int = 0
    focused_in_a_row: int = 0
    exhausted: bool = False
