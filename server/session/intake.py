"""Frames of a session's audio by their numbers: in order, each once."""

from __future__ import annotations

from server.protocol.codec import AudioFrame

REORDERED_AT_MOST = 64
"""Frames that may wait for one that is late."""


class Intake:
    """Puts frames in order; their numbers run through the session."""

    def __init__(self) -> None:
        self._next = 0
        self._early: dict[int, bytes] = {}

    @property
    def first_unreceived(self) -> int:
        """The number of the frame that is waited for."""
        return self._next

    @property
    def gap(self) -> bool:
        """Whether a frame is missing that later ones came after."""
        return bool(self._early)

    @property
    def full(self) -> bool:
        """Whether no more can wait for the missing frame."""
        return len(self._early) >= REORDERED_AT_MOST

    def begin(self, first: int) -> None:
        """Go on from that number; what is missing before it will not come."""
        self._early = {number: pcm for number, pcm in self._early.items() if number >= first}
        self._next = first

    def put(self, frame: AudioFrame) -> list[AudioFrame]:
        """Take a frame; those that can be used now, in order."""
        if frame.sequence < self._next or frame.sequence in self._early or (self.full and frame.sequence != self._next):
            return []
        self._early[frame.sequence] = frame.pcm
        return self.ready()

    def ready(self) -> list[AudioFrame]:
        """What follows without a gap."""
        found = []
        while (pcm := self._early.pop(self._next, None)) is not None:
            found.append(AudioFrame(self._next, pcm))
            self._next += 1
        return found

    def skip_gap(self) -> list[AudioFrame]:
        """What waits after missing frames that will not come."""
        found: list[AudioFrame] = []
        while self._early:
            self._next = min(self._early)
            found += self.ready()
        return found
