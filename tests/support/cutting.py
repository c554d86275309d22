"""A wire between browser and server that can be cut and mended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


class Wire:
    """Passes bytes to and fro; `cut` resets every connection and refuses new ones until `mend`."""

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._open: set[asyncio.StreamWriter] = set()
        self._whole = True
        self.url = ""

    def cut(self) -> None:
        """Break everything that is open."""
        self._whole = False
        for writer in list(self._open):
            writer.transport.abort()

    def mend(self) -> None:
        """Let connections through again."""
        self._whole = True

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        if not self._whole:
            writer.transport.abort()
            return
        try:
            there_reader, there_writer = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, there_writer}
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, there_writer))
                both.create_task(self._pump(there_reader, writer))
        except* OSError:
            pass
        finally:
            self._open -= {writer, there_writer}
            writer.close()
            there_writer.close()

    @staticmethod
    async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


@asynccontextmanager
async def wire_to(target: str) -> AsyncIterator[Wire]:
    """A wire on a free port; `wire.url` is where to connect."""
    wire = Wire(target)
    server = await asyncio.start_server(wire.pass_on, "127.0.0.1", 0)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        wire.cut()
        server.close()
