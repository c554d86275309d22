"""How long a client may leave unread what it is sent, and a close unanswered."""

from __future__ import annotations

from server.transport.limits import ConnectionLimits


class Overdue:
    """Of one connection.

    Args:
        limits: how long it may take.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._unread_since: float | None = None
        self._closing_since: float | None = None

    def paused(self, now: float) -> None:
        """More waits to be read by the client than should; `now` by the clock of the loop."""
        self._unread_since = now

    def resumed(self) -> None:
        """The client reads."""
        self._unread_since = None

    def reading(self, now: float) -> bool:
        """Whether the client has not read for too long."""
        return self._unread_since is not None and now - self._unread_since >= self._limits.stalled_s

    def closing(self, now: float) -> bool:
        """Whether closing the connection takes too long; to be asked from the close on."""
        self._closing_since = self._closing_since or now
        return now - self._closing_since >= self._limits.close_s
