"""JSON that was written on another thread, for columns that hold JSON: drivers would do it on the event loop."""

from __future__ import annotations

import json
from typing import Any


class Serialised:
    """A value as JSON."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def json_text(value: Any) -> str:
    """The value as JSON, for the database's connections."""
    return value.text if isinstance(value, Serialised) else json.dumps(value)
