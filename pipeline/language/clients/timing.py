"""Clocks, sleep and jitter of the clients, which tests replace; and the limits of tries and pauses."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from pipeline.language.clients.faults import Fault

FIRST_TRY_SHARE: Final = 0.6
"""Share of the deadline for the first try."""

BACKOFF_S: Final = 1.0
"""Longest pause before the retry, where the provider names none."""

BACKOFF_SHARE: Final = 0.25
"""Longest pause before the retry, as a share of the time left."""

SHORTEST_RETRY_SHARE: Final = 0.1
"""Share of the deadline; a retry with less time than this is not made."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Sources of time and randomness.

    Args:
        clock: seconds, monotonic.
        wall: seconds since 1970, for dates that providers name.
        sleep: waits for seconds.
        jitter: a random number in [0, 1).
    """

    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


def pause_before_retry(fault: Fault, deadline_s: float, left_s: float, jitter: float) -> float | None:
    """Pause before the one retry: the one that the provider asks for, else exponential backoff with full jitter.

    Args:
        fault: of the first try.
        deadline_s: of the whole call.
        left_s: seconds left of it.
        jitter: in [0, 1).
    Returns:
        Seconds; None if there is to be no retry, because it can't help or too little time is left.
    Source: full jitter as in "Exponential backoff and jitter", M. Brooker, AWS Architecture Blog, 2015.
    """
    if not fault.retryable:
        return None
    if fault.wait_s is not None:
        pause_s = fault.wait_s
    else:
        pause_s = jitter * min(BACKOFF_S, BACKOFF_SHARE * left_s)
    return pause_s if left_s - pause_s >= SHORTEST_RETRY_SHARE * deadline_s else None
