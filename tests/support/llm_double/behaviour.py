"""What the double does with a request: answers, in any shape, and everything that goes wrong between machines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tests.support.llm_double.request import Asked
from tests.support.llm_double.wire import Wire

Stop = Literal["end", "length", "refusal"]
How = Literal["reset", "close", "silence", "garbage", "error", "end"]
QUESTION = "What makes that important to you?"


class Behaviour(Protocol):
    """What to do with one request."""

    async def play(self, asked: Asked, wire: Wire) -> None:
        """Answer, or don't."""
        ...


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the provider bills them. `cached` tokens are part of `input`."""

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast an answer comes; seconds since the request was complete.

    Args:
        whole_s: until a whole answer leaves, headers and body.
        headers_s: until the headers of a stream leave.
        first_token_s: until the first token of a stream leaves.
        token_s: between two tokens of a stream, or two chunks of a whole answer.
    """

    whole_s: float = 0.0
    headers_s: float = 0.0
    first_token_s: float = 0.0
    token_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Shape:
    """What the bytes of a good answer look like.

    Args:
        newline: of server-sent events: LF, CRLF or CR.
        piece_bytes: send that many bytes per chunk, whatever they cut through.
        one_chunk: send all of a stream at once.
        noise: put comments, pings, empty deltas and events of unknown types between the pieces.
        done: say at the end that it is the end (`[DONE]`, `message_stop`).
        usage: tell the token counts.
        empty_choices_null: `"choices": null` in the last chunk, as some compatible servers do.
        close: afterwards `keep` the connection, or close it `announced` by a header or `silent`ly.
    """

    newline: Literal["\n", "\r\n", "\r"] = "\n"
    piece_bytes: int | None = None
    one_chunk: bool = False
    noise: bool = False
    done: bool = True
    usage: bool = True
    empty_choices_null: bool = False
    close: Literal["keep", "announced", "silent"] = "keep"


@dataclass(frozen=True, slots=True)
class Cut:
    """Where an answer breaks off, and how.

    Args:
        after: tokens of a stream, or bytes of the body of a whole answer.
        how: `reset` and `close` the socket, `silence` until the client gives up, `garbage` instead of the rest,
            an `error` event inside a stream, or an orderly `end` of the body without the rest.
    """

    after: int
    how: How


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model says.

    Args:
        text: in prose, also where a form was asked for; without `data` only.
        data: a structured answer, in the way it was asked for; a string is sent as it is, also when it is no JSON.
        ends: `length` cuts the answer in half and says so; `refusal` declines, in the format's own manner.
        cut: where it breaks off.
        repeat: begin again after the last token, for ever.
    """

    text: str = QUESTION
    data: dict[str, Any] | str | None = None
    ends: Stop = "end"
    usage: Usage | None = None
    pace: Pace = field(default_factory=Pace)
    shape: Shape = field(default_factory=Shape)
    cut: Cut | None = None
    repeat: bool = False

    def content(self, asked: Asked) -> str:
        """The text, or the JSON of a structured answer, as far as it goes."""
        found = self.text
        if self.data is not None:
            found = self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=False)
        return found[: len(found) // 2] if self.ends == "length" else found

    def in_form(self, asked: Asked) -> bool:
        """Does it come in the form that was asked for?"""
        return self.data is not None and asked.way != "none" and self.ends != "refusal"

    def tokens(self, asked: Asked) -> list[str]:
        """The answer in pieces: words, each with the space before it."""
        return re.findall(r"\s*\S+|\s+$", self.content(asked))

    def counted(self, asked: Asked) -> Usage:
        """Its token counts."""
        return self.usage or Usage(len(asked.text.split()), len(self.tokens(asked)))

    async def play(self, asked: Asked, wire: Wire) -> None:
        """Say it."""
        if asked.stream:
            await wire.stream(self, asked)
        else:
            await wire.whole(self, asked)


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error, with the provider's own body unless another is given."""

    status: int
    message: str = "This is a scripted failure."
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    content_type: str = "application/json"
    after_s: float = 0.0

    async def play(self, asked: Asked, wire: Wire) -> None:
        """Refuse."""
        await wire.until(asked, self.after_s)
        await wire.error(asked, self.status, self.message, self.headers, self.body, self.content_type)


@dataclass(frozen=True, slots=True)
class Body:
    """A response with any body: a page instead of JSON, half of it, bytes that are no text."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    async def play(self, asked: Asked, wire: Wire) -> None:
        """Send it."""
        await wire.respond(asked, self.status, self.body, self.content_type, self.headers)


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes that need not be HTTP, then the end of the connection."""

    data: bytes

    async def play(self, asked: Asked, wire: Wire) -> None:
        """Send them."""
        await wire.raw(self.data)
        wire.close()


@dataclass(frozen=True, slots=True)
class Break:
    """No answer at all: the socket is `reset` or `close`d, or there is only `silence`."""

    how: Literal["reset", "close", "silence"]
    after_s: float = 0.0

    async def play(self, asked: Asked, wire: Wire) -> None:
        """Leave."""
        await wire.until(asked, self.after_s)
        await wire.leave(self.how)


PAGE = b"<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>"


def page(status: int = 200) -> Body:
    """A web page where an API was expected."""
    return Body(PAGE, status, "text/html; charset=utf-8")
