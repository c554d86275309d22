"""The base of every value that travels between stages, to the wire or to a store."""

from __future__ import annotations

from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict

NAMESPACE = UUID("6f0d1c52-6a53-5a0c-9a62-0f4b8f4f3a11")


class Record(BaseModel):
    """An immutable value; unknown fields are refused. Errors name fields, never what a respondent said."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def derived_id(session_id: str, turn: int, kind: str, ordinal: int | str) -> str:
    """An id that the same turn of the same session always makes again.

    Args:
        session_id: the session's id.
        turn: turn number, 0 for the opening.
        kind: what is named, such as "node" or "utterance".
        ordinal: distinguishes several of a kind within one turn.
    """
    return str(uuid5(NAMESPACE, f"{session_id}/{turn}/{kind}/{ordinal}"))
