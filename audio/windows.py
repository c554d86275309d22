"""An answer cut into windows that a transcriber can read.

A window is at most 28 s of kept audio, cut in a pause where there is one. It is read together with the tail of the
window before it, so that a word at the cut is heard whole (`audio.readings` joins the words). Long silences are not
kept: a window is a row of frames with places, and words are placed back through it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from audio.endpoint import FRAME_SAMPLES
from audio.types import RATE_HZ, Samples, Transcript, Word

LONGEST_WINDOW_FRAMES = 28 * RATE_HZ // FRAME_SAMPLES
"""28 s: with a tail of 2 s a transcriber's 30 s are full."""
LONGEST_READ_FRAMES = 30 * RATE_HZ // FRAME_SAMPLES
LONG_WINDOW_FRAMES = 12 * RATE_HZ // FRAME_SAMPLES
"""From 12 s on a window ends at the first pause. The less of what surrounds a word is read with it the worse it is
understood (from 8 s on half a word in a hundred more was wrong), and the more, the later: from 14 s on one answer in
ten was not read before its silence was over. 18 s with the tail take the smallest model 0.5 s of one core, five
hypotheses and word times included."""
CUT_SEARCH_FRAMES = 6 * RATE_HZ // FRAME_SAMPLES
"""Where there is no pause, a window is cut at the quietest place of its last 6 s."""
LEAST_TAIL_FRAMES = 2 * RATE_HZ // FRAME_SAMPLES
MOST_TAIL_FRAMES = 6 * RATE_HZ // FRAME_SAMPLES
READ_AT_LEAST_FRAMES = 8 * RATE_HZ // FRAME_SAMPLES
"""A tail is 2 to 6 s, such that tail and window make 8 s where they can. Twice that is understood a little better still
(0.1 points where there are pauses) and is too often not read before the silence is over."""
TAIL_SNAP_FRAMES = 2 * RATE_HZ // FRAME_SAMPLES
"""How much longer a tail may be to begin in a pause."""
TAIL_SEARCH_FRAMES = RATE_HZ // FRAME_SAMPLES
"""How much longer it may be to begin where it is quiet, if there is no pause."""
KEPT_AFTER_FRAMES = 16
"""Silence kept after speech: 512 ms."""
KEPT_BEFORE_FRAMES = 20
"""Audio kept before the place where speech is sure: 640 ms."""
PARTIAL_FRAMES = 12 * RATE_HZ // FRAME_SAMPLES
"""A caption is made from at most 12 s."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its number from the start of the answer, samples `[n <= FRAME_SAMPLES]`, probability of speech."""

    index: int
    samples: Samples
    probability: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """Audio to be read: `places[k]` is the place in the answer of sample `k * FRAME_SAMPLES` of `samples`.

    What lies before `own` is the tail of the window before; `forced` says that the cut at `own` is not in a pause.
    """

    samples: Samples
    places: NDArray[np.int64]
    own: int
    forced: bool

    @property
    def offset(self) -> int:
        """Place of the first sample."""
        return int(self.places[0]) if len(self.places) else self.own

    def place(self, position: int) -> int:
        """Place in the answer of a position in `samples`; a position past the end is the end."""
        position = max(0, min(position, len(self.samples)))
        frame = min(position // FRAME_SAMPLES, len(self.places) - 1)
        return int(self.places[frame]) + position - frame * FRAME_SAMPLES

    def words(self, transcript: Transcript) -> tuple[Word, ...]:
        """The words of a transcript of this stretch at their places in the answer, in order.

        A transcriber that places no words gets them spread evenly.
        """
        if not len(self.places):
            return ()
        found = transcript.words
        if not found:
            texts = transcript.text.split()
            step = len(self.samples) / max(1, len(texts))
            found = tuple(
                Word(text, self.offset + int(n * step), self.offset + int((n + 1) * step), 0.0)
                for n, text in enumerate(texts)
            )
        return tuple(
            replace(word, start=self.place(word.start - self.offset), end=self.place(word.end - self.offset))
            for word in found
        )


class Windows:
    """The audio of an answer, of which only the last window and the tail of the one before it are kept."""

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._ring: deque[Frame] = deque(maxlen=KEPT_BEFORE_FRAMES)
        self._start = 0
        self._length = 0
        self._forced = False
        self._pauses: deque[int] = deque()

    @property
    def held(self) -> int:
        """Samples in memory."""
        return (len(self._frames) + len(self._ring)) * FRAME_SAMPLES

    @property
    def full(self) -> bool:
        """Whether the window has to be cut now."""
        return self._length >= LONGEST_WINDOW_FRAMES

    def push(self, frame: Frame, *, quiet: int | None) -> None:
        """Take one frame.

        Args:
            frame: the next one.
            quiet: frames of silence since the last speech, this one included; None where there was no speech yet.
        """
        if quiet is not None and quiet <= KEPT_AFTER_FRAMES:
            self._keep(frame)
        else:
            self._ring.append(frame)

    def onset(self) -> None:
        """Speech is certain with the next frame: what led to it is kept, too."""
        while self._ring:
            self._keep(self._ring.popleft())

    def _keep(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._length += 1

    def recent(self, since: int) -> list[Frame]:
        """The frames from number `since` on that are still known."""
        return [frame for frame in (*self._frames, *self._ring) if frame.index >= since]

    def pause(self, at: int) -> None:
        """Frame `at` lies in a pause; a tail may begin there."""
        self._pauses.append(at)

    @property
    def long(self) -> bool:
        """Whether the next pause should end the window."""
        return self._length >= LONG_WINDOW_FRAMES

    def quietest(self) -> int:
        """The frame of the last 6 s, back to a silence that was not kept, where a cut hurts least."""
        frames = list(self._frames)[-min(CUT_SEARCH_FRAMES, max(1, self._length - 1)) :]
        frames = [frame for n, frame in enumerate(frames) if frames[-1].index - frame.index == len(frames) - 1 - n]
        return frames[quietest(frames)].index

    def cut(self, at: int, *, forced: bool) -> None:
        """Begin the next window with frame `at`; of what lies before only a tail is kept."""
        self._start, self._forced = at, forced
        self._length = sum(frame.index >= at for frame in self._frames)
        surplus = len(self._frames) - self._length - MOST_TAIL_FRAMES - TAIL_SNAP_FRAMES
        for _ in range(surplus):
            self._frames.popleft()
        while self._pauses and self._frames and self._pauses[0] < self._frames[0].index:
            self._pauses.popleft()

    def stretch(self, until: int | None = None) -> Stretch:
        """The window with its tail, up to frame `until` (not included) or all that is kept."""
        frames = [frame for frame in self._frames if until is None or frame.index < until]
        own = sum(frame.index >= self._start for frame in frames)
        return self._stretch(frames[self._tail_from(frames, own) :])

    def partial(self) -> Stretch:
        """The last 12 s of the window at most, from a pause on where there is one."""
        own = [frame for frame in self._frames if frame.index >= self._start]
        if len(own) > PARTIAL_FRAMES:
            own = own[-PARTIAL_FRAMES:]
            paused = next((at for at in self._pauses if own[0].index <= at < own[-1].index), None)
            own = [frame for frame in own if paused is None or frame.index >= paused]
        return self._stretch(own)

    def _tail_from(self, frames: Sequence[Frame], own: int) -> int:
        before = len(frames) - own
        wanted = max(LEAST_TAIL_FRAMES, min(MOST_TAIL_FRAMES, READ_AT_LEAST_FRAMES - own))
        room = max(0, LONGEST_READ_FRAMES - own)
        first = max(0, before - min(wanted, room))
        furthest = max(0, before - min(wanted + TAIL_SNAP_FRAMES, room))
        if first == 0 or first >= before:
            return min(first, before)
        pauses = [at for at in self._pauses if frames[furthest].index <= at <= frames[first].index]
        if pauses:
            return next(n for n in range(furthest, first + 1) if frames[n].index >= pauses[-1])
        nearest = max(furthest, first - TAIL_SEARCH_FRAMES)
        return nearest + quietest(frames[nearest : first + 1])

    def _stretch(self, frames: Sequence[Frame]) -> Stretch:
        samples = np.concatenate([frame.samples for frame in frames]) if frames else np.zeros(0, np.int16)
        places = np.array([frame.index * FRAME_SAMPLES for frame in frames], np.int64)
        return Stretch(samples, places, self._start * FRAME_SAMPLES, self._forced)


def quietest(frames: Sequence[Frame]) -> int:
    """Which of these frames is least like speech, by probability and loudness, its neighbours counting half."""
    if len(frames) < 3:
        return len(frames) - 1
    worth = np.array([frame.probability for frame in frames]) + loudness(np.stack([f.samples for f in frames]))
    return int(np.argmin(worth[:-2] + 2 * worth[1:-1] + worth[2:])) + 1


def loudness(samples: Samples) -> NDArray[np.float32]:
    """Root mean square of each frame in [0, 1] of full scale; `[n, FRAME_SAMPLES]` → `[n]`."""
    loud: NDArray[np.float32] = np.sqrt(np.mean(np.square(samples.astype(np.float32) / 32768.0), axis=1))
    return loud
