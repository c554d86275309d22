"""Places in a spoken answer: which frame and which moment a sample belongs to."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from server.protocol.codec import SAMPLE_BYTES


@dataclass(frozen=True, slots=True)
class Piece:
    """Audio of one frame or of the end of one.

    `placed` if it has its place in this answer already, `over_reading` if a question was read aloud meanwhile.
    """

    sequence: int
    pcm: bytes
    placed: bool = False
    over_reading: bool = False


class Places:
    """Which frame, and which moment, each place in an answer belongs to."""

    def __init__(self) -> None:
        self._frames: deque[tuple[int, int, float]] = deque()
        self.end = 0
        """Samples so far."""

    def add(self, sequence: int, samples: int, at: float) -> None:
        """A frame that arrived at `at`, in seconds of a clock."""
        self.end += samples
        self._frames.append((self.end, sequence, at))

    def forget(self, place: int) -> None:
        """Frames that end at `place` or before it are of no interest any more."""
        while self._frames and self._frames[0][0] <= place:
            self._frames.popleft()

    def last_before(self, place: int) -> int | None:
        """Number of the last frame that ends at `place` or before it."""
        return next((number for end, number, _ in reversed(self._frames) if end <= place), None)

    def arrived(self, place: int) -> float | None:
        """When the sample at `place` arrived; None if it did not."""
        return next((at for end, _, at in self._frames if end > place), None)

    def cut(self, place: int, pcm: bytes) -> list[Piece]:
        """Audio from `place` to the end, by frames."""
        pieces: list[Piece] = []
        begin = 0
        for end, number, _ in self._frames:
            if end > place:
                size = (end - max(place, begin)) * SAMPLE_BYTES
                pieces.append(Piece(number, pcm[:size], placed=True))
                pcm = pcm[size:]
            begin = end
        return pieces
