"""What each stage hands on: one typed output per stage, the single source of truth within a turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pipeline.engines.base import Decision, ScoredCandidate
from pipeline.graph.canonical import CanonicalGraph
from pipeline.graph.metrics import CanonicalGraphState, GraphState
from pipeline.graph.surface import KGEdge, KGNode, SurfaceGraph
from pipeline.graph.tracker import Depth, NodeStateTracker
from pipeline.ports import ActiveSignal, Extraction, Line, Parse, Rating, Vectors
from pipeline.records import Record
from pipeline.signals.base import Rated, SignalMatrix
from pipeline.state import (
    AnswerKind,
    AppliedDirective,
    FocusEntry,
    QuestionAsked,
    SaturationMetrics,
    Utterance,
    Velocity,
)


class Contract:
    """Base of all stage outputs."""


@dataclass(frozen=True)
class ContextOutput(Contract):
    """What the turn starts from."""

    turn_number: int
    max_turns: int
    closing: bool
    correcting: bool
    question: str
    lines: tuple[Line, ...]
    recent_questions: tuple[str, ...]
    strategy_history: tuple[str, ...]
    focus_history: tuple[FocusEntry, ...]
    existing: tuple[tuple[str, str], ...]
    focus_key: str | None
    focus_label: str | None
    focus_type: str | None
    graph: SurfaceGraph
    canonical: CanonicalGraph
    tracker: NodeStateTracker


@dataclass(frozen=True)
class UtteranceOutput(Contract):
    """The respondent's utterance, checked and named."""

    utterance: Utterance
    kind: AnswerKind
    has_content: bool


@dataclass(frozen=True)
class RatingOutput(Contract):
    """How the answer was: the raw rating with rationales, and the signals made of it; none without content."""

    rating: Rating | None
    rated: Rated | None


@dataclass(frozen=True)
class SrlOutput(Contract):
    """Discourse relations and frames; none when the stage is off."""

    parse: Parse | None


@dataclass(frozen=True)
class ExtractionOutput(Contract):
    """What was found in the answer."""

    extraction: Extraction


@dataclass(frozen=True)
class GraphOutput(Contract):
    """The surface graph after this answer, and what changed."""

    graph: SurfaceGraph
    tracker: NodeStateTracker
    nodes_added: tuple[KGNode, ...]
    nodes_mentioned: tuple[KGNode, ...]
    edges_added: tuple[KGEdge, ...]
    embeddings: dict[str, Vectors]
    """Vectors of nodes that had none yet, by node id, shape [dimension]."""

    @property
    def gained(self) -> bool:
        """Whether the graph has a node or an edge that it did not have before."""
        return bool(self.nodes_added or self.edges_added)


@dataclass(frozen=True)
class SlotsOutput(Contract):
    """The canonical graph after this answer; `canonical` is None when the stage is off.

    `backlog` are surface nodes without a final slot, oldest first.
    """

    canonical: CanonicalGraph | None
    tracker: NodeStateTracker
    backlog: tuple[str, ...]
    settled_nodes: int = 0
    """Nodes that got their final slot in this turn."""
    settled_slots: int = 0
    """Slots that hold a node for good since this turn."""
    embeddings: dict[str, Vectors] = field(default_factory=dict)
    """Vectors of slots that are new or renamed, by slot id, shape [dimension]."""


@dataclass(frozen=True)
class StateOutput(Contract):
    """Fresh measures of both graphs."""

    graph_state: GraphState
    canonical_state: CanonicalGraphState | None
    saturation: SaturationMetrics
    surface_velocity: Velocity
    canonical_velocity: Velocity
    computed_for_turn: int


class Focus(Record):
    """What a question is about: a tracked identity and the wording that stands for it.

    `is_jump` says that the respondent spoke of something else just now, so that the question needs a bridge.
    """

    key: str
    node_id: str
    label: str
    node_type: str
    quote: str
    mentioned_turn: int
    is_jump: bool


@dataclass(frozen=True)
class StrategyOutput(Contract):
    """The choice and the signals it rests on.

    `decision` is none where nothing is left to choose: the last turn, and the answer to the closing question.
    `tracker` has this answer's depth, but not yet the new focus: only `continuation` knows what is really asked.
    """

    decision: Decision | None
    signals: SignalMatrix
    tracker: NodeStateTracker
    depths: tuple[Depth, ...]
    focus: Focus | None
    active_signals: tuple[ActiveSignal, ...] = ()
    rationale: str = ""
    injected: str | None = None
    directive: AppliedDirective | None = None
    """The moderator's wish that was followed."""


@dataclass(frozen=True)
class ContinuationOutput(Contract):
    """Whether and how the interview goes on.

    `should_continue` is false once no further probing question follows; `ask_closing` says that the closing
    question comes next, `complete` that the session is over with this turn. `subject` is what the question is about:
    the focus's wording, else what the strategy's `focus_mode` says. `tracker` has the new focus.
    """

    should_continue: bool
    reason: str
    ask_closing: bool
    complete: bool
    strategy: str | None
    focus: Focus | None
    subject: str
    tracker: NodeStateTracker


@dataclass(frozen=True)
class QuestionOutput(Contract):
    """The next question as it went out."""

    text: str
    fallback: bool
    provider: str
    attempts: int
    refusals: tuple[str, ...] = ()
    """Why earlier wordings were refused."""
    by_second: bool = False
    """The fallback writer wrote it, because the configured one failed."""


@dataclass(frozen=True)
class ResponseOutput(Contract):
    """The interviewer's utterance, named; `asked` is none when nothing waits for an answer any more."""

    utterance: Utterance
    asked: QuestionAsked | None


class TurnRecord(Record):
    """What one turn adds to the store, besides the state it leads to."""

    turn_number: int
    turn_key: str
    recorded_at: datetime
    strategy: str | None
    node_key: str | None
    node_id: str | None
    phase: str | None
    depth_score: float | None
    saturation_score: float | None
    has_methodology_signals: bool
    should_continue: bool
    reason: str
    signals: SignalMatrix | None
    candidates: tuple[ScoredCandidate, ...] = ()
    candidate_count: int = 0
    ratings: Rating | None = None
    saturation: SaturationMetrics
    stages_ms: dict[str, float] = {}
    fallback: bool = False
    fallbacks: tuple[str, ...] = ()
    """Tasks that another provider than the configured one did, because that one failed."""
    directive: AppliedDirective | None = None
    """What a moderator restricted the choice to, or the question a moderator asked instead."""


@dataclass(frozen=True)
class ScoringOutput(Contract):
    """What is kept of the turn for whoever wants to check it."""

    focus_entry: FocusEntry | None
    record: TurnRecord
