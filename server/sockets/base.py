"""What the sockets of respondents and moderators share: handshake, hello, rates, errors, closing."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from server.origins import is_own_page
from server.protocol.base import Message
from server.protocol.codec import ProtocolProblem, encode
from server.protocol.codes import CLOSE_NORMAL, CLOSE_POLICY, CLOSE_PROTOCOL_ERROR, CLOSE_TOO_BIG, SUBPROTOCOL
from server.protocol.outbound import Error
from server.rate_limits import TokenBucket
from server.sockets.settings import SocketSettings

log = structlog.get_logger("askwell.socket")

Received = TypeVar("Received")
Hello = TypeVar("Hello", bound=Message)
VIOLATION_FORGOTTEN_AFTER_S = 10.0
LONGEST_HELLO = 4096
"""Characters of the first message, a token and two numbers."""
OnError = Callable[[str], None]
"""Called with the code of every error that a client is told."""


def origin_allowed(origin: str | None, host: str | None, allowed: tuple[str, ...]) -> bool:
    """Whether a page of this origin may connect.

    Args:
        origin: `Origin` of the handshake; None from clients that are no browser.
        host: `Host` of the handshake: the server's own pages may always connect.
        allowed: further origins; `*` stands for all.
    """
    if origin is None or "*" in allowed or origin in allowed:
        return True
    return is_own_page(origin, host or "")


class RateLimiter:
    """Counts the messages, audio frames and violations of one connection.

    Args:
        settings: rates, and the number of violations that are answered.
        clock: monotonic seconds.
    """

    def __init__(self, settings: SocketSettings, clock: Callable[[], float]) -> None:
        self._messages = TokenBucket(settings.messages_per_s, settings.message_burst, clock)
        self._frames = TokenBucket(settings.frames_per_s, settings.frames_per_s, clock)
        self._violations = TokenBucket(1.0 / VIOLATION_FORGOTTEN_AFTER_S, settings.patience, clock)

    def count_message(self) -> None:
        """Count one text message. Raises ProtocolProblem `rate_limited`."""
        if self._messages.take() > 0:
            raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY)

    def count_frame(self) -> None:
        """Count one audio frame. Raises ProtocolProblem `rate_limited`."""
        if self._frames.take() > 0:
            raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY, ref="audio")

    def exceeds_violations(self, problem: ProtocolProblem) -> bool:
        """Count one violation; whether it was one too many."""
        if problem.code == "invalid_input":
            return False
        return self._violations.take() > 0


class ConnectionOver(Exception):
    """The connection is over, to be closed with `code`."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class ClientSocket(ABC, Generic[Received, Hello]):
    """One connection from its handshake to its end.

    Args:
        websocket: not accepted yet.
        settings: limits.
        clock: monotonic seconds.
        on_error: called with the code of every error that the client is told.
    """

    hello_type: type[Hello]
    """The first message of a client."""

    def __init__(
        self, websocket: WebSocket, settings: SocketSettings, clock: Callable[[], float], on_error: OnError
    ) -> None:
        self.websocket = websocket
        self.settings = settings
        self.limiter = RateLimiter(settings, clock)
        self.on_error = on_error
        self.known = False
        """Whether the client has said who it is."""

    async def serve(self) -> None:
        """Serve the connection until it ends."""
        websocket, headers = self.websocket, self.websocket.headers
        if not origin_allowed(headers.get("origin"), headers.get("host"), self.settings.allowed_origins):
            await websocket.close(CLOSE_POLICY)
            return
        try:
            code = await self.converse(await self.greet())
        except ConnectionOver as over:
            code = over.code
        except WebSocketDisconnect:
            return
        finally:
            self.ended()
        await self.close_with(code)

    @property
    def offered(self) -> Sequence[str]:
        """The subprotocols that the client offers."""
        found: Sequence[str] = self.websocket.scope.get("subprotocols", ())
        return found

    async def greet(self) -> Hello:
        """Accept the connection; what the client says first. Raises ConnectionOver, after telling why."""
        spoken = SUBPROTOCOL in self.offered
        await self.websocket.accept(subprotocol=SUBPROTOCOL if spoken else None)
        if not spoken:
            await self.tell(Error.of("invalid_message", f"This socket speaks {SUBPROTOCOL}."))
            raise ConnectionOver(CLOSE_PROTOCOL_ERROR)
        return await self._hello()

    @abstractmethod
    async def parse(self, frame: str | bytes) -> Received | None:
        """The message of a frame; None for a frame that needs no further attention. Raises ProtocolProblem."""

    @abstractmethod
    async def converse(self, hello: Hello) -> int:
        """Serve a client that has said hello; the code to close with. Raises ConnectionOver, WebSocketDisconnect."""

    def ended(self) -> None:
        """Give back what the connection holds; called once, at its end."""

    async def _hello(self) -> Hello:
        try:
            async with asyncio.timeout(self.settings.handshake_s):
                return await self._read_hello()
        except TimeoutError as exc:
            await self.tell(Error.of("invalid_message", "The first message, hello, did not come in time."))
            raise ConnectionOver(CLOSE_POLICY) from exc

    async def _read_hello(self) -> Hello:
        while True:
            try:
                message = await self.read()
            except ProtocolProblem as problem:
                await self.tell(problem.frame())
                if self.limiter.exceeds_violations(problem) or problem.fatal:
                    raise ConnectionOver(problem.close_code) from problem
                continue
            if isinstance(message, self.hello_type):
                self.known = True
                return message
            ref = getattr(message, "type", None)
            await self.tell(Error.of("invalid_message", "The first message must be hello.", ref=ref))
            raise ConnectionOver(CLOSE_PROTOCOL_ERROR)

    async def read(self) -> Received:
        """The next message.

        Raises:
            ProtocolProblem: what came can't be taken.
            WebSocketDisconnect: the client is gone.
        """
        while True:
            frame = await self.websocket.receive()
            if frame["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(frame.get("code", CLOSE_NORMAL))
            data: bytes | None = frame.get("bytes")
            content: str | bytes = data if data is not None else frame.get("text") or ""
            if not self.known and len(content) > LONGEST_HELLO:
                told = "The first message, hello, is far shorter."
                raise ProtocolProblem("invalid_message", told, close_code=CLOSE_TOO_BIG, fatal=True)
            message = await self.parse(content)
            if message is not None:
                return message

    async def tell(self, message: Message) -> None:
        """Send a message at once, past what waits to be sent; before the conversation begins."""
        if isinstance(message, Error):
            self.on_error(message.code)
        if self.websocket.application_state is WebSocketState.CONNECTED:
            for frame in self.frames(message):
                await self.websocket.send_text(frame)

    def frames(self, message: Message) -> Sequence[str]:
        """The text frames of a message."""
        return (encode(message),)

    async def close_with(self, code: int) -> None:
        """Close the connection, unless either side has."""
        if WebSocketState.DISCONNECTED in (self.websocket.application_state, self.websocket.client_state):
            return
        try:
            async with asyncio.timeout(self.settings.close_wait_s):
                await self.websocket.close(code)
        except (TimeoutError, RuntimeError, WebSocketDisconnect) as exc:
            log.debug("socket.close_failed", reason=repr(exc))
