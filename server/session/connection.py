"""The respondent's socket: who may connect, what is read from it, what is written to it.

Three tasks per connection: one reads frames and answers what needs no session, one hands the rest to the session's
owner in order, one writes what the outbox holds. The rules of the session are not here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from server.origins import is_own_page
from server.protocol.codec import ProtocolProblem, decode_text
from server.protocol.codes import (
    CLOSE_COME_AGAIN,
    CLOSE_NORMAL,
    CLOSE_POLICY,
    CLOSE_PROTOCOL_ERROR,
    CLOSE_TOO_BIG,
    SUBPROTOCOL,
)
from server.protocol.inbound import AudioCancel, AudioStart, AudioStop, ClientMessage, Hello, Ping, Playback, Typing
from server.protocol.outbound import Error, Pong
from server.session.dispatch import Dispatcher, reference
from server.session.hub import Hub
from server.session.listening import Listening
from server.session.manners import Manners
from server.session.outbox import Outbox
from server.session.owner import SessionOwner
from server.session.problems import Moved, SessionProblem, error_frame
from server.session.settings import SocketSettings
from server.session.wording import Wording, WordsOf, usual

log = structlog.get_logger("askwell.socket")

Authenticate = Callable[[str], Awaitable[str | None]]
"""The session that a respondent's token opens; None when the token is wrong."""

ErrorTold = Callable[[str], None]
"""Called with the code of every error that a client is told."""

RESPONDENT_PATH = "/ws/respondent"


def respondent_route(
    hub: Hub,
    authenticate: Authenticate,
    settings: SocketSettings | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    path: str = RESPONDENT_PATH,
    on_error: ErrorTold = lambda _: None,
    words_of: WordsOf = usual,
) -> WebSocketRoute:
    """The route of the respondent's socket.

    Args:
        hub: the sessions of this node.
        authenticate: checks a token.
        settings: limits of one socket.
        clock: monotonic seconds.
        path: where.
        on_error: called with the code of every error that a client is told.
        words_of: the words for notices and errors in the language of an interview.
    """
    chosen = settings or SocketSettings()

    async def endpoint(websocket: WebSocket) -> None:
        await RespondentSocket(websocket, hub, authenticate, chosen, clock, on_error, words_of).serve()

    return WebSocketRoute(path, endpoint, name="respondent")


def origin_allowed(origin: str | None, host: str | None, allowed: tuple[str, ...]) -> bool:
    """Whether a page of this origin may connect.

    Args:
        origin: `Origin` of the handshake; None from clients that are no browser.
        host: `Host` of the handshake: its own pages may always connect.
        allowed: further origins; `*` stands for all.
    """
    if origin is None or "*" in allowed or origin in allowed:
        return True
    return is_own_page(origin, host or "")


