"""The output of each stage: one typed contract per stage, read by the stages after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import field_validator

from pipeline.acts import HeardAct
from pipeline.conduct.move import Move
from pipeline.coverage import ElementCoverage
from pipeline.engines.base import CandidateScores, Decision, ScoredCandidate
from pipeline.focus import Focus, Target
from pipeline.graph.canonical import CanonicalGraph
from pipeline.graph.metrics import CanonicalGraphState, GraphState
from pipeline.graph.surface import KGEdge, KGNode, SurfaceGraph
from pipeline.graph.tracker import Depth, NodeStateTracker
from pipeline.grid.model import GridProgress, GridStep
from pipeline.guide import TopicProgress
from pipeline.momentum import MomentumState
from pipeline.ports import ActiveSignal, Extraction, Line, Parse, QualitativeSignals, Rating, Vectors
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
from pipeline.threads import Thread


class Contract:
    """Base of all stage outputs."""


@dataclass(frozen=True)
class ContextOutput(Contract):
    """What the turn starts from.

    `lines` are the latest utterances, oldest first; `focus_key`, `focus_label` and `focus_type` are those of the
    question that is answered. `reopened`: the closing question was asked, and the respondent finds it too early.
    """

    turn_number: int
    max_turns: int
    closing: bool
    reopened: bool
    correcting: bool
    question: str
    lines: tuple[Line, ...]
    recent_questions: tuple[str, ...]
    strategy_history: tuple[str, ...]
    focus_history: tuple[FocusEntry, ...]
    focus_key: str | None
    focus_label: str | None
    focus_type: str | None
    graph: SurfaceGraph
    canonical: CanonicalGraph
    tracker: NodeStateTracker


@dataclass(frozen=True)
class UtteranceOutput(Contract):
    """The respondent's utterance, checked and with its id.

    `acts` are what was heard in it; `content` is what of it tells, with what a correction says is right; `has_content`
    is false where there is nothing of that, as for a skip.
    """

    utterance: Utterance
    kind: AnswerKind
    has_content: bool
    content: str
    acts: tuple[HeardAct, ...] = ()


@dataclass(frozen=True)
class RatingOutput(Contract):
    """The rating of the answer as the rater gave it, and as signals; both None for a skip."""

    rating: Rating | None
    rated: Rated | None


@dataclass(frozen=True)
class SrlOutput(Contract):
    """Discourse relations and frames; `parse` is None when the stage is off and for a skip."""

    parse: Parse | None


@dataclass(frozen=True)
class ExtractionOutput(Contract):
    """What was found in the answer."""

    extraction: Extraction


@dataclass(frozen=True)
class GraphOutput(Contract):
    """The surface graph after this answer, and what changed; `nodes_mentioned` existed before."""

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
    """Number of nodes that got their final slot in this turn."""
    settled_slots: int = 0
    """Number of slots that became the final slot of a node for the first time in this turn."""
    embeddings: dict[str, Vectors] = field(default_factory=dict)
    """Vectors of slots that are new or renamed, by slot id, shape [dimension]."""


@dataclass(frozen=True)
class StateOutput(Contract):
    """Measures after this answer; `qualities` are those of all rated answers, oldest first.

    `threads` have no end yet, which stage `strategy` determines; `guide` is the progress after this answer.
    """

    graph_state: GraphState
    canonical_state: CanonicalGraphState | None
    saturation: SaturationMetrics
    surface_velocity: Velocity
    canonical_velocity: Velocity
    computed_for_turn: int
    momentum: MomentumState
    qualities: tuple[QualitativeSignals | None, ...]
    threads: tuple[Thread, ...] = ()
    guide: tuple[TopicProgress, ...] = ()
    coverage: tuple[ElementCoverage, ...] = ()
    grid: GridProgress = field(default_factory=GridProgress)


@dataclass(frozen=True)
class StrategyOutput(Contract):
    """The choice and the signals it rests on.

    `decision` is None where nothing is chosen: in the last turn, after the closing question, and where a moderator's
    question is asked (`injected`). `tracker` has this answer's depth, but not yet the new focus, which stage
    `continuation` determines.
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
    """The moderator's directive that was followed."""
    move: Move | None = None
    """What the interviewer does about an act; the engine was asked only if it goes on with its question."""
    threads: tuple[Thread, ...] = ()
    """With this answer, and with why they ended."""
    topic: Target | None = None
    """The topic of the guide that would be asked for next."""
    topics_open: int = 0
    """The topics that have to be asked for."""
    step: GridStep | None = None
    """What the repertory grid needs next."""
    closeness: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """As of `DecisionInputs`."""
    phase: str = "early"
    """Of the interview, as the engine sees it; that of before where it was not asked."""


