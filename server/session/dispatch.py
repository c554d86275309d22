"""From a respondent's message to what the session's owner does about it."""

from __future__ import annotations

from typing import assert_never

from pipeline.turn import Answer
from server.hot.errors import NotOwner
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
    Rephrase,
    Resume,
    SendAnswer,
    Skip,
    Typing,
    Withdraw,
)
from server.session.hub import Hub
from server.session.outbox import Outbox
from server.session.owner import SessionOwner
from server.session.problems import SessionProblem
from server.session.turns import TurnHandle


def reference(message: ClientMessage) -> str:
    """What an error about this message refers to: its turn key, or its type."""
    return getattr(message, "turn_key", None) or message.type


class Dispatcher:
    """Hands the messages of one connection to the session's owner.

    Args:
        hub: the sessions of this node.
        owner: of the session that the connection belongs to.
        outbox: of the connection.
    """

    def __init__(self, hub: Hub, owner: SessionOwner, outbox: Outbox) -> None:
        self._hub = hub
        self._owner = owner
        self._outbox = outbox

    async def subscribe(self, hello: Hello) -> None:
        """Greet the client with `ready` and what it missed; then open the interview if that is due.

        Raises:
            Moved: the owner is leaving.
            StorageUnavailable: what was missed can't be read.
        """
        await self._owner.subscribe(self._outbox, last_event_id=hello.last_event_id, epoch=hello.epoch)
        self._owner.arrive()

    async def handle(self, message: ClientMessage) -> None:
        """Do what the message asks for; what comes of it reaches the client as events.

        Raises:
            SessionProblem: it is refused.
            HotError: storage refuses it.
        """
        owner = self._owner
        match message:
            case SendAnswer():
                typed = Answer(turn_key=message.turn_key, text=message.text)
                await self._turn(owner.listening.typed(typed))
            case Skip():
                await self._turn(Answer(turn_key=message.turn_key, kind="skip"))
            case Correct():
                await self._turn(
                    Answer(
                        turn_key=message.turn_key,
                        text=message.text,
                        kind="correct",
                        corrects=message.utterance_id,
                    )
                )
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
                await self._hub.erase(owner.session_id)
            case ChangeSettings():
                await owner.change_settings(message.model_dump(exclude={"type"}, exclude_none=True))
            case AudioStart():
                # Begun answers never come here: this one was taken before, and its client has not heard of it.
                if not await self._repeat(message.turn_key) and not owner.listening.concludes(message.turn_key):
                    raise SessionProblem("invalid_input", "This answer was taken before.")
            case AudioStop() | AudioCancel() | Hello() | Ping() | Playback() | Typing():
                return
            case _:
                assert_never(message)

    async def _turn(self, answer: Answer) -> None:
        handle = self._owner.begin(answer)
        if handle.already_accepted:
            await self._repeat(answer.turn_key)
            return
        await self._accepted(handle)

    async def _accepted(self, handle: TurnHandle) -> None:
        try:
            await handle.accepted()
        except NotOwner as exc:
            raise SessionProblem("turn_in_progress", "This interview was opened elsewhere.") from exc

    async def _repeat(self, turn_key: str) -> bool:
        """The client sent an answer that is there already: it missed what came of it.

        Returns:
            Whether anything is known of that; nothing is after a rebuild of hot storage.
        """
        events = await self._owner.events_of(turn_key)
        for event in events:
            if event.id <= self._outbox.last_id:
                await self._outbox.repeat(event)
        return bool(events)
