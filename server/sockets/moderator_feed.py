"""What is sent to one moderator: what waits in the mailbox, and whole sessions and overviews when they are due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect

from server.auth import Principal
from server.protocol.codes import CLOSE_SERVICE_RESTART
from server.protocol.moderator import OverviewFilter
from server.protocol.outbound import Error
from server.watch.mailbox import Due, Mailbox
from server.watch.refusals import REFUSALS, error_for
from server.watch.service import WatchService

log = structlog.get_logger("askwell.watch")

SNAPSHOT_EVERY_S = 1.0
"""Snapshots of one watcher follow each other no faster."""


class ModeratorFeed:
    """The watched session and the overview of one connection.

    Args:
        websocket: where to.
        mailbox: what waits.
        watch: live news, snapshots, overviews.
        clock: monotonic seconds.
        refuse: tells the watcher what can't be done.
    """

    def __init__(
        self,
        websocket: WebSocket,
        mailbox: Mailbox,
        watch: WatchService,
        clock: Callable[[], float],
        refuse: Callable[[Error], None],
    ) -> None:
        self._websocket = websocket
        self._mailbox = mailbox
        self._exchange = watch.exchange
        self._snapshots = watch.snapshots
        self._overviews = watch.overviews
        self._clock = clock
        self._refuse = refuse
        self._principal = Principal("moderator")
        self._filter: OverviewFilter | None = None
        self._snapshot_at = -SNAPSHOT_EVERY_S
        self.watched: str | None = None
        """The session that is watched."""

    def watch(self, session_id: str, principal: Principal) -> None:
        """Look at this session from now on; first all of it."""
        self.watched = session_id
        self._exchange.watch(session_id, self._mailbox, principal.name)
        self._snapshot_at = -SNAPSHOT_EVERY_S
        self._mailbox.due(Due.SNAPSHOT)

    def unwatch(self) -> None:
        """Look at no session any more."""
        self.watched = None
        self._exchange.unwatch(self._mailbox)
        self._mailbox.forget(Due.SNAPSHOT)

    def follow(self, wish: OverviewFilter, principal: Principal) -> None:
        """Have this overview from now on; first all of it."""
        self.unfollow()
        self._filter, self._principal = wish, principal
        self._mailbox.due(Due.OVERVIEW)

    def unfollow(self) -> None:
        """Have no overview any more."""
        self._filter = None
        self._exchange.unfollow(self._mailbox)
        self._mailbox.forget(Due.OVERVIEW)

    async def run(self) -> None:
        """Write what the mailbox holds until it is closed."""
        try:
            while (item := await self._mailbox.next()) is not None:
                if item is Due.SNAPSHOT:
                    await self._send_snapshot()
                elif item is Due.OVERVIEW:
                    await self._send_overview()
                elif isinstance(item, str):
                    await self._websocket.send_text(item)
        except (WebSocketDisconnect, RuntimeError) as exc:
            # Starlette raises RuntimeError for a send after the client has gone.
            log.debug("watch.gone", reason=repr(exc))
        except Exception:
            log.exception("watch.defect")
            self._mailbox.close(CLOSE_SERVICE_RESTART)

    async def _send_snapshot(self) -> None:
        session_id = self.watched
        if session_id is None:
            self._mailbox.forget(Due.SNAPSHOT)
            return
        await asyncio.sleep(max(0.0, self._snapshot_at + SNAPSHOT_EVERY_S - self._clock()))
        self._snapshot_at = self._clock()
        self._mailbox.started(Due.SNAPSHOT)
        try:
            rev, text = await self._snapshots.take(session_id)
        except REFUSALS as exc:
            self._failed(exc)
            return
        if self.watched != session_id:
            return
        self._mailbox.drop_up_to(rev)
        live = self._exchange.session(session_id)
        first = [text] if live is None else [text, *live.frames()]
        if live is None:
            self._exchange.ask(session_id)
        for one in first:
            await self._websocket.send_text(one)

    def _failed(self, exc: Exception) -> None:
        frame = error_for(exc, "subscribe")
        self._refuse(frame)
        if frame.retryable:
            self._mailbox.due(Due.SNAPSHOT)
            return
        self.unwatch()

    async def _send_overview(self) -> None:
        wish, principal = self._filter, self._principal
        if wish is None:
            self._mailbox.forget(Due.OVERVIEW)
            return
        self._mailbox.started(Due.OVERVIEW)
        follower = self._overviews.follower(self._mailbox, wish, principal)
        self._exchange.follow(follower)
        try:
            frames = await self._overviews.first_frames(follower, wish, principal)
        except REFUSALS as exc:
            frame = error_for(exc, "overview")
            self._refuse(frame)
            await asyncio.sleep(SNAPSHOT_EVERY_S)
            if frame.retryable and self._filter is wish:
                self._mailbox.due(Due.OVERVIEW)
            return
        if self._filter is not wish:
            return
        for one in frames:
            await self._websocket.send_text(one)
        self._exchange.ask(None)
