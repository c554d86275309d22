"""What waits to be sent to one client.

A full outbox makes the sender wait for a while; then the connection is dropped. An event is never left out: the
client comes back and gets what it missed by replay.

What is read aloud waits behind everything else, in a queue of its own: it keeps no event waiting, makes whoever reads
wait for room for as long as it takes, and can be taken back as long as it was not sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from server.hot.values import DurableEvent
from server.lean_event import LeanEvent
from server.protocol.base import Message
from server.protocol.codec import encode, encode_event, encode_sound
from server.protocol.codes import CLOSE_POLICY
from server.protocol.outbound import ReadingSound

ALOUD_MESSAGES = 32
"""Messages of what is read aloud that may wait, some six seconds of sound."""


class Wire(Protocol):
    """The format in which a client is written to; called once for everything that is sent, in order."""

    def message(self, message: Message) -> Sequence[str | bytes]:
        """The frames of an ephemeral message."""
        ...

    def event(self, event: DurableEvent) -> Sequence[str]:
        """The text frames of a durable event."""
        ...


class OwnWire:
    """The protocol's own format: one frame each."""

    def message(self, message: Message) -> Sequence[str | bytes]:
        """The frame of an ephemeral message: a binary one for sound."""
        return (encode_sound(message) if isinstance(message, ReadingSound) else encode(message),)

    def event(self, event: DurableEvent) -> Sequence[str]:
        """The text frame of a durable event."""
        return (encode_event(event.data),)


class Outbox:
    """A bounded queue of frames, with one reader (the connection) and one writer (the owner).

    While it is *held*, live durable events are kept aside until the replay is through and live ephemeral ones are
    left to `release`, which is told the running text by the owner.

    Args:
        bound: frames that may wait.
        wait_s: how long a writer waits for room.
        wire: the format of the frames.
    """

    def __init__(self, bound: int = 256, wait_s: float = 2.0, wire: Wire | None = None) -> None:
        self._wire = wire or OwnWire()
        self._bound = bound
        self._wait_s = wait_s
        # Lists, which are short and cost nothing while they are empty; a queue takes half a kilobyte.
        self._frames: list[str | bytes] = []
        self._aloud: list[Message] = []
        self._aside: list[DurableEvent] = []
        self._held = False
        self._last_id = 0
        self._changed = LeanEvent()
        self._room = LeanEvent()
        self._closed = LeanEvent()
        self._close_code: int | None = None
        self._worded: Callable[[Message], Message] = lambda message: message

    def reword(self, worded: Callable[[Message], Message]) -> None:
        """Translate every ephemeral message by this function from now on."""
        self._worded = worded

    @property
    def close_code(self) -> int | None:
        """What the connection is to be closed with, once it is."""
        return self._close_code

    @property
    def last_id(self) -> int:
        """The newest durable event that was put in."""
        return self._last_id

    def hold(self, last_id: int) -> None:
        """Begin with a replay: the client has everything up to `last_id`."""
        self._held = True
        self._last_id = last_id

    async def release(self, running: Callable[[], Sequence[Message]] = tuple) -> None:
        """End the replay: what came meanwhile follows, then the running question as it stands at that moment."""
        while self._aside:
            await self._put_event(self._aside.pop(0))
        self._held = False
        for message in running():
            self._append(self._wire.message(message))

    async def replay(self, event: DurableEvent) -> None:
        """Send an event of the past."""
        await self._put_event(event)

    async def send(self, message: Message) -> None:
        """Send an ephemeral message."""
        await self._wait_for_room()
        self._append(self._wire.message(self._worded(message)))

    async def broadcast(self, message: Message) -> None:
        """Send an ephemeral message of the session; left out while the replay runs."""
        if not self._held:
            await self.send(message)

    async def event(self, event: DurableEvent) -> None:
        """Send a durable event; each once, in order."""
        if self._held:
            self._aside.append(event)
        else:
            await self._put_event(event)

    async def repeat(self, event: DurableEvent) -> None:
        """Send a durable event again; the client drops what it has seen."""
        await self._wait_for_room()
        self._append(self._wire.event(event))

    def close(self, code: int) -> None:
        """No more after what is in; the first code counts."""
        if self._close_code is None:
            self._close_code = code
            self._closed.set()
        self._changed.set()
        self._room.set()

    async def closed(self) -> None:
        """Wait until it is closed; there may still be frames in it."""
        await self._closed.wait()

    def announce(self, message: Message) -> None:
        """Send a small message of the session in its place without waiting; left out while the replay runs."""
        if not self._held:
            self._append(self._wire.message(message))

    async def room_aloud(self) -> None:
        """Wait until there is room for what is read aloud."""
        while len(self._aloud) >= ALOUD_MESSAGES and self._close_code is None:
            self._room.clear()
            await self._room.wait()

    def read_aloud(self, message: Message) -> None:
        """Send a part of what is read aloud."""
        if self._close_code is None:
            self._aloud.append(message)
            self._changed.set()

    def hush(self) -> None:
        """Take back what is read aloud and was not sent."""
        self._aloud.clear()
        self._room.set()

    async def next(self) -> str | bytes | None:
        """The next frame to send; None once it is closed and empty."""
        while not self._frames:
            if self._close_code is not None:
                return None
            if self._aloud:
                self._frames.extend(self._wire.message(self._aloud.pop(0)))
                self._room.set()
                continue
            self._changed.clear()
            await self._changed.wait()
        frame = self._frames.pop(0)
        self._room.set()
        return frame

    async def _put_event(self, event: DurableEvent) -> None:
        if event.id <= self._last_id:
            return
        await self._wait_for_room()
        self._last_id = max(self._last_id, event.id)
        self._append(self._wire.event(event))

    async def _wait_for_room(self) -> None:
        if len(self._frames) < self._bound:
            return
        try:
            async with asyncio.timeout(self._wait_s):
                while len(self._frames) >= self._bound and self._close_code is None:
                    self._room.clear()
                    await self._room.wait()
        except TimeoutError:
            self._frames.clear()
            self.close(CLOSE_POLICY)

    def _append(self, frames: Sequence[str | bytes]) -> None:
        if self._close_code is None:
            self._frames.extend(frames)
            self._changed.set()