@dataclass(frozen=True)
class ContinuationOutput(Contract):
    """Whether and how the interview goes on.

    `should_continue` is false once no further probing question follows; `ask_closing` says that the closing
    question comes next, `complete` that the session is over with this turn. `subject` is what the question is about:
    the focus's wording, else what the strategy's `focus_mode` says. `tracker`, `threads` and `guide` know of the new
    focus. `reason` says why it ends, `because` why something else is asked than the engine chose,
    which `can_wait` where it may be asked later as well.
    """

    should_continue: bool
    reason: str
    ask_closing: bool
    complete: bool
    strategy: str | None
    focus: Focus | None
    subject: str
    tracker: NodeStateTracker
    threads: tuple[Thread, ...] = ()
    guide: tuple[TopicProgress, ...] = ()
    because: str = ""
    can_wait: bool = False
    grid: GridProgress = field(default_factory=GridProgress)


@dataclass(frozen=True)
class QuestionOutput(Contract):
    """The next question as it was sent."""

    text: str
    fallback: bool
    provider: str
    attempts: int
    refusals: tuple[str, ...] = ()
    """Codes of why earlier wordings were refused."""
    reasons: tuple[str, ...] = ()
    """The same with what was found in them."""
    worth: float | None = None
    """What the writer expects a moderator to think of it, 0 to 3; None where it does not tell."""
    asked: str = ""
    """What of the text is the question, where it begins with a reply."""
    by_second: bool = False
    """The fallback writer wrote it, because the configured one failed."""
    taken: int = 0
    """Which of the offers it is about, counted from 0."""
    said: int | None = None
    """The number that the writer gave, which may be none that was offered; 0 for a choice of its own, …"""
    own: str = ""
    """… which is about these words of the respondent."""
    offers: tuple[OfferMade, ...] = ()


@dataclass(frozen=True)
class ResponseOutput(Contract):
    """The interviewer's utterance with its id; `asked` is None when the session is complete."""

    utterance: Utterance
    asked: QuestionAsked | None


class StoredInputs(Record):
    """What a decision rested on besides the signals, as far as the state after the turn does not tell it later.

    `nodes` and `edges` are the creation orders (`sequence`) of those that counted then; `weights` are, for each of the
    nodes, the answers that had mentioned it, the turn of the latest, its salience and emotion; `ends`, for each of the
    edges, those of its source and target, and whether it was merely inferred; both empty in records from before they
    were kept. `rated` is the number of answers rated by then. `engine_state` is what the engine remembered from before.
    """

    max_turns: int = 0
    nodes: tuple[int, ...] = ()
    weights: tuple[tuple[int, int, int | None, int | None], ...] = ()
    edges: tuple[int, ...] = ()
    ends: tuple[tuple[int, int, bool], ...] = ()
    tensions: int = 0
    rated: int = 0
    coverage: tuple[ElementCoverage, ...] = ()
    momentum: MomentumState = MomentumState()
    threads: tuple[Thread, ...] = ()
    topic: Target | None = None
    topics_open: int = 0
    step: GridStep | None = None
    engine_state: dict[str, Any] = {}
    closeness: dict[str, tuple[float, ...]] = {}

    @field_validator("closeness", mode="before")
    @classmethod
    def _as_greatest(cls, stored: Any) -> Any:
        """Of records from when only the greatest of a text's cosines was kept."""
        if not isinstance(stored, dict):
            return stored
        return {text: (known,) if isinstance(known, int | float) else known for text, known in stored.items()}


class OfferMade(Record):
    """A candidate of the engine that the writer of the question could take; `rank` is the engine's."""

    strategy: str
    target: Target | None = None
    rank: int


class QuestionMaking(Record):
    """How the question of a turn came about.

    `writer` is the name of the provider, `refusals` why earlier wordings were refused, `worth` what the writer expects
    a moderator to think of it: 0 ashamed of it, 3 exactly this; None where it does not tell. `offers` are what a
    language model could choose from, the engine's choice first; `taken` is the one that was asked about, counted from
    0, `said` the number that the model gave, counted from 1, None where it gave none, 0 where it chose something else:
    `own` are the respondent's words that it went on from then.
    """

    writer: str = ""
    attempts: int = 1
    refusals: tuple[str, ...] = ()
    worth: float | None = None
    offers: tuple[OfferMade, ...] = ()
    taken: int = 0
    said: int | None = None
    own: str = ""


class TurnRecord(Record):
    """The stored record of one turn: what was decided, from which signals, and how long the stages took.

    `strategy`, `target` and `tactic` are those of the question that was asked. `reason` says why: in the engine's
    words, or by which rule something else was asked than the engine chose; and why the interview ends, where it does.
    """

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
    target: Target | None = None
    tactic: str = ""
    scores: CandidateScores = CandidateScores()
    inputs: StoredInputs = StoredInputs()
    ratings: Rating | None = None
    saturation: SaturationMetrics
    stages_ms: dict[str, float] = {}
    fallback: bool = False
    fallbacks: tuple[str, ...] = ()
    """Tasks (`extraction`, `rating`, `question`) done by the fallback provider because the configured one failed."""
    question: QuestionMaking = QuestionMaking()
    directive: AppliedDirective | None = None
    """What a moderator restricted the choice to, or the question a moderator asked instead."""


@dataclass(frozen=True)
class ScoringOutput(Contract):
    """The record of the turn, and the entry of the focus history (None if the session is complete)."""

    focus_entry: FocusEntry | None
    record: TurnRecord
