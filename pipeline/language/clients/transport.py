"""Connections to providers: one pool per base URL, and one exchange of a request and its response.

Everything that the HTTP library raises becomes a `TryFailed` here, and outside of its handlers: a chained exception
would hold a request with its key.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import suppress
from typing import Final
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from pipeline.language.clients.base import RoleModel
from pipeline.language.clients.connections import KeptConnections
from pipeline.language.clients.faults import Fault, TryFailed, bad_key, broken_off, misaddressed, secret_of, unreachable

CONNECT_S: Final = 5.0
KEEP_ALIVE_S: Final = 55.0
"""Below the minute after which balancers in front of providers close idle connections."""

IDLE_CONNECTIONS: Final = 256
CLOSING_S: Final = 2.0
_TIMEOUT = httpx.Timeout(None, connect=CONNECT_S)
_HEADERS = {
    "accept": "application/json, text/event-stream",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "askwell",
}
_EXTENSIONS = {"timeout": _TIMEOUT.as_dict()}
_ERRORS = (
    httpx.HTTPError,
    httpx.StreamError,
    httpx.InvalidURL,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    ssl.SSLError,
    OSError,
    ValueError,
    RuntimeError,
    ExceptionGroup,
)
"""What the HTTP library and those below it raise, also where they did not foresee it."""

# They write a line for every request, with URLs that may hold passwords.
for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class KeyAuth(httpx.Auth):
    """Puts a key into the header of a request as it is sent; shows it to nobody else."""

    __slots__ = ("_header", "_prefix", "_spec")

    def __init__(self, spec: RoleModel, header: str, prefix: str) -> None:
        self._spec, self._header, self._prefix = spec, header, prefix

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
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
    """

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._client: httpx.AsyncClient | None = None
        self._closed = False

    async def post(
        self, spec: RoleModel, path: str, content: bytes, headers: dict[str, str], auth: httpx.Auth
    ) -> Exchange:
        """Send a request and wait for the head of the response.

        Raises:
            TryFailed: there is no response.
        """
        return await self._send(spec, "POST", path, content, headers, auth)

    async def look(self, spec: RoleModel, path: str, headers: dict[str, str], auth: httpx.Auth) -> Exchange:
        """As `post`, with nothing to send and nothing asked of a model."""
        return await self._send(spec, "GET", path, b"", headers, auth)

    async def aclose(self) -> None:
        """Close every connection; what is under way fails."""
        self._closed = True
        if self._client is not None:
            await self._client.aclose()

    async def _send(
        self, spec: RoleModel, method: str, path: str, content: bytes, headers: dict[str, str], auth: httpx.Auth
    ) -> Exchange:
        if self._closed:
            raise TryFailed(unreachable(spec, "its connections were closed"))
        check_key(spec)
        fault: Fault
        try:
            client = self._opened()
            request = client.build_request(
                method, self.base_url + path, content=content, headers=headers, extensions=_EXTENSIONS
            )
            return Exchange(spec, await client.send(request, auth=auth, stream=True))
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpcore.UnsupportedProtocol) as exc:
            fault = misaddressed(spec, _reason(exc))
        except (httpx.LocalProtocolError, httpcore.LocalProtocolError):
            fault = bad_key(spec)
        except _ERRORS as exc:
            fault = unreachable(spec, _reason(exc))
        raise TryFailed(fault)

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            parts = _usable(self.base_url)
            trust = _trust() if parts.scheme == "https" else None
            transport = None if _is_behind_proxy(parts.hostname or "", parts.scheme) else _lean(trust)
            self._client = httpx.AsyncClient(
                auth=None,
                headers=_HEADERS,
                timeout=_TIMEOUT,
                limits=httpx.Limits(
                    max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS, keepalive_expiry=KEEP_ALIVE_S
                ),
                follow_redirects=False,
                trust_env=transport is None,
                transport=transport,
                verify=trust if trust is not None else False,
            )
        return self._client


class Exchange:
    """One response, its head read and its body not.

    Args:
        spec: who was asked.
        response: of the HTTP library.
    """

    __slots__ = ("_events", "_response", "_spec")

    def __init__(self, spec: RoleModel, response: httpx.Response) -> None:
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

    async def body(self, longest: int) -> bytes:
        """The body, `longest` bytes of it at most.

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
                if size > longest:
                    break
        except _ERRORS as exc:
            fault = broken_off(self._spec, f"broke off: {_reason(exc)}")
        if fault is not None:
            raise TryFailed(fault)
        return b"".join(parts)[: longest + 1]

    async def event(self, longest: int) -> ServerSentEvent | None:
        """The next event of a stream, None at its end.

        Args:
            longest: bytes of the whole stream at most, taken at the first call; more is an end too soon.

        Raises:
            TryFailed: it broke off.
        """
        fault: Fault | None = None
        try:
            if self._events is None:
                assert isinstance(self._response.stream, httpx.AsyncByteStream)
                self._response.stream = _Bounded(self._response.stream, longest)
                self._response.encoding = "utf-8"
                self._events = EventSource(self._response).aiter_sse()
            return await anext(self._events, None)
        except (*_ERRORS, SSEError) as exc:
            fault = broken_off(self._spec, f"broke off: {_reason(exc)}")
        raise TryFailed(fault)

    async def aclose(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        with suppress(TimeoutError, *_ERRORS):
            async with asyncio.timeout(CLOSING_S):
                if self._events is not None:
                    await self._events.aclose()
                await self._response.aclose()


class _Bounded(httpx.AsyncByteStream):
    """A body that ends in an error after so many bytes."""

    def __init__(self, stream: httpx.AsyncByteStream, longest: int) -> None:
        self._stream, self._left = stream, longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._left -= len(part)
            if self._left < 0:
                raise httpx.StreamError("the answer is longer than any answer may be")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def check_key(spec: RoleModel) -> None:
    """Refuse a key that can't stand in a header.

    Raises:
        TryFailed: it can't.
    """
    key = secret_of(spec)
    sendable = key is None or (key.isascii() and key.isprintable() and " " not in key)
    key = None
    if not sendable:
        raise TryFailed(bad_key(spec))


def _reason(exc: Exception) -> str:
    """What the library says went wrong."""
    if isinstance(exc, httpx.ConnectTimeout | httpcore.ConnectTimeout):
        return f"no connection within {CONNECT_S:g} s"
    return str(exc) or f"the connection was lost ({type(exc).__name__})"


def _usable(base_url: str) -> SplitResult:
    """The parts of a base URL.

    Raises:
        httpx.InvalidURL: it is none.
    """
    try:
        parts = urlsplit(base_url)
        if parts.port == 0:
            raise ValueError("port 0 is none")
    except ValueError as exc:
        raise httpx.InvalidURL(str(exc)) from exc
    return parts


def _is_behind_proxy(host: str, scheme: str) -> bool:
    """Whether the environment names a proxy for a host; never for this machine."""
    if host in ("localhost", "::1") or host.startswith("127."):
        return False
    proxies = getproxies()
    return (scheme in proxies or "all" in proxies) and not proxy_bypass(host)


def _lean(trust: ssl.SSLContext | None) -> KeptConnections:
    return KeptConnections(trust, IDLE_CONNECTIONS, KEEP_ALIVE_S)


_context: ssl.SSLContext | None = None


def _trust() -> ssl.SSLContext:
    """One context for all pools: to load the certificates takes tens of milliseconds."""
    global _context
    if _context is None:
        _context = httpx.create_ssl_context()
    return _context
