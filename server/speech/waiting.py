"""What waits to be heard of one spoken answer, in order: audio, and wishes about pauses that hold from there on."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from audio.types import RATE_HZ
from pipeline.concept import Patience
from server.protocol.codec import SAMPLE_BYTES
from server.speech.frames import AudioPiece


@dataclass(frozen=True, slots=True)
class PatienceChange:
    """From here on: this patience, or no end by silence for so many seconds of audio."""

    patience: Patience | None = None
    hold_s: float = 0.0


class WaitingAudio:
    """Audio and wishes, first come, first heard."""

    def __init__(self) -> None:
        self._items: deque[AudioPiece | PatienceChange] = deque()
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def seconds(self) -> float:
        """Seconds of audio."""
        return self._bytes / SAMPLE_BYTES / RATE_HZ

    def put(self, item: AudioPiece | PatienceChange) -> None:
        """Put it behind everything."""
        self._items.append(item)
        self._bytes += _size(item)

    def put_back(self, pieces: Sequence[AudioPiece]) -> None:
        """Put audio before everything, in its order."""
        self._items.extendleft(reversed(pieces))
        self._bytes += sum(map(_size, pieces))

    def take(self) -> AudioPiece | PatienceChange:
        """The next one."""
        item = self._items.popleft()
        self._bytes -= _size(item)
        return item

    def drain(self) -> list[AudioPiece]:
        """All audio; wishes are forgotten."""
        rest = [AudioPiece(item.sequence, item.pcm) for item in self._items if isinstance(item, AudioPiece)]
        self._items.clear()
        self._bytes = 0
        return rest


class SpeechSound:
    """The sound of an answer from shortly before its first speech, for a recording."""

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._forgotten = 0

    def add(self, pcm: bytes) -> None:
        """The next samples."""
        self._pieces.append(pcm)

    def forget(self, position: int) -> None:
        """Forget whole pieces up to this position, in samples from the start of the answer."""
        while self._pieces and self._forgotten + (first := len(self._pieces[0]) // SAMPLE_BYTES) <= position:
            self._forgotten += first
            self._pieces.popleft()

    def until(self, position: int) -> bytes:
        """What is kept up to this position."""
        return b"".join(self._pieces)[: (position - self._forgotten) * SAMPLE_BYTES]


def _size(item: AudioPiece | PatienceChange) -> int:
    return len(item.pcm) if isinstance(item, AudioPiece) else 0
