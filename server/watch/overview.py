"""The overview of all sessions: rows from the store, replaced by live rows where there are any."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from config.alerts import AlertSettings
from pipeline.state import UNFINISHED
from server.auth import Principal
from server.protocol.codec import encode
from server.protocol.moderator import OverviewFilter
from server.protocol.watched import Kiosks, OverviewItem, OverviewRows
from server.store.repository import Repository
from server.watch.exchange import Follower, LiveExchange
from server.watch.mailbox import Mailbox
from server.watch.rows import stored_row

MOST_UNFINISHED = 1000
MOST_OVER = 500


class Overviews:
    """Makes overviews.

    Args:
        store: all sessions.
        exchange: has the live rows.
        settings: when a session without a connection raises an alert.
        now: wall clock, with zone.
        kiosks: the devices that are known.
    """

    def __init__(
        self,
        store: Repository,
        exchange: LiveExchange,
        settings: AlertSettings,
        now: Callable[[], datetime],
        kiosks: Callable[[], Kiosks],
    ) -> None:
        self._store = store
        self._exchange = exchange
        self._settings = settings
        self._now = now
        self._kiosks = kiosks

    def follower(self, mailbox: Mailbox, wish: OverviewFilter, principal: Principal) -> Follower:
        """A follower that gets the rows within the filter and the principal's scope."""
        follower = Follower(mailbox, lambda row: False)

        def fits(row: OverviewItem) -> bool:
            if not principal.may_see(row.concept_id) or wish.concept_id not in (None, row.concept_id):
                return False
            if wish.state is not None:
                return row.state == wish.state
            # One that ends is shown with its end.
            return row.state in UNFINISHED or row.session_id in follower.shown

        follower.fits = fits
        return follower

    async def first_frames(self, follower: Follower, wish: OverviewFilter, principal: Principal) -> list[str]:
        """The frames of a whole overview. Raises StoreError."""
        states = UNFINISHED if wish.state is None else {wish.state}
        limit = MOST_UNFINISHED if states <= UNFINISHED else MOST_OVER
        stored, total = await self._store.overview(
            states=states, concept_id=wish.concept_id, concepts=principal.concepts, limit=limit
        )
        rows = await asyncio.to_thread(self._rows, stored)
        known = {row.session_id: row for row in rows}
        for session_id, row in (await self._exchange.known_rows()).items():
            if row.state in states and follower.fits(row):
                known[session_id] = row
            else:
                known.pop(session_id, None)
        newest = sorted(known.values(), key=lambda row: row.updated_at, reverse=True)[:limit]
        follower.shown.update(row.session_id for row in newest)
        names = self._exchange.names
        shown = tuple(row.model_copy(update={"watchers": names(row.session_id)}) for row in newest)
        text = await asyncio.to_thread(encode, OverviewRows(rows=shown, total=max(total, len(shown))))
        return [text, encode(self._kiosks())]

    def _rows(self, stored: Sequence[dict[str, Any]]) -> list[OverviewItem]:
        now = self._now()
        return [stored_row(row, self._settings, now) for row in stored]
