"""A WebSocket client that sends bytes as they are: what no library would send."""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from typing import Self
from urllib.parse import urlsplit

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
SUBPROTOCOL = "askwell.v1"


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True, masked: bool = True, rsv: int = 0) -> bytes:
    """One frame; its mask is zero, so that the payload can be read in it."""
    head = bytes([(0x80 if fin else 0) | (rsv << 4) | opcode])
    bit = 0x80 if masked else 0
    if len(payload) < 126:
        head += bytes([bit | len(payload)])
    elif len(payload) < 65536:
        head += bytes([bit | 126]) + struct.pack("!H", len(payload))
    else:
        head += bytes([bit | 127]) + struct.pack("!Q", len(payload))
    return head + (bytes(4) if masked else b"") + payload


class RawSocket:
    """One connection, after the handshake.

    Args:
        url: of the server, `ws://host:port`.
        path: of the socket.
        fields: further header fields of the handshake, each with its line end.
        receive_buffer: bytes that the operating system keeps unread; its own choice if not given.
    """

    def __init__(
        self, url: str, path: str = "/ws/respondent", *, receive_buffer: int | None = None, fields: str = ""
    ) -> None:
        self._parts = urlsplit(url)
        self._path = path
        self._receive_buffer = receive_buffer
        self._fields = fields

    async def __aenter__(self) -> Self:
        limit = 2**16 if self._receive_buffer is None else self._receive_buffer
        self.reader, self.writer = await asyncio.open_connection(self._parts.hostname, self._parts.port, limit=limit)
        key = base64.b64encode(os.urandom(16)).decode()
        self.writer.write(
            f"GET {self._path} HTTP/1.1\r\nHost: {self._parts.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n{self._fields}\r\n".encode()
        )
        self.head = await self.reader.readuntil(b"\r\n\r\n")
        return self

    async def __aexit__(self, *error: object) -> None:
        self.writer.transport.abort()

    async def send(self, data: bytes) -> None:
        """Send bytes. Raises ConnectionError when the server has ended the connection."""
        self.writer.write(data)
        await self.writer.drain()

    async def over(self, deadline_s: float) -> bool:
        """Whether the server ends the connection within that time; what it says meanwhile is thrown away."""
        try:
            async with asyncio.timeout(deadline_s):
                while await self.reader.read(2**16):
                    pass
        except TimeoutError:
            return False
        except ConnectionError:
            pass
        return True

    async def close_code(self, deadline_s: float = 5.0) -> int | None:
        """The code with which the server closes; None when it ends the connection without one."""
        try:
            async with asyncio.timeout(deadline_s):
                while True:
                    first, second = await self.reader.readexactly(2)
                    length = second & 0x7F
                    if length == 126:
                        (length,) = struct.unpack("!H", await self.reader.readexactly(2))
                    elif length == 127:
                        (length,) = struct.unpack("!Q", await self.reader.readexactly(8))
                    payload = await self.reader.readexactly(length)
                    if first & 0x0F == CLOSE:
                        return int(struct.unpack("!H", payload[:2])[0]) if payload else None
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
