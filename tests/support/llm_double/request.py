"""A request as the double understood it, in either format."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal

FormatName = Literal["anthropic", "openai"]
Way = Literal["tool", "json_schema", "json_object", "none"]


@dataclass(slots=True)
class Asked:
    """One request that reached the double, and what became of it.

    Args:
        number: counted from 1 over the whole life of the double.
        connection: counted from 1; requests over one socket share it.
        headers: names in lower case.
        body: the parsed JSON, {} where it was none.
        arrived_s: on the event loop's clock, when the request was complete.
    """

    number: int
    connection: int
    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    format: FormatName
    raw: bytes = b""
    arrived_s: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    first_piece_s: float | None = None
    """When the first token of a stream, or the body of a whole answer, was handed to the socket."""
    ended_s: float | None = None
    status: int | None = None
    hung_up: bool = False
    """The client closed its side before the answer was complete."""
    problem: str = ""
    """Why the request breaks the provider's documented rules, empty for a good one."""

    @property
    def key(self) -> str | None:
        """The API key that came along."""
        if self.format == "anthropic":
            return self.headers.get("x-api-key")
        scheme, _, key = self.headers.get("authorization", "").partition(" ")
        return key if scheme.lower() == "bearer" and key else None

    @property
    def stream(self) -> bool:
        """Asked for in pieces?"""
        return self.body.get("stream") is True

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self.body.get("model", ""))

    @property
    def system(self) -> str:
        """The system prompt."""
        if self.format == "anthropic":
            return plain(self.body.get("system", ""))
        told = (m for m in self._messages if m.get("role") in ("system", "developer"))
        return "\n".join(plain(message.get("content")) for message in told)

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """(role, text) of the messages, without system prompts."""
        return tuple(
            (str(message.get("role")), plain(message.get("content")))
            for message in self._messages
            if message.get("role") not in ("system", "developer")
        )

    @property
    def text(self) -> str:
        """Everything that was asked, the system prompt first."""
        return "\n\n".join([self.system, *(text for _, text in self.said)])

    @property
    def way(self) -> Way:
        """How a structured answer is asked for."""
        if self.body.get("tools"):
            return "tool"
        form = self._form
        if form.get("type") == "json_schema":
            return "json_schema"
        return "json_object" if form.get("type") == "json_object" else "none"

    @property
    def form_name(self) -> str:
        """The name of the tool or schema, empty without one."""
        if self.way == "tool":
            tool = self.body["tools"][0]
            return str(tool.get("name") or tool.get("function", {}).get("name", ""))
        named = self._form.get("json_schema")
        return str(named.get("name", "")) if isinstance(named, dict) else ""

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema of the answer, where one was sent."""
        if self.way == "tool":
            tool = self.body["tools"][0]
            found = tool.get("input_schema") or tool.get("function", {}).get("parameters")
        elif self.way == "json_schema":
            found = self._form.get("schema") or self._form.get("json_schema", {}).get("schema")
        else:
            found = None
        return found if isinstance(found, dict) else None

    @property
    def names_a_tool(self) -> bool:
        """Is one tool by its name the only way to answer?"""
        choice = self.body.get("tool_choice")
        return isinstance(choice, dict) and choice.get("type") in ("tool", "function")

    @property
    def _messages(self) -> list[dict[str, Any]]:
        found = self.body.get("messages")
        return [message for message in found if isinstance(message, dict)] if isinstance(found, list) else []

    @property
    def _form(self) -> dict[str, Any]:
        if self.format == "anthropic":
            output = self.body.get("output_config")
            found = output.get("format") if isinstance(output, dict) else self.body.get("output_format")
        else:
            found = self.body.get("response_format")
        return found if isinstance(found, dict) else {}


def plain(content: object) -> str:
    """The text of a message's content, a string or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return ""
