"""Rate limits by token buckets."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable


class TokenBucket:
    """Allows `burst` at once and `per_s` per second on average.

    Args:
        per_s: tokens added per second.
        burst: size of the bucket.
        clock: a monotonic clock, in seconds.
    """

    __slots__ = ("_burst", "_clock", "_level", "_per_s", "_seen")

    def __init__(self, per_s: float, burst: float, clock: Callable[[], float]) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._level = burst
        self._seen = clock()

    def take(self) -> float:
        """Take one token: 0 if there was one, else the seconds until there is."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._seen) * self._per_s)
        self._seen = now
        if self._level >= 1.0:
            self._level -= 1.0
            return 0.0
        return (1.0 - self._level) / self._per_s

    def give_back(self) -> None:
        """Put back a token that was taken and not used."""
        self._level = min(self._burst, self._level + 1.0)


class KeyedBuckets:
    """One bucket per key, for the `capacity` most recently used keys."""

    def __init__(self, per_s: float, burst: int, clock: Callable[[], float], capacity: int = 10_000) -> None:
        self._shape = (per_s, burst, clock)
        self._capacity = capacity
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, key: str) -> int:
        """Take one token of that key: 0 if there was one, else the whole seconds to wait."""
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = TokenBucket(*self._shape)
            if len(self._buckets) > self._capacity:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return math.ceil(bucket.take())

    def give_back(self, key: str) -> None:
        """Put back a token of that key that was taken and not used."""
        bucket = self._buckets.get(key)
        if bucket is not None:
            bucket.give_back()
