"""A client of the Realtime API for tests: reads like the wire, without a library that would hide what is sent."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from audio.types import RATE_HZ
from tests.support.patience import PATIENCE_S

Event = dict[str, Any]


def encoded(pcm: bytes) -> str:
    """Samples as an event carries them."""
    return base64.b64encode(pcm).decode()


def at_rate(pcm: bytes, rate_hz: int) -> bytes:
    """Samples at RATE_HZ as another rate has them; each word of tests is a constant, which keeps its value."""
    samples = np.frombuffer(pcm, "<i2")
    places = np.arange(len(samples) * rate_hz // RATE_HZ) * RATE_HZ // rate_hz
    return samples[places].astype("<i2").tobytes()


def answer(text: str, **fields: Any) -> Event:
    """An item that is an answer."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}], **fields}


class RealtimeClient:
    """One connection.

    Args:
        url: of the server, with the scheme `ws`.
        token: of the respondent; none is sent if it is empty.
        model: what the client asks for.
        headers: besides the token.
        subprotocols: that are offered.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        model: str | None = None,
        headers: Mapping[str, str] | None = None,
        subprotocols: tuple[str, ...] = (),
    ) -> None:
        self._url = f"{url}/v1/realtime" + (f"?model={model}" if model else "")
        self._headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        self._subprotocols = subprotocols
        self._socket: ClientConnection | None = None
        self.seen: list[Event] = []

    async def __aenter__(self) -> Self:
        offered: Any = list(self._subprotocols) or None
        self._socket = await connect(
            self._url, additional_headers=self._headers, subprotocols=offered, max_size=None, max_queue=None, proxy=None
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

    async def send(self, name: str, /, **fields: Any) -> None:
        """One event."""
        await self.socket.send(json.dumps({"type": name, **fields}))

    async def raw(self, data: str | bytes) -> None:
        """One frame as it is."""
        await self.socket.send(data)

    async def update(self, **session: Any) -> Event:
        """Change the session; as it is then."""
        await self.send("session.update", session={"type": "realtime", **session})
        updated = await self.until("session.updated")
        found: Event = updated["session"]
        return found

    async def answer(self, text: str, **fields: Any) -> None:
        """An answer in writing."""
        await self.send("conversation.item.create", item=answer(text, **fields))

    async def say(self, pcm: bytes, *, rate_hz: int = 24_000, step_s: float = 0.1, **fields: Any) -> None:
        """Send audio in events of `step_s`."""
        samples = at_rate(pcm, rate_hz) if rate_hz != RATE_HZ else pcm
        size = int(rate_hz * step_s) * 2
        for start in range(0, len(samples), size):
            await self.send("input_audio_buffer.append", audio=encoded(samples[start : start + size]), **fields)

    async def next(self) -> Event:
        """The next event. Raises ConnectionClosed when there is none."""
        async with asyncio.timeout(PATIENCE_S):
            data = await self.socket.recv()
        assert isinstance(data, str), "the server sends text frames"
        event: Event = json.loads(data)
        assert isinstance(event["event_id"], str)
        assert event["event_id"] not in {seen["event_id"] for seen in self.seen}
        self.seen.append(event)
        return event

    async def until(self, name: str, /, **fields: Any) -> Event:
        """The first event of this type with these fields; events before it are passed over, errors are not."""
        while True:
            event = await self.next()
            if event["type"] == name and all(event.get(key) == value for key, value in fields.items()):
                return event
            assert event["type"] != "error", f"expected {name}, got {event}"

    async def refused(self, code: str, **fields: Any) -> Event:
        """The next error, which must have this code and these fields; other events may come before it."""
        while (event := await self.next())["type"] != "error":
            continue
        error: Event = event["error"]
        assert error["code"] == code, f"expected {code}, got {error}"
        assert error["message"].endswith("."), "errors are sentences"
        for key, value in fields.items():
            assert error.get(key) == value, f"expected {key}={value!r} in {error}"
        return error

    async def response(self) -> Event:
        """The next response, done."""
        done = await self.until("response.done")
        found: Event = done["response"]
        return found

    async def closed(self) -> int:
        """The code the server closes the connection with; events before it are passed over."""
        with pytest.raises(ConnectionClosed) as closed:
            await self._read_all()
        assert closed.value.rcvd is not None, "the server must close politely"
        return closed.value.rcvd.code

    async def _read_all(self) -> None:
        while True:
            await self.next()

    def names(self) -> list[str]:
        """The types of the events so far."""
        return [event["type"] for event in self.seen]


def text_of(response: Event) -> str:
    """What a response says."""
    return " ".join(
        part.get("text") or part.get("transcript") for item in response["output"] for part in item["content"]
    )
