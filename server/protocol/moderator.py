"""Messages from a moderator's client to the server."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from pipeline.concept import Patience
from server.protocol.base import CommandId, Identifier, Message, SessionStatus
from server.protocol.inbound import Ping

LONGEST_QUESTION = 1000
NotedTurn = Annotated[int, Field(ge=0, le=2**31 - 1, description="Turn that the note is about.")]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=1000, strip_whitespace=True)]


class ModeratorHello(Message):
    """First message; without a token the cookie of the page is used."""

    type: Literal["hello"]
    token: Annotated[str, StringConstraints(min_length=1, max_length=512)] | None = None


class Subscribe(Message):
    """Watch one session."""

    type: Literal["subscribe"]
    session_id: Identifier


class Unsubscribe(Message):
    """Stop watching."""

    type: Literal["unsubscribe"]


class OverviewFilter(Message):
    """Which sessions an overview shows; without `state`, those that are not over."""

    state: SessionStatus | None = None
    concept_id: Identifier | None = None


class Overview(Message):
    """All sessions now, then one row per session and change; a second overview replaces the first."""

    type: Literal["overview"]
    filter: OverviewFilter = OverviewFilter()
    follow: bool = Field(default=True, description="False ends the overview.")


class ModeratorCommand(Message):
    """A command of a moderator for a session; recorded with name and time."""

    command_id: CommandId
    session_id: Identifier | None = Field(
        default=None, description="The session; the one that is watched, if not given."
    )


class PauseSession(ModeratorCommand):
    """Pause; only a moderator lifts it."""

    type: Literal["pause"]


class ResumeSession(ModeratorCommand):
    """Lift a pause."""

    type: Literal["resume"]


class EndSession(ModeratorCommand):
    """End the interview after the running turn."""

    type: Literal["end"]
    reason: Sentence


class ExtendSession(ModeratorCommand):
    """Allow more turns."""

    type: Literal["extend"]
    turns: int = Field(ge=1, le=50)


class InjectQuestion(ModeratorCommand):
    """Ask this question next, word for word, as plain text."""

    type: Literal["inject"]
    question: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_QUESTION, strip_whitespace=True)]


class Steer(ModeratorCommand):
    """Choose the next strategy, node, or both; a preview returns the question and changes nothing."""

    type: Literal["steer"]
    strategy: Identifier | None = None
    node_id: Identifier | None = None
    preview: bool = False

    @model_validator(mode="after")
    def _somewhere(self) -> Steer:
        if self.strategy is None and self.node_id is None:
            raise ValueError("steer needs a strategy, a node, or both")
        return self


class ClaimSession(ModeratorCommand):
    """Take the session over: answers are stored, and the next question waits for `inject`, `steer` or `release`."""

    type: Literal["claim"]


class ReleaseSession(ModeratorCommand):
    """Give the session back to the engine."""

    type: Literal["release"]


class WriteNote(ModeratorCommand):
    """A remark for the record."""

    type: Literal["note"]
    text: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    turn_number: NotedTurn | None = None


class AcknowledgeAlerts(ModeratorCommand):
    """You have seen that somebody may come to harm, is upset, or is under age; the alert goes away."""

    type: Literal["acknowledge"]


class ReleaseHeld(ModeratorCommand):
    """Let an interview go that is held back because somebody seemed to be under age.

    It is neither kept from exports nor erased any more.
    """

    type: Literal["release_held"]


class SetForSession(ModeratorCommand):
    """Change how long a pause may be when speaking."""

    type: Literal["set"]
    patience: Patience


AnyCommand = (
    PauseSession
    | ResumeSession
    | EndSession
    | ExtendSession
    | InjectQuestion
    | Steer
    | ClaimSession
    | ReleaseSession
    | WriteNote
    | SetForSession
    | AcknowledgeAlerts
    | ReleaseHeld
)
Command = Annotated[AnyCommand, Field(discriminator="type")]
COMMANDS: TypeAdapter[AnyCommand] = TypeAdapter(Command)

ModeratorMessage = Annotated[
    ModeratorHello | Subscribe | Unsubscribe | Overview | Ping | AnyCommand, Field(discriminator="type")
]
MODERATOR_MESSAGES: TypeAdapter[ModeratorMessage] = TypeAdapter(ModeratorMessage)
