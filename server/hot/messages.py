"""Commands for the owners of sessions, replies to them, and notifications of owners."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from server.hot.connection import Connection, subscription
from server.hot.keys import WAKE_CHANNEL
from server.hot.replies import text_of
from server.hot.values import Wake

REPLY_TTL_MS = 60_000


class CommandInbox:
    """The inboxes of all sessions.

    Args:
        connection: to the server.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def push(self, session_id: str, item: bytes) -> str | None:
        """Leave a command for the session's owner, on whatever node, and wake it; the same item counts once.

        Returns:
            The owner's id, or None when the session has no owner.

        Raises:
            InboxFull: too many commands wait already.
            SessionErased: the session was erased.
        """
        settings = self._connection.settings
        ttl_ms = int(settings.inbox_ttl_s * 1000)
        reply = await self._connection.run("inbox_push", session_id, item, settings.inbox_limit, ttl_ms)
        return text_of(reply[1]) or None

    async def read(self, session_id: str) -> list[bytes]:
        """Commands that wait, oldest first. They stay until dropped, so that none is lost with its owner."""
        key = self._connection.keys.session(session_id).inbox
        return list(await self._connection.ask("LRANGE", key, 0, -1))

    async def drop(self, session_id: str, item: bytes) -> None:
        """Remove a command that was applied."""
        await self._connection.run("inbox_drop", session_id, item)

    async def reply(self, session_id: str, command_id: str, reply: bytes) -> None:
        """Leave the reply to a command for the node that sent it, for REPLY_TTL_MS, and wake it."""
        key = self._connection.keys.reply(session_id, command_id)
        await self._connection.ask("SET", key, reply, "PX", REPLY_TTL_MS, writes=True)
        await self._connection.ask("PUBLISH", WAKE_CHANNEL, f"replied {session_id} {command_id}")

    async def reply_to(self, session_id: str, command_id: str) -> bytes | None:
        """The reply to a command, if the owner has given one."""
        reply: bytes | None = await self._connection.ask("GET", self._connection.keys.reply(session_id, command_id))
        return reply

    async def wakes(self) -> AsyncGenerator[Wake, None]:
        """What happens to sessions on any node, as it happens; never ends.

        Messages can be lost while the server is away. The first item, and the first after each reconnection, is
        therefore `resync`.

        Raises:
            HotMisconfigured: a cluster without a listener.
        """
        async with aclosing(subscription(self._connection, WAKE_CHANNEL)) as messages:
            async for message in messages:
                if message is None:
                    yield Wake("resync", "", "")
                else:
                    kind, session_id, owner = message.decode().split(" ", 2)
                    yield Wake(kind, session_id, owner)
