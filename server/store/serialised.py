"""JSON that was written on another thread, for columns that hold JSON: drivers would do it on the event loop."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_json


class Serialised:
    """A value as JSON."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def as_json(value: Any) -> str:
    """The value as JSON; lone surrogates, which UTF-8 has no place for, are escaped."""
    try:
        return to_json(value).decode()
    except ValueError:
        return json.dumps(value)


def json_text(value: Any) -> str:
    """The value as JSON, for the database's connections."""
    return value.text if isinstance(value, Serialised) else json.dumps(value)
