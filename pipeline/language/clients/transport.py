"""Requests to providers and their responses: one pool of connections per base URL.

Everything that the HTTP library raises becomes a `TryFailed` here, and outside of its handlers: a chained exception
would hold a request with its key.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Mapping
from contextlib import suppress
from typing import Any, Final, cast
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from httpx2 import EventSource, ServerSentEvent

from pipeline.language.clients.base import RoleModel
from pipeline.language.clients.faults import (
    Fault,
    TryFailed,
    broken_off,
    invalid_address,
    invalid_key,
    secret_of,
    unreachable,
)

CONNECT_S: Final = 5.0
KEEP_ALIVE_S: Final = 55.0
"""Below the minute after which load balancers in front of providers close idle connections."""

IDLE_CONNECTIONS: Final = 256
"""Most connections that are kept open while no request uses them."""

CLOSING_S: Final = 2.0
STALE_S: Final = 1.0
"""A kept connection that is lost within so many seconds of a request was closed before the request arrived."""

_TIMEOUT = httpx2.Timeout(None, connect=CONNECT_S)
LIMITS: Final = httpx2.Limits(
    max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS, keepalive_expiry=KEEP_ALIVE_S
)
NO_REUSE: Final = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
_HEADERS = {
    "accept": "application/json, text/event-stream",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "askwell",
}
_ERRORS = (
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    OSError,
    ValueError,
    RuntimeError,
    ExceptionGroup,
)
"""What the HTTP library raises, and errors of the layers below it that it does not translate."""

# They log a line for every request, with URLs that may hold passwords.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class KeyAuth(httpx2.Auth):
    """Puts the key into the header of a request as it is sent, and keeps it out of `repr`."""

    __slots__ = ("_header", "_prefix", "_spec")

    def __init__(self, spec: RoleModel, header: str, prefix: str) -> None:
        self._spec, self._header, self._prefix = spec, header, prefix

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Add the header, if there is a key."""
        if secret_of(self._spec) is not None:
            request.headers[self._header] = self._prefix + (secret_of(self._spec) or "")
        yield request

    def __repr__(self) -> str:
        return "KeyAuth([hidden])"


