"""Sockets for the HTTP library, straight on asyncio.

Its own backend changes what the selector listens for before and after every read; with a token per read that costs more
than parsing does. This one listens all the time, and stops only where nobody reads what has come.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from itertools import zip_longest
from typing import Any, Final, cast

import httpcore

MOST_UNREAD: Final = 256 * 1024
"""Bytes; the other side has to wait while more than these are unread."""

HAPPY_EYEBALLS_S: Final = 0.25
"""RFC 8305 §5: between attempts at the addresses of a host."""


class SocketBackend(httpcore.AsyncNetworkBackend):
    """Opens connections.

    Args:
        is_tls: whether they will be encrypted; they are then opened by `start_tls`.
    """

    def __init__(self, is_tls: bool) -> None:
        self._is_tls = is_tls

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Open a connection.

        Raises:
            httpcore.ConnectError, httpcore.ConnectTimeout: it can't be opened.
        """
        return _Unopened(host, port) if self._is_tls else await _open(host, port, timeout)


class SocketStream(httpcore.AsyncNetworkStream, asyncio.Protocol):
    """One open connection."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._unread = bytearray()
        self._paused = False
        self._ended = False
        self._error: Exception | None = None
        self._reading: asyncio.Future[None] | None = None
        self._writing: asyncio.Future[None] | None = None
        self._can_write = True

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has come, or comes next; nothing at the end.

        Raises:
            httpcore.ReadError: the connection is lost.
        """
        while not self._unread:
            if self._error is not None:
                raise httpcore.ReadError(str(self._error) or "connection lost")
            if self._ended:
                return b""
            self._reading = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(timeout):
                    await self._reading
            except TimeoutError:
                raise httpcore.ReadTimeout from None
            finally:
                self._reading = None
        data = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        if self._paused and len(self._unread) < MOST_UNREAD and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send.

        Raises:
            httpcore.WriteError: the connection is lost.
        """
        if not buffer:
            return
        if self._ended or self._transport is None or self._transport.is_closing():
            raise httpcore.WriteError("connection lost")
        self._transport.write(buffer)
        while not self._can_write:
            self._writing = asyncio.get_running_loop().create_future()
            try:
                async with asyncio.timeout(timeout):
                    await self._writing
            except TimeoutError:
                raise httpcore.WriteTimeout from None
            finally:
                self._writing = None
            if self._ended:
                raise httpcore.WriteError("connection lost")

    async def aclose(self) -> None:
        """Close it, whatever is under way."""
        self._ended = True
        if self._transport is not None:
            self._transport.abort()

    def get_extra_info(self, info: str) -> Any:
        """`is_readable` is true when something is there to be read, be it the end."""
        if info == "is_readable":
            return bool(self._unread) or self._ended or self._transport is None or self._transport.is_closing()
        if info in ("ssl_object", "socket") and self._transport is not None:
            return self._transport.get_extra_info(info)
        return None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast(asyncio.Transport, transport)  # not one by class on every loop

    def data_received(self, data: bytes) -> None:
        """Called by the loop."""
        self._unread += data
        if len(self._unread) > MOST_UNREAD and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        _wake(self._reading)

    def eof_received(self) -> None:
        """Called by the loop."""
        self._ended = True
        _wake(self._reading)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self._ended = self._can_write = True
        self._error = exc
        _wake(self._reading)
        _wake(self._writing)

    def pause_writing(self) -> None:
        """Called by the loop."""
        self._can_write = False

    def resume_writing(self) -> None:
        """Called by the loop."""
        self._can_write = True
        _wake(self._writing)


class _Unopened(httpcore.AsyncNetworkStream):
    """A connection that is opened once it is known how it is encrypted."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        return await _open(self._host, self._port, timeout, ssl_context, server_hostname or self._host)

    async def aclose(self) -> None:
        """There is nothing to close."""


async def _open(
    host: str, port: int, timeout_s: float | None, trust: ssl.SSLContext | None = None, name: str | None = None
) -> SocketStream:
    try:
        async with asyncio.timeout(timeout_s):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
            return await _first_open(in_turn(found), port, trust, name)
    except TimeoutError as exc:
        raise httpcore.ConnectTimeout(str(exc)) from exc
    except (OSError, OverflowError) as exc:
        raise httpcore.ConnectError(str(exc)) from exc


def in_turn(found: Iterable[tuple[Any, ...]]) -> list[str]:
    """Addresses of a host in the resolver's order, but with families taking turns (RFC 8305 §4).

    Args:
        found: what `getaddrinfo` found.
    """
    families: dict[int, dict[str, None]] = {}
    for family, *_, address in found:
        families.setdefault(family, {})[address[0]] = None
    rounds = zip_longest(*families.values())
    return [address for addresses in rounds for address in addresses if address is not None]


async def _first_open(addresses: list[str], port: int, trust: ssl.SSLContext | None, name: str | None) -> SocketStream:
    """The first connection that opens; an address has its turn when the one before has failed, or keeps one waiting."""
    won: list[SocketStream] = []
    errors: list[str] = []
    failed = [asyncio.Event() for _ in addresses]
    tasks: list[asyncio.Task[None]] = []

    async def attempt(number: int) -> None:
        if number:
            with suppress(TimeoutError):
                async with asyncio.timeout(number * HAPPY_EYEBALLS_S):
                    await failed[number - 1].wait()
        try:
            _, stream = await asyncio.get_running_loop().create_connection(
                SocketStream, addresses[number], port, ssl=trust, server_hostname=name
            )
        except OSError as exc:
            errors.append(str(exc))
            failed[number].set()
            return
        if won:
            await stream.aclose()
            return
        won.append(stream)
        for task in tasks:
            if task is not asyncio.current_task():
                task.cancel()

    if len(addresses) == 1:
        await attempt(0)
    else:
        async with asyncio.TaskGroup() as group:
            tasks += [group.create_task(attempt(number)) for number in range(len(addresses))]
    if not won:
        raise ConnectionError("; ".join(dict.fromkeys(errors)) or "no address")
    return won[0]


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
