"""Calls to the server that interviews are sent to; whatever goes wrong becomes a SyncError with one sentence."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from server.sync import NotPublic, NotTaken, SyncError
from server.sync.bundle import FORMAT, OfferReply, SyncOffer, Written
from server.sync.networks import is_public

TIMEOUT_S = 60.0
RESOLVE_S = 10.0
ATTEMPTS = 5
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
CLOCK_TOLERANCE_S = 120.0
MOST_ANSWER_BYTES = 1024 * 1024
"""Longest answer of the server that is read."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the server said of itself: its version, and by how many seconds our clock is ahead of its own."""

    version: str
    max_bytes: int
    device: str
    skew_s: float

    @property
    def clock_is_off(self) -> bool:
        """Whether the two clocks differ by more than CLOCK_TOLERANCE_S."""
        return abs(self.skew_s) > CLOCK_TOLERANCE_S


@dataclass(frozen=True)
class Central:
    """The server that interviews are sent to.

    Args:
        url: of the server.
        http: a client whose base is that URL.
        token: device token, made there.
        now: our clock, with time zone; it may be wrong.
        pause: sleeps for so many seconds.
        attempts: how often a call is tried while the server can't be reached or is busy.
    """

    url: str
    http: httpx.AsyncClient
    token: str = field(repr=False)
    _: KW_ONLY
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    attempts: int = ATTEMPTS

    async def hello(self) -> Welcome:
        """Whether this is a server that takes interviews from us.

        Raises:
            SyncError: it is not, with the reason.
        """
        response = await self._call("GET", "/api/sync", wrong_place=True)
        try:
            said = response.json()
            formats, theirs = said["formats"], datetime.fromisoformat(said["now"])
            welcome = Welcome(
                version=str(said["version"]),
                max_bytes=int(said["max_bytes"]),
                device=str(said["device"]["name"]),
                skew_s=(self.now() - theirs).total_seconds(),
            )
        except (ValueError, KeyError, TypeError) as exc:
            raise SyncError(f"{self.url} does not answer like a server of askwell; check the address") from exc
        if FORMAT not in formats:
            older = "that server" if max(formats, default=0) < FORMAT else "this machine"
            raise SyncError(
                f"the versions don't fit: {self.url} runs askwell {welcome.version}; update askwell on {older} first"
            )
        return welcome

    async def offer(self, bundle: Written) -> OfferReply:
        """Ask what to send of an interview. Raises NotTaken, SyncError."""
        offer = SyncOffer(
            **asdict(bundle.header),
            digest=bundle.digest,
            size=bundle.size,
            format=FORMAT,
            sent_at=self.now().isoformat(),
        )
        return _reply(await self._call("POST", "/api/sync/sessions", json=offer.model_dump()))

    async def send(self, bundle: Written, offset: int, piece: bytes) -> int | None:
        """Send bytes; the offset of the next ones, None when the server has forgotten the upload."""
        path = f"/api/sync/sessions/{bundle.header.session_id}/chunks?digest={bundle.digest}&offset={offset}"
        content = await asyncio.to_thread(gzip.compress, piece, 6, mtime=0)
        headers = {"content-type": "application/octet-stream", "content-encoding": "gzip"}
        response = await self._call("POST", path, content=content, headers=headers, missing_ok=True)
        return None if response.status_code == 404 else int(response.json()["offset"])

    async def finish(self, bundle: Written) -> OfferReply | None:
        """Have the interview stored; None when bytes are missing on the server. Raises NotTaken, SyncError."""
        path = f"/api/sync/sessions/{bundle.header.session_id}/finish"
        response = await self._call("POST", path, json={"digest": bundle.digest}, missing_ok=True)
        return None if response.status_code in (404, 409) else _reply(response)

    async def _call(
        self, method: str, path: str, *, wrong_place: bool = False, missing_ok: bool = False, **options: Any
    ) -> httpx.Response:
        """One call, tried again while that may help; `wrong_place`: a page that isn't there means a wrong address."""
        headers = {"authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        pause_s = FIRST_PAUSE_S
        for attempt in range(1, self.attempts + 1):
            last = attempt == self.attempts
            wait_s: float | None = None
            try:
                response = await self._response(method, path, headers=headers, **options)
            except httpx.TransportError as exc:
                if last or isinstance(exc, httpx.UnsupportedProtocol) or _is_certificate(exc):
                    raise self._unreachable(exc) from exc
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as exc:
                raise SyncError(f"{self.url} can't be called: {exc}") from exc
            else:
                if response.is_success or (missing_ok and response.status_code in (404, 409)):
                    return response
                busy = response.status_code in (429, 500, 502, 503, 504)
                if last or not busy:
                    raise self._refused(response, wrong_place=wrong_place)
                wait_s = _retry_after(response)
            await self.pause(pause_s if wait_s is None else min(max(wait_s, 0.1), LONGEST_PAUSE_S))
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
        raise AssertionError("the last attempt returns or raises")

    async def _response(self, method: str, path: str, *, headers: dict[str, str], **options: Any) -> httpx.Response:
        """The answer, of which no more than MOST_ANSWER_BYTES is read, and nothing is decompressed."""
        kept = bytearray()
        asked = {**headers, "accept-encoding": "identity"}
        async with self.http.stream(method, path, headers=asked, **options) as response:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise SyncError(f"{self.url} answers in a compressed form that was not asked for; check the address")
            async for piece in response.aiter_bytes():
                kept += piece
                if len(kept) > MOST_ANSWER_BYTES:
                    raise SyncError(f"{self.url} does not answer like a server of askwell; check the address")
        return httpx.Response(
            response.status_code, headers=response.headers, content=bytes(kept), request=response.request
        )

    def _unreachable(self, exc: httpx.TransportError) -> SyncError:
        if isinstance(exc, httpx.UnsupportedProtocol):
            return SyncError(f"{self.url} is not a web address such as https://ask.example.org")
        if _is_certificate(exc):
            return SyncError(
                f"{self.url} can't be trusted: {exc}. This machine's clock says {self.now():%Y-%m-%d %H:%M} UTC: "
                "if that is wrong, set it; certificates are good for certain dates only"
            )
        reason = str(exc) or type(exc).__name__
        if "WRONG_VERSION_NUMBER" in reason:
            reason = "it does not speak https; is its address http://…?"
        return SyncError(f"{self.url} can't be reached: {reason}", retryable=True)

    def _refused(self, response: httpx.Response, *, wrong_place: bool) -> SyncError:
        status = response.status_code
        try:
            problem = response.json()
            code, detail = str(problem["code"]), str(problem["detail"]).rstrip(".")
        except (ValueError, KeyError, TypeError):
            code, detail = "", ""
        if response.is_redirect:
            return SyncError(f"{self.url} sends us on to {response.headers.get('location', '')}: use that address")
        if status == 401:
            return SyncError(f"{self.url} does not know the token: it is wrong, or it was revoked")
        if status == 507:
            return SyncError(f"{self.url}: {detail}", retryable=True)
        if not code or (wrong_place and status in (404, 405)):
            return SyncError(
                f"{self.url} does not answer like a server of askwell that takes interviews (status {status}); "
                "check the address, and whether that askwell is recent enough",
                retryable=status >= 500,
            )
        if wrong_place or status == 429 or status >= 500:
            return SyncError(f"{self.url}: {detail}", retryable=status >= 500 or status == 429)
        return NotTaken(detail)


async def public_addresses(host: str, port: int | None) -> list[str]:
    """The addresses of a host, all of which are on the public internet.

    Raises:
        NotPublic: one of them is not.
        OSError: the host has no address.
        TimeoutError: that could not be found out in time.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(RESOLVE_S):
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses or not all(map(is_public, addresses)):
        raise NotPublic
    return addresses


class PublicOnly(httpx.AsyncHTTPTransport):
    """Connects to public addresses only: to the very ones that were checked, whatever the name means a moment later."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response. Raises NotPublic, httpx.TransportError."""
        url = request.url
        try:
            addresses = await public_addresses(url.host, url.port)
        except (OSError, TimeoutError) as exc:
            raise httpx.ConnectError(str(exc) or "its name can't be looked up", request=request) from exc
        for last, address in zip([*[False] * (len(addresses) - 1), True], addresses, strict=True):
            there = httpx.Request(
                request.method,
                url.copy_with(host=address),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": url.host},
            )
            try:
                return await super().handle_async_request(there)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if last:
                    raise
        raise AssertionError("the last address returns or raises")


async def check_public(url: str) -> None:
    """Refuse an address inside this network; one that can't be read or found is left to the attempt to call it.

    Raises:
        NotPublic: it is one.
    """
    try:
        parsed = httpx.URL(url)
        await public_addresses(parsed.host, parsed.port)
    except (httpx.InvalidURL, OSError, TimeoutError, ValueError):
        return


@asynccontextmanager
async def public_central(url: str, token: str) -> AsyncIterator[Central]:
    """As `central`, for an address on the public internet; any other one is refused with NotPublic."""
    async with central(url, token, transport=PublicOnly()) as there:
        yield there


@asynccontextmanager
async def central(
    url: str, token: str, *, attempts: int = ATTEMPTS, transport: httpx.AsyncBaseTransport | None = None
) -> AsyncIterator[Central]:
    """The server at that address, for as long as the block runs."""
    try:
        http = httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S, follow_redirects=False, transport=transport)
    except (httpx.InvalidURL, ValueError) as exc:
        raise SyncError(f"{url} is not a web address: {exc}") from exc
    async with http:
        yield Central(url, http, token, attempts=attempts)


