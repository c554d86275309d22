"""Records of tries: one `LLMCall` and its log lines for each, however it ends."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4  # noqa: TID251 - ids of tries, which a replay of a turn does not repeat

import structlog

from pipeline.calls import CallOutcome, LLMCall, record_call
from pipeline.language.clients.base import ChatRequest, RoleModel
from pipeline.language.clients.faults import Fault
from pipeline.language.clients.formats import Usage
from pipeline.language.clients.prices import PriceTable

log = structlog.get_logger()

Observer = Callable[[LLMCall], None]
"""Called with the record of every try as it ends; must not raise and must not take long."""


class TryRecorder:
    """Records one try. Of prompts and answers only the length is kept.

    The first of `completed`, `failed`, `discarded` and `failed_unexpectedly` makes the `LLMCall`; the others
    do nothing then.

    Args:
        spec: the model that is asked.
        request: the request.
        attempt: 1, or 2 for the retry.
        prices: for the cost.
        observe: called with the `LLMCall`.
        clock: seconds, monotonic.
    """

    __slots__ = (
        "_attempt",
        "_clock",
        "_first_token_ms",
        "_observe",
        "_prices",
        "_settled",
        "_spec",
        "_started",
        "_task",
        "usage",
    )

    def __init__(
        self,
        spec: RoleModel,
        request: ChatRequest,
        attempt: int,
        prices: PriceTable,
        observe: Observer,
        clock: Callable[[], float],
    ) -> None:
        self.usage = Usage()
        self._spec, self._task, self._attempt = spec, request.task, attempt
        self._prices, self._observe, self._clock = prices, observe, clock
        self._first_token_ms: float | None = None
        self._settled = False
        self._started = clock()
        log.debug(
            "llm_call_start",
            **self._keys(),
            prompt_chars=len(request.system) + sum(len(message.content) for message in request.messages),
            temperature=spec.temperature if request.temperature is None else request.temperature,
        )

    def first_token(self) -> None:
        """The first piece of a stream has arrived."""
        self._first_token_ms = self._elapsed_ms()

    def completed(self, answer_chars: int, stop: str) -> None:
        """The whole answer has arrived."""
        call = self._settle("completed", None)
        if call is not None:
            log.info("llm_call_complete", **self._keys(), **_figures(call), answer_chars=answer_chars, stop=stop)

    def failed(self, fault: Fault, *, retried: bool) -> None:
        """The try failed."""
        call = self._settle("failed", fault.error.__name__)
        if call is None:
            return
        keys = {**self._keys(), "latency_ms": call.latency_ms}
        if fault.kind == "timeout":
            log.warning("llm_timeout", **keys)
        elif fault.kind == "rate_limit":
            log.warning("llm_rate_limit", **keys, retry_after_s=fault.wait_s)
        elif not retried:
            log.error("llm_http_error", **keys, status=fault.status, reason=fault.message)

    def retrying(self, fault: Fault, pause_s: float) -> None:
        """Another try follows."""
        event = {"timeout": "llm_retry_after_timeout", "rate_limit": "llm_retry_after_rate_limit"}
        log.info(
            event.get(fault.kind, "llm_retry_after_error"),
            **self._keys(),
            status=fault.status,
            pause_s=round(pause_s, 3),
            reason=fault.message,
        )

    def discarded(self) -> None:
        """The caller has given up the call before its end."""
        call = self._settle("discarded", None)
        if call is not None:
            log.info("llm_call_discarded", **self._keys(), **_figures(call))

    def failed_unexpectedly(self, error: BaseException) -> None:
        """An error that the clients do not expect."""
        self._settle("failed", type(error).__name__)

    def _settle(self, outcome: CallOutcome, error: str | None) -> LLMCall | None:
        if self._settled:
            return None
        self._settled = True
        usage = self.usage
        cost = self._prices.cost(self._spec.model, usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        call = LLMCall(
            id=str(uuid4()),
            role=self._spec.role,
            task=self._task,
            provider=self._spec.provider,
            model=self._spec.model,
            attempt=self._attempt,
            outcome=outcome,
            error=error,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            latency_ms=self._elapsed_ms(),
            first_token_ms=self._first_token_ms,
            cost=cost.amount if cost is not None else None,
            currency=cost.currency if cost is not None else None,
        )
        record_call(call)
        self._observe(call)
        return call

    def _elapsed_ms(self) -> float:
        return round((self._clock() - self._started) * 1000, 3)

    def _keys(self) -> dict[str, object]:
        spec = self._spec
        return {
            "role": spec.role,
            "task": self._task,
            "provider": spec.provider,
            "model": spec.model,
            "attempt": self._attempt,
        }


def _figures(call: LLMCall) -> dict[str, object]:
    return {
        "latency_ms": call.latency_ms,
        "first_token_ms": call.first_token_ms,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cached_tokens": call.cached_tokens,
    }
