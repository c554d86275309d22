"""The bounded send queue of one moderator's connection, so that a slow connection delays no interview.

Replies are never dropped. Of the overview rows of one session only the latest is kept. When more frames of the watched
session wait than the bound allows, they are dropped, and a new snapshot of the session is sent instead.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from enum import Enum

BOUND_FRAMES = 256
BOUND_CHARS = 1_000_000
BOUND_REPLIES = 200


class Due(Enum):
    """What has to be built again before it can be sent."""

    SNAPSHOT = "snapshot"
    OVERVIEW = "overview"


@dataclass(frozen=True, slots=True)
class _Frame:
    rev: int
    text: str


class Mailbox:
    """The queue of one connection; other tasks of the event loop put, the connection's task takes.

    Args:
        bound: frames of the watched session that may wait.
        bound_chars: their length together.
    """

    def __init__(self, bound: int = BOUND_FRAMES, bound_chars: int = BOUND_CHARS) -> None:
        self._bound = bound
        self._bound_chars = bound_chars
        self._replies: deque[str] = deque()
        self._rows: dict[str, str] = {}
        self._frames: deque[_Frame] = deque()
        self._chars = 0
        self._due: dict[Due, None] = {}
        self._changed = asyncio.Event()
        self._close_code: int | None = None
        self.lost = 0
        """How often frames were dropped."""

    @property
    def waiting(self) -> int:
        """Frames of the watched session that wait."""
        return len(self._frames)

    @property
    def close_code(self) -> int | None:
        """The close code for the connection, None while it stays open."""
        return self._close_code

    @property
    def overfull(self) -> bool:
        """Whether more replies wait than the bound allows."""
        return len(self._replies) > BOUND_REPLIES

    def reply(self, text: str) -> None:
        """Queue a reply."""
        self._replies.append(text)
        self._changed.set()

    def row(self, session_id: str, text: str) -> None:
        """Queue the latest row of a session; ignored while the whole overview is due."""
        if Due.OVERVIEW not in self._due:
            self._rows[session_id] = text
            self._changed.set()

    def frame(self, text: str, rev: int) -> None:
        """Queue a frame of the watched session at that revision; ignored while a snapshot is due."""
        if Due.SNAPSHOT in self._due:
            return
        if len(self._frames) >= self._bound or self._chars + len(text) > self._bound_chars:
            self.lost += 1
            self.due(Due.SNAPSHOT)
            return
        self._frames.append(_Frame(rev, text))
        self._chars += len(text)
        self._changed.set()

    def due(self, what: Due) -> None:
        """Have a snapshot or the overview sent again, in place of what waits of it."""
        if what is Due.SNAPSHOT:
            self._clear_frames()
        else:
            self._rows.clear()
        self._due[what] = None
        self._changed.set()

    def started(self, what: Due) -> None:
        """It is being built: what is queued from now on is sent after it."""
        self._due.pop(what, None)

    def forget(self, what: Due) -> None:
        """It is no longer watched: drop what waits of it."""
        self._due.pop(what, None)
        if what is Due.SNAPSHOT:
            self._clear_frames()
        else:
            self._rows.clear()

    def drop_up_to(self, rev: int) -> None:
        """Drop the frames up to that revision: the snapshot that is being sent contains them."""
        kept = [frame for frame in self._frames if frame.rev > rev]
        self._frames = deque(kept)
        self._chars = sum(len(frame.text) for frame in kept)

    def close(self, code: int) -> None:
        """Close after the replies that wait; the first code counts."""
        if self._close_code is None:
            self._close_code = code
        self._changed.set()

    async def next(self) -> str | Due | None:
        """The next text to send or what to build next; None once it is closed."""
        while True:
            if self._replies:
                return self._replies.popleft()
            if self._close_code is not None:
                return None
            if self._due:
                return next(iter(self._due))
            if self._frames:
                frame = self._frames.popleft()
                self._chars -= len(frame.text)
                return frame.text
            if self._rows:
                session_id = next(iter(self._rows))
                return self._rows.pop(session_id)
            self._changed.clear()
            await self._changed.wait()

    def _clear_frames(self) -> None:
        self._frames.clear()
        self._chars = 0
