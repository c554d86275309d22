"""Which connections are let in: by the number and the rate of those of one address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from server.addresses import limit_key
from server.rate_limits import KeyedBuckets
from server.transport.limits import ConnectionLimits


class ConnectionAdmission:
    """Counts the open connections of each address.

    Those of trusted proxies are not counted: theirs are the requests of many, which the application counts by the
    address that the proxy names.

    Args:
        limits: how many, and how many per second.
        is_proxy: whether an address is that of a trusted proxy.
        clock: monotonic seconds.
    """

    def __init__(self, limits: ConnectionLimits, is_proxy: Callable[[str], bool], clock: Callable[[], float]) -> None:
        self._most = limits.per_address
        self._is_proxy = is_proxy
        self._fresh = KeyedBuckets(limits.new_per_s, limits.new_burst, clock)
        self._open: Counter[str] = Counter()

    def enter(self, host: str | None) -> bool:
        """Count a new connection; whether it is let in. Each one that is let in must `leave`."""
        if not host or self._is_proxy(host):
            return True
        address = limit_key(host)
        if self._open[address] >= self._most or self._fresh.take(address):
            return False
        self._open[address] += 1
        return True

    def leave(self, host: str | None) -> None:
        """A connection that was let in is over."""
        if not host or self._is_proxy(host):
            return
        address = limit_key(host)
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]
