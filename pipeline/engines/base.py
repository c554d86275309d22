"""What every decision engine takes and returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import ConfigDict, Field, model_validator

from pipeline.concept import Element, PipelineSettings, SessionConfiguration
from pipeline.coverage import ElementCoverage
from pipeline.focus import Target
from pipeline.graph.surface import SchemaTension, SurfaceGraph
from pipeline.grid.model import GridStep
from pipeline.methodology import Form, Methodology, NodeBinding, Spec
from pipeline.momentum import MomentumState
from pipeline.ports import Embedder, QualitativeSignals
from pipeline.records import Record
from pipeline.signals.base import SignalMatrix, SignalValue
from pipeline.signals.registry import Problem
from pipeline.state import FocusEntry
from pipeline.strategies import Strategies
from pipeline.threads import Thread

EXPLAINED_CANDIDATES = 20
"""Candidates whose scores are stored with all their terms; of the others the totals are stored."""

MARGIN = 1.5
"""How much less than the choice a candidate may score and still be offered to whoever writes, where the engine says
nothing else."""

SCORE_DIGITS = 9
"""Scores are compared after rounding, so that the order of an operation can't break a tie."""

STORED_DIGITS = 4
"""Digits that the scores of all candidates are stored with."""

EXPLAINED = 3
"""Reasons that the reason of a decision names at most."""

CLOSENESS_DIGITS = 4
"""Cosines are stored, so they are rounded before a decision rests on them."""

