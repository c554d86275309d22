"""What all operations on hot storage share: connections, keys, and sending a script or a command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from redis.asyncio import Redis

from server.hot.connection import Client, Connection
from server.hot.keys import KeySpace
from server.hot.packing import pack_off_loop
from server.hot.replies import refusal, text_of
from server.hot.values import HotSettings


class HotBase:
    """A connection and the names of the keys.

    Args:
        connection: to the server.
        keys: names, for the number of partitions that the data were made with.
        listener: the client that hears wakes, where that of the connection is a cluster's.
    """

    def __init__(self, connection: Connection, keys: KeySpace | None = None, *, listener: Redis | None = None) -> None:
        self.connection = connection
        self.keys = keys or KeySpace()
        self._listener = listener

    @property
    def client(self) -> Client:
        """The client below, for what is not an operation on a session."""
        return self.connection.client

    @property
    def settings(self) -> HotSettings:
        """Bounds and times in use."""
        return self.connection.settings

    async def close(self) -> None:
        """Close every connection."""
        await self.connection.close()
        if self._listener is not None:
            await self._listener.aclose()

    async def _pack(self, data: bytes) -> bytes:
        return await pack_off_loop(data, compress_above=self.settings.compress_above)

    async def _run(self, name: str, session_id: str, *arguments: str | bytes | int, writes: bool = True) -> list[Any]:
        keys = self.keys.session(session_id).all()
        reply = await self.connection.run(name, keys, session_id, *arguments, writes=writes)
        if (error := refusal(text_of(reply[0]), reply)) is not None:
            raise error
        return reply

    async def _ask(self, *command: str | bytes | int, writes: bool = False) -> Any:
        return await self.connection.insist(
            str(command[0]), lambda: self.client.execute_command(*command), writes=writes
        )

    async def _of_each_server(self, *command: str) -> list[Any]:
        """The answers of every server that writes: one, or the primaries of a cluster."""
        if isinstance(self.client, Redis):
            return [await self._ask(*command)]
        cluster = self.client
        await cluster.initialize()

        def asking(node: Any) -> Callable[[], Awaitable[Any]]:
            return lambda: cluster.execute_command(*command, target_nodes=node)

        return [
            await self.connection.insist(command[0], asking(node), writes=False) for node in cluster.get_primaries()
        ]
