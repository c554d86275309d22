"""The client of the hot server: retries with a deadline, translated errors, scripts, and confirmation of writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any, TypeVar

import structlog
from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from server.hot.errors import HotError, HotMisconfigured, OutcomeUnknown, ScriptFailed, StorageUnavailable
from server.hot.keys import KeySpace
from server.hot.replies import refusal, text_of
from server.hot.values import HotSettings

log = structlog.get_logger()
T = TypeVar("T")
LISTEN_S = 1.0
FIRST_PAUSE_S = 0.05
RedisClient = Redis | RedisCluster

SCRIPT_NAMES = (
    "create",
    "restore",
    "claim",
    "read",
    "accept",
    "commit",
    "fail",
    "note",
    "stored",
    "keep",
    "erase",
    "erased",
    "inbox_push",
    "inbox_drop",
)
_TRANSIENT = (
    RedisConnectionError,
    RedisTimeoutError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    ReadOnlyError,
    TryAgainError,
    OSError,
)
_PASSING = ("MISCONF", "NOREPLICAS", "LOADING", "BUSY", "UNBLOCKED")
"""How answers begin that say no for now."""


def load_scripts() -> dict[str, str]:
    """The scripts by name, each with the shared prelude in front.

    A line that ends in `-- guard:<name>` is one guard; a test may leave it out and hand the result to `HotStore`.
    """
    folder = files("server.hot") / "scripts"
    shared = (folder / "shared.lua").read_text(encoding="utf-8")
    return {name: shared + (folder / f"{name}.lua").read_text(encoding="utf-8") for name in SCRIPT_NAMES}


def open_client(url: str, *, timeout_s: float, max_connections: int, cluster: bool = False) -> RedisClient:
    """A client without deadlines and retries of its own; the caller sets them.

    Args:
        url: where the server is.
        timeout_s: how long connecting may take, and waiting for one of the connections.
        max_connections: connections at most.
        cluster: whether the server is a cluster.
    """
    # No socket_timeout: redis-py would send under asyncio.wait_for, which swallows a cancellation that arrives
    # while the send completes (Python 3.11). Attempts have their deadline in Connection.insist.
    if cluster:
        return RedisCluster.from_url(
            url,
            socket_connect_timeout=timeout_s,
            socket_keepalive=True,
            max_connections=max_connections,
            protocol=2,
            driver_info=None,
        )
    return plain_client(url, timeout_s=timeout_s, max_connections=max_connections)


def plain_client(url: str, *, timeout_s: float, max_connections: int) -> Redis:
    """A client of one server; arguments as in `open_client`."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=max_connections,
        timeout=timeout_s,
        socket_timeout=None,
        socket_connect_timeout=timeout_s,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
        driver_info=None,  # else each new connection looks its version up among the installed packages
        **({} if url.startswith("unix:") else {"socket_keepalive": True}),
    )
    return Redis.from_pool(pool)


