"""Commands that reach this node for sessions on any node: queued in the inbox, applied by the owner, answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from server.hot.errors import NotOwner, SessionErased, StorageUnavailable
from server.session.commands import CommandReply, QueuedCommand
from server.session.context import SessionServices
from server.session.owner import SessionOwner
from server.session.problems import SessionProblem

log = structlog.get_logger("askwell.session")


class CommandRouter:
    """Queues commands, and waits for their replies.

    Args:
        services: of the node.
        attach: claims a session for this node.
        owner: the session's owner, if it lives on this node.
    """

    def __init__(
        self,
        services: SessionServices,
        attach: Callable[[str], Awaitable[SessionOwner]],
        owner: Callable[[str], SessionOwner | None],
    ) -> None:
        self._inbox = services.hot.inbox
        self._settings = services.settings
        self._attach = attach
        self._owner = owner
        self._replies: dict[str, asyncio.Event] = {}

    async def send(self, session_id: str, queued: QueuedCommand) -> int:
        """Have a command applied, by this node if no other one answers.

        Returns:
            The number of the turn it applies to.

        Raises:
            SessionProblem: it was refused, or the session does not exist.
            StorageUnavailable: hot storage can't be reached.
        """
        command_id = queued.command_id
        answered = self._replies.setdefault(command_id, asyncio.Event())
        try:
            try:
                owner_id = await self._inbox.push(session_id, queued.pack())
            except SessionErased as exc:
                raise SessionProblem("not_found") from exc
            reply = None
            if owner_id is not None and self._owner(session_id) is None:
                reply = await self._reply(session_id, command_id, answered)
            if reply is None:
                owner = await self._attach(session_id)
                await owner.commands.apply_inbox()
                reply = await self._reply(session_id, command_id, answered)
            if reply is None:
                raise SessionProblem("storage_unavailable", "The command could not be applied in time.")
            return reply.result()
        finally:
            self._replies.pop(command_id, None)

    def replied(self, command_id: str) -> None:
        """There is a reply to this command, which may have been given to another node."""
        answered = self._replies.get(command_id)
        if answered is not None:
            answered.set()

    async def apply_waiting(self, owner: SessionOwner) -> None:
        """Apply what waits for this owner; what can't be applied now stays."""
        try:
            await owner.commands.apply_inbox()
        except (SessionProblem, NotOwner, SessionErased, StorageUnavailable) as exc:
            log.info("inbox.kept", session=owner.session_id, reason=str(exc))

    async def _reply(self, session_id: str, command_id: str, answered: asyncio.Event) -> CommandReply | None:
        """The reply to a command; None when no owner has even looked at it in time."""
        wait_s = self._settings.command_wait_s
        while True:
            answered.clear()
            reply = await self._look_up(session_id, command_id)
            if reply is not None and not reply.waiting:
                return reply
            if reply is not None:
                wait_s = self._settings.turn_deadline_s + self._settings.command_wait_s
            try:
                async with asyncio.timeout(wait_s):
                    await answered.wait()
            except TimeoutError:
                reply = await self._look_up(session_id, command_id)
                return None if reply is None or reply.waiting else reply

    async def _look_up(self, session_id: str, command_id: str) -> CommandReply | None:
        found = await self._inbox.reply_to(session_id, command_id)
        return CommandReply.unpack(found) if found is not None else None
