"""Kiosks: the devices that were heard of lately, and whether they still are."""

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
HEARD_EVERY_S = 15.0
LOOK_EVERY_S = 10.0
PATIENCE_S = 1.0
"""Nobody's request waits longer for a note that a device is there."""


class Devices:
    """Of one node.

    Args:
        presence: when devices were heard of, for all nodes.
        tokens: names the devices.
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
        self._heard: dict[str, float] = {}
        self._looked_at = -LOOK_EVERY_S
        self._kiosks: tuple[Kiosk, ...] = ()

    @property
    def kiosks(self) -> Kiosks:
        """The devices that were heard of within a day."""
        return Kiosks(kiosks=self._kiosks)

    def is_offline(self, device_id: str) -> bool:
        """Whether a device that was heard of within a day is not there now."""
        return any(kiosk.id == device_id and not kiosk.online for kiosk in self._kiosks)

    async def heard(self, principal: Principal) -> None:
        """A device proved who it is; written down now and then."""
        if principal.kind != "device":
            return
        last = self._heard.get(principal.token_id)
        if last is not None and self._clock() - last < HEARD_EVERY_S:
            return
        self._heard[principal.token_id] = self._clock()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._presence.heard_of(principal.token_id, int(self._now().timestamp() * 1000), KNOWN_S)
        except (StorageUnavailable, TimeoutError) as exc:
            log.info("watch.device_not_noted", reason=repr(exc))

    async def look(self, *, at_once: bool = False) -> Sequence[Kiosk] | None:
        """See which devices are there, now and then or at once.

        Returns:
            Those that are not there any more, if anything changed or it was the first look; None else.
        """
        if not at_once and self._clock() - self._looked_at < LOOK_EVERY_S:
            return None
        self._looked_at = self._clock()
        try:
            async with asyncio.timeout(PATIENCE_S):
                known = await self._tokens.tokens()
                entries = [one for one in known if one.kind == "device" and one.revoked_at is None]
                seen = {entry.id: await self._presence.last_heard_of(entry.id) for entry in entries}
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
