"""Bodies of requests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from server.protocol.base import Identifier, TurnKey
from server.protocol.inbound import ChoiceName, ChoiceValue, Rating, ShortText

Slug = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_-]+$")]


class Body(BaseModel):
    """Fields as written, nothing more."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class CreateSession(Body):
    """`POST /api/sessions`."""

    concept_id: Slug = Field(description="Which concept.")
    methodology: Slug | None = Field(default=None, description="Another methodology than the concept's.")
    engine: Slug | None = Field(default=None, description="Another decision engine than the concept's.")
    max_turns: int | None = Field(default=None, ge=3, le=200, description="Another limit than the concept's.")
    language: Slug | None = Field(default=None, description="One of the concept's languages.")
    respondent_ref: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="How you call the respondent; kept with the session."
    )
    pilot: bool = Field(default=False, description="A trial run, left out of results.")
    eligibility: dict[Slug, bool] | None = Field(
        default=None, max_length=20, description="What was confirmed of the respondent, by the concept's statements."
    )

    @field_validator("respondent_ref")
    @classmethod
    def _printable(cls, value: str | None) -> str | None:
        if value is not None and not value.isprintable():
            raise ValueError("contains characters that can't be printed")
        return value


class ConsentGiven(Body):
    """Consent as the respondent gave it."""

    version: ShortText
    choices: dict[ChoiceName, ChoiceValue] = Field(default={}, max_length=32)


class StartSession(Body):
    """`POST /api/sessions/{id}/start`."""

    consent: ConsentGiven | None = None


class PostTurn(Body):
    """`POST /api/sessions/{id}/turns`."""

    text: str = ""
    ratings: dict[Identifier, dict[Identifier, Rating]] | None = Field(
        default=None, max_length=40, description="Instead of a text, where the question asks for ratings."
    )
    turn_key: TurnKey


class Login(Body):
    """`POST /api/login`."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=512)]


class Unlock(Body):
    """`POST /api/kiosk/unlock`."""

    pin: Annotated[str, StringConstraints(max_length=32)]


class CreateToken(Body):
    """`POST /api/tokens`."""

    kind: Literal["moderator", "device"]
    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    concepts: Annotated[list[Slug], Field(max_length=200)] | None = Field(
        default=None, description="Concept ids it is limited to; all if not given."
    )
