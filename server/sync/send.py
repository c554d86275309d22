"""Sends what waits, one interview after the other, each from the byte on that the server asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING

import structlog

from server.sync import NotTaken, SyncError
from server.sync.sources import Opened, Source

if TYPE_CHECKING:
    from server.sync.client import Central

log = structlog.get_logger("askwell.sync")

MOST_UPLOADS = 5
"""How often the upload of an interview is begun, when the server has lost what it had of it."""
MOST_STALLED = 5
"""How many pieces in a row may bring an upload no further."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far sending is: interview `number` of `total`, of which `sent` of `size` bytes are there."""

    number: int
    total: int
    session_id: str
    sent: int
    size: int


@dataclass
class Report:
    """How many interviews were sent and erased here, and why others were not taken, by id.

    `clock_off_s` is by how much our clock is ahead of the server's, None where that is within the tolerance.
    """

    sent: int = 0
    erased: int = 0
    not_taken: dict[str, str] = field(default_factory=dict)
    clock_off_s: float | None = None


Tell = Callable[[Progress], None]


async def send_all(source: Source, central: Central, *, chunk_bytes: int, tell: Tell) -> Report:
    """Send everything that waits. May be stopped at any moment and begun again.

    Args:
        source: what waits.
        central: where it goes.
        chunk_bytes: what is sent at once.
        tell: called with how far it is.
    Raises:
        SyncError: nothing more can be sent now.
    """
    welcome = await central.hello()
    report = Report(clock_off_s=welcome.skew_s if welcome.clock_is_off else None)
    waiting = await source.waiting()
    for number, unsent in enumerate(waiting, 1):
        try:
            async with source.opened(unsent) as opened:
                if opened is None:
                    continue
                written = opened.written
                if written.size > welcome.max_bytes:
                    raise NotTaken(f"it has {written.size} bytes, and the server takes {welcome.max_bytes} at the most")
                begun = Progress(number, len(waiting), unsent.session_id, 0, written.size)
                await _send_one(opened, central, chunk_bytes, begun, tell)
        except NotTaken as exc:
            report.not_taken[unsent.session_id] = str(exc)
            log.warning("sync.not_taken", session=unsent.session_id, reason=str(exc))
            continue
        report.sent += 1
        report.erased += await source.settle(unsent, written)
    return report


async def _send_one(opened: Opened, central: Central, chunk_bytes: int, begun: Progress, tell: Tell) -> None:
    """Send a bundle until the server says that it has it."""
    written, file = opened.written, opened.file
    for _ in range(MOST_UPLOADS):
        reply = await central.offer(written)
        offset: int | None = reply.offset
        stalled = 0
        while reply.status == "wanted" and offset is not None and offset < written.size and stalled < MOST_STALLED:
            tell(replace(begun, sent=offset))
            piece = await asyncio.to_thread(_piece, file, offset, chunk_bytes)
            after = await central.send(written, offset, piece)
            stalled = stalled + 1 if after == offset else 0
            offset = after
        if reply.status == "wanted" and offset is not None:
            done = await central.finish(written)
            if done is None:
                continue
            reply = done
        if reply.status in ("stored", "erased"):
            tell(replace(begun, sent=written.size))
            return
    raise SyncError("the server forgets what it is sent; try again later", retryable=True)


def _piece(file: IO[bytes], offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)
