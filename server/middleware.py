"""Middleware for all requests: allowed hosts and origins, connection limit, response headers, metrics, errors."""

from __future__ import annotations

import time
from collections import Counter

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.addresses import address_of
from server.api.http import on_error, problem_response
from server.errors import ApiError, wire_error
from server.origins import HostMalformed, host_of
from server.parts import Parts
from server.protocol.codes import CLOSE_POLICY
from server.sockets.moderator import MODERATOR_PATH
from server.transport.http import TOO_MANY

log = structlog.get_logger()

CSP = (
    "default-src 'self'; connect-src {connect}; img-src 'self' data:; style-src 'self'; script-src 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_QUIET = ("/static/", "/healthz", "/readyz", "/metrics")


def content_policy(host: str | None) -> str:
    """The content security policy of a response.

    Args:
        host: that the request was sent to, None for one that is refused. Its sockets are named, because to some
            browsers `'self'` does not mean them.
    """
    return CSP.format(connect="'self'" if host is None else f"'self' ws://{host} wss://{host}")


class AdmissionMiddleware:
    """Refuses requests by host, origin and number before they are read; adds security headers to the responses of the
    application.
    """

    def __init__(self, app: ASGIApp, parts: Parts) -> None:
        self.app = app
        self.parts = parts
        self._open = 0
        self._open_by_address: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if self._open >= self.parts.settings.limits.max_connections:
            await self._refuse(
                scope, receive, send, ApiError("too_many_sessions", "The server is full. Please try again shortly.")
            )
            return
        address = address_of(scope)
        if self._open_by_address[address] >= self.parts.settings.limits.connections_per_address:
            self.parts.metrics.refused_connections.labels("too_many").inc()
            await self._refuse(scope, receive, send, ApiError("rate_limited", TOO_MANY, retryable=True))
            return
        self._open += 1
        self._open_by_address[address] += 1
        try:
            if scope["type"] == "websocket":
                await self._websocket(scope, receive, send)
            else:
                await self._http(scope, receive, send)
        finally:
            self._open -= 1
            self._open_by_address[address] -= 1
            if not self._open_by_address[address]:
                del self._open_by_address[address]

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        if refusal is not None:
            await self._refuse(scope, receive, send, refusal)
            return
        role = "moderator" if scope.get("path") == MODERATOR_PATH else "respondent"
        gauge = self.parts.metrics.connections.labels(role)
        gauge.inc()
        try:
            await self.app(scope, receive, send)
        finally:
            gauge.dec()

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        status = 0
        refusal = self._refusal(scope)
        policy = content_policy(host_of(scope) if refusal is None else None)

        async def decorated(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", policy)
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
                if scope.get("scheme") == "https":
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        try:
            if refusal is not None:
                await self._refuse(scope, receive, decorated, refusal)
            else:
                await self.app(scope, receive, decorated)
        finally:
            self._count(scope, status, (time.perf_counter() - started) * 1000)

    def _refusal(self, scope: Scope) -> ApiError | None:
        headers = Headers(scope=scope)
        try:
            host = host_of(scope)
        except HostMalformed as exc:
            return ApiError("invalid_message", str(exc))
        if not self.parts.origins.host_allowed(host):
            return ApiError("forbidden", "The server does not answer to this name. See ASKWELL_ALLOWED_HOSTS.")
        if scope.get("method") in _UNSAFE:
            origin = headers.get("origin")
            if origin is not None and not self.parts.origins.origin_allowed(origin, host):
                return ApiError("forbidden", "Pages of this origin may not do this. See ASKWELL_ALLOWED_ORIGINS.")
            wait_s = self.parts.requests.take(address_of(scope))
            if wait_s:
                message = f"Too many requests. Please wait {wait_s} s."
                return ApiError("rate_limited", message, retryable=True, retry_after_s=wait_s)
        return None

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, exc: ApiError) -> None:
        error = wire_error(exc)
        self.parts.metrics.errors.labels(error.code).inc()
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": CLOSE_POLICY})
            return
        headers = {"retry-after": str(exc.retry_after_s)} if exc.retry_after_s else {}
        await problem_response(error, headers)(scope, receive, send)

    def _count(self, scope: Scope, status: int, took_ms: float) -> None:
        route = scope.get("route")
        path = str(getattr(route, "path", "other"))
        self.parts.metrics.requests.labels(scope["method"], path, str(status)).inc()
        self.parts.metrics.request_ms.labels(path).observe(took_ms)
        if not scope["path"].startswith(_QUIET):
            log.debug("http.request", method=scope["method"], path=scope["path"], status=status, ms=round(took_ms, 1))


class ErrorMiddleware:
    """Turns exceptions of routes into error responses; innermost, so that these are counted and get headers too."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as exc:
            if started:
                raise
            response = await on_error(Request(scope, receive), exc)
            await response(scope, receive, send)