class Connection:
    """Sends scripts and commands, and tries again for as long as the deadline of an operation allows.

    Args:
        client: made by `open_client`.
        settings: deadlines, and which confirmations a write waits for.
        keys: names, for the number of partitions that the data were made with.
        listener: the client that receives messages, where `client` is a cluster's.
        scripts: other scripts than the packaged ones, for tests of the guards.
        on_retry: called with the name of an operation that is tried again.
        on_unconfirmed: called when fewer replicas or disks than asked for confirmed a write in time.
        outage: why the server is known to be down, in words; an operation is not tried again then.
    """

    def __init__(
        self,
        client: RedisClient,
        settings: HotSettings,
        keys: KeySpace | None = None,
        *,
        listener: Redis | None = None,
        scripts: Mapping[str, str] | None = None,
        on_retry: Callable[[str], None] = lambda name: None,
        on_unconfirmed: Callable[[str], None] = lambda name: None,
        outage: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.client = client
        self.settings = settings
        self.keys = keys or KeySpace()
        self.listener = listener if isinstance(client, RedisCluster) else client
        texts = load_scripts() if scripts is None else dict(scripts)
        self._scripts = {
            name: (sha1(text.encode(), usedforsecurity=False).hexdigest(), text) for name, text in texts.items()
        }
        self._on_retry = on_retry
        self._on_unconfirmed = on_unconfirmed
        self.outage = outage
        self._waits = self._wait_commands()

    async def run(self, name: str, session_id: str, *arguments: str | bytes | int, writes: bool = True) -> list[Any]:
        """Run a script on one session's keys and return its reply, a list that begins with a status word.

        Args:
            name: of the script.
            session_id: whose keys.
            arguments: of the script.
            writes: whether having got no answer is to be told as `OutcomeUnknown`, because doing it twice is not the
                same as once, and whether replicas and disks have to confirm it (on a cluster they are not asked).
                A write that may be repeated leaves it out.
        Raises:
            OutcomeUnknown: a write got no answer within the deadline.
            StorageUnavailable: a read got none, or the server can't write.
            ScriptFailed: the server refused it.
            HotError: the script's own refusal, as `server.hot.replies.refusal` says.
        """
        keys = self.keys.session(session_id).all()
        reply = await self.run_on(name, keys, session_id, *arguments, writes=writes)
        if (error := refusal(text_of(reply[0]), reply)) is not None:
            raise error
        return reply

    async def run_on(self, name: str, keys: Sequence[str], *arguments: str | bytes | int, writes: bool) -> list[Any]:
        """Run a script on these keys and return its reply; errors as in `run`, but for refusals."""
        return await self.insist(name, lambda: self._evaluate(name, keys, arguments, confirm=writes), writes=writes)

    async def ask(self, *command: str | bytes | int, writes: bool = False) -> Any:
        """The server's answer to one command; errors as in `run_on`."""
        return await self.insist(str(command[0]), lambda: self.client.execute_command(*command), writes=writes)

    async def ask_each_server(self, *command: str) -> list[Any]:
        """The answers of every server that writes: one, or the primaries of a cluster."""
        cluster = self.client
        if isinstance(cluster, Redis):
            return [await self.ask(*command)]
        await cluster.initialize()

        def asking(node: Any) -> Callable[[], Awaitable[Any]]:
            return lambda: cluster.execute_command(*command, target_nodes=node)

        return [await self.insist(command[0], asking(node), writes=False) for node in cluster.get_primaries()]

    async def insist(self, name: str, send: Callable[[], Awaitable[T]], *, writes: bool) -> T:
        """Call `send` until it answers or the deadline of an operation passes; errors as in `run`."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.settings.op_deadline_s
        pause_s = 0.01
        unanswered = False
        while True:
            try:
                async with asyncio.timeout(self.settings.attempt_timeout_s):
                    return await send()
            except (RedisError, OSError) as exc:
                cause: Exception = exc
                if (final := _final(name, exc)) is not None:
                    if writes and unanswered:
                        # What an earlier attempt did is not known, whatever was said to this one.
                        raise OutcomeUnknown(f"{name} was sent and not answered; then {final}") from exc
                    raise final from exc
                unanswered = unanswered or isinstance(exc, OSError | RedisConnectionError | RedisTimeoutError)
            outage = self.outage()
            if outage is not None or loop.time() + pause_s >= end:
                reason = outage or cause
                if writes:
                    raise OutcomeUnknown(f"{name} was sent and not answered: {reason}") from cause
                raise StorageUnavailable(f"{name} got no answer: {reason}") from cause
            self._on_retry(name)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, 0.2)

    async def close(self) -> None:
        """Close every connection."""
        await self.client.aclose()
        if self.listener is not None and self.listener is not self.client:
            await self.listener.aclose()

    async def _evaluate(
        self, name: str, keys: Sequence[str], arguments: Sequence[str | bytes | int], *, confirm: bool
    ) -> list[Any]:
        digest, text = self._scripts[name]
        try:
            return await self._send(name, "EVALSHA", digest, keys, arguments, confirm=confirm)
        except NoScriptError:
            return await self._send(name, "EVAL", text, keys, arguments, confirm=confirm)

    async def _send(
        self,
        name: str,
        verb: str,
        script: str,
        keys: Sequence[str],
        arguments: Sequence[str | bytes | int],
        *,
        confirm: bool,
    ) -> list[Any]:
        command = (verb, script, len(keys), *keys, *arguments)
        if not (confirm and self._waits) or not isinstance(self.client, Redis):
            reply: list[Any] = await self.client.execute_command(*command)
            return reply
        # WAIT counts the writes of its own connection, so both are sent in one pipeline.
        pipeline = self.client.pipeline(transaction=False)
        pipeline.execute_command(*command)
        for wait in self._waits:
            pipeline.execute_command(*wait)
        first, *confirmations = await pipeline.execute(raise_on_error=False)
        if isinstance(first, Exception):
            raise first
        if not self._confirmed(confirmations):
            self._on_unconfirmed(name)
        return list(first)

    def _wait_commands(self) -> list[tuple[str | int, ...]]:
        settings = self.settings
        commands: list[tuple[str | int, ...]] = []
        if settings.wait_replicas:
            commands.append(("WAIT", settings.wait_replicas, settings.wait_timeout_ms))
        if settings.wait_aof:
            commands.append(("WAITAOF", settings.wait_aof, settings.wait_replicas, settings.wait_timeout_ms))
        return commands

    def _confirmed(self, replies: Sequence[Any]) -> bool:
        settings = self.settings
        for command, reply in zip(self._waits, replies, strict=True):
            if isinstance(reply, Exception):
                return False
            if command[0] == "WAIT" and int(reply) < settings.wait_replicas:
                return False
            if command[0] == "WAITAOF" and (
                int(reply[0]) < settings.wait_aof or int(reply[1]) < settings.wait_replicas
            ):
                return False
        return True


def _final(name: str, exc: Exception) -> HotError | None:
    """What is told where trying again would not help; None where it may."""
    if isinstance(exc, AuthenticationError | AuthorizationError):
        return HotMisconfigured(f"the Redis server refused the login: {exc}")
    if isinstance(exc, OutOfMemoryError):
        return StorageUnavailable("the Redis server is out of memory")
    if isinstance(exc, _TRANSIENT) or (isinstance(exc, ResponseError) and str(exc).startswith(_PASSING)):
        return None
    return ScriptFailed(f"{name}: {exc}")


async def subscription(connection: Connection, *channels: str) -> AsyncGenerator[bytes | None, None]:
    """Messages published on channels, as they come; never ends.

    None comes first, and after each time in which messages may have been lost.

    Raises:
        HotMisconfigured: a cluster without a listener.
    """
    if connection.listener is None:
        raise HotMisconfigured("a cluster needs a listener of its own")
    pause_s = FIRST_PAUSE_S
    while True:
        pubsub = connection.listener.pubsub()
        try:
            await pubsub.subscribe(*channels)
            async with asyncio.timeout(connection.settings.attempt_timeout_s):
                # Until the server has confirmed it, what others publish goes past.
                unconfirmed = len(channels)
                while unconfirmed:
                    message = await pubsub.get_message(timeout=None)
                    unconfirmed -= message is not None and message["type"] == "subscribe"
            yield None
            while True:
                message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=LISTEN_S)
                pause_s = FIRST_PAUSE_S
                if message is not None:
                    yield message["data"]
        except (RedisError, OSError) as exc:
            if pause_s == FIRST_PAUSE_S:
                log.warning("hot.messages_lost", reason=str(exc))
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, 1.0)
        finally:
            await pubsub.aclose()  # type: ignore[no-untyped-call]
