"""An answer cut into windows that a transcriber can read.

A window is at most 28 s of kept audio, cut in a pause where there is one. It is read together with the tail of the
window before it, so that a word at the cut is heard whole (`audio.overlap` joins the words). Long silences are not
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

MAX_WINDOW_FRAMES = 28 * RATE_HZ // FRAME_SAMPLES
"""28 s: with a tail of 2 s a transcriber's 30 s are full."""
MAX_TRANSCRIBED_FRAMES = 30 * RATE_HZ // FRAME_SAMPLES
CUT_AT_PAUSE_FRAMES = 12 * RATE_HZ // FRAME_SAMPLES
"""From 12 s on a window ends at the first pause. The less of what surrounds a word is read with it the worse it is
understood (from 8 s on half a word in a hundred more was wrong), and the more, the later: from 14 s on one answer in
ten was not read before its silence was over. 18 s with the tail take the smallest model 0.5 s of one core, five
hypotheses and word times included."""
CUT_SEARCH_FRAMES = 6 * RATE_HZ // FRAME_SAMPLES
"""Where there is no pause, a window is cut at the quietest place of its last 6 s."""
MIN_OVERLAP_FRAMES = 2 * RATE_HZ // FRAME_SAMPLES
MAX_OVERLAP_FRAMES = 6 * RATE_HZ // FRAME_SAMPLES
TARGET_TRANSCRIBED_FRAMES = 8 * RATE_HZ // FRAME_SAMPLES
"""A tail is 2 to 6 s, such that tail and window make 8 s where they can. Twice that is understood a little better still
(0.1 points where there are pauses) and is too often not read before the silence is over."""
OVERLAP_PAUSE_SEARCH_FRAMES = 2 * RATE_HZ // FRAME_SAMPLES
"""How much longer a tail may be to begin in a pause."""
OVERLAP_QUIET_SEARCH_FRAMES = RATE_HZ // FRAME_SAMPLES
"""How much longer it may be to begin where it is quiet, if there is no pause."""
TRAILING_SILENCE_FRAMES = 16
"""Silence kept after speech: 512 ms."""
LEAD_IN_FRAMES = 20
"""Audio kept before the place where speech is sure: 640 ms."""
MAX_PARTIAL_FRAMES = 12 * RATE_HZ // FRAME_SAMPLES
"""A caption is made from at most 12 s."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its number from the start of the answer, samples `[n <= FRAME_SAMPLES]`, probability of speech."""

    index: int
    samples: Samples
    probability: float


@dataclass(frozen=True, slots=True)
class WindowAudio:
    """Audio to be read: `places[k]` is the place in the answer of sample `k * FRAME_SAMPLES` of `samples`.

    What lies before `own` is the tail of the window before; `forced` says that the cut at `own` is not in a pause.
    """

    samples: Samples
    positions: NDArray[np.int64]
    window_start: int
    cut_in_speech: bool

    @property
    def offset(self) -> int:
        """Place of the first sample."""
        return int(self.positions[0]) if len(self.positions) else self.window_start

    def answer_position(self, position: int) -> int:
        """Place in the answer of a position in `samples`; a position past the end is the end."""
        position = max(0, min(position, len(self.samples)))
        frame = min(position // FRAME_SAMPLES, len(self.positions) - 1)
        return int(self.positions[frame]) + position - frame * FRAME_SAMPLES

    def place_words(self, transcript: Transcript) -> tuple[Word, ...]:
        """The words of a transcript of this stretch at their places in the answer, in order.

        A transcriber that places no words gets them spread evenly.
        """
        if not len(self.positions):
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
            replace(
                word,
                start=self.answer_position(word.start - self.offset),
                end=self.answer_position(word.end - self.offset),
            )
            for word in found
        )


