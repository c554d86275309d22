"""Records of calls of language models: one per call, with tokens, time and cost.

`with recording(log, number):` around a turn collects the calls made inside it, those of tasks started inside included.
Without an active log a call appears in log lines and metrics only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from pipeline.records import Record

Role = Literal["extraction", "scoring", "generation"]
CallOutcome = Literal["completed", "failed", "discarded"]


class LLMCall(Record):
    """One attempt to get a response from a language model.

    `turn_number` is the turn it was made for, 0 for the opening. `task` is what it was for (`extraction`, `rating`,
    `slots`, `opening`, `question`, `rephrase`, `closing`, `elements`, or one of them with `.repair`). Times are
    milliseconds. Tokens are the provider's own figures, None where it reported none; `cached_tokens` are those of
    the input that it read from its cache. `cost` is in `currency`, None for a model that the price table does not
    have. `discarded` calls were paid for, but their output was not used: the turn was cancelled, or the checker
    stopped the question. `error` is the name of the error class of a failed call.
    """

    id: str
    turn_number: int | None = None
    role: Role
    task: str
    provider: str
    model: str
    attempt: int = 1
    outcome: CallOutcome = "completed"
    error: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    latency_ms: float = 0.0
    first_token_ms: float | None = None
    cost: float | None = None
    currency: str | None = None


class CallLog:
    """Calls that are not stored yet, oldest first."""

    def __init__(self) -> None:
        self._calls: list[LLMCall] = []

    def add(self, call: LLMCall) -> None:
        """Keep a call."""
        self._calls.append(call)

    def peek(self) -> tuple[LLMCall, ...]:
        """The calls that are not stored yet; they stay in the log."""
        return tuple(self._calls)

    def settle(self, recorded: tuple[LLMCall, ...]) -> None:
        """Remove calls that are stored now."""
        ids = {call.id for call in recorded}
        self._calls = [call for call in self._calls if call.id not in ids]


_active: ContextVar[tuple[CallLog, int | None] | None] = ContextVar("calls", default=None)


@contextmanager
def recording(log: CallLog, turn_number: int | None = None) -> Iterator[None]:
    """Collect the calls made inside, in `log`, as calls for that turn."""
    token = _active.set((log, turn_number))
    try:
        yield
    finally:
        _active.reset(token)


def record_call(call: LLMCall) -> None:
    """Put a call into the active log, if there is one."""
    active = _active.get()
    if active is not None:
        log, turn_number = active
        log.add(call.model_copy(update={"turn_number": turn_number}))
