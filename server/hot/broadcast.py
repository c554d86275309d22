"""What nodes tell each other: messages, sent once and lost while the server is away, and keys that soon expire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from redis.asyncio import Redis
from redis.exceptions import RedisError

from server.hot.connection import Connection, subscription
from server.hot.errors import StorageUnavailable
from server.hot.keys import DEVICE_PREFIX, WATCH_CHANNEL


class Broadcasts:
    """Messages between nodes, and keys with a TTL that the nodes share.

    Args:
        connection: to the server.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def send(self, messages: Sequence[tuple[str | None, bytes]]) -> None:
        """Publish messages, each to one node or (None) to all of them, in order; tried once.

        Raises:
            StorageUnavailable: some may be lost.
        """
        commands = [("PUBLISH", channel_of(node), body) for node, body in messages]
        try:
            async with asyncio.timeout(self._connection.settings.attempt_timeout_s):
                if isinstance(self._connection.client, Redis):
                    pipeline = self._connection.client.pipeline(transaction=False)
                    for command in commands:
                        pipeline.execute_command(*command)
                    await pipeline.execute()
                else:
                    for command in commands:
                        await self._connection.client.execute_command(*command)
        except (RedisError, OSError, TimeoutError) as exc:
            raise StorageUnavailable(f"messages could not be sent: {exc}") from exc

    async def receive(self, node: str) -> AsyncGenerator[bytes | None, None]:
        """What is published for this node or for all, as it happens; never ends.

        None comes first, and after each time in which messages may have been lost.

        Raises:
            HotMisconfigured: a cluster without a listener.
        """
        async with aclosing(subscription(self._connection, channel_of(None), channel_of(node))) as messages:
            async for message in messages:
                yield message

    async def is_first(self, key: str, ttl_s: float) -> bool:
        """Whether no node has called this with that key within the last `ttl_s` seconds."""
        reply = await self._connection.ask(
            "SET", f"{WATCH_CHANNEL}:{key}", "1", "NX", "PX", int(ttl_s * 1000), writes=True
        )
        return reply is not None

    async def set_last_seen(self, device_id: str, at_ms: int, ttl_s: float) -> None:
        """Store for `ttl_s` seconds when a device last sent a request, in milliseconds since 1970."""
        await self._connection.ask("SET", f"{DEVICE_PREFIX}{device_id}", at_ms, "PX", int(ttl_s * 1000), writes=True)

    async def last_seen(self, device_id: str) -> int | None:
        """When a device last sent a request, in milliseconds since 1970; None when nothing is stored."""
        found = await self._connection.ask("GET", f"{DEVICE_PREFIX}{device_id}")
        return int(found) if found is not None else None


def channel_of(node: str | None) -> str:
    """The channel of one node, or that of all."""
    return WATCH_CHANNEL if node is None else f"{WATCH_CHANNEL}:{node}"
