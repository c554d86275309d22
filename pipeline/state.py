"""The state of an interview: one serialisable, versioned value."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from pipeline.acts import Act, HeardAct
from pipeline.conduct.state import ConductState
from pipeline.coverage import ElementCoverage
from pipeline.errors import StateVersionError
from pipeline.focus import Target
from pipeline.graph.canonical import CanonicalEdge, CanonicalGraph, CanonicalSlot, SlotMapping
from pipeline.graph.surface import KGEdge, KGNode, SchemaTension, SurfaceGraph
from pipeline.graph.tracker import Depth, NodeStateTracker, TrackerSnapshot
from pipeline.grid.model import GridProgress
from pipeline.guide import TopicProgress
from pipeline.momentum import MomentumState
from pipeline.ports import QualitativeSignals, Speaker
from pipeline.records import Record, derived_id
from pipeline.threads import Thread

STATE_VERSION = 8

SESSION_ID_PATTERN = r"[A-Za-z0-9_-]{1,64}"

SessionStatus = Literal["created", "active", "paused", "closing", "completed", "abandoned", "failed"]
UNFINISHED: frozenset[SessionStatus] = frozenset({"created", "active", "paused", "closing"})
"""States of interviews that are not over."""
AnswerKind = Literal["answer", "skip", "correct", "rate"]
UtteranceKind = Literal[
    "opening", "question", "rephrase", "reply", "closing_question", "closing", "answer", "skip", "correct", "rate"
]


def is_session_id(text: str) -> bool:
    """Whether the text can be the id of a session."""
    return re.fullmatch(SESSION_ID_PATTERN, text) is not None


FRAGMENT_MS = 1500
"""Speech shorter than this may be a piece of an answer: it says nothing about how much somebody has to say."""


class Utterance(Record):
    """One utterance, with its turn and time. `text` is empty for a skip.

    `acts` are those of a respondent's message, empty where all of it tells; `replies_to` is the act that a reply of the
    interviewer answers. `spoken`: transcribed from speech, with the mean `confidence` of its words, in [0, 1], and its
    length `speech_ms`. `second_reading` is what was understood when the whole answer was read once more, where that has
    other words; nothing is made of it, and it is gone once the answer is corrected.
    """

    id: str
    turn_number: int
    speaker: Speaker
    kind: UtteranceKind
    text: str
    recorded_at: datetime
    strategy: str | None = None
    focus_key: str | None = None
    fallback: bool = False
    corrects: str | None = None
    spoken: bool = False
    confidence: float | None = None
    speech_ms: int | None = None
    second_reading: str | None = None
    acts: tuple[HeardAct, ...] = ()
    replies_to: Act | None = None

    @property
    def is_fragment(self) -> bool:
        """Whether it was spoken and is too short to judge how much its speaker has to say."""
        return self.spoken and self.speech_ms is not None and self.speech_ms < FRAGMENT_MS


class QuestionAsked(Record):
    """The question that is waiting for an answer.

    `target` is what it is about; `focus_key`, `focus_node_id` and `focus_label` are those of the node, where it is one.
    """

    utterance_id: str
    turn_number: int
    text: str
    kind: UtteranceKind
    strategy: str | None = None
    focus_key: str | None = None
    focus_node_id: str | None = None
    focus_label: str | None = None
    target: Target | None = None
    fallback: bool = False


class FocusEntry(Record):
    """What one question was about, and by which strategy; `node_id` and `key` are empty unless it was one node."""

    turn: int
    node_id: str = ""
    label: str = ""
    strategy: str
    key: str = ""
    target: Target | None = None


def utterance_id(state: InterviewState, turn_number: int, speaker: Speaker) -> str:
    """The id of what the speaker says next in that turn, which may have had other words before: a reply, or more."""
    said = sum(u.turn_number == turn_number and u.speaker == speaker for u in state.utterances)
    return derived_id(state.session_id, turn_number, "utterance", f"{speaker}-{said}" if said else speaker)


def asked_texts(utterances: Iterable[Utterance]) -> tuple[str, ...]:
    """The texts of all that the interviewer said, oldest first."""
    return tuple(u.text for u in utterances if u.speaker == "interviewer" and u.text)


def answered(utterances: Iterable[Utterance], until: int | None = None) -> dict[int, str]:
    """What the respondent said last in each turn, up to one of them."""
    said = (u for u in utterances if u.speaker == "respondent" and u.text)
    return {u.turn_number: u.text for u in said if until is None or u.turn_number <= until}


class Velocity(Record):
    """New nodes (or slots) per turn: weighted mean `ewma`, largest value `peak`; and the count after the last turn."""

    ewma: float = 0.0
    peak: float = 0.0
    previous_count: int = 0


class SaturationMetrics(Record):
    """Measures of saturation after a turn: how little the latest answers added.

    `chao1_ratio` is the share of the estimated number of concepts that was mentioned, in (0, 1]. `new_info_rate` is
    the share of new nodes among those mentioned in this answer. `consecutive_low_info` counts turns in a row without a
    new node or edge, `consecutive_shallow` surface or shallow answers in a row without any, `consecutive_depth_plateau`
    turns without a new node or edge since the depth of the graph last changed.
    """

    chao1_ratio: float = 1.0
    new_info_rate: float = 0.0
    consecutive_low_info: int = 0
    consecutive_shallow: int = 0
    consecutive_depth_plateau: int = 0
    previous_max_depth: int = 0
    is_saturated: bool = False


class Receipt(Record):
    """The public result of a turn, kept so that a repeated request with the same turn_key gets it again."""

    turn_key: str
    turn_number: int
    digest: str
    result: dict[str, Any]


class Consent(Record):
    """What the respondent agreed to, and when."""

    version: str
    choices: dict[str, Any]
    given_at: datetime


class Directive(Record):
    """A moderator's directive for the next question: `inject` asks `question`, `steer` restricts strategy or node."""

    command_id: str
    kind: Literal["inject", "steer"]
    question: str | None = None
    strategy: str | None = None
    node_id: str | None = None