class WindowBuffer:
    """The audio of an answer, of which only the last window and the tail of the one before it are kept."""

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._lead_in: deque[Frame] = deque(maxlen=LEAD_IN_FRAMES)
        self._start = 0
        self._own_frames = 0
        self._cut_in_speech = False
        self._pauses: deque[int] = deque()

    @property
    def held_samples(self) -> int:
        """Samples in memory."""
        return (len(self._frames) + len(self._lead_in)) * FRAME_SAMPLES

    @property
    def is_full(self) -> bool:
        """Whether the window has to be cut now."""
        return self._own_frames >= MAX_WINDOW_FRAMES

    def push(self, frame: Frame, *, silent_frames: int | None) -> None:
        """Take one frame.

        Args:
            frame: the next one.
            quiet: frames of silence since the last speech, this one included; None where there was no speech yet.
        """
        if silent_frames is not None and silent_frames <= TRAILING_SILENCE_FRAMES:
            self._keep(frame)
        else:
            self._lead_in.append(frame)

    def keep_lead_in(self) -> None:
        """Speech is certain with the next frame: what led to it is kept, too."""
        while self._lead_in:
            self._keep(self._lead_in.popleft())

    def _keep(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._own_frames += 1

    def frames_since(self, since: int) -> list[Frame]:
        """The frames from number `since` on that are still known."""
        return [frame for frame in (*self._frames, *self._lead_in) if frame.index >= since]

    def note_pause(self, at: int) -> None:
        """Frame `at` lies in a pause; a tail may begin there."""
        self._pauses.append(at)

    @property
    def is_long(self) -> bool:
        """Whether the next pause should end the window."""
        return self._own_frames >= CUT_AT_PAUSE_FRAMES

    def quietest_frame(self) -> int:
        """The frame of the last 6 s, back to a silence that was not kept, where a cut hurts least."""
        frames = list(self._frames)[-min(CUT_SEARCH_FRAMES, max(1, self._own_frames - 1)) :]
        frames = [frame for n, frame in enumerate(frames) if frames[-1].index - frame.index == len(frames) - 1 - n]
        return frames[quietest_index(frames)].index

    def start_window(self, at: int, *, cut_in_speech: bool) -> None:
        """Begin the next window with frame `at`; of what lies before only a tail is kept."""
        self._start, self._cut_in_speech = at, cut_in_speech
        self._own_frames = sum(frame.index >= at for frame in self._frames)
        surplus = len(self._frames) - self._own_frames - MAX_OVERLAP_FRAMES - OVERLAP_PAUSE_SEARCH_FRAMES
        for _ in range(surplus):
            self._frames.popleft()
        while self._pauses and self._frames and self._pauses[0] < self._frames[0].index:
            self._pauses.popleft()

    def window_audio(self, until: int | None = None) -> WindowAudio:
        """The window with its tail, up to frame `until` (not included) or all that is kept."""
        frames = [frame for frame in self._frames if until is None or frame.index < until]
        window_start = sum(frame.index >= self._start for frame in frames)
        return self._audio(frames[self._overlap_start(frames, window_start) :])

    def partial_audio(self) -> WindowAudio:
        """The last 12 s of the window at most, from a pause on where there is one."""
        window_start = [frame for frame in self._frames if frame.index >= self._start]
        if len(window_start) > MAX_PARTIAL_FRAMES:
            window_start = window_start[-MAX_PARTIAL_FRAMES:]
            paused = next((at for at in self._pauses if window_start[0].index <= at < window_start[-1].index), None)
            window_start = [frame for frame in window_start if paused is None or frame.index >= paused]
        return self._audio(window_start)

    def _overlap_start(self, frames: Sequence[Frame], window_start: int) -> int:
        before = len(frames) - window_start
        wanted = max(MIN_OVERLAP_FRAMES, min(MAX_OVERLAP_FRAMES, TARGET_TRANSCRIBED_FRAMES - window_start))
        room = max(0, MAX_TRANSCRIBED_FRAMES - window_start)
        first = max(0, before - min(wanted, room))
        furthest = max(0, before - min(wanted + OVERLAP_PAUSE_SEARCH_FRAMES, room))
        if first == 0 or first >= before:
            return min(first, before)
        pauses = [at for at in self._pauses if frames[furthest].index <= at <= frames[first].index]
        if pauses:
            return next(n for n in range(furthest, first + 1) if frames[n].index >= pauses[-1])
        nearest = max(furthest, first - OVERLAP_QUIET_SEARCH_FRAMES)
        return nearest + quietest_index(frames[nearest : first + 1])

    def _audio(self, frames: Sequence[Frame]) -> WindowAudio:
        samples = np.concatenate([frame.samples for frame in frames]) if frames else np.zeros(0, np.int16)
        positions = np.array([frame.index * FRAME_SAMPLES for frame in frames], np.int64)
        return WindowAudio(samples, positions, self._start * FRAME_SAMPLES, self._cut_in_speech)


def quietest_index(frames: Sequence[Frame]) -> int:
    """Which of these frames is least like speech, by probability and loudness, its neighbours counting half."""
    if len(frames) < 3:
        return len(frames) - 1
    speech_likeness = np.array([frame.probability for frame in frames]) + frame_rms(
        np.stack([f.samples for f in frames])
    )
    return int(np.argmin(speech_likeness[:-2] + 2 * speech_likeness[1:-1] + speech_likeness[2:])) + 1


def frame_rms(samples: Samples) -> NDArray[np.float32]:
    """Root mean square of each frame in [0, 1] of full scale; `[n, FRAME_SAMPLES]` → `[n]`."""
    rms: NDArray[np.float32] = np.sqrt(np.mean(np.square(samples.astype(np.float32) / 32768.0), axis=1))
    return rms
