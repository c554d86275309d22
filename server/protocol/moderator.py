"""The moderator socket: what a watcher may send and gets."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from pipeline.concept import Patience
from server.protocol.base import Attempt, CommandId, Identifier, Message, SessionStatus, TurnNumber
from server.protocol.outbound import Error
from server.usage import SessionUsage

Sentence = Annotated[str, StringConstraints(min_length=1, max_length=1000, strip_whitespace=True)]


class ModeratorHello(Message):
    """First message; without a token the cookie of the page counts."""

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
    """Which sessions an overview shows; what is left out does not restrict."""

    state: SessionStatus | None = None
    concept_id: Identifier | None = None


class Overview(Message):
    """One row per session and change."""

    type: Literal["overview"]
    filter: OverviewFilter = OverviewFilter()


class ModeratorCommand(Message):
    """What a moderator may do to a session; recorded with who and when."""

    command_id: CommandId


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
    """Ask this next, word for word."""

    type: Literal["inject"]
    question: Sentence


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
    """Take over by hand: while claimed, the engine waits."""

    type: Literal["claim"]


class ReleaseSession(ModeratorCommand):
    """Give the session back to the engine."""

    type: Literal["release"]


class WriteNote(ModeratorCommand):
    """A remark for the record."""

    type: Literal["note"]
    text: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    turn_number: TurnNumber | None = None


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
)
Command = Annotated[AnyCommand, Field(discriminator="type")]
COMMANDS: TypeAdapter[AnyCommand] = TypeAdapter(Command)

ModeratorMessage = Annotated[
    ModeratorHello | Subscribe | Unsubscribe | Overview | AnyCommand, Field(discriminator="type")
]
MODERATOR_MESSAGES: TypeAdapter[ModeratorMessage] = TypeAdapter(ModeratorMessage)


class SessionFrame(Message):
    """Something about one session."""

    session_id: str


class Snapshot(SessionFrame):
    """The whole session: on subscribing, and after intermediate updates were lost."""

    type: Literal["snapshot"] = "snapshot"
    state: dict[str, Any]
    question: str | None = Field(description="The running question as far as it is known.")


class OverviewRow(SessionFrame):
    """One session of the overview, after a commit or a change of state."""

    type: Literal["overview.row"] = "overview.row"
    concept_id: str
    state: SessionStatus
    turn_number: TurnNumber
    max_turns: int = Field(ge=1)
    updated_at: str = Field(description="ISO 8601, with zone.")


class WatchedQuestionStarted(SessionFrame):
    """As the respondent's `question.started`."""

    type: Literal["question.started"] = "question.started"
    turn_number: TurnNumber
    attempt: Attempt


class WatchedQuestionDelta(SessionFrame):
    """As the respondent's `question.delta`."""

    type: Literal["question.delta"] = "question.delta"
    turn_number: TurnNumber
    attempt: Attempt
    text: str


class WatchedQuestionCompleted(SessionFrame):
    """As the respondent's `question.completed`."""

    type: Literal["question.completed"] = "question.completed"
    turn_number: TurnNumber
    text: str
    fallback: bool


class WatchedTranscriptPartial(SessionFrame):
    """As the respondent's `transcript.partial`."""

    type: Literal["transcript.partial"] = "transcript.partial"
    text: str
    stable: int = Field(ge=0)


class WatchedTranscriptFinal(SessionFrame):
    """An answer as it was typed or understood."""

    type: Literal["transcript.final"] = "transcript.final"
    turn_number: TurnNumber
    text: str


class Signals(SessionFrame):
    """The signals a choice rests on."""

    model_config = {"populate_by_name": True}

    type: Literal["signals"] = "signals"
    turn_number: TurnNumber
    global_: dict[str, Any] = Field(alias="global", description="By signal name.")
    nodes: dict[str, dict[str, Any]] = Field(description="By node, then by signal name.")


class Scores(SessionFrame):
    """How the candidates of a choice compare, best first."""

    type: Literal["scores"] = "scores"
    turn_number: TurnNumber
    candidates: tuple[dict[str, Any], ...]


class GraphDelta(SessionFrame):
    """What an answer changed in the graphs."""

    type: Literal["graph.delta"] = "graph.delta"
    turn_number: TurnNumber
    nodes_added: tuple[dict[str, Any], ...]
    edges_added: tuple[dict[str, Any], ...]
    mentions: tuple[dict[str, Any], ...]
    slots: tuple[dict[str, Any], ...]


class Continuation(SessionFrame):
    """Why the interview goes on, or ends."""

    type: Literal["continuation"] = "continuation"
    turn_number: TurnNumber
    metrics: dict[str, Any]
    reason: str


class Latency(SessionFrame):
    """Time per stage of a turn, in milliseconds."""

    type: Literal["latency"] = "latency"
    turn_number: TurnNumber
    stages_ms: dict[str, float]


class Usage(SessionUsage, SessionFrame):
    """What language models were asked in the session so far and what it cost; as `GET /api/sessions/{id}` says."""

    type: Literal["usage"] = "usage"
    turn_number: TurnNumber


class WatchedState(SessionFrame):
    """As the respondent's `session.state`."""

    type: Literal["session.state"] = "session.state"
    state: SessionStatus
    reason: str


class Watchers(SessionFrame):
    """Who is watching."""

    type: Literal["watchers"] = "watchers"
    names: tuple[str, ...]


class CommandDone(Message):
    """The command is on record."""

    type: Literal["command.done"] = "command.done"
    command_id: str
    applies_to_turn: TurnNumber
    preview: str | None = Field(default=None, description="The question a steering preview would ask.")


ModeratorServerMessage = Annotated[
    Snapshot
    | OverviewRow
    | WatchedQuestionStarted
    | WatchedQuestionDelta
    | WatchedQuestionCompleted
    | WatchedTranscriptPartial
    | WatchedTranscriptFinal
    | Signals
    | Scores
    | GraphDelta
    | Continuation
    | Latency
    | Usage
    | WatchedState
    | Watchers
    | CommandDone
    | Error,
    Field(discriminator="type"),
]
MODERATOR_SERVER_MESSAGES: TypeAdapter[ModeratorServerMessage] = TypeAdapter(ModeratorServerMessage)
