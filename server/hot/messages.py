"""Messages between nodes: commands for a session's owner, their answers, and waking up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from redis.asyncio import RedisCluster
from redis.exceptions import RedisError

from server.hot.base import HotBase
from server.hot.errors import HotMisconfigured
from server.hot.keys import WAKE_CHANNEL
from server.hot.replies import text_of
from server.hot.values import Wake


class Messages(HotBase):
    """The part of hot storage through which nodes talk to each other."""

    async def inbox_push(self, session_id: str, item: bytes) -> str | None:
        """Leave a command for the session's owner, on whatever node, and wake it; the same item counts once.

        Returns:
            The owner's id, or None when nobody owns the session at the moment.

        Raises:
            InboxFull: too many commands wait already.
            Gone: the session was erased.
        """
        settings = self.settings
        ttl_ms = int(settings.inbox_ttl_s * 1000)
        reply = await self._run("inbox_push", session_id, item, settings.inbox_limit, ttl_ms)
        return text_of(reply[1]) or None

    async def inbox_read(self, session_id: str) -> list[bytes]:
        """Commands that wait, oldest first. They stay until dropped, so that a dying owner loses none."""
        return list(await self._ask("LRANGE", self.keys.session(session_id).inbox, 0, -1))

    async def inbox_drop(self, session_id: str, item: bytes) -> None:
        """Remove a command that was applied."""
        await self._run("inbox_drop", session_id, item)

    async def reply_put(self, session_id: str, command_id: str, reply: bytes, ttl_s: float = 60.0) -> None:
        """Leave the answer to a command for the node that sent it, and wake it."""
        key = self.keys.reply(session_id, command_id)
        await self._ask("SET", key, reply, "PX", int(ttl_s * 1000), writes=True)
        await self._ask("PUBLISH", WAKE_CHANNEL, f"replied {session_id} {command_id}")

    async def reply_get(self, session_id: str, command_id: str) -> bytes | None:
        """The answer to a command, if the owner has given one."""
        reply: bytes | None = await self._ask("GET", self.keys.reply(session_id, command_id))
        return reply

    async def wakes(self) -> AsyncGenerator[Wake, None]:
        """What happens to sessions on any node, as it happens; never ends.

        Messages can be lost while the server is away. The first item, and the first after each reconnection, is
        therefore `resync`.
        """
        pause_s = 0.05
        while True:
            try:
                async with aclosing(self._subscription()) as messages:
                    async for message in messages:
                        pause_s = 0.05
                        yield message
            except (RedisError, OSError):
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, 1.0)

    async def _subscription(self) -> AsyncGenerator[Wake, None]:
        client = self._listener if isinstance(self.client, RedisCluster) else self.client
        if client is None:
            raise HotMisconfigured("a cluster needs a listener of its own")
        subscription = client.pubsub(ignore_subscribe_messages=True)
        try:
            await subscription.subscribe(WAKE_CHANNEL)
            yield Wake("resync", "", "")
            while True:
                message = await subscription.get_message(timeout=1.0)
                if message is not None:
                    kind, session_id, owner = message["data"].decode().split(" ", 2)
                    yield Wake(kind, session_id, owner)
        finally:
            await subscription.aclose()  # type: ignore[no-untyped-call]
