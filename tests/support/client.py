"""A respondent's client for tests: reads like the wire, and checks every frame against the published models."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from server.protocol.codes import SUBPROTOCOL
from server.protocol.outbound import SERVER_MESSAGES
from tests.support.patience import PATIENCE_S
from tests.support.speech import frames

Frame = dict[str, Any]


def key() -> str:
    """A fresh turn key."""
    return str(uuid4())


class RespondentClient:
    """One connection.

    Args:
        url: of the server.
        token: for `hello`.
        origin: `Origin` header, none if not given.
        subprotocol: offered in the handshake.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        origin: str | None = None,
        subprotocol: str | None = SUBPROTOCOL,
        path: str = "/ws/respondent",
    ) -> None:
        self._url = url + path
        self.deadline_s = PATIENCE_S
        """How long the next frame may take."""
        self._token = token
        self._origin = origin
        self._subprotocol = subprotocol
        self._socket: ClientConnection | None = None
        self._kept: deque[Frame] = deque()
        self.seen: list[Frame] = []
        self.sounds: list[tuple[int, bytes, int]] = []
        """What came as sound: number of the reading, samples, and how many other frames had come before."""
        self.last_id = 0
        self.epoch: str | None = None

    async def __aenter__(self) -> Self:
        offered: Any = [self._subprotocol] if self._subprotocol else None
        origin: Any = self._origin
        self._socket = await connect(
            self._url, subprotocols=offered, origin=origin, max_size=None, max_queue=None, proxy=None
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

    async def raw(self, data: str | bytes) -> None:
        """One frame as it is."""
        await self.socket.send(data)

    async def hello(self, *, last_event_id: int = 0, epoch: str | None = None, token: str | None = None) -> Frame:
        """Greet and return `ready`."""
        fields: Frame = {"token": self._token if token is None else token, "last_event_id": last_event_id}
        if epoch is not None:
            fields["epoch"] = epoch
        self.last_id = last_event_id
        await self.send("hello", **fields)
        ready = await self.expect("ready")
        self.epoch = ready["epoch"]
        return ready

    async def answer(self, text: str, turn_key: str | None = None) -> str:
        """Send an answer; its turn key."""
        turn_key = turn_key or key()
        await self.send("answer", text=text, turn_key=turn_key)
        return turn_key

    async def audio_start(self, turn_key: str | None = None, first_seq: int = 0, **fields: Any) -> str:
        """Announce a spoken answer; its turn key."""
        turn_key = turn_key or key()
        wish: Frame = {"codec": "pcm_s16le", "sample_rate": 16000, "turn_key": turn_key, "first_seq": first_seq}
        await self.send("audio.start", **{**wish, **fields})
        return turn_key

    async def say(self, pcm: bytes, first_seq: int = 0) -> int:
        """Send audio in frames; the number of the next one."""
        cut = frames(pcm, first_seq)
        for frame in cut:
            await self.raw(frame)
        return first_seq + len(cut)

    async def next(self, deadline_s: float | None = None) -> Frame:
        """The next frame. Raises ConnectionClosed when there is none."""
        if self._kept:
            return self._kept.popleft()
        async with asyncio.timeout(deadline_s or self.deadline_s):
            while isinstance(data := await self.socket.recv(), bytes):
                self.sounds.append((int.from_bytes(data[:4], "big"), data[4:], len(self.seen)))
        SERVER_MESSAGES.validate_json(data)
        frame: Frame = json.loads(data)
        self.seen.append(frame)
        if "id" in frame:
            self.last_id = max(self.last_id, frame["id"])
        return frame

    async def expect(self, kind: str, /, **fields: Any) -> Frame:
        """The next frame, which must be of this type and have these fields."""
        frame = await self.next()
        assert frame["type"] == kind, f"expected {kind}, got {frame}"
        for name, value in fields.items():
            assert frame.get(name) == value, f"expected {name}={value!r} in {frame}"
        return frame

    async def until(self, kind: str, /, **fields: Any) -> Frame:
        """The first frame of this type with these fields; frames before it are passed over."""
        while True:
            frame = await self.next()
            if frame["type"] == kind and all(frame.get(name) == value for name, value in fields.items()):
                return frame

    async def refused(self, code: str, **fields: Any) -> Frame:
        """The next error, which must have this code; question pieces may come before it."""
        frame = await self.until("error")
        assert frame["code"] == code, f"expected {code}, got {frame}"
        assert frame["message"].endswith("."), "errors are sentences"
        for name, value in fields.items():
            assert frame.get(name) == value, f"expected {name}={value!r} in {frame}"
        return frame

    async def closed(self) -> int:
        """The code the server closes the connection with; frames before it are passed over."""
        with pytest.raises(ConnectionClosed) as closed:
            await self._read_all()
        assert closed.value.rcvd is not None, "the server must close politely"
        return closed.value.rcvd.code

    async def _read_all(self) -> None:
        while True:
            await self.next()

    async def silence(self) -> None:
        """Nothing more must come that was on its way already: everything up to a pong is looked at."""
        await self.send("ping", t=0)
        frame = await self.next()
        assert frame["type"] == "pong", f"expected nothing, got {frame}"

    async def turn(self, text: str, turn_key: str | None = None) -> Frame:
        """A whole turn; its `turn.completed`."""
        turn_key = await self.answer(text, turn_key)
        await self.until("turn.started", turn_key=turn_key)
        return await self.until("turn.completed", turn_key=turn_key)

    def sound(self, reading: int) -> bytes:
        """The samples of a reading that have come."""
        return b"".join(pcm for number, pcm, _ in self.sounds if number == reading)

    def durable(self) -> list[Frame]:
        """The durable events seen so far."""
        return [frame for frame in self.seen if "id" in frame]
