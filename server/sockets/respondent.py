"""The respondent's socket: what every connection of a respondent does, and the protocol's own format.

Three tasks per connection: one reads frames and answers what needs no session, one hands the other messages to the
session's owner in order, one writes what waits to be sent. The rules of the session are not here.
"""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import structlog
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from pipeline.concept import Patience
from pipeline.grid.rating import written
from pipeline.turn import Answer
from server.addresses import address_of
from server.hot.errors import NotOwner
from server.lean_event import LeanEvent
from server.protocol.codec import ProtocolProblem, decode_binary, decode_text
from server.protocol.codes import CLOSE_NORMAL, CLOSE_POLICY, CLOSE_SERVICE_RESTART
from server.protocol.inbound import (
    AudioCancel,
    AudioStart,
    AudioStop,
    ChangeSettings,
    ClientMessage,
    Correct,
    Finish,
    GiveConsent,
    Hello,
    Pause,
    Ping,
    Playback,
    Rate,
    ReadAloud,
    Rephrase,
    Resume,
    SendAnswer,
    Skip,
    Typing,
    Withdraw,
)
from server.protocol.outbound import Error, Pong
from server.session.additions import unless_urgent
from server.session.events import RespondentTyping
from server.session.hub import Hub
from server.session.outbox import Outbox, Wire
from server.session.owner import SessionOwner
from server.session.problems import Moved, SessionProblem, error_frame
from server.sockets.base import ClientSocket, ConnectionOver, OnError, Received
from server.sockets.connected import ConnectedSessions
from server.sockets.settings import SocketSettings
from server.sockets.wording import Wording, WordsOf, usual
from server.speech.listening import Listeners, Listening
from server.voice.reading import ReadingAloud
from server.voice.voices import Voices

log = structlog.get_logger("askwell.socket")

Authenticate = Callable[[str, str], Awaitable[str | None]]
"""The session that a respondent's token opens, by the token and the client's address; None when it is wrong."""

RESPONDENT_PATH = "/ws/respondent"
TOO_MANY_HERE = "Too many interviews are open from your network at the moment. Please try again in a few minutes."


@dataclass(frozen=True)
class RespondentServices:
    """What the sockets of respondents share.

    Args:
        hub: the sessions of this node.
        listeners: hear what respondents say.
        voices: read questions aloud.
        authenticate: checks a token.
        settings: limits of one socket.
        clock: monotonic seconds.
        on_error: called with the code of every error that a client is told.
        words_of: the words for notices and errors in the language of an interview.
        connected: the interviews that are connected from each address.
        patience: how long a pause may be, where neither respondent nor concept says.
    """

    hub: Hub
    listeners: Listeners
    voices: Voices
    authenticate: Authenticate
    settings: SocketSettings = field(default_factory=SocketSettings)
    clock: Callable[[], float] = time.monotonic
    on_error: OnError = lambda code: None
    words_of: WordsOf = usual
    connected: ConnectedSessions = field(default_factory=ConnectedSessions)
    patience: Patience = "normal"

    def route(self, path: str = RESPONDENT_PATH) -> WebSocketRoute:
        """The route of the socket."""

        async def endpoint(websocket: WebSocket) -> None:
            await RespondentSocket(websocket, self).serve()

        return WebSocketRoute(path, endpoint, name="respondent")


Done = Callable[[], Awaitable[None]]
"""Called when a message was handled."""


@dataclass(frozen=True, slots=True)
class Task:
    """A message that waits for the session.

    Args:
        message: what is asked for.
        ref: what an error about it refers to.
        done: called when it was done.
    """

    message: ClientMessage
    ref: str
    done: Done | None = None


