"""Kiosks: which devices sent requests within a day, and whether they are online."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import structlog

from server.auth import Principal
from server.hot.broadcast import Broadcasts
from server.hot.errors import StorageUnavailable
from server.protocol.watched import Kiosk, Kiosks
from server.store.errors import StoreError
from server.store.repository import Repository
from server.store.tokens import TokenEntry

log = structlog.get_logger("askwell.watch")

ONLINE_S = 90.0
KNOWN_S = 86_400.0
NOTE_EVERY_S = 15.0
REFRESH_EVERY_S = 10.0
TIMEOUT_S = 1.0
"""Longest time for storing or reading when devices were seen: a device's request waits for it."""


class Devices:
    """The kiosks as one node knows them.

    Args:
        presence: stores when devices were seen, for all nodes.
        tokens: has the names of the devices.
        now: wall clock, with zone.
        clock: monotonic seconds.
    """

    def __init__(
        self, presence: Broadcasts, tokens: Repository, now: Callable[[], datetime], clock: Callable[[], float]
    ) -> None:
        self._presence = presence
        self._tokens = tokens
        self._now = now
        self._clock = clock
        self._noted: dict[str, float] = {}
        self._refreshed_at = -REFRESH_EVERY_S
        self._kiosks: tuple[Kiosk, ...] = ()

    @property
    def kiosks(self) -> Kiosks:
        """The devices that were seen within a day."""
        return Kiosks(kiosks=self._kiosks)

    def is_offline(self, device_id: str) -> bool:
        """Whether a device that was seen within a day is offline now."""
        return any(kiosk.id == device_id and not kiosk.online for kiosk in self._kiosks)

    async def note_seen(self, principal: Principal) -> None:
        """Store that a device sent a request, once in NOTE_EVERY_S; other principals are ignored."""
        if principal.kind != "device":
            return
        last = self._noted.get(principal.token_id)
        if last is not None and self._clock() - last < NOTE_EVERY_S:
            return
        self._noted[principal.token_id] = self._clock()
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await self._presence.set_last_seen(principal.token_id, int(self._now().timestamp() * 1000), KNOWN_S)
        except (StorageUnavailable, TimeoutError) as exc:
            log.info("watch.device_not_noted", reason=repr(exc))

    async def refresh(self, *, at_once: bool = False) -> Sequence[Kiosk] | None:
        """Read which devices are online, if that was REFRESH_EVERY_S ago or `at_once`.

        Returns:
            Those that went offline, if anything changed or it was the first time; None else.
        """
        if not at_once and self._clock() - self._refreshed_at < REFRESH_EVERY_S:
            return None
        self._refreshed_at = self._clock()
        try:
            async with asyncio.timeout(TIMEOUT_S):
                known = await self._tokens.tokens()
                entries = [one for one in known if one.kind == "device" and one.revoked_at is None]
                seen = {entry.id: await self._presence.last_seen(entry.id) for entry in entries}
        except (StorageUnavailable, StoreError, TimeoutError) as exc:
            log.info("watch.devices_unknown", reason=repr(exc))
            return None
        now = self._now()
        before = {kiosk.id: kiosk.online for kiosk in self._kiosks}
        self._kiosks = tuple(_kiosk(entry, at, now) for entry in entries if (at := seen[entry.id]) is not None)
        if before == {kiosk.id: kiosk.online for kiosk in self._kiosks}:
            return None
        return [kiosk for kiosk in self._kiosks if before.get(kiosk.id) and not kiosk.online]


def _kiosk(entry: TokenEntry, at_ms: int, now: datetime) -> Kiosk:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    online = (now - at).total_seconds() <= ONLINE_S
    return Kiosk(id=entry.id, name=entry.name, online=online, last_seen=at.isoformat())