PinnedT = TypeVar("PinnedT")
TermKind = Literal["weighted", "multiplied", "bonus", "veto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One reason for a candidate's score; no Record, because a turn makes five hundred that few ever read.

    `name` is the weight key or the scorer, `signal` and `value` are what it looked at, where it looked at a signal.
    `amount` is what it adds (`weighted`, `bonus`) or the factor it multiplies by (`multiplied`); a `veto` has none.
    `weight` is what the engine's file gives it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = Record.model_config

    kind: TermKind = "weighted"
    name: str
    signal: str | None = None
    value: SignalValue | None = None
    weight: float | None = None
    amount: float = 0.0
    reason: str = ""


def total(terms: Iterable[Term]) -> float | None:
    """The score that terms make: `sum of weighted × product of multiplied + sum of bonus`; None with a veto."""
    listed = tuple(terms)
    if any(term.kind == "veto" for term in listed):
        return None
    by = {kind: [term.amount for term in listed if term.kind == kind] for kind in ("weighted", "multiplied", "bonus")}
    return sum(by["weighted"]) * prod(by["multiplied"]) + sum(by["bonus"])


class ScoredCandidate(Record):
    """A strategy for a target, with the whole calculation; `final_score` is the `total` of its terms.

    `target` is None for a strategy that is about nothing in particular. `tactic` is how the strategy would ask, where
    the engine knows several ways. `selected` is the engine's choice, or what was asked where a rule overruled it.
    """

    strategy: str
    target: Target | None = None
    tactic: str = ""
    terms: tuple[Term, ...] = ()
    final_score: float | None
    rank: int
    selected: bool

    @model_validator(mode="before")
    @classmethod
    def _as_of_version_3(cls, data: Any) -> Any:
        """A candidate as it was stored with states of version 3, in terms."""
        return in_terms(data) if isinstance(data, dict) and "base_score" in data else data

    @property
    def node_key(self) -> str | None:
        """The tracked identity of the node, where it is about one node."""
        return self.target.node_key if self.target is not None else None

    @property
    def is_ruled_out(self) -> bool:
        """Whether a veto or a factor of 0 rules it out."""
        return self.final_score is None or any(term.amount == 0 for term in self.amounts("multiplied"))

    def amounts(self, *kinds: TermKind) -> tuple[Term, ...]:
        """The terms of these kinds, in their order."""
        return tuple(term for term in self.terms if term.kind in kinds)


def as_asked(
    candidates: Iterable[ScoredCandidate], strategy: str | None, target: Target | None
) -> tuple[ScoredCandidate, ...]:
    """Candidates with the one selected that was really asked; none, where it was not among them."""
    about = (target.kind, target.ids) if target is not None else None

    def is_asked(one: ScoredCandidate) -> bool:
        return one.strategy == strategy and about == ((one.target.kind, one.target.ids) if one.target else None)

    return tuple(one.model_copy(update={"selected": is_asked(one)}) for one in candidates)


def in_terms(stored: Mapping[str, Any]) -> dict[str, Any]:
    """A candidate as it was stored with states of version 3 (base × phase multiplier + phase bonus), in terms."""
    key = stored.get("node_key")
    weighted = [
        {
            "kind": "weighted",
            "name": line["weight_key"],
            **{name: line[name] for name in ("signal", "value", "weight")},
            "amount": line["contribution"],
        }
        for line in stored.get("contributions") or ()
    ]
    phase = [
        {"kind": "multiplied", "name": PHASE, "amount": stored["phase_multiplier"]},
        {"kind": "bonus", "name": PHASE, "amount": stored["phase_bonus"]},
    ]
    return {
        "strategy": stored["strategy"],
        "target": None if key is None else {"ids": [key], "label": stored.get("node_label") or ""},
        "terms": [*weighted, *phase],
        **{name: stored[name] for name in ("final_score", "rank", "selected")},
    }


PHASE = "phase"
"""Name of the terms that a phase of the interview adds."""


class CandidateScores(Record):
    """The scores of all candidates, compactly; None for one that was vetoed.

    `of_nodes` has, by strategy, a score for each node of the turn's signal matrix, in its order. `of_others` has the
    candidates about anything else: strategy, ids of the target (none if it is about nothing), score.
    """

    of_nodes: dict[str, tuple[float | None, ...]] = {}
    of_others: tuple[tuple[str, tuple[str, ...], float | None], ...] = ()


class Decision(Record):
    """The next move: a strategy, what it is about, and the reasons.

    `candidates` are the best EXPLAINED_CANDIDATES with their terms, best first; `scores` are those of all of
    `candidate_count`.
    """

    engine: str
    strategy: str
    target: Target | None = None
    tactic: str = ""
    close: bool = False
    saturated: bool = False
    phase: str
    reason: str = ""
    candidates: tuple[ScoredCandidate, ...] = ()
    candidate_count: int = 0
    scores: CandidateScores = CandidateScores()
    engine_state: dict[str, Any] = {}
    """What the engine wants to remember until its next decision, as JSON values."""
    margin: float = MARGIN
    """How much less than the choice a candidate may score and still be as good, in the writer's hands."""

    @property
    def node_key(self) -> str | None:
        """The tracked identity of the node, where it is about one node."""
        return self.target.node_key if self.target is not None else None


@dataclass(frozen=True)
class DecisionInputs:
    """What an engine decides on, after an answer; all of it is stored with the turn, so that it can be repeated.

    `strategy` and `target` restrict the choice where a moderator asked for it. `questions` are those asked so far with
    what they were about, `question_texts` all that the interviewer said, `qualitative` the qualities of all rated
    answers (None where a provider does not tell), each oldest first. `topic` is the next open one of the guide, and
    `topics_open` the number of those that have to be asked for; `step` is what a repertory grid needs next.
    `turn_count` is the number of the answer, `engine_file` what the engine's file says, `subject` the concept's name.
    `answers` are what the respondent said, by turn; `closeness` is how close texts of the engine are to recent
    questions, see `Comparison`. `demands` are the concept's own questions, in the language of the interview.
    """

    methodology: Methodology
    signals: SignalMatrix
    strategies: Strategies = field(default_factory=lambda: Strategies(()))
    strategy: str | None = None
    target: Target | None = None
    graph: SurfaceGraph = field(default_factory=SurfaceGraph)
    questions: tuple[FocusEntry, ...] = ()
    question_texts: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    coverage: tuple[ElementCoverage, ...] = ()
    tensions: tuple[SchemaTension, ...] = ()
    momentum: MomentumState = field(default_factory=MomentumState)
    qualitative: tuple[QualitativeSignals | None, ...] = ()
    threads: tuple[Thread, ...] = ()
    topic: Target | None = None
    topics_open: int = 0
    step: GridStep | None = None
    settings: PipelineSettings = field(default_factory=PipelineSettings)
    turn_count: int = 0
    max_turns: int = 0
    engine_state: Mapping[str, Any] = field(default_factory=dict)
    engine_file: Mapping[str, Any] = field(default_factory=dict)
    subject: str = ""
    language: str = "en"
    answers: Mapping[int, str] = field(default_factory=dict)
    closeness: Mapping[str, Sequence[float]] = field(default_factory=dict)
    demands: tuple[str, ...] = ()

    def closest(self, text: str, window: int) -> float:
        """The greatest cosine of a text that was compared to any of so many latest questions; 0 without any."""
        return max(self.closeness.get(text, ())[-window:], default=0.0)


@dataclass(frozen=True)
class Comparison:
    """Texts that an engine wants compared in meaning with questions that were asked.

    What comes of it is `DecisionInputs.closeness`: by text the cosine to each of the questions, in their order, each in
    [−1, 1].
    """

    texts: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


class DecisionEngine(Protocol):
    """Chooses strategy and target of the next question."""

    name: ClassVar[str]
    closes_on_saturation: ClassVar[bool]
    """Whether the saturation rules of stage `continuation` apply; false for an engine that has its own."""

    def strategies(self, configuration: SessionConfiguration) -> Strategies:
        """What the engine chooses from in an interview with this configuration."""
        ...

    def decide(self, inputs: DecisionInputs) -> Decision:
        """The choice and its reasons. Pure: the same inputs always give the same decision."""
        ...


class EngineAbout(Spec):
    """What the file is for."""

    name: str = Field(description="Name of the engine, the same as the file's.")
    version: str = Field(default="1.0", description="Version of this file.")
    description: str = Field(default="", description="How the engine chooses, in a paragraph, for researchers.")


class EngineFile(Spec):
    """What the files of all engines begin with."""

    engine: EngineAbout = Field(description="What the file is for.")


@runtime_checkable
class ConfiguredEngine(DecisionEngine, Protocol):
    """An engine that has a file of its own, with strategies and phases of its own.

    A session keeps the file as it was when it began.
    """

    file: ClassVar[type[EngineFile]]
    """The form of its file."""
    signals: ClassVar[tuple[str, ...]]
    """Signals that it reads, besides those that a methodology lists."""

    def compared(self, inputs: DecisionInputs) -> Comparison:
        """What has to be compared before it can decide on these inputs."""
        ...

    def problems(self, file: EngineFile) -> list[Problem]:
        """Mistakes across the fields of a file."""
        ...

    def cautions(self, file: EngineFile) -> list[Problem]:
        """What a file may say and probably does not mean."""
        ...

    def left_out(self, file: EngineFile, max_turns: int) -> tuple[str, ...]:
        """Phases that an interview of so many turns never comes to."""
        ...


async def with_closeness(engine: DecisionEngine, inputs: DecisionInputs, embedder: Embedder) -> DecisionInputs:
    """The inputs with the comparisons that an engine asks for. Raises ProviderError."""
    wanted = engine.compared(inputs) if isinstance(engine, ConfiguredEngine) else Comparison()
    texts = tuple(dict.fromkeys(wanted.texts))
    if not texts or not wanted.questions:
        return inputs
    rows = await embedder.embed([*texts, *wanted.questions])
    cosines = rows[: len(texts)] @ rows[len(texts) :].T
    return replace(
        inputs,
        closeness={
            text: tuple(round(float(cosine), CLOSENESS_DIGITS) for cosine in row)
            for text, row in zip(texts, cosines, strict=True)
        },
    )


class Pinned(Generic[PinnedT]):
    """A part of a session's configuration as a cache key, compared by identity: the configuration is pinned."""

    __slots__ = ("data",)

    def __init__(self, data: PinnedT) -> None:
        self.data = data

    def __hash__(self) -> int:
        return id(self.data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pinned) and other.data is self.data


def wordings(
    methodology: Methodology, names: Iterable[str], own: Mapping[str, tuple[Form, ...]], binding: NodeBinding
) -> dict[str, tuple[Form, ...]]:
    """The questions of an engine's strategy, by language: the method's own way to ask wherever it has one.

    Args:
        methodology: of the interview.
        names: strategies of methodologies that ask for the same.
        own: the questions of the engine's file, for languages in which the method has none.
        binding: only strategies that are about a concept lend their questions to one that is, and the other way round.
    """
    wanted = set(names)
    lent: dict[str, tuple[Form, ...]] = {}
    for strategy in methodology.strategies:
        if strategy.name in wanted and strategy.node_binding == binding:
            for language, forms in strategy.templates.items():
                lent[language] = (*lent.get(language, ()), *forms)
    return {**own, **lent}
