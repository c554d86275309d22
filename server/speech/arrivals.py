"""How many recordings may arrive at the same time, and how much of the disk they may take meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from server.session.problems import SessionProblem

ONE_AT_A_TIME = "A recording for this interview is being sent or worked on already. Please wait until that is done."
TOO_MANY = "Too many recordings are arriving at the moment. Please try again in a moment, or type your answer."


class Arrivals:
    """The recordings that are arriving at this process.

    Args:
        most_per_address: recordings from one address at the same time.
        most_bytes: of all of them together.
    """

    def __init__(self, *, most_per_address: int, most_bytes: int) -> None:
        self._most_per_address = most_per_address
        self._most_bytes = most_bytes
        self._sessions: set[str] = set()
        self._addresses: Counter[str] = Counter()
        self._bytes = 0

    @contextmanager
    def admit(self, session_id: str, address: str) -> Iterator[Arrival]:
        """Let a recording arrive and be worked on while the block runs.

        Raises:
            SessionProblem: `turn_in_progress`, there is another one of this session; `too_many_sessions`, of its
                address.
        """
        if session_id in self._sessions:
            raise SessionProblem("turn_in_progress", ONE_AT_A_TIME)
        if self._addresses[address] >= self._most_per_address:
            raise SessionProblem("too_many_sessions", TOO_MANY)
        self._sessions.add(session_id)
        self._addresses[address] += 1
        arrival = Arrival(self)
        try:
            yield arrival
        finally:
            arrival.release()
            self._sessions.discard(session_id)
            self._addresses[address] -= 1
            self._addresses += Counter()  # drops what is zero

    def change(self, size: int) -> None:
        """Count bytes that came or were given up. Raises SessionProblem `too_many_sessions`."""
        if size > 0 and self._bytes + size > self._most_bytes:
            raise SessionProblem("too_many_sessions", TOO_MANY)
        self._bytes += size


class Arrival:
    """One recording that arrives.

    Args:
        arrivals: of the process.
    """

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._bytes = 0

    def take(self, size: int) -> None:
        """Count bytes that came. Raises SessionProblem `too_many_sessions`."""
        self._arrivals.change(size)
        self._bytes += size

    def release(self) -> None:
        """Its bytes are kept no more."""
        self._arrivals.change(-self._bytes)
        self._bytes = 0
