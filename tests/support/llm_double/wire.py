"""One connection's socket: HTTP/1.1 framing by h11 as long as it is wanted, plain bytes where it is not."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import socket
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NoReturn

import h11

from tests.support.llm_double.formats import FORMATS
from tests.support.llm_double.frame import Frame

if TYPE_CHECKING:
    from tests.support.llm_double.behaviour import Answer, How
    from tests.support.llm_double.request import Asked

_GARBAGE = random.Random(0).randbytes(64)


class Gone(Exception):
    """This side has ended the connection; there is nothing more to do with it."""


class Wire:
    """Sends responses of a behaviour over one connection."""

    def __init__(self, writer: asyncio.StreamWriter, http: h11.Connection) -> None:
        self._writer = writer
        self._http = http

    async def until(self, asked: Asked, after_s: float) -> None:
        """Wait until so many seconds after the request arrived."""
        delay = asked.arrived_s + after_s - asyncio.get_running_loop().time()
        await asyncio.sleep(max(0.0, delay))

    async def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> NoReturn:
        """Close in an orderly way."""
        self._writer.close()
        raise Gone

    def reset(self) -> NoReturn:
        """Close with a reset: what was not read yet is lost to the other side."""
        abort(self._writer)
        raise Gone

    async def leave(self, how: Literal["reset", "close", "silence"]) -> None:
        """Stop in the middle of it."""
        if how == "reset":
            self.reset()
        if how == "close":
            self.close()
        await asyncio.Event().wait()

    async def respond(
        self,
        asked: Asked,
        status: int,
        body: bytes,
        content_type: str,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        """A whole response."""
        await self._begin(asked, status, content_type, [("content-length", str(len(body))), *headers])
        asked.first_piece_s = asyncio.get_running_loop().time()
        await self._send(body)
        await self._end()

    async def error(
        self,
        asked: Asked,
        status: int,
        message: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes | None = None,
        content_type: str = "application/json",
    ) -> None:
        """An error in the provider's own shape."""
        own = json.dumps(FORMATS[asked.format].error(status, message)).encode()
        await self.respond(asked, status, own if body is None else body, content_type, headers)

    async def whole(self, answer: Answer, asked: Asked) -> None:
        """A whole answer, as one JSON body."""
        await self.until(asked, answer.pace.whole_s)
        found = FORMATS[asked.format].body(answer, asked)
        if not answer.shape.usage:
            found.pop("usage", None)
        body = _json(found)
        extra = [("content-length", str(len(body)))] if answer.shape.piece_bytes is None else []
        await self._begin(asked, 200, "application/json", [*extra, *_closing(answer)])
        asked.first_piece_s = asyncio.get_running_loop().time()
        cut = answer.cut
        if cut is not None:
            await self._send(body[: cut.after])
            await self._flush()
            if cut.how == "garbage":
                await self.raw(_GARBAGE)
                self.close()
            if cut.how == "error" or cut.how == "end":
                raise ValueError(f"a whole answer has no cut like {cut.how!r}")
            await self.leave(cut.how)
        for number, piece in enumerate(_pieces(body, answer.shape.piece_bytes)):
            if answer.pace.token_s:
                await self.until(asked, answer.pace.whole_s + number * answer.pace.token_s)
            await self._send(piece)
        await self._end(silently=answer.shape.close == "silent")

    async def stream(self, answer: Answer, asked: Asked) -> None:
        """An answer as server-sent events, token by token."""
        form = FORMATS[asked.format]
        await self.until(asked, answer.pace.headers_s)
        headers = [*_closing(answer), ("cache-control", "no-cache")]
        await self._begin(asked, 200, "text/event-stream; charset=utf-8", headers)
        tokens = form.tokens(answer, asked)
        if answer.shape.one_chunk:
            frames = [*form.head(answer, asked), *tokens, *form.tail(answer, asked)]
            await self.until(asked, answer.pace.first_token_s)
            asked.first_piece_s = asyncio.get_running_loop().time()
            await self._send(b"".join(_encode(frame, answer, asked) for frame in frames))
            await self._end(silently=answer.shape.close == "silent")
            return
        await self._frames(form.head(answer, asked), answer, asked)
        count = 0
        for frame in itertools.cycle(tokens) if answer.repeat else tokens:
            await self._turn_of(count, answer, asked)
            if answer.cut is not None and count >= answer.cut.after:
                break
            if asked.first_piece_s is None:
                asked.first_piece_s = asyncio.get_running_loop().time()
            await self._frames([frame], answer, asked)
            count += 1
        if answer.cut is not None:
            await self._turn_of(count, answer, asked)
            await self._break(answer.cut.how, answer, asked)
            return
        await self._frames(form.tail(answer, asked), answer, asked)
        await self._end(silently=answer.shape.close == "silent")

    async def _turn_of(self, token: int, answer: Answer, asked: Asked) -> None:
        await self.until(asked, answer.pace.first_token_s + token * answer.pace.token_s)

    async def _break(self, how: How, answer: Answer, asked: Asked) -> None:
        if how == "error":
            await self._frames([FORMATS[asked.format].error_frame("The model is overloaded.")], answer, asked)
        elif how == "garbage":
            await self._send(b'data: {"half": \n\n' + _GARBAGE + b"\n\n")
        elif how != "end":
            await self._flush()
            await self.leave(how)
        await self._end()

    async def _frames(self, frames: Sequence[Frame], answer: Answer, asked: Asked) -> None:
        for frame in frames:
            for piece in _pieces(_encode(frame, answer, asked), answer.shape.piece_bytes):
                await self._send(piece)

    async def _begin(self, asked: Asked, status: int, content_type: str, headers: Iterable[tuple[str, str]]) -> None:
        asked.status = status
        lines = [("content-type", content_type), ("request-id", f"req_{asked.number:08d}"), *headers]
        if not any(name == "content-length" for name, _ in lines):
            lines.append(("transfer-encoding", "chunked"))
        data = self._http.send(h11.Response(status_code=status, headers=lines, reason=b""))
        await self.raw(data or b"")

    async def _send(self, data: bytes) -> None:
        if data:
            await self.raw(self._http.send(h11.Data(data=data)) or b"")

    async def _end(self, *, silently: bool = False) -> None:
        await self.raw(self._http.send(h11.EndOfMessage()) or b"")
        if silently:
            self.close()

    async def _flush(self) -> None:
        """Let what was written reach the other side before the connection breaks."""
        await asyncio.sleep(0.01)


def abort(writer: asyncio.StreamWriter) -> None:
    """Reset a connection."""
    found = writer.get_extra_info("socket")
    if found is not None:
        with suppress(OSError):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _json(value: object) -> bytes:
    """JSON with text as it is; halves of surrogate pairs, which UTF-8 has no place for, are escaped."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


def _closing(answer: Answer) -> list[tuple[str, str]]:
    return [("connection", "close")] if answer.shape.close == "announced" else []


def _pieces(data: bytes, size: int | None) -> Iterable[bytes]:
    if size is None:
        return [data]
    return [data[i : i + size] for i in range(0, len(data), size)]


def _encode(frame: Frame, answer: Answer, asked: Asked) -> bytes:
    newline = answer.shape.newline
    noise = [*FORMATS[asked.format].noise()] if answer.shape.noise else []
    lines = [": keep-alive", ""] if noise else []
    for one in [*noise, frame]:
        lines += [f"event: {one.event}"] if one.event else []
        lines += [f"data: {one.data}", ""]
    return "".join(line + newline for line in lines).encode()
