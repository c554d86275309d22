"""Sends finished interviews to the server of the settings in the background, and keeps the status of that."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import structlog

from config.kiosk import KioskSettings
from server.cancellation import cancel_requested
from server.recordings import FileRecorder
from server.store.copies import Copies
from server.store.errors import StoreError
from server.sync import SyncError
from server.sync.send import Progress, Report, Tell, send_all
from server.sync.sources import StoreSource

if TYPE_CHECKING:
    from server.sync.client import Central

log = structlog.get_logger("askwell.sync")

LONGEST_PAUSE_S = 1800.0
SyncState = Literal["off", "idle", "sending", "waiting"]


def _connect(url: str, token: str) -> AbstractAsyncContextManager[Central]:
    """As `client.central`; its module is imported only when something is sent."""
    from server.sync.client import central

    return central(url, token)


def _connect_public(url: str, token: str) -> AbstractAsyncContextManager[Central]:
    """As `client.public_central`; its module is imported only when something is sent."""
    from server.sync.client import public_central

    return public_central(url, token)


@dataclass
class SyncStatus:
    """The status of sending. `waiting`: the server could not be reached, or refused; it is tried again at `next_at`."""

    state: SyncState = "off"
    to: str | None = None
    connected: bool | None = None
    last_at: datetime | None = None
    last_error: str | None = None
    next_at: datetime | None = None
    sending: Progress | None = None


@dataclass
class Sync:
    """Sends interviews from this machine.

    Args:
        settings: of kiosks.
        copies: of the store.
        recorder: knows the recordings.
        folder: for temporary files.
        erase: erases an interview on this machine.
        now: the current time, with time zone.
        connect: opens a connection to a server, by URL and device token.
        connect_public: the same, to an address on the public internet only.
    """

    settings: KioskSettings
    copies: Copies
    recorder: FileRecorder
    folder: Path
    _: KW_ONLY
    erase: Callable[[str], Awaitable[object]]
    now: Callable[[], datetime]
    connect: Callable[[str, str], AbstractAsyncContextManager[Central]] = _connect
    connect_public: Callable[[str, str], AbstractAsyncContextManager[Central]] = _connect_public

    def __post_init__(self) -> None:
        self._turn = asyncio.Lock()
        url = self.settings.sync_to
        self.status = SyncStatus("off" if url is None else "idle", url)

    def source(
        self, target: str | None, concepts: frozenset[str] | None = None, *, erases: bool = False
    ) -> StoreSource:
        """The interviews that `target` has not confirmed to have; that no server has confirmed, if it is None."""
        return StoreSource(
            self.copies,
            self.recorder,
            self.folder,
            target=target,
            concepts=concepts,
            erase=self.erase if erases else None,
        )

    async def push(self, url: str, token: str, tell: Tell, *, public_only: bool = False) -> Report:
        """Send everything to a server, once; waits until no other call does so.

        Args:
            url: of the server.
            token: device token, made there.
            tell: told how far it is.
            public_only: refuse an address that is not on the public internet.
        Raises:
            SyncError: nothing more can be sent now.
            StoreError: this machine's store can't be read.
        """
        async with self._turn, (self.connect_public if public_only else self.connect)(url, token) as there:
            source = self.source(url, erases=self.settings.delete_after_sync)
            return await send_all(source, there, chunk_bytes=self.settings.sync_chunk_bytes, tell=tell)

    async def run(self) -> None:
        """Send again and again until cancelled, if the settings name a server."""
        url, token = self.settings.sync_to, self.settings.sync_token
        if url is None:
            return
        if token is None:
            self.status.last_error = "ASKWELL_SYNC_TOKEN is not set: make a device token on that server."
            log.warning("sync.no_token", to=url)
            return
        pause_s = every_s = self.settings.sync_every_s
        while not cancel_requested():
            if await self._once(url, token.get_secret_value()):
                pause_s = every_s
                wait_s = every_s
            else:
                # Kiosks that lost the server at the same moment should not all try again at the same moment.
                wait_s = pause_s * random.uniform(0.8, 1.2)
                pause_s = min(pause_s * 2, max(LONGEST_PAUSE_S, every_s))
            self.status.next_at = self.now() + timedelta(seconds=wait_s)
            await asyncio.sleep(wait_s)

    async def _once(self, url: str, token: str) -> bool:
        """Send what waits and update the status; whether all of it was taken."""
        status = self.status
        try:
            if not await self.copies.unsent(url, limit=1):
                status.state = "idle"
                return True
            status.state = "sending"
            report = await self.push(url, token, self._tell)
        except (SyncError, StoreError, OSError) as exc:
            status.state, status.sending = "waiting", None
            status.connected = None if isinstance(exc, StoreError) else False
            status.last_error = _sentence(str(exc))
            log.warning("sync.failed", to=url, reason=str(exc))
            return False
        status.state, status.sending, status.connected = "idle", None, True
        status.last_at = self.now()
        reasons = list(dict.fromkeys(report.not_taken.values()))
        status.last_error = _sentence(f"{len(report.not_taken)} not taken: {reasons[0]}") if reasons else None
        if report.sent:
            log.info("sync.sent", to=url, sessions=report.sent, erased=report.erased)
        return not reasons

    def _tell(self, progress: Progress) -> None:
        self.status.sending = progress


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
