"""Which sessions are watched on which other nodes, so that updates are sent to those nodes only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

ANNOUNCE_EVERY_S = 5.0
FORGET_AFTER_S = 16.0
"""A node that has not announced its interest for this long is taken to watch nothing."""


@dataclass(frozen=True, slots=True)
class Interest:
    """What the moderators of one node watch: their names by session, and whether any has the overview."""

    sessions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    overview: bool = False


@dataclass(slots=True)
class _Known:
    interest: Interest
    until: float


class Demand:
    """The announced interests of the other nodes.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._nodes: dict[str, _Known] = {}

    def announced(self, node: str, interest: Interest) -> set[str]:
        """Take a node's announcement; returns the sessions whose watchers changed by it."""
        before = self._nodes.get(node)
        old = before.interest.sessions if before is not None else {}
        self._nodes[node] = _Known(interest, self._clock() + FORGET_AFTER_S)
        new = interest.sessions
        return {one for one in {*old, *new} if list(old.get(one, ())) != list(new.get(one, ()))}

    def expired(self) -> set[str]:
        """Forget nodes that no longer announce; returns the sessions whose watchers changed by that."""
        now = self._clock()
        silent = [node for node, known in self._nodes.items() if known.until < now]
        return {session_id for node in silent for session_id in self._nodes.pop(node).interest.sessions}

    def nodes_watching(self, session_id: str) -> list[str]:
        """The nodes with watchers of that session."""
        return [node for node, known in self._nodes.items() if session_id in known.interest.sessions]

    def nodes_with_overview(self) -> list[str]:
        """The nodes with an overview."""
        return [node for node, known in self._nodes.items() if known.interest.overview]

    def names(self, session_id: str) -> list[str]:
        """Who watches that session on other nodes."""
        return [name for known in self._nodes.values() for name in known.interest.sessions.get(session_id, ())]
