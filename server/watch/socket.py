"""The moderator's socket: who may connect, what is read from it, what is written to it.

One task reads, one writes what the mailbox holds (and makes whole snapshots and overviews when they are due), one looks
now and then whether the token is still good. Commands run beside them, so that no answer has to wait for another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from server.auth import Principal
from server.protocol.base import Message
from server.protocol.codec import ProtocolProblem, encode, parse, read_object
from server.protocol.codes import (
    CLOSE_COME_AGAIN,
    CLOSE_NORMAL,
    CLOSE_POLICY,
    CLOSE_PROTOCOL_ERROR,
    CLOSE_TOO_BIG,
    CLOSE_UNAUTHORISED,
    CLOSE_UNSUPPORTED_DATA,
    SUBPROTOCOL,
)
from server.protocol.inbound import Ping
from server.protocol.moderator import (
    MODERATOR_MESSAGES,
    AnyCommand,
    ModeratorHello,
    ModeratorMessage,
    Overview,
    Subscribe,
    Unsubscribe,
)
from server.protocol.outbound import Error, Pong
from server.protocol.watched import ModeratorReady
from server.session.connection import origin_allowed
from server.session.manners import Manners
from server.session.problems import Moved, SessionProblem
from server.session.settings import SocketSettings
from server.store.errors import StoreError
from server.watch.commands import Commands, read_command
from server.watch.exchange import Exchange
from server.watch.mailbox import Mailbox
from server.watch.overview import Overviews
from server.watch.sending import Sending
from server.watch.snapshots import Snapshots
from server.watch.words import REFUSALS, TO_MODERATORS, error_for

log = structlog.get_logger("askwell.watch")

MODERATOR_PATH = "/ws/moderator"
RECHECK_S = 30.0
MOST_COMMANDS = 8
COMMANDS = frozenset({"pause", "resume", "end", "extend", "inject", "steer", "claim", "release", "note", "set"})

Recheck = Callable[[], Awaitable[Principal | None]]
"""Whether the watcher may still watch: who it is, or None."""
Identify = Callable[[str | None, WebSocket], Awaitable[tuple[Principal, Recheck] | None]]
"""Who says hello with that token, or without one; None where nobody is known."""


class Left(Exception):
    """The connection is over; to be closed with `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class ModeratorSocket:
    """One connection from its handshake to its end.

    Args:
        websocket: not accepted yet.
        identify: checks a token or the page's cookie.
        exchange: live news.
        commands: has commands applied.
        snapshots: makes snapshots.
        overviews: makes overviews.
        settings: limits of one socket.
        clock: monotonic seconds.
        on_error: called with the code of every error that the client is told.
    """

    def __init__(
        self,
        websocket: WebSocket,
        *,
        identify: Identify,
        exchange: Exchange,
        commands: Commands,
        snapshots: Snapshots,
        overviews: Overviews,
        settings: SocketSettings,
        clock: Callable[[], float],
        on_error: Callable[[str], None],
    ) -> None:
        self._websocket = websocket
        self._identify = identify
        self._exchange = exchange
        self._commands = commands
        self._settings = settings
        self._clock = clock
        self._on_error = on_error
        self._manners = Manners(settings, clock)
        self.mailbox = Mailbox()
        self._sending = Sending(websocket, self.mailbox, exchange, snapshots, overviews, clock, self._refuse)
        self._working = 0
        self._recheck: Recheck | None = None
        self.principal = Principal("moderator")
        """Who it is, once that is known."""

    async def serve(self) -> None:
        """Serve the connection until it ends."""
        websocket, headers = self._websocket, self._websocket.headers
        if not origin_allowed(headers.get("origin"), headers.get("host"), self._settings.allowed_origins):
            await websocket.close(CLOSE_POLICY)
            return
        spoken = SUBPROTOCOL in websocket.scope.get("subprotocols", [])
        await websocket.accept(subprotocol=SUBPROTOCOL if spoken else None)
        try:
            if not spoken:
                await self._tell(Error.of("invalid_message", f"This socket speaks {SUBPROTOCOL}."))
                raise Left(CLOSE_PROTOCOL_ERROR)
            await self._greet()
            await self._converse()
        except Left as left:
            await self._close(left.code)
        except WebSocketDisconnect:
            return
        finally:
            self._exchange.leave(self.mailbox)

    def close(self, code: int) -> None:
        """End the connection after the replies that are on their way."""
        self.mailbox.close(code)

    def end(self, code: int) -> None:
        """The token has ended."""
        self.mailbox.reply(encode(error_for(SessionProblem("unauthorised"), None)))
        self.mailbox.close(code)

    # Who it is

    async def _greet(self) -> None:
        try:
            async with asyncio.timeout(self._settings.handshake_s):
                hello = await self._read_hello()
        except TimeoutError as exc:
            await self._tell(Error.of("invalid_message", "The first message, hello, did not come in time."))
            raise Left(CLOSE_POLICY) from exc
        try:
            async with asyncio.timeout(self._settings.attach_s):
                found = await self._identify(hello.token, self._websocket)
        except (StoreError, TimeoutError) as exc:
            log.warning("watch.identify_failed", error=repr(exc))
            await self._tell(error_for(SessionProblem("storage_unavailable"), "hello"))
            raise Left(CLOSE_COME_AGAIN) from exc
        if found is None:
            await self._tell(error_for(SessionProblem("unauthorised"), "hello"))
            raise Left(CLOSE_UNAUTHORISED)
        self.principal, self._recheck = found
        concepts = self.principal.concepts
        ready = ModeratorReady(
            name=self.principal.name,
            token_id=self.principal.token_id,
            concepts=None if concepts is None else tuple(sorted(concepts)),
        )
        self.mailbox.reply(encode(ready))

    async def _read_hello(self) -> ModeratorHello:
        while True:
            try:
                message = await self._read()
            except ProtocolProblem as problem:
                await self._tell(problem.frame())
                if self._manners.offended(problem) or problem.fatal:
                    raise Left(problem.close_code) from problem
                continue
            if isinstance(message, ModeratorHello):
                return message
            await self._tell(Error.of("invalid_message", "The first message must be hello.", ref=message.type))
            raise Left(CLOSE_PROTOCOL_ERROR)

    async def _guard(self) -> None:
        """Close the connection once the token or the cookie has ended."""
        while True:
            await asyncio.sleep(RECHECK_S)
            try:
                known = await self._recheck() if self._recheck is not None else None
            except StoreError as exc:
                log.info("watch.recheck_failed", reason=str(exc))
                continue
            if known is None:
                self.end(CLOSE_UNAUTHORISED)

    # What it says

    async def _converse(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            writer = tasks.create_task(self._sending.run())
            reader = tasks.create_task(self._listen(tasks))
            guard = tasks.create_task(self._guard())
            await asyncio.wait({writer, reader}, return_when=asyncio.FIRST_COMPLETED)
            self.mailbox.close(CLOSE_NORMAL)
            await asyncio.wait({writer}, timeout=self._settings.close_wait_s)
            for task in (writer, reader, guard):
                task.cancel()
            # Commands that are on their way don't keep the connection open.
            await self._close(self.mailbox.close_code or CLOSE_NORMAL)

    async def _listen(self, tasks: asyncio.TaskGroup) -> None:
        """Read frames until the client goes or must go. Commands go on after that: they are on their way."""
        while True:
            try:
                await self._obey(await self._read(), tasks)
            except ProtocolProblem as problem:
                self._refuse(problem.frame())
                if self._manners.offended(problem) or problem.fatal:
                    self.mailbox.close(problem.close_code)
                    return
            except WebSocketDisconnect:
                return
            if self.mailbox.overfull:
                self.mailbox.close(CLOSE_POLICY)
                return

    async def _obey(self, message: ModeratorMessage, tasks: asyncio.TaskGroup) -> None:
        match message:
            case Ping():
                self.mailbox.reply(encode(Pong(t=message.t)))
            case ModeratorHello():
                raise ProtocolProblem("invalid_message", "hello was said already.", ref="hello")
            case Subscribe():
                await self._subscribe(message.session_id)
            case Unsubscribe():
                self._sending.unwatch()
            case Overview():
                self._show_overview(message)
            case _:
                self._begin(message, tasks)

    async def _subscribe(self, session_id: str) -> None:
        try:
            await self._commands.visible(session_id, self.principal)
        except REFUSALS as exc:
            self._refuse_for(exc, "subscribe")
            return
        self._sending.watch(session_id, self.principal)

    def _show_overview(self, wish: Overview) -> None:
        concept_id = wish.filter.concept_id
        if wish.follow and concept_id is not None and not self.principal.may_see(concept_id):
            self._sending.unfollow()
            self._refuse_for(SessionProblem("forbidden"), "overview")
        elif wish.follow:
            self._sending.follow(wish.filter, self.principal)
        else:
            self._sending.unfollow()

    def _begin(self, command: AnyCommand, tasks: asyncio.TaskGroup) -> None:
        session_id = command.session_id or self._sending.watched
        if session_id is None:
            told = "Name a session, or subscribe to one first."
            self._refuse(Error.of("invalid_message", told, ref=command.command_id))
        elif self._working >= MOST_COMMANDS:
            self._refuse_for(SessionProblem("rate_limited"), command.command_id)
        else:
            self._working += 1
            tasks.create_task(self._do(session_id, command), name=f"command {command.type}")

    async def _do(self, session_id: str, command: AnyCommand) -> None:
        try:
            done = await self._commands.do(session_id, command, self.principal)
            self.mailbox.reply(encode(done))
        except REFUSALS as exc:
            self._refuse_for(exc, command.command_id)
        except Exception as exc:
            log.exception("watch.defect", command=command.type)
            self._refuse_for(exc, command.command_id)
        finally:
            self._working -= 1

    async def _read(self) -> ModeratorMessage:
        frame = await self._websocket.receive()
        if frame["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(frame.get("code", CLOSE_NORMAL))
        text: str | None = frame.get("text")
        if text is None:
            raise ProtocolProblem(
                "invalid_message", "Binary frames mean nothing here.", close_code=CLOSE_UNSUPPORTED_DATA
            )
        if len(text) > self._settings.max_frame_bytes:
            raise ProtocolProblem(
                "invalid_message", "This message is far too long.", close_code=CLOSE_TOO_BIG, fatal=True
            )
        self._manners.check_rate()
        value = read_object(text, max_bytes=self._settings.max_message_bytes)
        if value.get("type") in COMMANDS:
            return read_command(value)
        return parse(value, MODERATOR_MESSAGES)

    def _refuse_for(self, exc: Exception, ref: str) -> None:
        if isinstance(exc, Moved):
            exc = SessionProblem("storage_unavailable", TO_MODERATORS["storage_unavailable"])
        self._refuse(error_for(exc, ref))

    def _refuse(self, frame: Error) -> None:
        self._on_error(frame.code)
        self.mailbox.reply(encode(frame))

    async def _tell(self, message: Message) -> None:
        if isinstance(message, Error):
            self._on_error(message.code)
        if self._websocket.application_state is WebSocketState.CONNECTED:
            await self._websocket.send_text(encode(message))

    async def _close(self, code: int) -> None:
        if WebSocketState.DISCONNECTED in (self._websocket.application_state, self._websocket.client_state):
            return
        try:
            async with asyncio.timeout(self._settings.close_wait_s):
                await self._websocket.close(code)
        except (TimeoutError, RuntimeError, WebSocketDisconnect) as exc:
            log.debug("watch.close_failed", reason=repr(exc))
