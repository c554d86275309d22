"""Checks of the hot server's settings, and commands for the server as a whole."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis
from redis.exceptions import RedisError

from server.hot.connection import Connection
from server.hot.errors import HotMisconfigured, PartitionMismatch, ScriptFailed
from server.hot.keys import PARTITIONS_KEY
from server.hot.replies import text_of
from server.hot.values import ServerReport


class ServerChecks:
    """Checks and commands for the server as a whole.

    Args:
        connection: to the server.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def prepare(self, *, embedded: bool) -> ServerReport:
        """Check, at start, that the server doesn't evict keys and that the number of partitions fits the data.

        Args:
            embedded: the server is the embedded one, whose durability needs no check.

        Raises:
            HotMisconfigured: it may evict keys, or the number of partitions differs (`PartitionMismatch`).
            StorageUnavailable: it can't be reached within the deadline.
        """
        caveats: list[str] = []
        policies = await self._config("maxmemory-policy")
        if not policies:
            caveats.append("its settings can't be read: make sure that maxmemory-policy is noeviction")
        elif policies != {"noeviction"}:
            found = ", ".join(sorted(policies))
            raise HotMisconfigured(f"Redis must not evict keys: maxmemory-policy is {found}, set it to noeviction")
        if not embedded:
            caveats += await self._durability_caveats()
        count = str(self._connection.keys.partitions)
        await self._connection.ask("SET", PARTITIONS_KEY, count, "NX", writes=True)
        made_with = (await self._connection.ask("GET", PARTITIONS_KEY)).decode()
        if made_with != count:
            raise PartitionMismatch(f"the data were made with {made_with} partitions, the setting says {count}")
        return ServerReport(version=await self._version(), caveats=tuple(caveats))

    async def ping(self) -> bool:
        """Whether the server answers now, without trying again."""
        try:
            async with asyncio.timeout(self._connection.settings.attempt_timeout_s):
                return bool(await self._connection.client.execute_command("PING"))
        except (RedisError, OSError):
            return False

    async def time_s(self) -> float:
        """Seconds since 1970 by the server's clock; of the first server of a cluster.

        Raises:
            StorageUnavailable: it can't be reached within the deadline.
        """
        [(seconds, microseconds), *_] = await self._connection.ask_each_server("TIME")
        return float(int(seconds) + int(microseconds) / 1_000_000)

    @property
    def outage(self) -> str | None:
        """Why the server is known to be down, in words."""
        return self._connection.outage()

    async def forget_deleted(self) -> None:
        """Rewrite the append-only file, so that erased data leave the disk too; nothing happens where that is refused.

        A server refuses it while a rewrite is running.
        """
        try:
            await self._connection.ask_each_server("BGREWRITEAOF")
        except ScriptFailed:
            return

    async def _config(self, name: str) -> set[str]:
        """The values of a setting on every server; empty where it can't be read."""
        try:
            answers = await self._connection.ask_each_server("CONFIG GET", name)
        except (ScriptFailed, HotMisconfigured):
            return set()
        return {text_of(value) for answer in answers for key, value in answer.items() if text_of(key) == name}

    async def _version(self) -> str:
        [info, *_] = await self._connection.ask_each_server("INFO", "server")
        return str(info.get("valkey_version") or info.get("redis_version") or "unknown")

    async def _durability_caveats(self) -> list[str]:
        caveats: list[str] = []
        if "no" in await self._config("appendonly"):
            caveats.append("appendonly is no: a crash of the server loses every turn since its last snapshot")
        elif await self._config("appendfsync") - {"always"}:
            caveats.append("appendfsync is not always: a crash of the server may lose the last second")
        if not self._connection.settings.wait_replicas:
            caveats.append("no replica confirms a turn before it counts (WAIT is off)")
        if not self._connection.settings.wait_aof:
            caveats.append("no disk confirms a turn before it counts (WAITAOF is off)")
        if (self._connection.settings.wait_replicas or self._connection.settings.wait_aof) and not isinstance(
            self._connection.client, Redis
        ):
            caveats.append("WAIT and WAITAOF are not used on a cluster")
        return caveats
