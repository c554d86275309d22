"""Numbered frames from a client, in any order and more than once, as one row of samples in order. Reads no clock.

A frame is a 4-byte big-endian sequence number, running through the session, and 16-bit little-endian mono PCM at
RATE_HZ. A client sends from `first_unreceived` after a reconnect.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from audio.errors import AudioFormat, AudioGap
from audio.types import RATE_HZ

BYTES_PER_SAMPLE = 2
HEADER = struct.Struct(">I")
MAX_FRAME_BYTES = RATE_HZ * BYTES_PER_SAMPLE
"""A frame is 1 s at most."""
MAX_REORDER_FRAMES = 64
"""A frame may be so much before its turn; what comes even earlier shows that something is missing for good."""
MAX_HELD_BYTES = 10 * RATE_HZ * BYTES_PER_SAMPLE
"""10 s of audio may wait for a missing frame."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Frames `first` to `last` have not come."""

    first: int
    last: int


def parse_frame(frame: bytes) -> tuple[int, bytes]:
    """Sequence number and PCM of a binary frame.

    Raises:
        AudioFormat: no number, no audio, half a sample, or more than a second.
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
    """Puts frames in order and knows what is missing.

    Args:
        first_seq: number of the first frame that is expected.
    """

    def __init__(self, first_seq: int = 0) -> None:
        self._next = first_seq
        self._held: dict[int, bytes] = {}
        self._held_bytes = 0

    @property
    def first_unreceived(self) -> int:
        """Number of the first frame that has not come; all before it have, or were given up."""
        return self._next

    @property
    def missing(self) -> Gap | None:
        """The frames that have to come before those that wait can be used."""
        return Gap(self._next, min(self._held) - 1) if self._held else None

    def push(self, seq: int, pcm: bytes) -> bytes:
        """Take a frame.

        Args:
            seq: its number.
            pcm: its audio.
        Returns:
            The audio that is now in order: empty where a frame before it is missing, or where it had come before.
        Raises:
            AudioGap: it is too far ahead of a missing frame, or too much audio waits; it is not taken. The client sends
                again from `first_unreceived`, or says by a new start (`restart`) that it can't.
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
        """A client starts sending at `first_seq`: what is missing before it will not come.

        A number before `first_unreceived` changes nothing: what comes twice is dropped.

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
        """Give up the frames that are missing now; returns the audio that waited for them."""
        return self.restart(min(self._held)) if self._held else b""

    def _ready(self, pcm: bytes) -> bytes:
        parts = [pcm]
        while self._next in self._held:
            parts.append(self._held.pop(self._next))
            self._held_bytes -= len(parts[-1])
            self._next += 1
        return b"".join(parts)
