"""What waits to be sent to one watcher: bounded, because nobody's interview waits for a watcher.

Replies are never lost. Of a session's row in the overview only the latest counts. Of the frames of the session that is
watched so many may wait; then they are thrown away, and the whole session is sent anew.
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
    """What is to be made anew before it can be sent."""

    SNAPSHOT = "snapshot"
    OVERVIEW = "overview"


@dataclass(frozen=True, slots=True)
class _Frame:
    rev: int
    text: str


class Mailbox:
    """One watcher's; written to by the event loop's other tasks, read by the connection.

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
        """How often frames were thrown away."""

    @property
    def waiting(self) -> int:
        """Frames of the watched session that wait."""
        return len(self._frames)

    @property
    def close_code(self) -> int | None:
        """What the connection is to be closed with, once it is."""
        return self._close_code

    @property
    def overfull(self) -> bool:
        """Whether replies wait that nobody reads."""
        return len(self._replies) > BOUND_REPLIES

    def reply(self, text: str) -> None:
        """Something the watcher asked for."""
        self._replies.append(text)
        self._changed.set()

    def row(self, session_id: str, text: str) -> None:
        """The latest row of a session of the overview; no need while the whole overview is due."""
        if Due.OVERVIEW not in self._due:
            self._rows[session_id] = text
            self._changed.set()

    def frame(self, text: str, rev: int) -> None:
        """Something about the watched session, at that revision."""
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
        """Send the whole of it anew, in place of what waits of it."""
        if what is Due.SNAPSHOT:
            self._clear_frames()
        else:
            self._rows.clear()
        self._due[what] = None
        self._changed.set()

    def begun(self, what: Due) -> None:
        """The whole of it is being made: what comes from now on follows it."""
        self._due.pop(what, None)

    def forget(self, what: Due) -> None:
        """Nobody watches it any more."""
        self._due.pop(what, None)
        if what is Due.SNAPSHOT:
            self._clear_frames()
        else:
            self._rows.clear()

    def newer(self, rev: int) -> None:
        """A snapshot of that revision is sent: what waits and is no newer is in it."""
        kept = [frame for frame in self._frames if frame.rev > rev]
        self._frames = deque(kept)
        self._chars = sum(len(frame.text) for frame in kept)

    def close(self, code: int) -> None:
        """No more after the replies that are in; the first code counts."""
        if self._close_code is None:
            self._close_code = code
        self._changed.set()

    async def next(self) -> str | Due | None:
        """The next text to send or thing to make; None once it is closed."""
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
