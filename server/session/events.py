"""What happens to a session, as those are told who observe it: the moderators' view, spoken answers, slot naming.

An observer never waits and never fails: what it raises is logged by `SessionContext.tell` and harms no interview.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.state import InterviewState
from pipeline.turn import Answer
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.session.change import ChangeRecord


@dataclass(frozen=True, slots=True)
class RespondentConnected:
    """A respondent connected (another connection may have been open), or disconnected."""

    connected: bool


@dataclass(frozen=True, slots=True)
class RespondentTyping:
    """The respondent is typing an answer."""


@dataclass(frozen=True, slots=True)
class MessageSent:
    """An ephemeral message was sent to the respondent."""

    message: Message


@dataclass(frozen=True, slots=True)
class EventsPublished:
    """Durable events were sent to the respondent, in this order."""

    events: Sequence[DurableEvent]


@dataclass(frozen=True, slots=True)
class AnswerTaken:
    """An answer was queued; it is not stored yet."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class AnswerAccepted:
    """An answer is stored; its turn will have that number."""

    answer: Answer
    turn_number: int


@dataclass(frozen=True, slots=True)
class AnswerHeld:
    """This answer waits for a moderator; None: none does any more."""

    answer: Answer | None


@dataclass(frozen=True, slots=True)
class ReadyForAnswer:
    """A turn is over, or the opening question is out: another answer may be taken, if the rules allow it."""


@dataclass(frozen=True, slots=True)
class SettingsRequested:
    """Somebody wants these settings of speaking and listening; those that are kept are committed later."""

    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SessionCommitted:
    """A commit succeeded; `record` is what the journal got besides the state."""

    before: InterviewState
    after: InterviewState
    record: ChangeRecord


@dataclass(frozen=True, slots=True)
class SessionRefreshed:
    """The session was read again from hot storage, after a write of unknown outcome."""


@dataclass(frozen=True, slots=True)
class SessionRests:
    """Nobody has used the session for a while: what can be had again is to be let go of. Its state is still there."""


@dataclass(frozen=True, slots=True)
class StorageRecovered:
    """Hot storage answers again."""


@dataclass(frozen=True, slots=True)
class InterviewErased:
    """The session does not exist any more, on the respondent's wish or a moderator's."""


@dataclass(frozen=True, slots=True)
class SessionReleased:
    """The session is not owned by this node any more."""


SessionEvent = (
    RespondentConnected
    | RespondentTyping
    | MessageSent
    | EventsPublished
    | AnswerTaken
    | AnswerAccepted
    | AnswerHeld
    | ReadyForAnswer
    | SettingsRequested
    | SessionCommitted
    | SessionRefreshed
    | SessionRests
    | StorageRecovered
    | InterviewErased
    | SessionReleased
)
SessionObserver = Callable[[SessionEvent], None]
