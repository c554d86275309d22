"""What moderators are told of a concept test while it runs: its elements, and how the respondent is doing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pipeline.coverage import GapKind, Reaction
from pipeline.momentum import Momentum
from server.protocol.base import Message


class ElementItem(Message):
    """One element of the concept: what was said of it, and what it still lacks."""

    element_id: str
    label: str
    mentioned: int = Field(ge=0, description="Answers that spoke of it.")
    reactions: tuple[Reaction, ...]
    comprehension: Annotated[float, Field(ge=0, le=1)] | None = Field(
        description="0.5 where it was merely named, 1 where it was explained or related to something; null before that."
    )
    understood: bool
    connected: bool | None = Field(
        description="Whether it is joined to the elements that it should be joined to; null where it need not be."
    )
    unconnected_to: tuple[str, ...] = Field(description="Labels of the elements that it is not joined to yet.")
    focused: int = Field(ge=0, description="Questions about it.")
    exhausted: bool = Field(description="It was asked about often enough, and is not any more.")
    declined: bool = Field(description="The respondent would not speak of it.")
    gaps: tuple[GapKind, ...]


class Spirits(Message):
    """How the respondent is doing, by the latest rated answers."""

    momentum: Momentum | None = Field(description="Of the latest answer; null before there is any.")
    mean: float = Field(ge=0, le=1, description="Weighted mean of the momentum: low counts 0, neutral 0.5, high 1.")
    low_in_a_row: int = Field(ge=0, description="Answers of low momentum, one after the other.")
    fatigued: bool = Field(description="Three low ones in a row, or a mean that stayed low for three answers.")
    ambiguity: Literal["none", "productive", "terminal"] | None = Field(
        description="Whether the latest answer is unsure: thinking aloud, or at an end of what is known; null where it "
        "was not rated."
    )