def _reply(response: httpx.Response) -> OfferReply:
    said = response.json()
    return OfferReply(said["status"], int(said["offset"]))


def _retry_after(response: httpx.Response) -> float | None:
    given = response.headers.get("retry-after", "")
    return float(given) if given.isdecimal() else None


def _is_certificate(exc: BaseException) -> bool:
    found: BaseException | None = exc
    while found is not None:
        if isinstance(found, ssl.SSLCertVerificationError):
            return True
        found = found.__cause__ or found.__context__
    return "CERTIFICATE_VERIFY_FAILED" in str(exc)


async def pushed(here: str, moderator_token: str, *, to: str, token: str) -> AsyncIterator[dict[str, Any]]:
    """Have a running server send what it holds; the lines of its answer to `POST /api/sync/push`.

    Raises:
        SyncError: it refuses, or ended meanwhile.
    """
    headers = {"authorization": f"Bearer {moderator_token}"}
    # No bound: how long it takes depends on what there is to send.
    async with httpx.AsyncClient(base_url=here, timeout=httpx.Timeout(TIMEOUT_S, read=None), trust_env=False) as http:
        try:
            async with http.stream(
                "POST", "/api/sync/push", json={"to": to, "token": token}, headers=headers
            ) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise SyncError(f"{here} refuses: {answer.text[:200]}")
                async for line in answer.aiter_lines():
                    if line:
                        yield json.loads(line)
        except httpx.TransportError as exc:
            raise SyncError(
                f"the server at {here} ended meanwhile: {str(exc) or type(exc).__name__}", retryable=True
            ) from exc
