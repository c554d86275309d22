"""What one commit changes, and its record in the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json, to_jsonable_python

from pipeline.calls import LLMCall
from pipeline.contracts import TurnRecord
from pipeline.ports import Vectors
from pipeline.state import InterviewState, Receipt
from pipeline.turn import Outcome

Event = dict[str, Any]
"""A durable event as it goes over the wire, still without its id."""


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """What the journal gets besides the state.

    Args:
        turn: the decisions of a turn and what they rest on.
        action: a moderator's command that took effect: `command_id`, `type`, `who`, `at`, `turn_number` and its own
            fields.
    """

    turn: TurnRecord | None = None
    action: Mapping[str, Any] | None = None

    def dump(self, calls: Sequence[LLMCall] = ()) -> bytes:
        """As JSON, together with the calls of language models that were made since the last write."""
        value: dict[str, Any] = {}
        if self.turn is not None:
            value["turn"] = self.turn
        if self.action:
            value["moderator"] = self.action
        return record_json(value, calls)


@dataclass(frozen=True, slots=True)
class Change:
    """Everything that one commit makes true.

    Args:
        state: the next state, one revision further.
        events: durable events, in order; the commit gives them their ids.
        record: for the journal.
        receipt: what a client gets that sends the same answer again.
        embeddings: vectors that are new, by node or slot id; float32, shape [dimension].
    """

    state: InterviewState
    events: tuple[Event, ...] = ()
    record: ChangeRecord = ChangeRecord()
    receipt: Receipt | None = None
    embeddings: Mapping[str, Vectors] = field(default_factory=dict)

    @classmethod
    def of_outcome(
        cls, outcome: Outcome, turn_key: str | None = None, action: Mapping[str, Any] | None = None
    ) -> Change:
        """The change that a run of the pipeline leads to.

        Args:
            outcome: of a turn, an opening, a rephrased question, or late slot names.
            turn_key: of the answer, if it is a turn.
            action: a moderator's command that took effect in it.
        """
        receipt = None if turn_key is None else outcome.state.receipt(turn_key)
        record = ChangeRecord(outcome.record, action)
        return cls(outcome.state, outcome.events, record, receipt, outcome.embeddings)


def record_json(value: Mapping[str, Any], calls: Sequence[LLMCall] = ()) -> bytes:
    """A journal record as JSON. Lone surrogates, which a provider's error text may contain, become `?`."""
    if calls:
        value = {**value, "calls": list(calls)}
    try:
        return to_json(value)
    except ValueError:
        plain = to_jsonable_python(value)
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
