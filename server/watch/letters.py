"""Messages between nodes about what is watched: one line of JSON that says what it is, then frames, one a line.

Messages that could not be sent are not repeated: the nodes they were for are told to fetch everything anew.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog

from server.cancellation import cancel_requested
from server.hot.broadcast import Broadcasts
from server.hot.errors import HotMisconfigured, StorageUnavailable

log = structlog.get_logger("askwell.watch")

BOUND_MESSAGES = 4000
BATCH = 200
AGAIN_S = 1.0

OnMessage = Callable[[Mapping[str, Any], Sequence[str]], None]
"""Called with the first line and the frames of a message from another node."""


def message_of(kind: str, frames: Sequence[str] = (), **head: Any) -> bytes:
    """A message as it is sent."""
    first = json.dumps({"kind": kind, **head}, ensure_ascii=False, separators=(",", ":"))
    return "\n".join([first, *frames]).encode()


class NodeMessages:
    """Sends messages to other nodes and receives theirs.

    Args:
        broadcasts: hot storage's channels.
        node: this node's name, unlike any other's.
        on_message: called with every message of another node; what it raises is logged.
        on_gap: called when messages of others were lost.
        on_lost: called with the number of own messages that were lost.
    """

    def __init__(
        self,
        broadcasts: Broadcasts,
        node: str,
        *,
        on_message: OnMessage,
        on_gap: Callable[[], None],
        on_lost: Callable[[float], None],
    ) -> None:
        self._broadcasts = broadcasts
        self.node = node
        self._on_message = on_message
        self._on_gap = on_gap
        self._on_lost = on_lost
        self._out: deque[tuple[str | None, bytes]] = deque()
        self._stale_nodes: set[str | None] = set()
        self._waiting = asyncio.Event()

    @property
    def waiting(self) -> int:
        """Messages that wait to be sent."""
        return len(self._out)

    def send(self, node: str | None, message: bytes) -> None:
        """Send a message to one node, or (None) to all of them. Where too many wait, the oldest is lost."""
        if len(self._out) >= BOUND_MESSAGES:
            lost, _ = self._out.popleft()
            self._on_lost(1)
            self._stale_nodes.add(lost)
        self._out.append((node, message))
        self._waiting.set()

    async def run(self) -> None:
        """Send and receive until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._receive_all(), name="watch receives")
            tasks.create_task(self._send_all(), name="watch sends")

    async def _send_all(self) -> None:
        while not cancel_requested():
            self._waiting.clear()
            if not self._out and not self._stale_nodes:
                await self._waiting.wait()
            batch = [self._out.popleft() for _ in range(min(BATCH, len(self._out)))]
            batch += [(node, message_of("stale", sender=self.node)) for node in self._stale_nodes]
            stale, self._stale_nodes = self._stale_nodes, set()
            try:
                await self._broadcasts.send(batch)
            except StorageUnavailable as exc:
                log.info("watch.messages_lost", messages=len(batch), reason=str(exc))
                self._on_lost(len(batch))
                self._stale_nodes |= stale | {node for node, _ in batch}
                await asyncio.sleep(AGAIN_S)

    async def _receive_all(self) -> None:
        while not cancel_requested():
            try:
                async for message in self._broadcasts.receive(self.node):
                    if message is None:
                        self._on_gap()
                    else:
                        self._read(message)
            except HotMisconfigured as exc:
                log.warning("watch.deaf", reason=str(exc))
                return
            except Exception:
                log.exception("watch.defect")
            await asyncio.sleep(AGAIN_S)

    def _read(self, message: bytes) -> None:
        try:
            first, *frames = message.decode().split("\n")
            head = json.loads(first)
            if head.get("sender") != self.node:
                self._on_message(head, frames)
        except (ValueError, KeyError, TypeError) as exc:
            log.error("watch.unreadable", error=repr(exc))
