"""Audio frames of a session: put in order, kept between answers, and located on the time line of an answer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from audio.frames import FrameBuffer
from audio.types import RATE_HZ
from server.protocol.codec import SAMPLE_BYTES, AudioFrame


@dataclass(frozen=True, slots=True)
class AudioPiece:
    """The samples of one frame, or the end of them: 16-bit little-endian mono at 16 kHz.

    `located` if it is on the answer's time line already, `over_reading` if a question was read aloud meanwhile.
    """

    sequence: int
    pcm: bytes
    located: bool = False
    over_reading: bool = False


class FrameIntake:
    """Puts frames in order; their numbers run through the session."""

    def __init__(self) -> None:
        self._frames = FrameBuffer()

    @property
    def first_unreceived(self) -> int:
        """The number of the first frame that was not received."""
        return self._frames.first_unreceived

    @property
    def gap(self) -> bool:
        """Whether a frame is missing that later ones came after."""
        return self._frames.missing is not None

    def begin(self, first: int) -> AudioPiece | None:
        """Go on from that number, which may be lower than expected; frames before it are ignored.

        Returns:
            What had come early and is in order now.
        """
        if first < self._frames.first_unreceived:
            self._frames = FrameBuffer(first)
            return None
        return self._numbered(self._frames.restart(first))

    def put(self, frame: AudioFrame) -> AudioPiece | None:
        """Take a frame; the audio that is now in order.

        Raises:
            AudioGap: a frame before it has been missing for too long; it is not taken.
        """
        return self._numbered(self._frames.push(frame.sequence, frame.pcm))

    def skip_gap(self) -> AudioPiece | None:
        """The audio after missing frames that will not come."""
        return self._numbered(self._frames.skip())

    def _numbered(self, pcm: bytes) -> AudioPiece | None:
        return AudioPiece(self._frames.first_unreceived - 1, pcm) if pcm else None


class KeptAudio:
    """Audio that came after the end of an answer and is kept for the next one; of too much, the latest.

    Args:
        seconds: how much is kept at most.
    """

    def __init__(self, seconds: float) -> None:
        self._most = int(seconds * RATE_HZ) * SAMPLE_BYTES
        self._pieces: deque[AudioPiece] = deque()
        self._bytes = 0

    def put(self, piece: AudioPiece) -> None:
        """Keep a piece."""
        self._pieces.append(piece)
        self._bytes += len(piece.pcm)
        while self._bytes > self._most:
            self._bytes -= len(self._pieces.popleft().pcm)

    def take(self, first: int | None = None) -> list[AudioPiece]:
        """Remove everything and return it, from the frame `first` on where given."""
        found = [piece for piece in self._pieces if first is None or piece.sequence >= first]
        self._pieces.clear()
        self._bytes = 0
        return found


class AudioTimeline:
    """Which frame each sample of an answer belongs to, and when it arrived; positions are samples from its start."""

    def __init__(self) -> None:
        self._frames: deque[tuple[int, int, float]] = deque()
        self.end = 0
        """Samples so far."""

    def add(self, sequence: int, samples: int, at: float) -> None:
        """A frame that arrived at `at`, in seconds of a clock."""
        self.end += samples
        self._frames.append((self.end, sequence, at))

    def forget(self, position: int) -> None:
        """Forget frames that end at this position or before it."""
        while self._frames and self._frames[0][0] <= position:
            self._frames.popleft()

    def last_before(self, position: int) -> int | None:
        """Number of the last frame that ends at this position or before it."""
        return next((number for end, number, _ in reversed(self._frames) if end <= position), None)

    def arrived(self, position: int) -> float | None:
        """When the sample at this position arrived; None if it did not."""
        return next((at for end, _, at in self._frames if end > position), None)

    def cut(self, position: int, pcm: bytes) -> list[AudioPiece]:
        """Audio from this position to the end, divided by frames."""
        pieces: list[AudioPiece] = []
        begin = 0
        for end, number, _ in self._frames:
            if end > position:
                size = (end - max(position, begin)) * SAMPLE_BYTES
                pieces.append(AudioPiece(number, pcm[:size], located=True))
                pcm = pcm[size:]
            begin = end
        return pieces
