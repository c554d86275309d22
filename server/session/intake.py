"""Frames of a session's audio, numbered and in order, and what of it belongs to no answer yet."""

from __future__ import annotations

from collections import deque

from audio.frames import FrameBuffer
from audio.types import RATE_HZ
from server.protocol.codec import SAMPLE_BYTES, AudioFrame
from server.session.places import Piece


class Intake:
    """Puts frames in order; their numbers run through the session."""

    def __init__(self) -> None:
        self._frames = FrameBuffer()

    @property
    def first_unreceived(self) -> int:
        """The number of the frame that is waited for."""
        return self._frames.first_unreceived

    @property
    def gap(self) -> bool:
        """Whether a frame is missing that later ones came after."""
        return self._frames.missing is not None

    def begin(self, first: int) -> Piece | None:
        """Go on from that number, which may be a lower one: numbers before it are of no interest any more.

        Returns:
            What had come early and can be used now.
        """
        if first < self._frames.first_unreceived:
            self._frames = FrameBuffer(first)
            return None
        return self._numbered(self._frames.restart(first))

    def put(self, frame: AudioFrame) -> Piece | None:
        """Take a frame; the audio that is now in order.

        Raises:
            AudioGap: a frame before it is missing for too long; it is not taken.
        """
        return self._numbered(self._frames.push(frame.sequence, frame.pcm))

    def skip_gap(self) -> Piece | None:
        """What waits after missing frames that will not come."""
        return self._numbered(self._frames.skip())

    def _numbered(self, pcm: bytes) -> Piece | None:
        return Piece(self._frames.first_unreceived - 1, pcm) if pcm else None


class Kept:
    """Audio that came after the end of an answer and is kept for the next one; of too much, the latest.

    Args:
        seconds: the most.
    """

    def __init__(self, seconds: float) -> None:
        self._most = int(seconds * RATE_HZ) * SAMPLE_BYTES
        self._pieces: deque[Piece] = deque()
        self._bytes = 0

    def put(self, piece: Piece) -> None:
        """Keep a piece."""
        self._pieces.append(piece)
        self._bytes += len(piece.pcm)
        while self._bytes > self._most:
            self._bytes -= len(self._pieces.popleft().pcm)

    def take(self, first: int | None = None) -> list[Piece]:
        """Hand out what is kept, from the frame `first` on where given; nothing is kept then."""
        found = [piece for piece in self._pieces if first is None or piece.sequence >= first]
        self._pieces.clear()
        self._bytes = 0
        return found
