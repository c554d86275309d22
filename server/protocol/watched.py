"""Messages from the server to a moderator's client."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from pipeline.acts import Act
from server.protocol.base import Attempt, Message, SessionStatus, TurnNumber
from server.protocol.codes import ErrorCode
from server.protocol.coverage import ElementItem, Spirits
from server.protocol.outbound import Error, Pong, RatedConstruct, RatedElement
from server.usage import SessionUsage

Activity = Literal["idle", "thinking", "typing", "speaking", "working", "asking", "held"]
AlertCode = Literal[
    "fatigue",
    "shallow_answers",
    "model_failing",
    "stuck",
    "disconnected",
    "waiting_for_moderator",
    "kiosk_offline",
    "risk",
    "distress",
    "minor",
]


class ModeratorReady(Message):
    """The answer to `hello`: who you are."""

    type: Literal["ready"] = "ready"
    name: str
    token_id: str
    concepts: tuple[str, ...] | None = Field(description="What you may see; null for all.")


class Alert(Message):
    """A reason why a session needs a moderator."""

    code: AlertCode
    since: str = Field(description="ISO 8601, with zone.")


class OverviewItem(Message):
    """One session of the overview."""

    session_id: str
    concept_id: str
    concept_name: str
    language: str
    state: SessionStatus
    reason: str
    phase: str | None
    turn_number: TurnNumber
    max_turns: int = Field(ge=1)
    engagement: tuple[float, ...] = Field(description="Of the last 20 rated answers, oldest first; in [0, 1].")
    depth: tuple[int, ...] = Field(description="Of the same answers: 1 surface, 2 shallow, 3 moderate, 4 deep.")
    saturation: float | None = Field(description="In [0, 1]; 1 when answers bring nothing new.")
    last_question: str | None = Field(description="Cut at 300 characters.")
    last_answer: str | None = Field(description="Cut at 300 characters.")
    watchers: tuple[str, ...] = ()
    alerts: tuple[Alert, ...] = ()
    connected: bool = Field(default=False, description="Whether a respondent is connected.")
    activity: Activity = "idle"
    llm: Literal["ok", "failing"] = "ok"
    kiosk: str | None = Field(default=None, description="Name of the device it was started on.")
    claimed_by: str | None = None
    paused_by: Literal["respondent", "moderator"] | None = None
    waiting: bool = Field(default=False, description="Whether an answer waits for a moderator.")
    respondent_ref: str | None = None
    created_at: str = Field(description="ISO 8601, with zone.")
    updated_at: str = Field(description="ISO 8601, with zone.")


class OverviewRows(Message):
    """All sessions of the overview; replaces all rows that a client had before."""

    type: Literal["overview.rows"] = "overview.rows"
    rows: tuple[OverviewItem, ...]
    total: int = Field(ge=0, description="How many there are; rows are the latest changed ones, 1000 at most.")


class OverviewRow(OverviewItem):
    """One session of the overview, after a commit or another change."""

    type: Literal["overview.row"] = "overview.row"


class OverviewGone(Message):
    """A session that is erased, or no longer within the filter."""

    type: Literal["overview.gone"] = "overview.gone"
    session_id: str


class Kiosk(Message):
    """A device that sent a request within a day."""

    id: str
    name: str
    online: bool = Field(description="Whether it sent a request within 90 s.")
    last_seen: str = Field(description="ISO 8601, with zone.")


class Kiosks(Message):
    """All kiosks, with an overview and after each change."""

    type: Literal["kiosks"] = "kiosks"
    kiosks: tuple[Kiosk, ...]


class SessionFrame(Message):
    """A message about one session."""

    session_id: str


class RunningQuestion(Message):
    """A question that is being written."""

    turn_number: TurnNumber
    attempt: Attempt
    text: str = Field(description="All of it so far.")


class Snapshot(SessionFrame):
    """The whole session: on subscribing, and whenever updates were lost. Replaces all that a client had before."""

    type: Literal["snapshot"] = "snapshot"
    state: dict[str, Any] = Field(
        description="As `GET /api/sessions/{id}`, with `transcript`, `graph`, `canonical` and `turns` as the calls of "
        "these names (turns: `/scores`, older ones without most candidates), `limits` of the stopping rule, "
        "`ontology`, `strategies`, `watchers`, `respondent`, `partial`, `alerts`, `waiting`, `held_answer`."
    )
    question: RunningQuestion | None = Field(description="The question that is being written, if there is one.")


class WatchedReply(SessionFrame):
    """The interviewer replied to a message that was no answer, or not only one; no turn was used."""

    type: Literal["interviewer.replied"] = "interviewer.replied"
    turn_number: TurnNumber
    act: Act = Field(description="What was heard.")
    text: str
    open: bool = Field(description="Whether a question still waits for an answer.")


class WatchedTurnStarted(SessionFrame):
    """An answer is worked on."""

    type: Literal["turn.started"] = "turn.started"
    turn_number: TurnNumber
    attempt: Attempt


class WatchedTurnFailed(SessionFrame):
    """The turn failed; the answer is kept."""

    type: Literal["turn.failed"] = "turn.failed"
    code: ErrorCode
    retryable: bool


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


class WatchedQuestionWithdrawn(SessionFrame):
    """As the respondent's `question.withdrawn`."""

    type: Literal["question.withdrawn"] = "question.withdrawn"
    turn_number: TurnNumber
    attempt: Attempt


