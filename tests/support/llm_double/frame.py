"""What a format is to the double."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tests.support.llm_double.behaviour import Answer
    from tests.support.llm_double.request import Asked


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event; `event` is empty where the format does not name its events."""

    data: str
    event: str = ""


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a provider would refuse a request."""

    status: int
    message: str


class Format(Protocol):
    """How one provider's API says things."""

    def complaint(self, asked: Asked) -> Complaint | None:
        """What is wrong with the request by the provider's documented rules."""
        ...

    def body(self, answer: Answer, asked: Asked) -> dict[str, Any]:
        """A whole answer."""
        ...

    def head(self, answer: Answer, asked: Asked) -> list[Frame]:
        """Events before the first token."""
        ...

    def tokens(self, answer: Answer, asked: Asked) -> list[Frame]:
        """One event per token."""
        ...

    def tail(self, answer: Answer, asked: Asked) -> list[Frame]:
        """Events after the last token: why it ended, usage, the end."""
        ...

    def noise(self) -> list[Frame]:
        """Events that say nothing about the answer and must be passed over."""
        ...

    def error(self, status: int, message: str) -> dict[str, Any]:
        """The body of an error."""
        ...

    def error_frame(self, message: str) -> Frame:
        """An error inside a stream that had begun well."""
        ...

    def models(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The list of models."""
        ...


def dump(value: object) -> str:
    """JSON as providers write it: no spaces, text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
