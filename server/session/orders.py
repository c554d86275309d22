"""Orders to sessions on whatever node: placed in the inbox, applied by the owner, answered to whoever placed them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

import structlog

from server.hot.errors import Gone, NotOwner, StorageUnavailable
from server.session.inbox import Inbox, Order, Reply
from server.session.owner import SessionOwner
from server.session.ports import Hot
from server.session.problems import SessionProblem
from server.session.settings import HubSettings

log = structlog.get_logger("askwell.session")


class Orders:
    """Places orders, and waits for their replies.

    Args:
        hot: hot storage.
        settings: times.
        now: wall clock.
        attach: claims a session for this node.
        owner: the session's owner, if it lives on this node.
    """

    def __init__(
        self,
        hot: Hot,
        settings: HubSettings,
        now: Callable[[], datetime],
        *,
        attach: Callable[[str], Awaitable[SessionOwner]],
        owner: Callable[[str], SessionOwner | None],
    ) -> None:
        self._hot = hot
        self._settings = settings
        self._inbox = Inbox(hot, settings, now)
        self._attach = attach
        self._owner = owner
        self._replies: dict[str, asyncio.Event] = {}

    async def place(self, session_id: str, order: Order) -> int:
        """Have an order applied, by this node if no other one answers.

        Returns:
            The number of the turn it applies to.

        Raises:
            SessionProblem: it was refused, or the session does not exist.
            StorageUnavailable: hot storage can't be reached.
        """
        answered = self._replies.setdefault(order.command_id, asyncio.Event())
        try:
            try:
                owner_id = await self._hot.inbox_push(session_id, order.pack())
            except Gone as exc:
                raise SessionProblem("not_found") from exc
            if owner_id is not None and self._owner(session_id) is None:
                reply = await self._reply(session_id, order.command_id, answered)
                if reply is not None:
                    return reply.result()
            await self._inbox.drain(await self._attach(session_id))
            reply = await self._reply(session_id, order.command_id, answered)
            if reply is None:
                raise SessionProblem("storage_unavailable", "The command could not be applied in time.")
            return reply.result()
        finally:
            self._replies.pop(order.command_id, None)

    def replied(self, command_id: str) -> None:
        """A reply to this order, if it was ours, is there."""
        answered = self._replies.get(command_id)
        if answered is not None:
            answered.set()

    async def apply_waiting(self, owner: SessionOwner) -> None:
        """Apply what waits for this owner; what can't be applied now stays."""
        try:
            await self._inbox.drain(owner)
        except (SessionProblem, NotOwner, Gone, StorageUnavailable) as exc:
            log.info("inbox.kept", session=owner.session_id, reason=str(exc))

    async def _reply(self, session_id: str, command_id: str, answered: asyncio.Event) -> Reply | None:
        """The answer to an order; None when no owner has even looked at it in time."""
        waits_s = self._settings.command_wait_s
        while True:
            answered.clear()
            reply = await self._look_up(session_id, command_id)
            if reply is not None and not reply.waiting:
                return reply
            if reply is not None:
                waits_s = self._settings.turn_deadline_s + self._settings.command_wait_s
            try:
                async with asyncio.timeout(waits_s):
                    await answered.wait()
            except TimeoutError:
                reply = await self._look_up(session_id, command_id)
                return None if reply is None or reply.waiting else reply

    async def _look_up(self, session_id: str, command_id: str) -> Reply | None:
        found = await self._hot.reply_get(session_id, command_id)
        return Reply.unpack(found) if found is not None else None