class RespondentConnection(ClientSocket[Received, Hello]):
    """One connection of a respondent, in whatever format.

    Args:
        websocket: not accepted yet.
        services: shared by all sockets of respondents.
        wire: the format in which the client is written to.
    """

    hello_type = Hello

    def __init__(self, websocket: WebSocket, services: RespondentServices, wire: Wire | None = None) -> None:
        super().__init__(websocket, services.settings, services.clock, services.on_error)
        self._services = services
        self._outbox = Outbox(services.settings.outbox_events, services.settings.outbox_wait_s, wire)
        self._waiting: list[Task] = []
        self._arrived = LeanEvent()
        self._owner: SessionOwner | None = None
        self._greeted = LeanEvent()
        self._reading: ReadingAloud | None = None
        """Reads questions aloud, once the client has asked for it."""
        self._tasks: asyncio.TaskGroup | None = None
        self._reading_tasks: list[asyncio.Task[None]] = []
        self._entry: tuple[str, str] | None = None
        """Address and session, while they count as connected."""

    async def _attach(self, hello: Hello) -> SessionOwner:
        """The owner of the session that the token opens. Raises ConnectionOver, after telling the client why."""
        try:
            async with asyncio.timeout(self.settings.attach_s):
                session_id = await self._services.authenticate(hello.token, address_of(self.websocket.scope))
                if session_id is None:
                    raise SessionProblem("unauthorised")
                if not self._enter(session_id):
                    raise SessionProblem("too_many_sessions", TOO_MANY_HERE)
                owner = await self._services.hub.attach(session_id)
                self.admit(owner)
                return owner
        except TimeoutError as exc:
            await self.tell(Error.of("storage_unavailable", ref="hello"))
            raise ConnectionOver(CLOSE_SERVICE_RESTART) from exc
        except Exception as exc:
            if isinstance(exc, Moved) and exc.close_code == CLOSE_SERVICE_RESTART:
                # The code says all: the client connects again, and the respondent notices nothing.
                raise ConnectionOver(exc.close_code) from exc
            frame = self._frame(exc, "hello")
            await self.tell(frame)
            if isinstance(exc, Moved):
                raise ConnectionOver(exc.close_code) from exc
            raise ConnectionOver(CLOSE_SERVICE_RESTART if frame.retryable else CLOSE_POLICY) from exc

    def admit(self, owner: SessionOwner) -> None:
        """Refuse a session that the client did not mean. Raises SessionProblem."""

    def _enter(self, session_id: str) -> bool:
        """Whether the session may be connected from this address; it then is until the connection ends."""
        entry = (address_of(self.websocket.scope), session_id)
        if not self._services.connected.enter(*entry, most=self.settings.sessions_per_address):
            return False
        self._entry = entry
        return True

    def ended(self) -> None:
        """The session is not connected by this socket any more."""
        if self._entry is not None:
            self._services.connected.leave(*self._entry)

    async def converse(self, hello: Hello) -> int:
        """Serve the session until one side ends; the code to close with."""
        owner, outbox = await self._attach(hello), self._outbox
        outbox.reword(Wording(self._services.words_of(owner.state.language)))
        self._owner = owner
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                writer = tasks.create_task(self._write())
                reader = tasks.create_task(self._receive())
                worker = tasks.create_task(self._work(owner, hello))
                closer = tasks.create_task(outbox.closed())
                beside = [tasks.create_task(work) for work in self.beside()]
                await asyncio.wait({writer, reader, closer}, return_when=asyncio.FIRST_COMPLETED)
                outbox.close(CLOSE_NORMAL)
                await asyncio.wait({writer}, timeout=self.settings.close_wait_s)
                for task in (writer, reader, worker, closer, *beside, *self._reading_tasks):
                    task.cancel()
        finally:
            owner.unsubscribe(outbox)
        return outbox.close_code or CLOSE_NORMAL

    def beside(self) -> Sequence[Coroutine[Any, Any, None]]:
        """Further work that lasts as long as the conversation."""
        return ()

    def known_until(self, owner: SessionOwner, hello: Hello) -> tuple[int, str | None]:
        """The newest durable event that the client knows, and its epoch; those after it are sent."""
        return hello.last_event_id, hello.epoch

    async def _work(self, owner: SessionOwner, hello: Hello) -> None:
        """Hand messages to the session, in order."""
        try:
            last, epoch = self.known_until(owner, hello)
            await owner.subscribe(self._outbox, last_event_id=last, epoch=epoch)
            owner.arrive()
            self._greeted.set()
        except Exception as exc:  # noqa: BLE001 - logged by _frame
            await self.refuse(self._frame(exc, "hello"))
            self._outbox.close(exc.close_code if isinstance(exc, Moved) else CLOSE_SERVICE_RESTART)
            return
        handler = MessageHandler(self._services, owner, self._outbox)
        while True:
            task = await self._next()
            try:
                await handler.handle(task.message)
                if task.done is not None:
                    await task.done()
            except Exception as exc:  # noqa: BLE001 - logged by _frame
                await self.refuse(self._frame(exc, task.ref))
                if isinstance(exc, Moved):
                    self._outbox.close(exc.close_code)
                    return

    async def _next(self) -> Task:
        """The next message that waits for the session."""
        while not self._waiting:
            self._arrived.clear()
            await self._arrived.wait()
        return self._waiting.pop(0)

    @property
    def _is_full(self) -> bool:
        return len(self._waiting) >= self._services.settings.waiting_messages

    def _put(self, task: Task) -> None:
        self._waiting.append(task)
        self._arrived.set()

    async def _receive(self) -> None:
        """Read messages until the client goes or must go."""
        while True:
            try:
                await self.take(await self.read())
            except ProtocolProblem as problem:
                await self.refuse(problem.frame())
                if self.limiter.exceeds_violations(problem) or problem.fatal:
                    self._outbox.close(problem.close_code)
                    return
            except WebSocketDisconnect:
                return

    @abstractmethod
    async def take(self, received: Received) -> None:
        """Do what was received. Raises ProtocolProblem."""

    async def pass_on(self, message: ClientMessage, ref: str, done: Done | None = None) -> None:
        """Do what a message asks for, or have the session do it in its turn; the client is told what is refused.

        Args:
            message: of the client.
            ref: what an error about it refers to.
            done: called when the session has done it.

        Raises:
            ProtocolProblem: it can't be taken now.
        """
        try:
            match message:
                case Ping():
                    await self._outbox.send(Pong(t=message.t))
                case Typing():
                    if self._owner is not None:
                        self._owner.context.tell(RespondentTyping())
                case Playback() | AudioStop() | AudioCancel():
                    await self._control_audio(message)
                case ReadAloud(on=on, now=now):
                    await self._greeted.wait()
                    self.reading().set(on=on, now=now)
                case AudioStart() if await self._start_audio(message):
                    return
                case Hello():
                    raise ProtocolProblem("invalid_message", "hello was said already.", ref="hello")
                case ChangeSettings() if not self._is_full:
                    # An answer that is announced right after it is heard by these settings.
                    if self._owner is not None:
                        self._owner.context.request_settings(wished(message))
                    self._put(Task(message, ref, done))
                case _ if self._is_full:
                    raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY, ref=ref)
                case _:
                    self._put(Task(message, ref, done))
        except SessionProblem as problem:
            await self.refuse(error_frame(problem, ref=ref))

    # Speech waits for nothing else: its messages and frames keep their order

    def listening(self) -> Listening:
        """What listens to the session's respondent. Raises Moved if the session is leaving."""
        assert self._owner is not None
        return self._services.listeners.of(self._owner)

    @property
    def reads_late(self) -> bool:
        """Whether sound waits until its question is certain; a client that is told of withdrawals can wait itself."""
        return False

    def reading(self) -> ReadingAloud:
        """What reads questions aloud over this connection; made when it is first wanted."""
        if self._reading is None:
            assert self._owner is not None
            assert self._tasks is not None, "the conversation runs"
            reading = self._reading = ReadingAloud(
                self._owner.context, self._services.voices, self._outbox, late=self.reads_late
            )
            self._reading_tasks.append(self._tasks.create_task(reading.run(), name="read aloud"))
        return self._reading

    async def _start_audio(self, message: AudioStart) -> bool:
        """Whether the answer is listened to; if not, it was taken before."""
        await self._greeted.wait()
        return self.listening().start(message)

    async def _control_audio(self, message: AudioStop | AudioCancel | Playback) -> None:
        await self._greeted.wait()
        listening = self.listening()
        match message:
            case Playback():
                listening.playback(message.state)
                if message.state == "stopped" and self._reading is not None:
                    self._reading.stop()
            case AudioCancel():
                listening.cancel()
            case AudioStop():
                told = listening.stop()
                if told is not None:
                    await self.refuse(told)

    async def _write(self) -> None:
        """Write what waits to be sent until the outbox is closed."""
        try:
            while (frame := await self._outbox.next()) is not None:
                if isinstance(frame, bytes):
                    await self.websocket.send_bytes(frame)
                else:
                    await self.websocket.send_text(frame)
        except (WebSocketDisconnect, RuntimeError) as exc:
            # Starlette raises RuntimeError for a send after the client has gone.
            log.debug("socket.gone", reason=repr(exc))

    def _frame(self, exc: Exception, ref: str) -> Error:
        """What the client is told of an error; a defect is logged."""
        frame = error_frame(exc, ref=ref)
        if frame.code == "internal":
            log.error("socket.defect", ref=ref, exc_info=exc)
        return frame

    async def refuse(self, error: Error) -> None:
        """Tell the client of an error, behind what waits to be sent."""
        self.on_error(error.code)
        await self._outbox.send(error)


