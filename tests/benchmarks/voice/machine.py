"""The load of the machine by other programs, under which measurements are not valid."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def used_s(pid: int | None = None) -> float:
    """Processor time of a process so far; of this one, if none is named."""
    fields = Path(f"/proc/{pid or 'self'}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


class Cores:
    """The processor cores that are used since this was created: by the server, by this process, by all others."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._begun = perf_counter()
        self._before = self._now()

    def _now(self) -> tuple[float, float, float]:
        return used_s(self._server), used_s(), _busy_s()

    def used(self) -> tuple[float, float, float]:
        """Cores used by the server, by this process, by all others."""
        passed = max(1e-9, perf_counter() - self._begun)
        server, own, all_ = ((now - then) / passed for now, then in zip(self._now(), self._before, strict=True))
        return server, own, max(0.0, all_ - server - own)


def _busy_s() -> float:
    user, nice, system, _, _, irq, softirq, steal = _totals()[:8]
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_S


def _totals() -> Sequence[int]:
    line = Path("/proc/stat").read_text().splitlines()[0]
    return [int(each) for each in line.split()[1:]]


IDLE = 0.1
"""Cores that other processes may use before a measurement is reported as doubtful."""


def verdict(others: float) -> str:
    """A line for the report about the load by other processes."""
    how = "idle" if others <= IDLE else "BUSY: these figures say little"
    return f"Others on this machine used {others:.2f} of {os.cpu_count()} cores meanwhile ({how})."
