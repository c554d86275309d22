"""Connections to one place, kept alive and given out again.

The HTTP library's own pool looks at every connection, with a system call for each idle one, whenever a request begins
or ends; with a few hundred sessions that costs more than the requests. Here it takes the same time however many there
are: the connection given back last is given out first, and the oldest is looked at when one is given back.
"""

from __future__ import annotations

import ssl
import time
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Final

import httpcore
import httpx

from pipeline.language.clients.sockets import SocketBackend

STALE_S: Final = 1.0
"""Within so many seconds a closed connection shows that it is closed."""

_LOST = (httpcore.NetworkError, httpcore.RemoteProtocolError)


class KeptConnections(httpx.AsyncBaseTransport):
    """Carries requests over HTTP/1.1. Raises the errors of `httpcore`.

    A request for which a kept connection turns out to be closed, so that no response came, is sent again at once over
    a new one: its other end has closed it for being idle and does not answer what comes later. One that is lost later
    than `STALE_S` may have been worked on, so it is not.

    Args:
        trust: certificates, for https.
        idle: so many connections are kept at most.
        keep_s: for so long, in seconds.
        clock: seconds, monotonic.
    """

    def __init__(
        self, trust: ssl.SSLContext | None, idle: int, keep_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._trust = trust
        self._most_idle = idle
        self._keep_s = keep_s
        self._idle: deque[httpcore.AsyncHTTPConnection] = deque()
        self._busy: set[httpcore.AsyncHTTPConnection] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and wait for the head of its response."""
        url = request.url
        if url.scheme not in ("http", "https") or not url.host:
            raise httpx.UnsupportedProtocol("the address does not begin with http:// or https:// and a host")
        sent = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        kept = await self._kept()
        if kept is not None:
            began = self._clock()
            try:
                return await self._carry(kept, sent)
            except _LOST:
                if self._clock() - began > STALE_S:
                    raise
        return await self._carry(self._new(sent.url.origin), sent)

    async def aclose(self) -> None:
        """Close all connections, those in use too."""
        for connection in (*self._idle, *self._busy):
            await connection.aclose()
        self._idle.clear()
        self._busy.clear()

    @property
    def count(self) -> tuple[int, int]:
        """How many connections are idle, and how many in use."""
        return len(self._idle), len(self._busy)

    async def _carry(self, connection: httpcore.AsyncHTTPConnection, request: httpcore.Request) -> httpx.Response:
        self._busy.add(connection)
        try:
            response = await connection.handle_async_request(request)
        except BaseException:
            self._busy.discard(connection)
            raise
        assert isinstance(response.stream, AsyncIterable)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response, lambda: self._give_back(connection)),
            extensions=response.extensions,
        )

    async def _kept(self) -> httpcore.AsyncHTTPConnection | None:
        """The connection given back last, if it is still open."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return None

    def _new(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        return httpcore.AsyncHTTPConnection(
            origin,
            ssl_context=self._trust,
            keepalive_expiry=self._keep_s,
            network_backend=SocketBackend(is_tls=origin.scheme == b"https"),
        )

    def _give_back(self, connection: httpcore.AsyncHTTPConnection) -> httpcore.AsyncHTTPConnection | None:
        """Keep a connection if it can be used again; returns one to be closed."""
        self._busy.discard(connection)
        if connection.is_idle():
            self._idle.append(connection)
        if len(self._idle) > self._most_idle or (self._idle and self._idle[0].has_expired()):
            return self._idle.popleft()
        return None


class _Body(httpx.AsyncByteStream):
    """The body of a response; gives the connection back when closed."""

    def __init__(
        self, response: httpcore.Response, give_back: Callable[[], httpcore.AsyncHTTPConnection | None]
    ) -> None:
        self._response = response
        self._give_back = give_back

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._response.stream, AsyncIterable)
        async for part in self._response.stream:
            yield part

    async def aclose(self) -> None:
        try:
            await self._response.aclose()
        finally:
            surplus = self._give_back()
        if surplus is not None:
            await surplus.aclose()
