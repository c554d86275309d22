"""The respondent's socket for clients of OpenAI's Realtime API.

It does what `server/sockets/respondent.py` does, in the events of that API: `server/realtime/` translates them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Final, Protocol, assert_never

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from pipeline.turn import Answer
from server.auth import LONGEST_TOKEN
from server.protocol.base import Message
from server.protocol.codec import ProtocolProblem
from server.protocol.codes import CLOSE_POLICY, CLOSE_UNSUPPORTED_DATA
from server.protocol.inbound import ClientMessage, Correct, Hello, Playback, Rate, SendAnswer, Skip
from server.protocol.outbound import Error
from server.realtime import vocabulary
from server.realtime.conversation import AudioCut, Conversation, PlainEvent, QuestionAgain, Snapshot
from server.realtime.inbound import (
    AppendAudio,
    ClearAudio,
    ClientEvent,
    CommitAudio,
    CreateItem,
    CreateResponse,
    Extension,
    SessionUpdate,
    TruncateItem,
    decode,
    user_item,
)
from server.realtime.problems import RealtimeProblem
from server.realtime.session import NO_TOOLS, SessionUpdateReader, session_fields, wants_audio
from server.session import rules
from server.session.ledger import answer_of
from server.session.owner import SessionOwner
from server.session.problems import SessionProblem, error_frame
from server.sockets.base import ConnectionOver
from server.sockets.realtime_audio import SpokenInput
from server.sockets.respondent import RespondentConnection, RespondentServices

REALTIME_PATH: Final = "/v1/realtime"
SUBPROTOCOL: Final = "realtime"
TOKEN_PROTOCOL: Final = "openai-insecure-api-key."
"""Begins the subprotocol in which a browser sends the token."""
NO_TOKEN: Final = (
    "Send the token of the interview as the API key, in the header Authorization: Bearer TOKEN or among the "
    "subprotocols. POST /api/sessions makes an interview and its token."
)


class PlaybackTold(Protocol):
    """Told whether a client plays a question."""

    def __call__(self, *, playing: bool) -> None:
        """It begins, or has ended."""
        ...


def realtime_route(services: RespondentServices) -> WebSocketRoute:
    """The route of the socket."""

    async def endpoint(websocket: WebSocket) -> None:
        await RealtimeSocket(websocket, services).serve()

    return WebSocketRoute(REALTIME_PATH, endpoint, name="realtime")


ECHO_S: Final = 0.5
"""How much longer than its sound a question is taken to be heard: it takes time to arrive, and rooms have an echo."""


class Loudspeaker:
    """For how long a client plays what it was sent: at once and without a pause, unless it tells so itself.

    Args:
        told: called when it begins to play, and when it has ended.
    """

    def __init__(self, told: PlaybackTold) -> None:
        self._told = told
        self._until = 0.0
        self._end: asyncio.TimerHandle | None = None
        self._client_tells = False

    def sent(self, seconds: float) -> None:
        """So much sound was sent."""
        if self._client_tells:
            return
        loop = asyncio.get_running_loop()
        if self._end is None:
            self._told(playing=True)
            self._until = loop.time() + ECHO_S
        else:
            self._end.cancel()
        self._until += seconds
        self._end = loop.call_at(self._until, self.stop)

    def stop(self) -> None:
        """It plays no more."""
        if self._end is not None:
            self._end.cancel()
            self._end = None
            self._told(playing=False)

    def leave_to_client(self) -> None:
        """The client tells how far it is."""
        self._client_tells = True
        if self._end is not None:
            self._end.cancel()
            self._end = None


class RealtimeSocket(RespondentConnection[ClientEvent]):
    """One connection of a respondent whose client speaks the events of the Realtime API.

    Args:
        websocket: not accepted yet.
        services: shared by all sockets of respondents.
    """

    def __init__(self, websocket: WebSocket, services: RespondentServices) -> None:
        wants_beta = vocabulary.BETA_HEADER in websocket.headers.get("openai-beta", "")
        names = vocabulary.beta if wants_beta or vocabulary.BETA_PROTOCOL in _offered(websocket) else vocabulary.present
        self._talk = Conversation(names, self._snapshot, self._change, self._sound_sent)
        self._spoken: SpokenInput | None = None
        self._loudspeaker = Loudspeaker(self._played)
        super().__init__(websocket, services, self._talk)

    # Connecting

    async def greet(self) -> Hello:
        """Accept the connection; who it is, by the token in its handshake. Raises ConnectionOver."""
        await self.websocket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in self.offered else None)
        token = self._token()
        if not 0 < len(token) <= LONGEST_TOKEN:
            await self.tell(Error.of("unauthorised", NO_TOKEN))
            raise ConnectionOver(CLOSE_POLICY)
        self.known = True
        return Hello(type="hello", token=token)

    def _token(self) -> str:
        scheme, _, token = self.websocket.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
        offered = (one for one in self.offered if one.startswith(TOKEN_PROTOCOL))
        return next(offered, "").removeprefix(TOKEN_PROTOCOL)

    def admit(self, owner: SessionOwner) -> None:
        """Refuse an interview on another concept than the client names. Raises SessionProblem."""
        model, concept = self.websocket.query_params.get("model"), owner.context.configuration.concept.id
        if model and model != concept:
            told = f"This interview is on another concept: connect with model={concept}, or without model."
            raise SessionProblem("invalid_input", told)
        self._spoken = SpokenInput(
            owner, self._talk, self.listening, self._outbox.send, self.refuse, self._services.clock
        )

    def known_until(self, owner: SessionOwner, hello: Hello) -> tuple[int, str | None]:
        """Everything: what was said so far is told from the session as it is now."""
        return owner.context.ledger.last_event_id, None

    def frames(self, message: Message) -> Sequence[str]:
        """The text frames of a message."""
        return self._talk.message(message)

    def beside(self) -> Sequence[Coroutine[Any, Any, None]]:
        """Listening to what waits."""
        assert self._spoken is not None
        return (self._spoken.listen_on(),)

    def ended(self) -> None:
        """Nothing is played any more."""
        self._loudspeaker.leave_to_client()
        super().ended()

    def _change(self) -> None:
        if self._spoken is not None:
            self._spoken.change()

    def _snapshot(self) -> Snapshot:
        owner = self._owner
        assert owner is not None
        state, pending = owner.state, owner.context.ledger.pending
        return Snapshot(
            session=self._session_fields(owner),
            utterances=state.utterances,
            pending=None if pending is None else _sent(answer_of(pending)),
            failed=pending is not None and pending.failed,
            opening=state.question is None and not rules.is_over(state),
        )

    def _session_fields(self, owner: SessionOwner) -> dict[str, Any]:
        context = owner.context
        wish = context.settings.get("patience") or context.configuration.concept.patience
        return session_fields(owner.state, context.configuration, self._talk.settings, wish or self._services.patience)

    # Events of the client

    async def parse(self, frame: str | bytes) -> ClientEvent | None:
        """The event of a text frame. Raises ProtocolProblem."""
        self.limiter.count_frame()
        if isinstance(frame, bytes):
            told = "Binary frames are not understood here: audio is sent by input_audio_buffer.append."
            raise ProtocolProblem("invalid_message", told, close_code=CLOSE_UNSUPPORTED_DATA)
        try:
            event = decode(frame, max_bytes=self.settings.max_message_bytes)
        except ProtocolProblem as problem:
            self._talk.remember(problem.ref)
            if problem.code == "invalid_input":
                self.limiter.count_message()
            raise
        if not isinstance(event, AppendAudio):
            self.limiter.count_message()
        return event

    async def take(self, received: ClientEvent) -> None:
        """Do what an event asks for. Raises ProtocolProblem."""
        await self._greeted.wait()
        # Audio is too frequent for every event of it to be remembered.
        ref = "" if isinstance(received, AppendAudio) else self._talk.remember(received.event_id)
        assert self._owner is not None and self._spoken is not None
        try:
            match received:
                case AppendAudio():
                    await self._spoken.append(received.audio, received.event_id)
                case CommitAudio():
                    await self._spoken.complete(received.event_id)
                case ClearAudio():
                    await self._spoken.clear()
                case SessionUpdate():
                    await self._update(received, self._owner, ref)
                case CreateItem():
                    await self._answer(received, self._owner)
                case CreateResponse():
                    await self._respond(received, self._owner, ref)
                case TruncateItem():
                    await self._truncate(received)
                case Extension():
                    await self._extend(received, ref)
                case _:
                    assert_never(received)
        except SessionProblem as problem:
            await self.refuse(error_frame(problem, ref=self._talk.remember(received.event_id)))
        except ProtocolProblem as problem:
            problem.ref = self._talk.remember(received.event_id)
            raise

    async def _update(self, event: SessionUpdate, owner: SessionOwner, ref: str) -> None:
        language, before = owner.state.language, self._talk.settings
        wanted = SessionUpdateReader(event.session, before, language, voice=self._has_voice(owner)).read()
        self._talk.set(wanted.settings)
        if wanted.settings.audio_out != before.audio_out:
            self.reading().set(on=wanted.settings.audio_out, now=False)

        async def updated() -> None:
            self._change()
            await self._outbox.send(PlainEvent(name="session.updated", fields={"session": self._session_fields(owner)}))

        if wanted.consent is not None:
            await self.pass_on(wanted.consent, ref, None if wanted.changes is not None else updated)
        if wanted.changes is not None:
            await self.pass_on(wanted.changes, ref, updated)
        if wanted.consent is None and wanted.changes is None:
            await updated()

    async def _answer(self, event: CreateItem, owner: SessionOwner) -> None:
        item, offer = user_item(event.item), self._talk.offer
        turn_key = offer.turn_key if offer is not None else item.turn_key(owner.session_id)
        message = SendAnswer(type="answer", text=item.text, turn_key=turn_key)
        ref = self._talk.remember(event.event_id, turn_key)
        self._talk.send_answer(message, item.id)
        await self.pass_on(message, ref)

    async def _respond(self, event: CreateResponse, owner: SessionOwner, ref: str) -> None:
        _check_response(event.response or {}, voice=self._has_voice(owner))
        talk, state = self._talk, owner.state
        waiting = talk.offer or talk.failed
        if waiting is not None and not talk.responding:
            await self._again(waiting, event.event_id)
            return
        if rules.consent_missing(state, owner.context.configuration):
            raise SessionProblem("consent_required")
        if talk.unclaimed:
            talk.unclaimed = False
            return
        if talk.awaits:
            told = "A question is being made; it comes as the response that has begun."
            raise RealtimeProblem("conversation_already_has_active_response", told)
        rules.check_listening(state, owner.context.configuration)
        if state.question is None:
            raise RealtimeProblem("no_open_question", "No question is open, and no answer was given.")
        again = QuestionAgain(turn_number=state.question.turn_number, text=state.question.text)
        if talk.settings.audio_out:
            self.reading().set(on=True, now=True)
        await self._outbox.send(again)

    async def _again(self, message: ClientMessage, event_id: str | None) -> None:
        """An answer that is offered for review, or whose turn failed."""
        self._talk.offer = self._talk.failed = None
        if isinstance(message, SendAnswer | Skip | Rate | Correct):
            ref = self._talk.remember(event_id, message.turn_key)
            self._talk.send_answer(message)
            self._talk.unclaimed = False
            await self.pass_on(message, ref)

    async def _truncate(self, event: TruncateItem) -> None:
        """The client plays no more of a question."""
        if not self._talk.settings.audio_out:
            told = "Questions are not sent as audio here, so that there is nothing to truncate."
            raise RealtimeProblem("unsupported_event", told, param="type")
        self.reading().stop()
        self._loudspeaker.stop()
        cut = AudioCut(item_id=event.item_id, content_index=event.content_index, audio_end_ms=event.audio_end_ms)
        await self._outbox.send(cut)

    # What the client plays, if it does not say so itself

    def _has_voice(self, owner: SessionOwner) -> bool:
        return self._services.voices.speaks(owner.state.language)

    @property
    def reads_late(self) -> bool:
        """Whether sound waits until its question is certain: clients play it at once, and nobody is heard meanwhile."""
        return not self._services.listeners.barge_in

    def _sound_sent(self, seconds: float | None) -> None:
        if seconds is None:
            self._loudspeaker.stop()
        else:
            self._loudspeaker.sent(seconds)

    def _played(self, *, playing: bool) -> None:
        owner = self._owner
        if owner is not None and owner.leaving is None:
            self.listening().playback("started" if playing else "finished")

    async def _extend(self, event: Extension, ref: str) -> None:
        message = event.message
        if isinstance(message, Playback):
            self._loudspeaker.leave_to_client()
        if isinstance(message, Skip | Rate | Correct):
            ref = self._talk.remember(event.event_id, message.turn_key)
            self._talk.send_answer(message)
        await self.pass_on(message, ref)


def _offered(websocket: WebSocket) -> Sequence[str]:
    found: Sequence[str] = websocket.scope.get("subprotocols", ())
    return found


def _check_response(asked: dict[str, Any], *, voice: bool) -> None:
    """Refuse what a response can't be. Raises RealtimeProblem."""
    for name in ("output_modalities", "modalities"):
        if asked.get(name) is not None:
            wants_audio(asked[name], f"response.{name}", voice=voice)
    if asked.get("tools"):
        raise RealtimeProblem("unsupported_value", NO_TOOLS, param="response.tools")
    for name in ("input", "conversation"):
        if asked.get(name) not in (None, [], "auto"):
            told = f"response.{name}: the interview is the only conversation here."
            raise RealtimeProblem("unsupported_value", told, param=f"response.{name}")


def _sent(answer: Answer) -> ClientMessage | None:
    """The message that gave an answer; None for ratings, which are sent again whole."""
    match answer.kind:
        case "answer":
            return SendAnswer(type="answer", text=answer.text, turn_key=answer.turn_key)
        case "skip":
            return Skip(type="skip", turn_key=answer.turn_key)
        case "correct":
            corrects = answer.corrects or ""
            return Correct(type="correct", text=answer.text, utterance_id=corrects, turn_key=answer.turn_key)
        case _:
            return None