class RespondentSocket(RespondentConnection[ClientMessage]):
    """One connection of a respondent that speaks the protocol's own format."""

    async def take(self, received: ClientMessage) -> None:
        """Do what a message asks for."""
        await self.pass_on(received, reference(received))

    async def parse(self, frame: str | bytes) -> ClientMessage | None:
        """The message of a text frame; the audio of a binary one is taken here. Raises ProtocolProblem."""
        if isinstance(frame, str):
            self.limiter.count_message()
            return decode_text(frame, max_bytes=self.settings.max_message_bytes)
        self.limiter.count_frame()
        audio = decode_binary(frame)
        if self._owner is None:
            raise ProtocolProblem("invalid_message", "Audio must be announced by audio.start.", ref="audio")
        if self._owner.leaving is not None:
            return None
        told = self.listening().take(audio)
        if told is not None:
            await self.refuse(told)
        return None


def wished(message: ChangeSettings) -> dict[str, Any]:
    """The settings that it names."""
    return message.model_dump(exclude={"type"}, exclude_none=True)


def reference(message: ClientMessage) -> str:
    """What an error about this message refers to: its turn key, or its type."""
    return getattr(message, "turn_key", None) or message.type


class MessageHandler:
    """Does what the messages of one connection ask for.

    Args:
        services: shared by all sockets of respondents.
        owner: of the session that the connection belongs to.
        outbox: of the connection.
    """

    def __init__(self, services: RespondentServices, owner: SessionOwner, outbox: Outbox) -> None:
        self._services = services
        self._owner = owner
        self._outbox = outbox

    async def handle(self, message: ClientMessage) -> None:
        """Do what the message asks for; its result reaches the client as events.

        Raises:
            SessionProblem: it is refused.
            HotError: storage refuses it.
        """
        owner = self._owner
        match message:
            case SendAnswer():
                await self._begin(Answer(turn_key=message.turn_key, text=message.text))
            case Skip():
                await self._begin(Answer(turn_key=message.turn_key, kind="skip"))
            case Rate():
                await self._begin(Answer(turn_key=message.turn_key, text=written(message.ratings), kind="rate"))
            case Correct(turn_key=turn_key, text=text, utterance_id=corrects):
                amendment = Answer(turn_key=turn_key, text=text, kind="correct", corrects=corrects)
                await self._begin(await unless_urgent(owner.context, amendment))
            case GiveConsent():
                await owner.consent(message.version, message.choices)
            case Rephrase():
                await owner.rephrase()
            case Pause():
                await owner.pause()
            case Resume():
                await owner.resume()
            case Finish():
                await owner.finish()
            case Withdraw():
                await self._services.hub.erase(owner.session_id)
            case ChangeSettings():
                await owner.keep_settings(wished(message))
            case AudioStart(turn_key=turn_key):
                # Only an answer that was taken before comes here; its client does not know that yet.
                if not await self._repeat(turn_key) and not self._services.listeners.of(owner).concludes(turn_key):
                    raise SessionProblem("invalid_input", "This answer was taken before.")
            case AudioStop() | AudioCancel() | Hello() | Ping() | Playback() | ReadAloud() | Typing():
                return
            case _:
                assert_never(message)

    async def _begin(self, answer: Answer) -> None:
        await self._owner.context.settle_answers()
        handle = self._owner.turns.begin(answer)
        if handle.already_accepted:
            await self._repeat(answer.turn_key)
            return
        try:
            await handle.accepted()
        except NotOwner as exc:
            raise SessionProblem("turn_in_progress", "This interview was opened elsewhere.") from exc

    async def _repeat(self, turn_key: str) -> bool:
        """Send the events of an answer again that the client has sent again.

        Returns:
            Whether there are any; there are none after a rebuild of hot storage.
        """
        events = await self._owner.context.ledger.events_of(turn_key)
        for event in events:
            if event.id <= self._outbox.last_id:
                await self._outbox.repeat(event)
        return bool(events)
