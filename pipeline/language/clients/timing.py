"""Clocks, sleep and chance of the clients, to be replaced in tests; and how long a try and a pause may take."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from pipeline.language.clients.faults import Fault

FIRST_SHARE: Final = 0.6
"""Of the deadline, for the first try."""

BACKOFF_S: Final = 1.0
"""Longest pause before the retry, where the provider names none."""

BACKOFF_SHARE: Final = 0.25
"""Longest pause before the retry, as a share of the time left."""

SHORTEST_SHARE: Final = 0.1
"""Of the deadline: a retry that would have less time than this is not worth starting."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Where time and chance come from.

    Args:
        clock: seconds, monotonic.
        wall: seconds since 1970, for dates that providers name.
        sleep: waits for seconds.
        jitter: a number in [0, 1), anew each time.
    """

    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


def pause_before_retry(fault: Fault, deadline_s: float, left_s: float, jitter: float) -> float | None:
    """How long to wait before the one retry: what the provider asks for, else exponential backoff with full jitter.

    Args:
        fault: of the first try.
        deadline_s: of the whole call.
        left_s: of it.
        jitter: in [0, 1).
    Returns:
        Seconds; None if there is to be no retry, because it can't help or there is no time for it.
    Source: full jitter as in "Exponential backoff and jitter", M. Brooker, AWS Architecture Blog, 2015.
    """
    if not fault.again:
        return None
    if fault.wait_s is not None:
        pause_s = fault.wait_s
    else:
        pause_s = jitter * min(BACKOFF_S, BACKOFF_SHARE * left_s)
    return pause_s if left_s - pause_s >= SHORTEST_SHARE * deadline_s else None