class Pool:
    """The connections to one base URL, shared by roles and sessions.

    Args:
        base_url: of the API, without a trailing slash.
        clock: seconds, monotonic.
        limits: how many idle connections are kept, and for how long.
    """

    def __init__(
        self, base_url: str, clock: Callable[[], float] = time.monotonic, limits: httpx2.Limits = LIMITS
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._clock = clock
        self._limits = limits
        self._keeping: httpx2.AsyncClient | None = None
        self._fresh: httpx2.AsyncClient | None = None
        """Opens a new connection for every request."""
        self._closed = False

    async def post(
        self, spec: RoleModel, path: str, content: bytes, headers: dict[str, str], auth: httpx2.Auth
    ) -> ProviderResponse:
        """Send a POST request and wait for the head of the response.

        Raises:
            TryFailed: there is no response.
        """
        return await self._send(spec, "POST", path, content, headers, auth)

    async def get(self, spec: RoleModel, path: str, headers: dict[str, str], auth: httpx2.Auth) -> ProviderResponse:
        """Send a GET request; otherwise as `post`."""
        return await self._send(spec, "GET", path, b"", headers, auth)

    async def aclose(self) -> None:
        """Close every connection; requests under way fail."""
        self._closed = True
        for client in (self._keeping, self._fresh):
            if client is not None:
                await client.aclose()

    async def _send(
        self, spec: RoleModel, method: str, path: str, content: bytes, headers: dict[str, str], auth: httpx2.Auth
    ) -> ProviderResponse:
        if self._closed:
            raise TryFailed(unreachable(spec, "its connections were closed"))
        _check_key(spec)
        fault: Fault
        try:
            response = await self._send_past_stale(method, self.base_url + path, content, headers, auth)
            return ProviderResponse(spec, response)
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as exc:
            fault = invalid_address(spec, _reason(exc))
        except httpx2.LocalProtocolError:
            fault = invalid_key(spec)
        except _ERRORS as exc:
            fault = unreachable(spec, _reason(exc))
        raise TryFailed(fault)

    async def _send_past_stale(
        self, method: str, url: str, content: bytes, headers: dict[str, str], auth: httpx2.Auth
    ) -> httpx2.Response:
        """Send a request, and once more over a new connection if the kept one for it turns out to be closed.

        A server that closes an idle connection, or a router that forgets it, does not know of a request on its way. To
        repeat such a request changes nothing at a provider; at worst an answer is paid for twice. A connection that is
        lost after `STALE_S`, or that was opened for this request, was not idle, and its loss is an error.
        """
        is_new = False

        async def note_opening(event: str, info: Mapping[str, Any]) -> None:
            nonlocal is_new
            is_new = is_new or event == "connection.connect_tcp.started"

        extensions = {"timeout": _TIMEOUT.as_dict(), "trace": note_opening}
        if self._keeping is None:
            self._keeping = self._client(self._limits)
        request = self._keeping.build_request(method, url, content=content, headers=headers, extensions=extensions)
        sent_s = self._clock()
        try:
            return await self._keeping.send(request, auth=auth, stream=True)
        except (httpx2.NetworkError, httpx2.RemoteProtocolError):
            if is_new or self._clock() - sent_s > STALE_S:
                raise
        if self._fresh is None:
            self._fresh = self._client(NO_REUSE)
        request = self._fresh.build_request(method, url, content=content, headers=headers, extensions=extensions)
        return await self._fresh.send(request, auth=auth, stream=True)

    def _client(self, limits: httpx2.Limits) -> httpx2.AsyncClient:
        if self._closed:
            raise RuntimeError("its connections were closed")
        parts = _parsed(self.base_url)
        return httpx2.AsyncClient(
            headers=_HEADERS,
            timeout=_TIMEOUT,
            limits=limits,
            follow_redirects=False,
            trust_env=_is_behind_proxy(parts.hostname or "", parts.scheme),
            verify=_trust() if parts.scheme == "https" else False,
        )


class ProviderResponse:
    """The response to one request: status and headers are read, the body is not yet.

    Args:
        spec: the model that was asked.
        response: of the HTTP library.
    """

    __slots__ = ("_events", "_response", "_spec")

    def __init__(self, spec: RoleModel, response: httpx2.Response) -> None:
        self._spec = spec
        self._response = response
        self._events: AsyncGenerator[ServerSentEvent, None] | None = None

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._response.status_code

    @property
    def headers(self) -> dict[str, str]:
        """The headers, names in lower case."""
        return dict(self._response.headers)

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return "text/event-stream" in self._response.headers.get("content-type", "").lower()

    async def body(self, max_bytes: int) -> bytes:
        """The first `max_bytes` + 1 bytes of the body, so that a longer body can be told from one of `max_bytes`.

        Raises:
            TryFailed: it broke off.
        """
        parts: list[bytes] = []
        size = 0
        fault: Fault | None = None
        try:
            async for part in self._response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > max_bytes:
                    break
        except _ERRORS as exc:
            fault = broken_off(self._spec, f"broke off: {_reason(exc)}")
        if fault is not None:
            raise TryFailed(fault)
        return b"".join(parts)[: max_bytes + 1]

    async def event(self, max_bytes: int) -> ServerSentEvent | None:
        """The next event of a stream, None at its end.

        Args:
            max_bytes: of the whole stream, set by the first call; a longer stream breaks off.

        Raises:
            TryFailed: it broke off.
        """
        fault: Fault | None = None
        try:
            if self._events is None:
                assert isinstance(self._response.stream, httpx2.AsyncByteStream)
                self._response.stream = _LimitedBody(self._response.stream, max_bytes)
                self._response.encoding = "utf-8"
                self._response.headers["content-type"] = "text/event-stream"  # the exact name, for the library's check
                events = aiter(EventSource(self._response, max_event_size=None))
                self._events = cast(AsyncGenerator[ServerSentEvent, None], events)  # typed without its aclose
            return await anext(self._events, None)
        except _ERRORS as exc:
            fault = broken_off(self._spec, f"broke off: {_reason(exc)}")
        raise TryFailed(fault)

    async def aclose(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        with suppress(TimeoutError, *_ERRORS):
            async with asyncio.timeout(CLOSING_S):
                if self._events is not None:
                    await self._events.aclose()
                await self._response.aclose()


class _LimitedBody(httpx2.AsyncByteStream):
    """A body that raises an error after `max_bytes`."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream, self._left = stream, max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise httpx2.StreamError("the answer is longer than any answer may be")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _check_key(spec: RoleModel) -> None:
    """Check that the key can be sent in a header.

    Raises:
        TryFailed: it has characters that a header can't have.
    """
    key = secret_of(spec)
    sendable = key is None or (key.isascii() and key.isprintable() and " " not in key)
    key = None
    if not sendable:
        raise TryFailed(invalid_key(spec))


def _reason(exc: Exception) -> str:
    """The message of an error of the HTTP library."""
    if isinstance(exc, httpx2.ConnectTimeout):
        return f"no connection within {CONNECT_S:g} s"
    return str(exc) or f"the connection was lost ({type(exc).__name__})"


def _parsed(base_url: str) -> SplitResult:
    """The parts of a base URL.

    Raises:
        httpx2.InvalidURL: it is not valid.
    """
    try:
        parts = urlsplit(base_url)
        if parts.port == 0:
            raise ValueError("port 0 is none")
    except ValueError as exc:
        raise httpx2.InvalidURL(str(exc)) from exc
    return parts


def _is_behind_proxy(host: str, scheme: str) -> bool:
    """Whether the environment names a proxy for a host; never for this machine."""
    if host in ("localhost", "::1") or host.startswith("127."):
        return False
    proxies = getproxies()
    return (scheme in proxies or "all" in proxies) and not proxy_bypass(host)


@functools.cache
def _trust() -> ssl.SSLContext:
    """One context for all pools, since to load the certificates takes tens of milliseconds.

    They are those of the operating system, or of `SSL_CERT_FILE` or `SSL_CERT_DIR` where the environment names them.
    """
    return httpx2.create_ssl_context()
