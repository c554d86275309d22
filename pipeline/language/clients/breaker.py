"""A circuit breaker: after repeated failures a model gets no requests for a while, so that turns fail at once.

    closed ── 3 failures in a row ──▶ open ── after 30 s ──▶ half_open ── success ──▶ closed
                                       ▲                         │
                                       └──── failure, pause × 2 ─┘   (at most 300 s)

A failure is a call that ended, its retry included, in a time-out, a lost or refused connection or a 5xx. A request
that the provider refuses (4xx, 429 among them) counts neither as a success nor as a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import structlog

log = structlog.get_logger()

State = Literal["closed", "open", "half_open"]
Result = Literal["success", "failure", "unknown"]

FAILURES: Final = 3
PROBES: Final = 4
"""Most calls under way while half open: a turn makes several calls, and may be cancelled."""
FIRST_PAUSE_S: Final = 30.0
LONGEST_PAUSE_S: Final = 300.0


class CircuitOpen(Exception):
    """The breaker does not let a call through.

    Args:
        wait_s: seconds until it does; 0 while half open, with `PROBES` calls under way.
    """

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"not asked again for {wait_s:.0f} s")
        self.wait_s = wait_s


class Breaker:
    """The breaker of one model of one provider.

    Args:
        provider: for log lines.
        model: for log lines.
        clock: seconds, monotonic.
    """

    def __init__(self, provider: str, model: str, clock: Callable[[], float]) -> None:
        self.provider = provider
        self.model = model
        self._clock = clock
        self._failures = 0
        self._pause_s = FIRST_PAUSE_S
        self._open_until: float | None = None
        self._probes: set[Permit] = set()

    @property
    def state(self) -> State:
        """The state now."""
        if self._open_until is None:
            return "closed"
        return "half_open" if self._clock() >= self._open_until else "open"

    def admit(self) -> Permit:
        """Let a call through; report its result by `Permit.settle`.

        Raises:
            CircuitOpen: the breaker is open.
        """
        if self._open_until is None:
            return Permit(self)
        wait_s = self._open_until - self._clock()
        if wait_s > 0:
            raise CircuitOpen(wait_s)
        if len(self._probes) >= PROBES:
            raise CircuitOpen(0.0)
        probe = Permit(self)
        self._probes.add(probe)
        return probe

    def settle(self, permit: Permit, result: Result) -> None:
        """Count the result of a call that was let through."""
        probing = permit in self._probes
        self._probes.discard(permit)
        if result == "success":
            self._close()
        elif result == "failure" and (probing or self._open_until is None):
            self._failures += 1
            if probing:
                self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)
            if probing or self._failures >= FAILURES:
                self._open()

    def _open(self) -> None:
        self._probes.clear()
        self._open_until = self._clock() + self._pause_s
        log.warning(
            "llm_circuit_open",
            provider=self.provider,
            model=self.model,
            failures=self._failures,
            pause_s=self._pause_s,
        )

    def _close(self) -> None:
        if self._open_until is not None:
            log.info("llm_circuit_closed", provider=self.provider, model=self.model)
        self._failures = 0
        self._pause_s = FIRST_PAUSE_S
        self._open_until = None
        self._probes.clear()


class Permit:
    """One call that a breaker let through. Only the first result that is reported counts."""

    __slots__ = ("_breaker", "_settled")

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker
        self._settled = False

    def answer_began(self) -> None:
        """Report the first piece of an answer, which closes a half-open breaker before the answer is complete."""
        if not self._settled and self._breaker.state != "closed":
            self.settle("success")

    def settle(self, result: Result) -> None:
        """Report the result. "unknown" is for calls that were cancelled or refused."""
        if not self._settled:
            self._settled = True
            self._breaker.settle(self, result)
