"""What nodes tell each other about what is watched: published once, kept nowhere, lost while the server is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisError

from server.hot.base import HotBase
from server.hot.errors import HotMisconfigured, StorageUnavailable
from server.hot.keys import DEVICE_PREFIX, WATCH_CHANNEL

LISTEN_S = 1.0


class Broadcasts(HotBase):
    """The part of hot storage through which live news travel."""

    async def spread(self, letters: Sequence[tuple[str | None, bytes]]) -> None:
        """Publish letters, each to one node or (None) to all of them, in order; tried once.

        Raises:
            StorageUnavailable: some may be lost.
        """
        commands = [("PUBLISH", channel_of(node), body) for node, body in letters]
        try:
            async with asyncio.timeout(self.settings.attempt_timeout_s):
                if isinstance(self.client, Redis):
                    pipeline = self.client.pipeline(transaction=False)
                    for command in commands:
                        pipeline.execute_command(*command)
                    await pipeline.execute()
                else:
                    for command in commands:
                        await self.client.execute_command(*command)
        except (RedisError, OSError, TimeoutError) as exc:
            raise StorageUnavailable(f"news could not be spread: {exc}") from exc

    async def letters(self, node: str) -> AsyncGenerator[bytes | None, None]:
        """What is published for this node or for all, as it happens; never ends.

        None comes first, and after each time in which letters may have been lost.

        Raises:
            HotMisconfigured: a cluster without a listener.
        """
        pause_s = 0.05
        while True:
            try:
                async with aclosing(self._letters(node)) as found:
                    async for letter in found:
                        pause_s = 0.05
                        yield letter
            except (RedisError, OSError):
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, 1.0)

    async def _letters(self, node: str) -> AsyncGenerator[bytes | None, None]:
        client = self._listener if isinstance(self.client, RedisCluster) else self.client
        if client is None:
            raise HotMisconfigured("a cluster needs a listener of its own")
        subscription = client.pubsub(ignore_subscribe_messages=True)
        try:
            await subscription.subscribe(channel_of(None), channel_of(node))
            yield None
            while True:
                message = await subscription.get_message(timeout=LISTEN_S)
                if message is not None:
                    yield message["data"]
        finally:
            await subscription.aclose()  # type: ignore[no-untyped-call]

    async def first(self, key: str, ttl_s: float) -> bool:
        """Whether this is the first call with that key, on any node, since `ttl_s` seconds."""
        reply = await self._ask("SET", f"{WATCH_CHANNEL}:{key}", "1", "NX", "PX", int(ttl_s * 1000), writes=True)
        return reply is not None

    async def heard_of(self, device_id: str, at_ms: int, ttl_s: float) -> None:
        """Remember for `ttl_s` seconds that a device was heard of, at milliseconds since 1970."""
        await self._ask("SET", f"{DEVICE_PREFIX}{device_id}", at_ms, "PX", int(ttl_s * 1000), writes=True)

    async def last_heard_of(self, device_id: str) -> int | None:
        """When a device was heard of last, in milliseconds since 1970; None when that is too long ago."""
        found = await self._ask("GET", f"{DEVICE_PREFIX}{device_id}")
        return int(found) if found is not None else None


def channel_of(node: str | None) -> str:
    """The channel of one node, or that of all."""
    return WATCH_CHANNEL if node is None else f"{WATCH_CHANNEL}:{node}"
