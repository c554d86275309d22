"""The sound of an answer's speech, kept until the answer is certain, so that it can be read once more as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from audio.endpoint import FRAME_SAMPLES, SPEECH_OFF
from audio.types import RATE_HZ, Samples

if TYPE_CHECKING:
    from audio.windows import Frame

MOST_HEARD_FRAMES = 90 * RATE_HZ // FRAME_SAMPLES
"""Of a longer answer, 90 s without its long silences, nothing is kept: reading it again takes longer than there is."""
MOST_PIECE_FRAMES = 59 * RATE_HZ // (2 * FRAME_SAMPLES)
"""Most frames that are read at once, 29.5 s: a transcriber takes 30 s."""
LEAST_PIECE_FRAMES = 8 * RATE_HZ // FRAME_SAMPLES
"""A piece is cut in its longest pause after this length, 8 s."""
CUT_FRAMES = 5
"""Least frames of silence at which a piece may be cut, 160 ms: there no word is in halves."""


class AnswerSound:
    """Frames of one or more streams of an answer, in order, long silences left out; at most MOST_HEARD_FRAMES."""

    def __init__(self) -> None:
        self._frames: list[Frame] = []
        self.is_whole = True
        """Whether all of it was in one window: reading it again would give the same words."""
        self.too_long = False
        """Whether there is too much of it; nothing is kept then."""

    @property
    def held_samples(self) -> int:
        """Samples in memory."""
        return len(self._frames) * FRAME_SAMPLES

    def add(self, frame: Frame) -> None:
        """The next frame with speech, or close to it."""
        if self.too_long:
            return
        self._frames.append(frame)
        self._bound()

    def note_cut(self) -> None:
        """A window was cut here."""
        self.is_whole = False

    def drop_from(self, index: int) -> None:
        """Frames from number `index` on belong to the next answer."""
        while self._frames and self._frames[-1].index >= index:
            self._frames.pop()

    def append(self, more: AnswerSound) -> None:
        """The answer goes on with another stream."""
        self.is_whole = more.is_whole and not self._frames and not self.too_long
        self.too_long = self.too_long or more.too_long
        self._frames += more._frames
        self._bound()

    def pieces(self) -> list[Samples] | None:
        """The sound in pieces of at most 29.5 s, cut in pauses; None if it is too long, or where there is no pause."""
        if self.too_long:
            return None
        found, rest = [], self._frames
        while len(rest) > MOST_PIECE_FRAMES:
            at = _longest_pause(rest[LEAST_PIECE_FRAMES:MOST_PIECE_FRAMES])
            if at is None:
                return None
            found.append(rest[: LEAST_PIECE_FRAMES + at])
            rest = rest[LEAST_PIECE_FRAMES + at :]
        return [np.concatenate([frame.samples for frame in piece]) for piece in (*found, rest) if piece]

    def _bound(self) -> None:
        if self.too_long or len(self._frames) > MOST_HEARD_FRAMES:
            self.too_long = True
            self._frames = []


def _longest_pause(frames: Sequence[Frame]) -> int | None:
    """The index of the middle of the longest pause, the last one of equal ones; None if all are too short."""
    longest, middle, silent = CUT_FRAMES, None, 0
    for index, frame in enumerate(frames):
        silent = silent + 1 if frame.probability < SPEECH_OFF else 0
        if silent >= longest:
            longest, middle = silent, index + 1 - silent // 2
    return middle
