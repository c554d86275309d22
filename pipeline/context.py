"""The inputs of a turn, and the contracts of the stages that have run so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from pipeline.concept import SessionConfiguration
from pipeline.contracts import Contract
from pipeline.errors import ContractNotReady
from pipeline.ports import QuestionSink, SlotProposal, Vectors
from pipeline.state import AnswerKind, Directive, InterviewState
from pipeline.strategies import Strategies

C = TypeVar("C", bound=Contract)
SlotNames = Callable[[], Sequence[SlotProposal]]
"""Returns the slot names that a language model has proposed so far for nodes of the backlog."""

Wishes = Callable[[], Sequence[Directive]]
"""Returns the moderators' directives for the next question; called when it is decided on. Its errors end the turn."""


def no_names() -> tuple[SlotProposal, ...]:
    """No proposals."""
    return ()


@dataclass(frozen=True)
class Answer:
    """What the respondent did: an answer, a skip, or a correction of the answer `corrects`.

    `spoken` says that `text` was transcribed from speech. `confidence` is then the mean confidence of its words, in
    [0, 1], and `speech_ms` the time from the first word to the end of the last one, in milliseconds.
    """

    turn_key: str
    text: str = ""
    kind: AnswerKind = "answer"
    corrects: str | None = None
    spoken: bool = False
    confidence: float | None = None
    speech_ms: int | None = None


@dataclass
class TurnContext:
    """Inputs and contracts of one turn. Contracts are added and never changed.

    `embeddings` holds a vector, shape [dimension], per node and slot that has one; `strategies` are those of the
    session's engine.
    """

    state: InterviewState
    answer: Answer
    configuration: SessionConfiguration
    now: datetime
    sink: QuestionSink
    embeddings: Mapping[str, Vectors]
    strategies: Strategies = field(default_factory=lambda: Strategies(()))
    wishes: Wishes = tuple
    names: SlotNames = no_names
    stages_ms: dict[str, float] = field(default_factory=dict)
    _contracts: dict[type[Contract], Contract] = field(default_factory=dict)

    def get(self, contract: type[C]) -> C:
        """The contract of an earlier stage.

        Raises:
            ContractNotReady: the stage that provides it has not run yet.
        """
        found = self._contracts.get(contract)
        if found is None:
            raise ContractNotReady(f"{contract.__name__} was read before its stage has run")
        assert isinstance(found, contract)
        return found

    def replace(self, contract: Contract) -> None:
        """Put this in place of what a stage provided, for the stages that follow.

        Raises:
            ContractNotReady: there is none yet.
        """
        if type(contract) not in self._contracts:
            raise ContractNotReady(f"{type(contract).__name__} was replaced before it was provided")
        self._contracts[type(contract)] = contract

    def put(self, contract: Contract) -> None:
        """Add what a stage provides.

        Raises:
            ContractNotReady: it was provided already.
        """
        if type(contract) in self._contracts:
            raise ContractNotReady(f"{type(contract).__name__} was provided twice")
        self._contracts[type(contract)] = contract
