"""A circuit breaker: a provider that is down is not asked again for a while, so it does not cost every turn its time.

    closed ── 3 failures in a row ──▶ open ── after 30 s ──▶ half_open ── success ──▶ closed
                                       ▲                         │
                                       └──── failure, pause × 2 ─┘   (at most 300 s)

A failure is a call that ended, its retry included, in a time-out, a lost or refused connection or a 5xx. What a
provider refuses (4xx, 429 among them) shows neither that it works nor that it does not.
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
"""Calls that may find out together whether the provider is back: a turn makes several, and may be given up."""
FIRST_PAUSE_S: Final = 30.0
LONGEST_PAUSE_S: Final = 300.0


class CircuitOpen(Exception):
    """Not asked.

    Args:
        wait_s: for so much longer, in seconds; 0 while another call finds out.
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
        """Where it stands now."""
        if self._open_until is None:
            return "closed"
        return "half_open" if self._clock() >= self._open_until else "open"

    def admit(self) -> Permit:
        """Let a call through; its result is to be told to the permit.

        Raises:
            CircuitOpen: it is not let through.
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
        """Take the result of a call that was let through."""
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
    """One call that a breaker let through. Settled once; what is told later is not heard."""

    __slots__ = ("_breaker", "_settled")

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker
        self._settled = False

    def alive(self) -> None:
        """The provider has begun to answer: if this call was the probe, others need not wait for its end."""
        if not self._settled and self._breaker.state != "closed":
            self.settle("success")

    def settle(self, result: Result) -> None:
        """Tell how the call went. "unknown" is for calls that were given up or refused."""
        if not self._settled:
            self._settled = True
            self._breaker.settle(self, result)
