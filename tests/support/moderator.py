"""A moderator's client for tests, and whole processes on real sockets for it to talk to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from server.app import build_app
from server.parts import Parts
from server.protocol.codes import SUBPROTOCOL
from server.protocol.watched import MODERATOR_SERVER_MESSAGES
from server.serving import bind, serving, url_of
from server.wiring import Overrides, Storage, running
from tests.support.client import RespondentClient
from tests.support.fakes_session import Providing
from tests.support.patience import PATIENCE_S
from tests.support.whole import bearer, deaf, settings_for

Frame = dict[str, Any]


class ModeratorClient:
    """One connection; checks every frame against the published models.

    Args:
        url: of the server.
        token: for `hello`; None says hello without one.
        headers: of the handshake, such as a cookie.
        read_bytes: how much may wait unread at the client's side, for a slow one.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        headers: dict[str, str] | None = None,
        origin: str | None = None,
        max_queue: int | None = None,
    ) -> None:
        self._url = url.replace("http", "ws", 1) + "/ws/moderator"
        self._token = token
        self._headers = headers
        self._origin = origin
        self._max_queue = max_queue
        self._socket: ClientConnection | None = None
        self.seen: list[Frame] = []

    async def __aenter__(self) -> Self:
        origin: Any = self._origin
        subprotocols: Any = [SUBPROTOCOL]
        self._socket = await connect(
            self._url,
            subprotocols=subprotocols,
            origin=origin,
            additional_headers=self._headers,
            max_size=None,
            max_queue=self._max_queue,
            proxy=None,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.socket.close()

    @property
    def socket(self) -> ClientConnection:
        """The connection below."""
        assert self._socket is not None
        return self._socket

    async def send(self, kind: str, /, **fields: Any) -> None:
        """One message."""
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def hello(self) -> Frame:
        """Greet and return `ready`."""
        await self.send("hello", **({} if self._token is None else {"token": self._token}))
        return await self.expect("ready")

    async def watch(self, session_id: str) -> Frame:
        """Subscribe; the snapshot."""
        await self.send("subscribe", session_id=session_id)
        return await self.until("snapshot", session_id=session_id)

    async def overview(self, **wish: Any) -> Frame:
        """Ask for the overview; its rows."""
        await self.send("overview", filter=wish)
        return await self.until("overview.rows")

    async def order(self, kind: str, /, **fields: Any) -> Frame:
        """A command; its `command.done`."""
        command_id = await self.begin(kind, **fields)
        return await self.until("command.done", command_id=command_id)

    async def begin(self, kind: str, /, **fields: Any) -> str:
        """A command, without waiting for what becomes of it; its id."""
        command_id = str(fields.pop("command_id", uuid4()))
        await self.send(kind, command_id=command_id, **fields)
        return command_id

    async def next(self, deadline_s: float = PATIENCE_S) -> Frame:
        """The next frame. Raises ConnectionClosed when there is none."""
        async with asyncio.timeout(deadline_s):
            data = await self.socket.recv()
        assert isinstance(data, str), "the server sends text frames"
        MODERATOR_SERVER_MESSAGES.validate_json(data)
        frame: Frame = json.loads(data)
        self.seen.append(frame)
        return frame

    async def expect(self, kind: str, /, **fields: Any) -> Frame:
        """The next frame, which must be of this type and have these fields."""
        frame = await self.next()
        assert frame["type"] == kind, f"expected {kind}, got {frame}"
        for name, value in fields.items():
            assert frame.get(name) == value, f"expected {name}={value!r} in {frame}"
        return frame

    async def until(self, kind: str, /, **fields: Any) -> Frame:
        """The first frame of this type with these fields; frames before it are passed over, but no refusal."""
        while True:
            frame = await self.next()
            if frame["type"] == kind and all(frame.get(name) == value for name, value in fields.items()):
                return frame
            assert frame["type"] != "error", f"expected {kind}, was refused: {frame}"

    async def refused(self, code: str, **fields: Any) -> Frame:
        """The next error, which must have this code."""
        while True:
            frame = await self.next()
            if frame["type"] == "error":
                assert frame["code"] == code, f"expected {code}, got {frame}"
                for name, value in fields.items():
                    assert frame.get(name) == value, f"expected {name}={value!r} in {frame}"
                return frame

    async def have(self, kind: str, /, **fields: Any) -> Frame:
        """A frame of this type with these fields: one that has come, or the next one."""
        for frame in self.seen:
            if frame["type"] == kind and all(frame.get(name) == value for name, value in fields.items()):
                return frame
        return await self.until(kind, **fields)

    def latest(self, kind: str) -> Frame:
        """The latest frame of this type that has come."""
        return next(frame for frame in reversed(self.seen) if frame["type"] == kind)

    async def settle(self) -> list[Frame]:
        """What was on its way already: everything up to a pong."""
        before = len(self.seen)
        t = len(self.seen)
        await self.send("ping", t=t)
        while (frame := await self.next())["type"] != "pong" or frame["t"] != t:
            continue
        return self.seen[before:]

    async def closed(self) -> int:
        """The code the server closes the connection with; frames before it are passed over."""
        with pytest.raises(ConnectionClosed) as closed:
            await self._read_all()
        assert closed.value.rcvd is not None, "the server must close politely"
        return closed.value.rcvd.code

    async def _read_all(self) -> None:
        while True:
            await self.next()


@dataclass
class Place:
    """A process on a real socket, with providers that do what a test tells them."""

    url: str
    parts: Parts
    storage: Storage
    providing: Providing
    http: httpx.AsyncClient

    @property
    def token(self) -> str:
        """The moderator token of the installation."""
        return self.storage.moderator_token

    def moderator(self, token: str | None = None) -> ModeratorClient:
        """A moderator's connection."""
        return ModeratorClient(self.url, token or self.token)

    def respondent(self, token: str) -> RespondentClient:
        """A respondent's connection."""
        return RespondentClient(self.url.replace("http", "ws", 1), token)

    async def begin(self, concept_id: str = "coffee", **fields: Any) -> tuple[str, str]:
        """A new interview; its id and the respondent's token."""
        body = {"concept_id": concept_id, **fields}
        response = await self.http.post("/api/sessions", json=body, headers=bearer(self.token))
        assert response.status_code == 201, response.text
        created = response.json()
        return created["session_id"], created["respondent_token"]

    async def make_token(self, kind: str = "moderator", **fields: Any) -> dict[str, Any]:
        """A new token."""
        body = {"kind": kind, "name": "Ada", **fields}
        response = await self.http.post("/api/tokens", json=body, headers=bearer(self.token))
        assert response.status_code == 201, response.text
        made: dict[str, Any] = response.json()
        return made

    async def call(self, path: str, token: str | None = None) -> Any:
        """What a `GET` answers, as a moderator."""
        response = await self.http.get(path, headers=bearer(token or self.token))
        assert response.status_code == 200, response.text
        return response.json()

    async def settled_inbox(self, session_id: str) -> None:
        """Wait until a command waits for the session's turn, and its owner has looked at it."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                waiting = await self.storage.hot.inbox.read(session_id)
                ids = [json.loads(item)["command_id"] for item in waiting]
                if ids and await self.storage.hot.inbox.reply_to(session_id, ids[-1]) is not None:
                    return
                await asyncio.sleep(0.01)

    async def stored(self) -> None:
        """Wait until the store has everything, by whatever node's writer, and nothing was given up."""
        async with asyncio.timeout(PATIENCE_S):
            while any(lag.records for lag in (await self.storage.writer.measure()).values()):
                await asyncio.sleep(0.02)
        assert await self.storage.store.dead_letter_count() == 0


@asynccontextmanager
async def place(folder: Path, providing: Providing | None = None, **environment: str) -> AsyncIterator[Place]:
    """A process that keeps everything below `folder`; settings by their lower-case names."""
    providing = providing or Providing()

    async def load(*_: Any) -> Any:
        return providing.providers()

    settings = settings_for(folder, **{"requests_per_s": "1000", "request_burst": "1000", **environment})
    overrides = Overrides(load=load, hear=deaf)
    async with running(settings, overrides=overrides, claim=lambda: bind("127.0.0.1", 0)) as (parts, storage):
        sock = storage.claimed_socket()
        url = url_of(sock, "127.0.0.1")
        async with (
            serving(build_app(parts), sock),
            httpx.AsyncClient(base_url=url, trust_env=False) as http,
        ):
            yield Place(url, parts, storage, providing, http)