class AppliedDirective(Directive):
    """A directive as a turn followed it; `node_key` is the tracked identity of `node_id` in that turn."""

    node_key: str | None = None


class AppliedCommand(Record):
    """A moderator's command that took effect, and the first turn that it applies to."""

    command_id: str
    turn_number: int


class Device(Record):
    """The device that an interview was started on: the id and the name of its token."""

    id: str
    name: str


class InterviewState(Record):
    """A session between two turns; immutable, each commit makes the next one.

    `rev` grows by one with each commit. `slot_backlog` are surface nodes without a final slot, oldest first.
    `depths` and `engagements` (in [0, 1]) are those of all rated answers, oldest first; `phase` and
    `saturation_score` (in [0, 1]) are those of the latest turn. `commands` are the latest of the moderators', oldest
    first, so that the same one never takes effect twice. `eligibility` is what was confirmed of the respondent before
    the interview, by the ids of the concept's statements. `claimed_by` is the moderator who took over by hand (not the
    node that owns the session); `settings` are the respondent's wishes about speaking and listening; `engine` is the
    decision engine. A new field needs a default and a new STATE_VERSION.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    version: int = STATE_VERSION
    session_id: str
    concept_id: str
    concept_name: str
    methodology: str
    engine: str
    language: str
    max_turns: int = Field(ge=3)
    seed: int
    config_hash: str
    respondent_ref: str | None = None
    pilot: bool = False
    created_at: datetime
    updated_at: datetime

    status: SessionStatus = "created"
    status_reason: str = ""
    resume_status: SessionStatus | None = None
    stopped_question: QuestionAsked | None = None
    paused_by: Literal["respondent", "moderator"] | None = None
    claimed_by: str | None = None
    rev: int = 0
    turn_count: int = 0
    consent: Consent | None = None
    settings: dict[str, Any] = {}

    utterances: tuple[Utterance, ...] = ()
    question: QuestionAsked | None = None
    receipts: tuple[Receipt, ...] = ()
    directives: tuple[Directive, ...] = ()
    commands: tuple[AppliedCommand, ...] = ()
    device: Device | None = None
    eligibility: dict[str, bool] = {}

    nodes: tuple[KGNode, ...] = ()
    edges: tuple[KGEdge, ...] = ()
    tensions: tuple[SchemaTension, ...] = ()
    slots: tuple[CanonicalSlot, ...] = ()
    mappings: tuple[SlotMapping, ...] = ()
    canonical_edges: tuple[CanonicalEdge, ...] = ()
    slot_backlog: tuple[str, ...] = ()
    tracker: TrackerSnapshot = TrackerSnapshot()

    strategy_history: tuple[str, ...] = ()
    focus_history: tuple[FocusEntry, ...] = ()
    depths: tuple[Depth, ...] = ()
    engagements: tuple[float, ...] = ()
    phase: str | None = None
    saturation_score: float | None = None
    surface_velocity: Velocity = Velocity()
    canonical_velocity: Velocity = Velocity()
    saturation: SaturationMetrics = SaturationMetrics()
    qualities: tuple[QualitativeSignals | None, ...] = ()
    momentum: MomentumState = MomentumState()
    coverage: tuple[ElementCoverage, ...] = ()
    threads: tuple[Thread, ...] = ()
    guide: tuple[TopicProgress, ...] = ()
    grid: GridProgress = GridProgress()
    engine_state: dict[str, Any] = {}
    conduct: ConductState = ConductState()

    def surface_graph(self) -> SurfaceGraph:
        """A new surface graph of this state, which may be changed."""
        return SurfaceGraph(self.nodes, self.edges, self.tensions)

    def canonical_graph(self) -> CanonicalGraph:
        """A new canonical graph of this state, which may be changed."""
        return CanonicalGraph(
            {slot.id: slot for slot in self.slots},
            {mapping.surface_node_id: mapping for mapping in self.mappings},
            {edge.id: edge for edge in self.canonical_edges},
        )

    def node_tracker(self) -> NodeStateTracker:
        """A new node state tracker of this state, which may be changed."""
        return NodeStateTracker.from_snapshot(self.tracker)

    def receipt(self, turn_key: str) -> Receipt | None:
        """The receipt of the turn with this key, if it was completed."""
        return next((receipt for receipt in self.receipts if receipt.turn_key == turn_key), None)

    def command(self, command_id: str) -> AppliedCommand | None:
        """The moderator's command with this id, if it took effect."""
        return next((known for known in self.commands if known.command_id == command_id), None)

    def last_answer(self) -> Utterance | None:
        """The respondent's latest utterance with content."""
        return next((u for u in reversed(self.utterances) if u.speaker == "respondent" and u.text), None)

    def with_second_reading(self, text: str) -> InterviewState:
        """The state with this second reading of the last answer, if that was spoken."""
        last = self.last_answer()
        if last is None or not last.spoken:
            return self
        noted = last.model_copy(update={"second_reading": text})
        return self.model_copy(update={"utterances": tuple(noted if u is last else u for u in self.utterances)})

    def dump(self) -> bytes:
        """The state as JSON."""
        return self.model_dump_json().encode()

    @classmethod
    def load(cls, data: bytes) -> InterviewState:
        """The state that `dump` wrote.

        Raises:
            StateVersionError: it was written by a newer version.
            pydantic.ValidationError: it is not a state.
        """
        version = _version_of(data)
        if version > STATE_VERSION:
            raise StateVersionError(f"the session's state is of version {version}, this process knows {STATE_VERSION}")
        state = cls.model_validate_json(data)
        return state if version == STATE_VERSION else state.model_copy(update={"version": STATE_VERSION})


class _VersionOnly(Record):
    model_config = ConfigDict(extra="ignore")
    version: int


def _version_of(data: bytes) -> int:
    return _VersionOnly.model_validate_json(data).version
