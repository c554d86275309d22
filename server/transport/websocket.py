"""WebSockets, with bounds for their frames and for what waits to be read."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn._types import ASGIReceiveEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame

from server.protocol.codes import CLOSE_POLICY, CLOSE_TOO_BIG
from server.rate_limits import TokenBucket
from server.transport.config import LimitedConfig
from server.transport.overdue import Overdue

STEP_BYTES = 2 * 1024
"""Frames are parsed in pieces of this size, so that a flood of small ones ends before much of it is parsed."""


LINGER_S = 0.5
"""After how long without a byte a connection is closed whose bytes are not looked at any more."""


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """One connection, from its upgrade to its end."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        assert isinstance(config, LimitedConfig)
        limits, clock = config.limits, self.loop.time
        self._limits = limits
        self._admission = config.admission
        self._on_refused = config.on_refused
        self._data_frames = TokenBucket(limits.frames_per_s, limits.frames_per_s, clock)
        self._small_frames = TokenBucket(limits.small_frames_per_s, limits.small_frames_burst, clock)
        self._message_since: float | None = None
        """When the message began that is not complete yet."""
        self._after_close = 0
        """Bytes that came after the close."""
        self._overdue = Overdue(config.limits)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        super().connection_lost(exc)
        self._admission.leave(self.client[0] if self.client else None)

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        if self.conn.parser_exc is not None:
            self._linger()
            return
        if self.close_sent:
            self._after_close += len(data)
            if self._after_close > self._limits.after_close_bytes:
                self._end("sends_after_close")
                return
        for start in range(0, len(data), STEP_BYTES):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + STEP_BYTES] if len(data) > STEP_BYTES else data)
        if not (self.frames or self.conn.reader.buffer):
            self._message_since = None
        elif self._message_since is None:
            self._message_since = self.loop.time()
        if self.transport.get_write_buffer_size() > self._limits.unread_bytes:
            self._end("unread")

    def handle_parser_exception(self) -> None:
        """What came is no WebSocket frame, or too long: say so, and read on without looking, or it is not heard.

        A connection that is closed before all that was sent to it is read is reset, and the reason lost.
        """
        sent = self.conn.close_sent
        assert sent is not None
        self._on_refused("not_websocket" if sent.code != CLOSE_TOO_BIG else "message_too_long")
        self.queue.put_nowait({"type": "websocket.disconnect", "code": sent.code, "reason": sent.reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self._linger()

    def _linger(self) -> None:
        """Close once nothing more comes."""
        if self.close_timer is not None:
            self.close_timer.cancel()
        self.close_timer = self.loop.call_later(LINGER_S, self.transport.close)

    # Frames; of those that are too many none is handled

    def handle_text(self, event: Frame) -> None:
        """A text frame."""
        if self._allowed(self._data_frames):
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """A binary frame."""
        if self._allowed(self._data_frames):
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        """A continuation."""
        if self._allowed(self._small_frames):
            super().handle_cont(event)

    def handle_ping(self) -> None:
        """A ping."""
        if self._allowed(self._small_frames):
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """A pong."""
        if self._allowed(self._small_frames):
            super().handle_pong(event)

    def _allowed(self, bucket: TokenBucket) -> bool:
        if self.transport.is_closing():
            return False
        if bucket.take() > 0:
            self._end("frame_flood")
            return False
        return True

    def send_receive_event_to_app(self) -> None:
        """A message is complete."""
        self._message_since = None
        super().send_receive_event_to_app()

    async def receive(self) -> ASGIReceiveEvent:
        """The next message for the application."""
        message = await super().receive()
        if self._message_since is not None:
            # Nothing was read while the application was busy.
            self._message_since = self.loop.time()
        return message

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
        if self.close_sent or self.transport.is_closing():
            if self._overdue.closing(now):
                self.transport.abort()
        elif self._overdue.reading(now):
            self._end("stalled")
        elif self._message_since is not None and not self.read_paused and now - self._message_since >= limits.message_s:
            self._on_refused("message_late")
            self.conn.fail(CLOSE_POLICY, "a message was not completed in time")
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()

    def _end(self, reason: str) -> None:
        self._on_refused(reason)
        self.transport.abort()