class _Left(Exception):
    """The connection is over; close with `code` if that was not done yet."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class RespondentSocket:
    """One connection from its handshake to its end.

    Args:
        websocket: not accepted yet.
        hub: the sessions of this node.
        authenticate: checks a token.
        settings: limits.
        clock: monotonic seconds.
        on_error: called with the code of every error that the client is told.
        words_of: the words of a language.
    """

    def __init__(
        self,
        websocket: WebSocket,
        hub: Hub,
        authenticate: Authenticate,
        settings: SocketSettings,
        clock: Callable[[], float],
        on_error: ErrorTold,
        words_of: WordsOf,
    ) -> None:
        self._words_of = words_of
        self._websocket = websocket
        self._on_error = on_error
        self._hub = hub
        self._authenticate = authenticate
        self._settings = settings
        self._manners = Manners(settings, clock)
        self._outbox = Outbox(settings.outbox_events, settings.outbox_wait_s)
        self._listening: Listening | None = None
        self._owner: SessionOwner | None = None
        self._greeted = asyncio.Event()

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
                raise _Left(CLOSE_PROTOCOL_ERROR)
            owner, hello = await self._greet()
            code = await self._converse(owner, hello)
        except _Left as left:
            code = left.code
        except WebSocketDisconnect:
            return
        await self._close(code)

    # Before `ready`

    async def _greet(self) -> tuple[SessionOwner, Hello]:
        try:
            async with asyncio.timeout(self._settings.handshake_s):
                hello = await self._read_hello()
        except TimeoutError as exc:
            await self._tell(Error.of("invalid_message", "The first message, hello, did not come in time."))
            raise _Left(CLOSE_POLICY) from exc
        try:
            async with asyncio.timeout(self._settings.attach_s):
                session_id = await self._authenticate(hello.token)
                if session_id is None:
                    raise SessionProblem("unauthorised")
                return await self._hub.attach(session_id), hello
        except TimeoutError as exc:
            await self._tell(Error.of("storage_unavailable", ref="hello"))
            raise _Left(CLOSE_COME_AGAIN) from exc
        except Moved as exc:
            await self._tell(error_frame(exc, ref="hello"))
            raise _Left(exc.close_code) from exc
        except Exception as exc:
            frame = error_frame(exc, ref="hello")
            if frame.code == "internal":
                log.exception("socket.attach_failed")
            await self._tell(frame)
            raise _Left(CLOSE_COME_AGAIN if frame.retryable else CLOSE_POLICY) from exc

    async def _read_hello(self) -> Hello:
        while True:
            try:
                message = await self._read()
            except ProtocolProblem as problem:
                await self._tell(problem.frame())
                if self._manners.offended(problem) or problem.fatal:
                    raise _Left(problem.close_code) from problem
                continue
            if isinstance(message, Hello):
                return message
            await self._tell(Error.of("invalid_message", "The first message must be hello.", ref=message.type))
            raise _Left(CLOSE_PROTOCOL_ERROR)

    # After it

    async def _converse(self, owner: SessionOwner, hello: Hello) -> int:
        """Serve the session until one side ends; the code to close with."""
        outbox = self._outbox
        outbox.speak(Wording(self._words_of(owner.state.language)))
        dispatcher = Dispatcher(self._hub, owner, outbox)
        self._listening = owner.listening
        self._owner = owner
        waiting: asyncio.Queue[ClientMessage] = asyncio.Queue(self._settings.waiting_messages)
        try:
            async with asyncio.TaskGroup() as tasks:
                writer = tasks.create_task(self._write())
                reader = tasks.create_task(self._listen(waiting))
                worker = tasks.create_task(self._work(dispatcher, waiting, hello))
                closer = tasks.create_task(outbox.closed())
                await asyncio.wait({writer, reader, closer}, return_when=asyncio.FIRST_COMPLETED)
                outbox.close(CLOSE_NORMAL)
                await asyncio.wait({writer}, timeout=self._settings.close_wait_s)
                for task in (writer, reader, worker, closer):
                    task.cancel()
        finally:
            owner.unsubscribe(outbox)
        return outbox.close_code or CLOSE_NORMAL

    async def _work(self, dispatcher: Dispatcher, waiting: asyncio.Queue[ClientMessage], hello: Hello) -> None:
        """Hand messages to the session, in order."""
        try:
            await dispatcher.subscribe(hello)
            self._greeted.set()
        except Exception as exc:
            frame = error_frame(exc, ref="hello")
            if frame.code == "internal":
                log.exception("socket.defect", type="hello")
            await self._refuse(frame)
            self._outbox.close(exc.close_code if isinstance(exc, Moved) else CLOSE_COME_AGAIN)
            return
        while True:
            message = await waiting.get()
            try:
                await dispatcher.handle(message)
            except Moved as exc:
                await self._refuse(error_frame(exc, ref=reference(message)))
                self._outbox.close(exc.close_code)
                return
            except Exception as exc:
                frame = error_frame(exc, ref=reference(message))
                if frame.code == "internal":
                    log.exception("socket.defect", type=message.type)
                await self._refuse(frame)

    async def _listen(self, waiting: asyncio.Queue[ClientMessage]) -> None:
        """Read frames until the client goes or must go."""
        while True:
            try:
                message = await self._read()
                match message:
                    case Ping():
                        await self._outbox.send(Pong(t=message.t))
                    case Typing():
                        self._write_on()
                    case Playback() | AudioStop() | AudioCancel():
                        await self._spoken(message)
                    case AudioStart() if await self._started(message):
                        continue
                    case Hello():
                        raise ProtocolProblem("invalid_message", "hello was said already.", ref="hello")
                    case _ if waiting.full():
                        raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY, ref=reference(message))
                    case _:
                        waiting.put_nowait(message)
            except SessionProblem as problem:
                await self._refuse(error_frame(problem, ref=reference(message)))
            except ProtocolProblem as problem:
                await self._refuse(problem.frame())
                if self._manners.offended(problem) or problem.fatal:
                    self._outbox.close(problem.close_code)
                    return
            except WebSocketDisconnect:
                return

    async def _read(self) -> ClientMessage:
        """The next message; audio frames nobody can use are refused or passed over.

        Raises:
            ProtocolProblem: what came can't be taken.
            WebSocketDisconnect: the client is gone.
        """
        while True:
            frame = await self._websocket.receive()
            if frame["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(frame.get("code", CLOSE_NORMAL))
            data: bytes | None = frame.get("bytes")
            text: str | None = frame.get("text")
            size = len(data) if data is not None else len(text or "")
            if size > self._settings.max_frame_bytes:
                raise ProtocolProblem(
                    "invalid_message", "This message is far too long.", close_code=CLOSE_TOO_BIG, fatal=True
                )
            if data is not None:
                await self._hear(data)
                continue
            self._manners.check_rate()
            return decode_text(text or "", max_bytes=self._settings.max_message_bytes)

    # Speech, which does not wait for anything else: its messages and frames keep their order

    async def _hear(self, data: bytes) -> None:
        frame = self._manners.check_audio(data)
        listening = self._listening
        if listening is None:
            raise ProtocolProblem("invalid_message", "Audio must be announced by audio.start.", ref="audio")
        told = listening.take(frame)
        if told is not None:
            await self._refuse(told)

    async def _started(self, message: AudioStart) -> bool:
        """Whether the answer is listened to; if not, it was taken before."""
        await self._greeted.wait()
        assert self._listening is not None
        return self._listening.start(message)

    async def _spoken(self, message: AudioStop | AudioCancel | Playback) -> None:
        await self._greeted.wait()
        assert self._listening is not None
        match message:
            case Playback():
                self._listening.playback(message.state)
            case AudioCancel():
                self._listening.cancel()
            case AudioStop():
                told = self._listening.stop()
                if told is not None:
                    await self._refuse(told)

    def _write_on(self) -> None:
        """The respondent is writing."""
        if self._owner is not None:
            self._owner.witness.typing()

    async def _write(self) -> None:
        """Write what the outbox holds until it is closed."""
        try:
            while (frame := await self._outbox.next()) is not None:
                await self._websocket.send_text(frame)
        except (WebSocketDisconnect, RuntimeError) as exc:
            # Starlette raises RuntimeError for a send after the client has gone.
            log.debug("socket.gone", reason=repr(exc))

    async def _refuse(self, error: Error) -> None:
        self._on_error(error.code)
        await self._outbox.send(error)

    async def _tell(self, error: Error) -> None:
        self._on_error(error.code)
        if self._websocket.application_state is WebSocketState.CONNECTED:
            await self._websocket.send_text(error.model_dump_json())

    async def _close(self, code: int) -> None:
        if (
            self._websocket.application_state is WebSocketState.DISCONNECTED
            or self._websocket.client_state is WebSocketState.DISCONNECTED
        ):
            return
        try:
            async with asyncio.timeout(self._settings.close_wait_s):
                await self._websocket.close(code)
        except (TimeoutError, RuntimeError, WebSocketDisconnect) as exc:
            log.debug("socket.close_failed", reason=repr(exc))
