"""The client of one role: deadlines, the one retry, and streams that yield each piece as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from pipeline.errors import LLMUnavailable, ProviderError
from pipeline.language.clients.base import ChatRequest, Completion, RoleModel
from pipeline.language.clients.breaker import Breaker, CircuitOpen, Permit
from pipeline.language.clients.faults import (
    Fault,
    TryFailed,
    circuit_open,
    refused_to_answer,
    timed_out,
    without_echo,
)
from pipeline.language.clients.formats import WireFormat
from pipeline.language.clients.prices import PriceTable
from pipeline.language.clients.recorder import Observer, TryRecorder
from pipeline.language.clients.timing import FIRST_TRY_SHARE, Timing, pause_before_retry
from pipeline.language.clients.transport import KeyAuth, Pool
from pipeline.language.clients.tries import PreparedRequest, StreamTry, whole_answer


class HttpChatClient:
    """A `ChatClient` over HTTP.

    Args:
        spec: the model, with its parameters and address.
        wire: the format of its requests and answers.
        pool: connections to its base URL.
        breaker: of the model at that base URL.
        prices: for the cost of calls.
        observe: called with the record of every try.
        timing: clocks, sleep and jitter.
    """

    def __init__(
        self,
        spec: RoleModel,
        wire: WireFormat,
        pool: Pool,
        breaker: Breaker,
        *,
        prices: PriceTable,
        observe: Observer,
        timing: Timing,
    ) -> None:
        self._spec = spec
        self._wire = wire
        self._pool = pool
        self._breaker = breaker
        self._prices = prices
        self._observe = observe
        self._timing = timing
        self._auth = KeyAuth(spec, wire.key_header, wire.key_prefix)

    @property
    def spec(self) -> RoleModel:
        """The model, with its parameters and address."""
        return self._spec

    async def complete(self, request: ChatRequest) -> Completion:
        """The whole answer; see `ChatClient.complete`."""
        progress = self._progress(request, stream=False)
        try:
            while True:
                recorder = progress.next_try()
                fault: Fault | None = None
                try:
                    async with asyncio.timeout(progress.limit_s()):
                        answer = await whole_answer(progress.prepared, recorder.usage)
                    progress.permit.settle("success")
                    recorder.completed(len(answer.text), answer.stop)
                    return answer
                except TimeoutError:
                    fault = timed_out(self._spec, progress.waited_s())
                except TryFailed as failed:
                    fault = failed.fault
                except Exception as exc:
                    recorder.failed_unexpectedly(exc)
                    raise
                finally:
                    if fault is None:
                        recorder.discarded()
                await progress.pause_or_raise(recorder, fault)
        finally:
            progress.permit.settle("unknown")

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str, None]:
        """The answer in pieces, as they come; see `ChatClient.stream`."""
        progress = self._progress(request, stream=True)
        try:
            while True:
                recorder = progress.next_try()
                attempt = StreamTry(progress.prepared, recorder)
                fault: Fault | None = None
                try:
                    while True:
                        async with asyncio.timeout(progress.limit_s(begun=attempt.chars > 0)):
                            piece = await attempt.piece()
                        if piece is None:
                            break
                        progress.permit.answer_began()
                        yield piece
                    if attempt.stop == "refusal":
                        fault = refused_to_answer(self._spec)
                    else:
                        progress.permit.settle("success")
                        recorder.completed(attempt.chars, attempt.stop)
                        return
                except TimeoutError:
                    fault = timed_out(self._spec, progress.waited_s())
                except TryFailed as failed:
                    fault = failed.fault
                except Exception as exc:
                    recorder.failed_unexpectedly(exc)
                    raise
                finally:
                    if fault is None:
                        if attempt.chars:
                            progress.permit.settle("success")
                        recorder.discarded()
                    await attempt.aclose()
                await progress.pause_or_raise(recorder, fault, begun=attempt.chars > 0)
        finally:
            progress.permit.settle("unknown")

    def _progress(self, request: ChatRequest, *, stream: bool) -> _Progress:
        refusal: ProviderError | None = None
        try:
            permit = self._breaker.admit()
        except CircuitOpen as closed:
            refusal = LLMUnavailable(circuit_open(self._spec, closed.wait_s).message)
        if refusal is not None:
            raise refusal
        prepared = PreparedRequest(self._spec, self._wire, self._pool, self._auth, request, stream, self._timing.wall)
        return _Progress(prepared, permit, self._prices, self._observe, self._timing)


class _Progress:
    """State of one call: number of the try, time used, and the permit of the circuit breaker."""

    def __init__(
        self, prepared: PreparedRequest, permit: Permit, prices: PriceTable, observe: Observer, timing: Timing
    ) -> None:
        self.prepared = prepared
        self.permit = permit
        self._prices, self._observe, self._timing = prices, observe, timing
        self._attempt = 0
        self._deadline_s = prepared.spec.deadline_s
        self._started = timing.clock()

    def next_try(self) -> TryRecorder:
        """Begin a try; returns its recorder."""
        self._attempt += 1
        return TryRecorder(
            self.prepared.spec, self.prepared.request, self._attempt, self._prices, self._observe, self._timing.clock
        )

    def limit_s(self, *, begun: bool = False) -> float:
        """Seconds left for this try: the first has `FIRST_TRY_SHARE` of the deadline until its answer begins."""
        share = FIRST_TRY_SHARE if self._attempt == 1 and not begun else 1.0
        return max(0.0, self._started + share * self._deadline_s - self._timing.clock())

    def waited_s(self) -> float:
        """Seconds since the call began."""
        return self._timing.clock() - self._started

    async def pause_or_raise(self, recorder: TryRecorder, fault: Fault, *, begun: bool = False) -> None:
        """Wait until it is time for the retry.

        Raises:
            ProviderError: there is no retry.
        """
        fault = without_echo(fault, (message.content for message in self.prepared.request.messages))
        timing = self._timing
        pause_s: float | None = None
        if self._attempt == 1 and not begun:
            left_s = self._deadline_s - (timing.clock() - self._started)
            pause_s = pause_before_retry(fault, self._deadline_s, left_s, timing.jitter())
        recorder.failed(fault, retried=pause_s is not None)
        if pause_s is None:
            if fault.is_outage:
                self.permit.settle("failure")
            again = " It was asked twice." if self._attempt > 1 else ""
            raise fault.error(fault.message + again)
        recorder.retrying(fault, pause_s)
        await timing.sleep(pause_s)
