"""The moderator's socket.

One task reads, one writes what waits in the mailbox (and makes whole snapshots and overviews when they are due), one
checks now and then that the token is still valid. Commands run beside them, so that none has to wait for another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from server.addresses import address_of
from server.auth import COOKIE, Authenticator, Principal
from server.errors import ApiError
from server.protocol.codec import ProtocolProblem, encode
from server.protocol.codes import (
    CLOSE_NORMAL,
    CLOSE_POLICY,
    CLOSE_SERVICE_RESTART,
    CLOSE_UNAUTHORISED,
    CLOSE_UNSUPPORTED_DATA,
)
from server.protocol.inbound import Ping
from server.protocol.moderator import (
    AnyCommand,
    ModeratorHello,
    ModeratorMessage,
    Overview,
    Subscribe,
    Unsubscribe,
)
from server.protocol.outbound import Error, Pong
from server.protocol.watched import ModeratorReady
from server.session.problems import Moved, SessionProblem
from server.sockets.base import ClientSocket, ConnectionOver, OnError
from server.sockets.moderator_feed import ModeratorFeed
from server.sockets.settings import SocketSettings
from server.store.errors import StoreError
from server.watch.commands import decode_moderator
from server.watch.mailbox import Mailbox
from server.watch.refusals import REFUSALS, TO_MODERATORS, error_for
from server.watch.service import WatchService

log = structlog.get_logger("askwell.watch")

MODERATOR_PATH = "/ws/moderator"
RECHECK_S = 30.0
MOST_COMMANDS = 8

Recheck = Callable[[], Awaitable[Principal | None]]
"""Whether the moderator may still watch: who it is, or None."""


@dataclass(frozen=True)
class ModeratorServices:
    """What the sockets of moderators share.

    Args:
        watch: what moderators see of the sessions.
        auth: knows moderators.
        settings: limits of one socket.
        clock: monotonic seconds.
        on_error: called with the code of every error that a client is told.
    """

    watch: WatchService
    auth: Authenticator
    settings: SocketSettings
    clock: Callable[[], float]
    on_error: OnError

    def route(self) -> WebSocketRoute:
        """The route of the socket."""

        async def endpoint(websocket: WebSocket) -> None:
            await ModeratorSocket(websocket, self).serve()

        return WebSocketRoute(MODERATOR_PATH, endpoint, name="moderator")


class ModeratorSocket(ClientSocket[ModeratorMessage, ModeratorHello]):
    """One connection of a moderator.

    Args:
        websocket: not accepted yet.
        services: shared by all sockets of moderators.
    """

    hello_type = ModeratorHello

    def __init__(self, websocket: WebSocket, services: ModeratorServices) -> None:
        super().__init__(websocket, services.settings, services.clock, services.on_error)
        watch = services.watch
        self._auth = services.auth
        self._watch = watch
        self.mailbox = Mailbox()
        self._feed = ModeratorFeed(websocket, self.mailbox, watch, services.clock, self._refuse)
        self._commands_running = 0
        self.principal = Principal("moderator")
        """Who it is, once that is known."""

    def ended(self) -> None:
        """Stop sending to this connection."""
        self._watch.exchange.leave(self.mailbox)
        self._watch.connections.pop(self.mailbox, None)

    # Who it is

    async def _identify(self, hello: ModeratorHello) -> Recheck:
        """Find out who says hello, by token or by the page's cookie. Raises ConnectionOver; the client is told why."""
        token, cookie = hello.token, self.websocket.cookies.get(COOKIE)
        address = address_of(self.websocket.scope)

        async def known() -> Principal | None:
            if token is not None:
                found = await self._auth.identify(token, address)
            else:
                found = await self._auth.identify_cookie(cookie, address) if cookie else None
            return found if found is not None and found.kind == "moderator" else None

        try:
            async with asyncio.timeout(self.settings.attach_s):
                principal = await known()
        except (StoreError, TimeoutError) as exc:
            log.warning("watch.identify_failed", error=repr(exc))
            await self.tell(error_for(SessionProblem("storage_unavailable"), "hello"))
            raise ConnectionOver(CLOSE_SERVICE_RESTART) from exc
        except ApiError as exc:
            await self.tell(error_for(exc, "hello"))
            raise ConnectionOver(CLOSE_SERVICE_RESTART) from exc
        if principal is None:
            await self.tell(error_for(SessionProblem("unauthorised"), "hello"))
            raise ConnectionOver(CLOSE_UNAUTHORISED)
        self.principal = self._watch.connections[self.mailbox] = principal
        concepts = None if principal.concepts is None else tuple(sorted(principal.concepts))
        ready = ModeratorReady(name=principal.name, token_id=principal.token_id, concepts=concepts)
        self.mailbox.reply(encode(ready))
        return known

    async def _recheck(self, known: Recheck) -> None:
        """Close the connection once the token or the login has ended, which may be before others knew of it."""
        while True:
            try:
                if await known() is None:
                    self._watch.disconnect(self.mailbox)
            except ApiError:
                # Only what has ended is refused for its number.
                self._watch.disconnect(self.mailbox)
            except StoreError as exc:
                log.info("watch.recheck_failed", reason=str(exc))
            await asyncio.sleep(RECHECK_S)

    # What it says

    async def converse(self, hello: ModeratorHello) -> int:
        """Serve a moderator until one side ends; the code to close with."""
        known = await self._identify(hello)
        async with asyncio.TaskGroup() as tasks:
            writer = tasks.create_task(self._feed.run())
            reader = tasks.create_task(self._receive(tasks))
            guard = tasks.create_task(self._recheck(known))
            await asyncio.wait({writer, reader}, return_when=asyncio.FIRST_COMPLETED)
            self.mailbox.close(CLOSE_NORMAL)
            await asyncio.wait({writer}, timeout=self.settings.close_wait_s)
            for task in (writer, reader, guard):
                task.cancel()
            # Commands that still run don't keep the connection open.
            await self.close_with(self.mailbox.close_code or CLOSE_NORMAL)
        return CLOSE_NORMAL

    async def _receive(self, tasks: asyncio.TaskGroup) -> None:
        """Read messages until the client goes or must go."""
        while True:
            try:
                await self._handle(await self.read(), tasks)
            except ProtocolProblem as problem:
                self._refuse(problem.frame())
                if self.limiter.exceeds_violations(problem) or problem.fatal:
                    self.mailbox.close(problem.close_code)
                    return
            except WebSocketDisconnect:
                return
            if self.mailbox.overfull:
                self.mailbox.close(CLOSE_POLICY)
                return

    async def _handle(self, message: ModeratorMessage, tasks: asyncio.TaskGroup) -> None:
        match message:
            case Ping():
                self.mailbox.reply(encode(Pong(t=message.t)))
            case ModeratorHello():
                raise ProtocolProblem("invalid_message", "hello was said already.", ref="hello")
            case Subscribe():
                await self._subscribe(message.session_id)
            case Unsubscribe():
                self._feed.unwatch()
            case Overview():
                self._show_overview(message)
            case _:
                self._begin(message, tasks)

    async def _subscribe(self, session_id: str) -> None:
        try:
            await self._watch.commands.visible(session_id, self.principal)
        except REFUSALS as exc:
            self._refuse_for(exc, "subscribe")
            return
        self._feed.watch(session_id, self.principal)

    def _show_overview(self, wish: Overview) -> None:
        concept_id = wish.filter.concept_id
        if wish.follow and concept_id is not None and not self.principal.may_see(concept_id):
            self._feed.unfollow()
            self._refuse_for(SessionProblem("forbidden"), "overview")
        elif wish.follow:
            self._feed.follow(wish.filter, self.principal)
        else:
            self._feed.unfollow()

    def _begin(self, command: AnyCommand, tasks: asyncio.TaskGroup) -> None:
        session_id = command.session_id or self._feed.watched
        if session_id is None:
            told = "Name a session, or subscribe to one first."
            self._refuse(Error.of("invalid_message", told, ref=command.command_id))
        elif self._commands_running >= MOST_COMMANDS:
            self._refuse_for(SessionProblem("rate_limited"), command.command_id)
        else:
            self._commands_running += 1
            tasks.create_task(self._apply(session_id, command), name=f"command {command.type}")

    async def _apply(self, session_id: str, command: AnyCommand) -> None:
        try:
            done = await self._watch.commands.apply(session_id, command, self.principal)
            self.mailbox.reply(encode(done))
        except REFUSALS as exc:
            self._refuse_for(exc, command.command_id)
        except Exception as exc:
            log.exception("watch.defect", command=command.type)
            self._refuse_for(exc, command.command_id)
        finally:
            self._commands_running -= 1

    async def parse(self, frame: str | bytes) -> ModeratorMessage:
        """The message of a text frame. Raises ProtocolProblem."""
        if isinstance(frame, bytes):
            told = "Binary frames mean nothing here."
            raise ProtocolProblem("invalid_message", told, close_code=CLOSE_UNSUPPORTED_DATA)
        self.limiter.count_message()
        return decode_moderator(frame, max_bytes=self.settings.max_message_bytes)

    def _refuse_for(self, exc: Exception, ref: str) -> None:
        if isinstance(exc, Moved):
            exc = SessionProblem("storage_unavailable", TO_MODERATORS["storage_unavailable"])
        self._refuse(error_for(exc, ref))

    def _refuse(self, frame: Error) -> None:
        self.on_error(frame.code)
        self.mailbox.reply(encode(frame))
