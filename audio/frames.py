"""Puts the numbered audio frames of a client, which may arrive in any order and more than once, into order.

A frame is a 4-byte big-endian sequence number, which counts the frames of a session, and 16-bit little-endian mono PCM
at RATE_HZ. After a reconnect the client sends again from `first_unreceived` on.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from audio.errors import AudioFormat, AudioGap
from audio.types import RATE_HZ

BYTES_PER_SAMPLE = 2
HEADER = struct.Struct(">I")
MAX_FRAME_BYTES = RATE_HZ * BYTES_PER_SAMPLE
"""Most audio in a frame, in bytes: 1 s."""
MAX_REORDER_FRAMES = 64
"""How far ahead of the first missing frame a frame may be; one that is farther shows that frames are lost."""
MAX_HELD_BYTES = 10 * RATE_HZ * BYTES_PER_SAMPLE
"""Most audio that may wait for a missing frame, in bytes: 10 s."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The frames from number `first` to number `last` have not arrived."""

    first: int
    last: int


def parse_frame(frame: bytes) -> tuple[int, bytes]:
    """The sequence number and the PCM of a binary frame.

    Raises:
        AudioFormat: no number, no audio, not a whole number of samples, or more than MAX_FRAME_BYTES of audio.
    """
    if len(frame) < HEADER.size:
        raise AudioFormat(f"A frame of {len(frame)} bytes has no sequence number")
    pcm = frame[HEADER.size :]
    if not pcm:
        raise AudioFormat("A frame without audio")
    if len(pcm) % BYTES_PER_SAMPLE:
        raise AudioFormat(f"A frame of {len(pcm)} bytes of audio is no whole number of 16-bit samples")
    if len(pcm) > MAX_FRAME_BYTES:
        raise AudioFormat(f"A frame of {len(pcm)} bytes of audio; {MAX_FRAME_BYTES} are allowed")
    return int(HEADER.unpack_from(frame)[0]), pcm


class FrameBuffer:
    """Puts frames in order and holds those that arrive before a missing one.

    Args:
        first_seq: number of the first frame that is expected.
    """

    def __init__(self, first_seq: int = 0) -> None:
        self._next = first_seq
        self._held: dict[int, bytes] = {}
        self._held_bytes = 0

    @property
    def first_unreceived(self) -> int:
        """Number of the first frame that has not arrived; those before it have, or were given up."""
        return self._next

    @property
    def missing(self) -> Gap | None:
        """The missing frames before the first one that is held; None if no frame is held."""
        return Gap(self._next, min(self._held) - 1) if self._held else None

    def push(self, seq: int, pcm: bytes) -> bytes:
        """Add a frame.

        Args:
            seq: its number.
            pcm: its audio.
        Returns:
            The audio that is now in order: empty if a frame before it is missing, or if it had arrived before.
        Raises:
            AudioGap: the frame is too far ahead of a missing one, or too much audio is held; it is not added. The
                client should send again from `first_unreceived` on, or, if it cannot, start anew (`restart`).
        """
        if seq < self._next or seq in self._held:
            return b""
        if seq > self._next:
            if seq - self._next > MAX_REORDER_FRAMES or self._held_bytes + len(pcm) > MAX_HELD_BYTES:
                raise AudioGap(f"Frame {self._next} is missing and {seq} has come")
            self._held[seq] = pcm
            self._held_bytes += len(pcm)
            return b""
        self._next += 1
        return self._ready(pcm)

    def restart(self, first_seq: int) -> bytes:
        """The client sends from number `first_seq` on: missing frames before it are given up.

        A number before `first_unreceived` has no effect; frames that arrive twice are dropped anyway.

        Returns:
            The audio that is now in order.
        """
        if first_seq <= self._next:
            return b""
        kept = sorted(seq for seq in self._held if seq < first_seq)
        parts: list[bytes] = []
        for seq in kept:
            parts.append(self._held.pop(seq))
            self._held_bytes -= len(parts[-1])
        self._next = first_seq
        return self._ready(b"".join(parts))

    def skip(self) -> bytes:
        """Give up the frames that are missing now; returns the audio that is now in order."""
        return self.restart(min(self._held)) if self._held else b""

    def _ready(self, pcm: bytes) -> bytes:
        parts = [pcm]
        while self._next in self._held:
            parts.append(self._held.pop(self._next))
            self._held_bytes -= len(parts[-1])
            self._next += 1
        return b"".join(parts)