class WatchedQuestionCompleted(SessionFrame):
    """As the respondent's `question.completed`."""

    type: Literal["question.completed"] = "question.completed"
    turn_number: TurnNumber
    text: str
    fallback: bool
    closing: bool = False


class WatchedTranscriptPartial(SessionFrame):
    """As the respondent's `transcript.partial`."""

    type: Literal["transcript.partial"] = "transcript.partial"
    text: str
    stable: int = Field(ge=0)


class WatchedTranscriptFinal(SessionFrame):
    """An answer as it was typed or understood; empty for a skip."""

    type: Literal["transcript.final"] = "transcript.final"
    turn_number: TurnNumber
    text: str
    kind: Literal["answer", "skip", "correct", "rate"] = "answer"
    spoken: bool = False


class WatchedSecondReading(SessionFrame):
    """What was understood when a spoken answer was read once more as a whole, where that has other words.

    Nothing is made of it: the interview, concepts and quotes rest on the text of the answer.
    """

    type: Literal["transcript.second_reading"] = "transcript.second_reading"
    turn_number: TurnNumber
    text: str | None = Field(description="Null once the answer was corrected.")


class Respondent(SessionFrame):
    """Whether a respondent is connected, and what the respondent or the server is doing."""

    type: Literal["respondent"] = "respondent"
    connected: bool
    activity: Activity
    waiting: bool = Field(default=False, description="Whether an answer waits for a moderator.")


class Alerts(SessionFrame):
    """The alerts of the session."""

    type: Literal["alerts"] = "alerts"
    alerts: tuple[Alert, ...]


class ActionView(Message):
    """A moderator's command that took effect."""

    command_id: str
    action: str
    moderator: str
    turn_number: TurnNumber | None
    recorded_at: str = Field(description="ISO 8601, with zone.")
    details: dict[str, Any] = Field(description="The other fields of the command.")


class Action(SessionFrame):
    """A moderator's command, for all who watch."""

    type: Literal["action"] = "action"
    action: ActionView


class NodeSignals(Message):
    """A node with its signals."""

    label: str
    node_type: str
    signals: dict[str, Any]


class Signals(SessionFrame):
    """The signals that a choice is based on."""

    model_config = {"populate_by_name": True}

    type: Literal["signals"] = "signals"
    turn_number: TurnNumber
    phase: str
    global_: dict[str, Any] = Field(alias="global", description="By signal name.")
    nodes: dict[str, NodeSignals] = Field(description="By the key that a node is tracked by.")
    strategies: dict[str, dict[str, Any]] = Field(
        description="Signals that differ by strategy: by name, then strategy."
    )


class Scores(SessionFrame):
    """How the candidates of a choice compare, best first: `final_score` is the sum of the weighted terms, times the
    factors, plus the bonuses; null with a veto.
    """

    type: Literal["scores"] = "scores"
    turn_number: TurnNumber
    strategy: str | None
    node_key: str | None
    node_id: str | None
    candidates: tuple[dict[str, Any], ...] = Field(description="As in `GET /api/sessions/{id}/scores`.")
    candidate_count: int = Field(ge=0)
    directive: dict[str, Any] | None = Field(description="The moderator's steering command, if there was one.")


