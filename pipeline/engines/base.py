"""What every decision engine takes and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from pipeline.concept import SessionConfiguration
from pipeline.engines.strategies import Strategies
from pipeline.methodology import Methodology
from pipeline.records import Record
from pipeline.signals.base import SignalMatrix, SignalValue

STORED_CANDIDATES = 20


class SignalContribution(Record):
    """What one weight added to a candidate's base score."""

    weight_key: str
    signal: str
    value: SignalValue
    weight: float
    contribution: float


class ScoredCandidate(Record):
    """A candidate with the whole calculation. `final = base * phase_multiplier + phase_bonus`."""

    strategy: str
    node_key: str | None = None
    node_label: str | None = None
    contributions: tuple[SignalContribution, ...] = ()
    base_score: float
    phase_multiplier: float
    phase_bonus: float
    final_score: float
    rank: int
    selected: bool


class Decision(Record):
    """The next move: a strategy, the node it is about, and the reasons.

    `candidates` are the best STORED_CANDIDATES with their decomposition, best first; `candidate_count` says how
    many there were.
    """

    engine: str
    strategy: str
    node_key: str | None = None
    close: bool = False
    saturated: bool = False
    phase: str
    reason: str = ""
    candidates: tuple[ScoredCandidate, ...] = ()
    candidate_count: int = 0


@dataclass(frozen=True)
class DecisionInputs:
    """What an engine decides on; also part of a turn's stored record, so that a decision can be repeated."""

    methodology: Methodology
    signals: SignalMatrix
    strategy: str | None = None
    """Only this strategy, where a moderator asked for it."""
    node_key: str | None = None
    """Only this node, where a moderator asked for it."""


class DecisionEngine(Protocol):
    """Chooses strategy and node of the next question."""

    name: ClassVar[str]
    closes_on_saturation: ClassVar[bool]
    """Whether the saturation rules of stage `continuation` apply; false for an engine that has its own."""

    def strategies(self, configuration: SessionConfiguration) -> Strategies:
        """What the engine chooses from in an interview with this configuration."""
        ...

    def decide(self, inputs: DecisionInputs) -> Decision:
        """The choice and its reasons. Pure: the same inputs always give the same decision."""
        ...
