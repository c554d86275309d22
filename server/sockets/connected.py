"""The interviews that are connected from each address."""

from __future__ import annotations

from collections import Counter


class ConnectedSessions:
    """Counts the sessions, not the sockets, of each address: reconnecting takes no second place."""

    def __init__(self) -> None:
        self._sockets: dict[str, Counter[str]] = {}
        """Sockets by session, by address."""

    def enter(self, address: str, session_id: str, *, most: int) -> bool:
        """Count a socket of the session; False if `most` other sessions of the address are connected."""
        sessions = self._sockets.setdefault(address, Counter())
        if session_id not in sessions and len(sessions) >= most:
            return False
        sessions[session_id] += 1
        return True

    def leave(self, address: str, session_id: str) -> None:
        """A socket that entered is closed."""
        sessions = self._sockets[address]
        sessions[session_id] -= 1
        if not sessions[session_id]:
            del sessions[session_id]
        if not sessions:
            del self._sockets[address]
