"""What a turn knows so far: its inputs, and the contracts of the stages that have run."""

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

C = TypeVar("C", bound=Contract)
SlotNames = Callable[[], Sequence[SlotProposal]]
"""Names for waiting nodes that have come so far from a model that takes its time."""

Wishes = Callable[[], Sequence[Directive]]
"""What moderators want of the next question, asked for when it is decided on; what it raises ends the turn."""


def no_names() -> tuple[SlotProposal, ...]:
    """Nothing has come."""
    return ()


@dataclass(frozen=True)
class Answer:
    """What the respondent did: an answer, a skip, or a correction of the answer `corrects`.

    `spoken` says that `text` was understood from speech, with this mean `confidence` of its words, in [0, 1], and so
    many milliseconds from the first word to the end of the last one.
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
    """Inputs and contracts of one turn. Nothing in it is changed, contracts are only added.

    `embeddings` holds a vector, shape [dimension], per node and slot that has one.
    """

    state: InterviewState
    answer: Answer
    configuration: SessionConfiguration
    now: datetime
    sink: QuestionSink
    embeddings: Mapping[str, Vectors]
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

    def put(self, contract: Contract) -> None:
        """Add what a stage provides.

        Raises:
            ContractNotReady: it was provided already.
        """
        if type(contract) in self._contracts:
            raise ContractNotReady(f"{type(contract).__name__} was provided twice")
        self._contracts[type(contract)] = contract
