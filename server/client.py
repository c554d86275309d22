"""A small client of a running server, for the command line: HTTP calls and the respondent's socket."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from server.protocol.codes import SUBPROTOCOL

TIMEOUT_S = 60.0


class CallFailed(Exception):
    """The server refused a call; `code` is its error code, the message what it says to people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def call_sync(base: str, method: str, path: str, token: str | None, body: Any = None) -> bytes:
    """One HTTP call.

    Args:
        base: such as `http://127.0.0.1:8080`.
        method: such as `GET`.
        path: with the query.
        token: bearer token, if any.
        body: sent as JSON, if not None.
    Returns:
        The body of the response.
    Raises:
        CallFailed: the status of the response is 400 or above.
        OSError: the server can't be reached.
    """
    parts = urlsplit(base)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or "127.0.0.1"
    if parts.scheme == "https":
        tls = ssl.create_default_context()
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=tls)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    headers = {"accept": "application/json"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    content = None
    if body is not None:
        content = json.dumps(body).encode()
        headers["content-type"] = "application/json"
    try:
        connection.request(method, parts.path.rstrip("/") + path, content, headers)
        response = connection.getresponse()
        data = response.read()
    except http.client.HTTPException as exc:
        raise OSError(f"{base} does not answer like a web server") from exc
    finally:
        connection.close()
    if response.status >= 400:
        raise _failure(response.status, data)
    return data


def _failure(status: int, data: bytes) -> CallFailed:
    try:
        problem = json.loads(data)
        return CallFailed(status, str(problem["code"]), str(problem["detail"]))
    except (ValueError, KeyError, TypeError):
        return CallFailed(status, "internal", f"the server answered with status {status}")


class Client:
    """Calls to one server.

    Args:
        base: its URL.
        token: bearer token of a moderator or a respondent.
    """

    def __init__(self, base: str, token: str | None = None) -> None:
        self.base = base.rstrip("/")
        self.token = token

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        """A call whose answer is JSON. Raises as `call_sync`."""
        data = await asyncio.to_thread(call_sync, self.base, method, path, self.token, body)
        return json.loads(data) if data else None

    async def create_session(self, **fields: Any) -> dict[str, Any]:
        """Begin an interview; fields as of `POST /api/sessions`, None values left out."""
        body = {name: value for name, value in fields.items() if value is not None}
        created: dict[str, Any] = await self.json("POST", "/api/sessions", body)
        return created

    async def detail(self, session_id: str) -> dict[str, Any]:
        """The interview as the respondent may see it."""
        found: dict[str, Any] = await self.json("GET", f"/api/sessions/{quote(session_id)}")
        return found

    @asynccontextmanager
    async def socket(self) -> AsyncIterator[ClientConnection]:
        """The respondent's socket, before `hello`; as the calls, it goes straight to the server, past any proxy."""
        url = "ws" + self.base.removeprefix("http") + "/ws/respondent"
        async with connect(
            url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, max_size=2**20, proxy=None
        ) as socket:
            yield socket


def may_pass(exc: Exception) -> bool:
    """Whether trying again may help: the connection was lost or refused, or the server is starting or ending."""
    if isinstance(exc, ExceptionGroup):
        return all(may_pass(inner) for inner in exc.exceptions)
    if isinstance(exc, CallFailed):
        return exc.status >= 500
    return isinstance(exc, (ConnectionClosed, InvalidHandshake, OSError))
