"""The base class of messages, and types of their fields."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from pipeline.state import SessionStatus as SessionStatus

UUID_PATTERN = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"

TurnKey = Annotated[
    str,
    StringConstraints(pattern=UUID_PATTERN),
    Field(description="UUID made by the client; the same key again means the same answer again."),
]
CommandId = Annotated[
    str,
    StringConstraints(pattern=UUID_PATTERN),
    Field(description="UUID made by the client; the same id again means the same command again."),
]
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_.:-]+$")]
TurnNumber = Annotated[int, Field(ge=0, description="Turn the message belongs to; the opening is turn 0.")]
Attempt = Annotated[int, Field(ge=1, description="Grows with each new try; a higher one discards the lower.")]
EventId = Annotated[int, Field(ge=1, description="From 1, one more with each durable event of the session.")]


class Message(BaseModel):
    """A message: no unknown fields, no conversion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