class GraphDelta(SessionFrame):
    """What an answer changed in the graphs; rows as those of `/graph` and `/canonical-graph`."""

    type: Literal["graph.delta"] = "graph.delta"
    turn_number: TurnNumber
    nodes_added: tuple[dict[str, Any], ...]
    nodes_changed: tuple[dict[str, Any], ...]
    edges_added: tuple[dict[str, Any], ...]
    edges_changed: tuple[dict[str, Any], ...]
    edges_removed: tuple[str, ...]
    mentions: tuple[str, ...] = Field(description="Nodes that were spoken of again.")
    superseded: tuple[str, ...] = Field(description="Nodes that another one replaces.")
    slots: tuple[dict[str, Any], ...] = Field(description="New and changed ones.")
    slots_removed: tuple[str, ...]
    canonical_edges: tuple[dict[str, Any], ...] = Field(description="New and changed ones.")
    canonical_edges_removed: tuple[str, ...]
    focus: dict[str, Any] | None = Field(description="The node the question is about: node_id, key, label, strategy.")


class Continuation(SessionFrame):
    """Why the interview goes on, or ends."""

    type: Literal["continuation"] = "continuation"
    turn_number: TurnNumber
    should_continue: bool
    metrics: dict[str, Any]
    reason: str


class Latency(SessionFrame):
    """Time per stage of a turn, in milliseconds."""

    type: Literal["latency"] = "latency"
    turn_number: TurnNumber
    stages_ms: dict[str, float]
    committed_at: str | None = Field(description="When the turn was committed, by the clock of hot storage; ISO 8601.")
    fallback: bool = Field(description="Whether the question is a template.")
    fallbacks: tuple[str, ...] = Field(description="Tasks that another provider did.")


class Usage(SessionUsage, SessionFrame):
    """The calls of language models in the session so far, and their cost; as in `GET /api/sessions/{id}`."""

    type: Literal["usage"] = "usage"
    turn_number: TurnNumber


class GuideItem(Message):
    """One topic of the guide, and how far it is."""

    id: str
    label: str
    status: Literal["open", "covered", "asked", "declined", "left"] = Field(
        description="`asked`: asked for, without a sign that it was covered; `left`: the interview ended before."
    )
    turn: int | None = Field(description="Of the answer that covered it, or after which it was asked for.")
    reason: str = Field(description="Why it was left.")


class GridConstruct(RatedConstruct):
    """A construct with the ratings it got, by element."""

    ratings: dict[str, int]


class GridView(Message):
    """A repertory grid as far as it was elicited."""

    elements: tuple[RatedElement, ...]
    constructs: tuple[GridConstruct, ...]


class WatchedState(SessionFrame):
    """The session's state, who paused or claimed it, and how far its guide and its grid are."""

    type: Literal["session.state"] = "session.state"
    state: SessionStatus
    reason: str
    turn_number: TurnNumber
    max_turns: int = Field(ge=1)
    paused_by: Literal["respondent", "moderator"] | None
    claimed_by: str | None
    guide: tuple[GuideItem, ...] = ()
    grid: GridView | None = Field(default=None, description="The repertory grid, where the method has one.")


class WatchedCoverage(SessionFrame):
    """How far the elements of a concept test were spoken of, and how the respondent is doing."""

    type: Literal["coverage"] = "coverage"
    turn_number: TurnNumber
    elements: tuple[ElementItem, ...]
    spirits: Spirits


class Watchers(SessionFrame):
    """Who is watching."""

    type: Literal["watchers"] = "watchers"
    names: tuple[str, ...]


class PreviewView(Message):
    """The question that a steering command would lead to now; the next answer may change it."""

    question: str
    strategy: str
    node_id: str | None
    node_label: str | None


class CommandDone(Message):
    """The command took effect, or will in that turn; the question made out of answer n has the turn number n."""

    type: Literal["command.done"] = "command.done"
    command_id: str
    session_id: str
    applies_to_turn: TurnNumber
    preview: PreviewView | None = Field(default=None, description="Of a steering preview, which changes nothing.")


ModeratorServerMessage = Annotated[
    ModeratorReady
    | OverviewRows
    | OverviewRow
    | OverviewGone
    | Kiosks
    | Snapshot
    | WatchedReply
    | WatchedTurnStarted
    | WatchedTurnFailed
    | WatchedQuestionStarted
    | WatchedQuestionDelta
    | WatchedQuestionWithdrawn
    | WatchedQuestionCompleted
    | WatchedTranscriptPartial
    | WatchedTranscriptFinal
    | WatchedSecondReading
    | Respondent
    | Alerts
    | Action
    | Signals
    | Scores
    | GraphDelta
    | Continuation
    | Latency
    | Usage
    | WatchedState
    | WatchedCoverage
    | Watchers
    | CommandDone
    | Pong
    | Error,
    Field(discriminator="type"),
]
MODERATOR_SERVER_MESSAGES: TypeAdapter[ModeratorServerMessage] = TypeAdapter(ModeratorServerMessage)
