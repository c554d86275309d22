"""Requests, with bounds for their heads and bodies."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from server.transport.config import LimitedConfig
from server.transport.overdue import Overdue

HEAD_STEP_BYTES = 8 * 1024
"""A head is read in pieces of this size, so that its length is known before much of it is parsed."""
FREE_CHUNKS = 64
TOO_MANY = "There are too many connections from your network to this server. Please try again in a minute."
HEAD_TOO_LONG = "The head of this request is too long."
HEAD_LATE = "The request did not come in time."
BODY_LATE = "The body of the request came too slowly."
NOT_HTTP = "Invalid HTTP request received."


class LimitedHttp(HttpToolsProtocol):
    """One connection, until it ends or becomes a WebSocket."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(config, LimitedConfig)
        self._limits = config.limits
        self._admission = config.admission
        self._on_refused = config.on_refused
        self._admitted = False
        self._upgraded = False
        self._in_head = True
        self._begun = False
        """Whether a request has begun that is not complete."""
        self._head_bytes = 0
        self._head_since: float | None = None
        self._body_since: float | None = None
        self._body_bytes = 0
        self._chunks = 0
        self._rate_mark = (0.0, 0)
        """When the rate of the body was judged last, and the bytes that were there then."""
        self._refusal: tuple[int, str] | None = None
        """What is answered to a request that can't be parsed."""
        self._overdue = Overdue(config.limits)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected; one too many is told so."""
        super().connection_made(transport)
        self._head_since = self.loop.time()
        self._admitted = self._admission.enter(self.client[0] if self.client else None)
        if not self._admitted:
            self._refuse(429, TOO_MANY, "too_many")

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        super().connection_lost(exc)
        if self._admitted:
            self._admission.leave(self.client[0] if self.client else None)

    def handle_websocket_upgrade(self) -> None:
        """The connection becomes a WebSocket, which is then the one that is lost."""
        self._upgraded = True
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        start = 0
        while start < len(data) and not self._upgraded and not self.transport.is_closing():
            if self._in_head and self._head_since is None:
                self._head_since = self.loop.time()
            end = start + HEAD_STEP_BYTES if self._in_head else len(data)
            piece = data[start:end]
            self._head_bytes += len(piece)
            super().data_received(piece)
            if self._in_head and self._head_bytes > self._limits.head_bytes and not self._upgraded:
                self._refuse(431, HEAD_TOO_LONG, "head_too_long")
            start = end

    # Called by the parser; what they raise ends the request

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head = self._begun = True
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is complete."""
        if len(self.headers) > self._limits.head_fields:
            self._refusal = (431, HEAD_TOO_LONG)
            raise ValueError(HEAD_TOO_LONG)
        now = self.loop.time()
        self._in_head = False
        self._head_since = None
        self._body_since, self._body_bytes, self._chunks = now, 0, 0
        self._rate_mark = (now, 0)
        super().on_headers_complete()
        if len(self.pipeline) > self._limits.pipelined:
            raise ValueError("too many requests wait")

    def on_chunk_header(self) -> None:
        """A chunk of a body begins."""
        self._chunks += 1
        if (self._chunks - FREE_CHUNKS) * self._limits.chunk_bytes > self._body_bytes:
            raise ValueError("the chunks are too small")

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._body_since = None
        self._in_head, self._begun = True, False
        self._head_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that can't be parsed."""
        status, text = self._refusal or (400, NOT_HTTP)
        self._refuse(status, text, "head_too_long" if self._refusal else "not_http")

    # A client that does not read

    def pause_writing(self) -> None:
        """More waits to be read by the client than should."""
        self._overdue.paused(self.loop.time())
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client reads."""
        self._overdue.resumed()
        super().resume_writing()

    # Time

    def enforce(self, now: float) -> None:
        """End the connection if it is overdue; called every `enforce_every_s`.

        Args:
            now: by the clock of the loop.
        """
        limits = self._limits
        if self.transport.is_closing():
            if self._overdue.closing(now):
                self.transport.abort()
        elif self._overdue.reading(now):
            self._end("stalled")
        elif self.flow.read_paused:
            # The server is what is waited for.
            self._head_since = None if self._head_since is None else now
            self._rate_mark = (now, self._body_bytes)
        elif self._head_since is not None:
            if now - self._head_since >= limits.head_s:
                self._refuse(408, HEAD_LATE, "head_late")
        elif self._body_since is not None:
            self._enforce_rate(now, self._body_since)

    def _enforce_rate(self, now: float, since: float) -> None:
        marked_at, marked_bytes = self._rate_mark
        window_s = now - marked_at
        if now - since < self._limits.body_s and window_s < self._limits.body_window_s:
            return
        too_slow = self._body_bytes - marked_bytes < window_s * self._limits.body_bytes_per_s
        if too_slow or now - since >= self._limits.body_s:
            self._refuse(408, BODY_LATE, "body_late")
        self._rate_mark = (now, self._body_bytes)

    def _refuse(self, status: int, text: str, reason: str) -> None:
        """Answer, unless an answer is on its way, and close the connection."""
        if self._responding():
            self._end(reason)
            return
        self._on_refused(reason)
        if reason != "head_late" or self._begun:
            phrase = STATUS_LINE.get(status) or STATUS_LINE[HTTPStatus.BAD_REQUEST]
            body = text.encode()
            fields = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            self.transport.write(phrase + fields % len(body) + body)
        self.transport.close()

    def _responding(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and cycle.response_started and not cycle.response_complete

    def _end(self, reason: str) -> None:
        self._on_refused(reason)
        self.transport.abort()
