"""Cuts an answer into windows for transcription.

A window is at most 28 s of audio, cut in a pause where there is one. It is transcribed together with an overlap, the
end of the window before it, so that a word at the cut is whole in one of them (`audio.overlap` joins the words). Long
silences are left out; the positions of the remaining frames are kept, and words are mapped back to the answer by them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from audio.answer_sound import AnswerSound
from audio.endpoint import FRAME_SAMPLES
from audio.sound_end import SEARCHED_SAMPLES, find_sound_end
from audio.types import RATE_HZ, Samples, Transcript, Word

MAX_WINDOW_FRAMES = 28 * RATE_HZ // FRAME_SAMPLES
"""A window is cut at this length, 28 s: with an overlap of 2 s it has the 30 s that a transcriber takes."""
MAX_TRANSCRIBED_FRAMES = 30 * RATE_HZ // FRAME_SAMPLES
"""Most frames of a window and its overlap."""
CUT_AT_PAUSE_FRAMES = 12 * RATE_HZ // FRAME_SAMPLES
"""From this length on, 12 s, a window ends at the first pause. Shorter windows give a word less context: from 8 s on,
the word error rate was half a point higher. Longer ones take longer: from 14 s on, one answer in ten was not
transcribed before the silence that ended it was over. 18 s with the overlap take the smallest model 0.5 s of one core,
with five hypotheses and word timestamps."""
CUT_SEARCH_FRAMES = 6 * RATE_HZ // FRAME_SAMPLES
"""Where there is no pause, a window is cut at the quietest frame of its last 6 s."""
MIN_OVERLAP_FRAMES = 2 * RATE_HZ // FRAME_SAMPLES
MAX_OVERLAP_FRAMES = 6 * RATE_HZ // FRAME_SAMPLES
TARGET_TRANSCRIBED_FRAMES = 8 * RATE_HZ // FRAME_SAMPLES
"""An overlap is 2 to 6 s, long enough to make 8 s together with its window where possible. Twice these 8 s would lower
the word error rate by 0.1 points where there are pauses, and would too often take longer than the silence lasts."""
OVERLAP_PAUSE_SEARCH_FRAMES = 2 * RATE_HZ // FRAME_SAMPLES
"""How much longer an overlap may be to begin in a pause."""
OVERLAP_QUIET_SEARCH_FRAMES = RATE_HZ // FRAME_SAMPLES
"""How much longer an overlap may be to begin at a quiet frame, if there is no pause."""
TRAILING_SILENCE_FRAMES = 16
"""Frames of silence that are kept after speech: 512 ms."""
LEAD_IN_FRAMES = 20
"""Frames that are kept before the one at which an onset of speech is certain: 640 ms."""
MAX_PARTIAL_FRAMES = 12 * RATE_HZ // FRAME_SAMPLES
"""Most frames that are transcribed for a live caption: 12 s."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its number from the start of the answer, samples `[n <= FRAME_SAMPLES]`, probability of speech."""

    index: int
    samples: Samples
    probability: float


@dataclass(frozen=True, slots=True)
class WindowAudio:
    """The audio of a window with its overlap.

    `samples` has shape `[n]`; `positions[k]` is the position in the answer of sample `k * FRAME_SAMPLES` of it. The
    window itself begins at the position `window_start`; what is before it is the overlap. `cut_in_speech`: the cut at
    `window_start` is not in a pause.
    """

    samples: Samples
    positions: NDArray[np.int64]
    window_start: int
    cut_in_speech: bool

    @property
    def offset(self) -> int:
        """Position of the first sample in the answer."""
        return int(self.positions[0]) if len(self.positions) else self.window_start

    def answer_position(self, index: int) -> int:
        """The position in the answer of an index into `samples`; an index past the end counts as the end."""
        index = max(0, min(index, len(self.samples)))
        frame = min(index // FRAME_SAMPLES, len(self.positions) - 1)
        return int(self.positions[frame]) + index - frame * FRAME_SAMPLES

    def place_words(self, transcript: Transcript) -> tuple[Word, ...]:
        """The words of a transcript of this audio at their positions in the answer, in order.

        The words of the transcript count from `offset` as if no silence had been left out. If the transcriber gave no
        words, those of the text are spread evenly.
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
    """The audio of an answer, of which the current window and its overlap are kept.

    Args:
        keep_sound: whether all frames of windows are kept, too.
    """

    def __init__(self, *, keep_sound: bool = False) -> None:
        self.sound = AnswerSound() if keep_sound else None
        """All frames of windows; None if they are not kept."""
        self._frames: deque[Frame] = deque()
        self._lead_in: deque[Frame] = deque(maxlen=LEAD_IN_FRAMES)
        self._start = 0
        self._window_frames = 0
        self._cut_in_speech = False
        self._pauses: deque[int] = deque()

    @property
    def held_samples(self) -> int:
        """Samples in memory, which bounds the memory that an answer takes."""
        sound = 0 if self.sound is None else self.sound.held_samples
        return (len(self._frames) + len(self._lead_in)) * FRAME_SAMPLES + sound

    @property
    def is_full(self) -> bool:
        """Whether the window must be cut now."""
        return self._window_frames >= MAX_WINDOW_FRAMES

    def push(self, frame: Frame, *, silent_frames: int | None) -> None:
        """Add a frame.

        Args:
            frame: the next one.
            silent_frames: frames of silence since the last speech, including this one; None before the first speech.
        """
        if silent_frames is not None and silent_frames <= TRAILING_SILENCE_FRAMES:
            self._keep(frame)
        else:
            self._lead_in.append(frame)

    def keep_lead_in(self) -> None:
        """An onset of speech is certain: keep the last LEAD_IN_FRAMES frames of the silence before it, too."""
        while self._lead_in:
            self._keep(self._lead_in.popleft())

    def _keep(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._window_frames += 1
        if self.sound is not None:
            self.sound.add(frame)

    def frames_since(self, since: int) -> list[Frame]:
        """The frames from number `since` on that are still in memory."""
        return [frame for frame in (*self._frames, *self._lead_in) if frame.index >= since]

    def leave(self, since: int) -> list[Samples]:
        """The samples of the frames from number `since` on, which belong to the next answer."""
        if self.sound is not None:
            self.sound.drop_from(since)
        return [frame.samples for frame in self.frames_since(since)]

    def sound_end(self, onset: int, end: int) -> int:
        """The position of the last sound of a segment of speech that has just ended.

        Args:
            onset, end: its first frame and the one after its last, by voice activity.
        """
        frames = self.frames_since(max(onset, end - SEARCHED_SAMPLES // FRAME_SAMPLES))
        before = [frame.samples for frame in frames if frame.index < end]
        after = [frame.samples for frame in frames if frame.index >= end]
        if not before or not after:
            return end * FRAME_SAMPLES
        return (end - len(before)) * FRAME_SAMPLES + find_sound_end(np.concatenate(before), np.concatenate(after))

    def note_pause(self, at: int) -> None:
        """Frame `at` is in a pause, at which an overlap or a partial transcription may begin."""
        self._pauses.append(at)

    @property
    def is_long(self) -> bool:
        """Whether the next pause is to end the window."""
        return self._window_frames >= CUT_AT_PAUSE_FRAMES

    def quietest_frame(self) -> int:
        """The number of the quietest frame, at which to cut.

        It is one of the last 6 s of the window, and after the last silence that was left out.
        """
        frames = list(self._frames)[-min(CUT_SEARCH_FRAMES, max(1, self._window_frames - 1)) :]
        frames = [frame for n, frame in enumerate(frames) if frames[-1].index - frame.index == len(frames) - 1 - n]
        return frames[quietest_index(frames)].index

    def start_window(self, at: int, *, cut_in_speech: bool) -> None:
        """Begin the next window with frame `at`; of the frames before it only enough for an overlap are kept."""
        self._start, self._cut_in_speech = at, cut_in_speech
        if self.sound is not None:
            self.sound.note_cut()
        self._window_frames = sum(frame.index >= at for frame in self._frames)
        surplus = len(self._frames) - self._window_frames - MAX_OVERLAP_FRAMES - OVERLAP_PAUSE_SEARCH_FRAMES
        for _ in range(surplus):
            self._frames.popleft()
        while self._pauses and self._frames and self._pauses[0] < self._frames[0].index:
            self._pauses.popleft()

    def window_audio(self, until: int | None = None) -> WindowAudio:
        """The window and its overlap, up to but not including frame `until`; None for all of it."""
        frames = [frame for frame in self._frames if until is None or frame.index < until]
        window_frames = sum(frame.index >= self._start for frame in frames)
        return self._audio(frames[self._overlap_start(frames, window_frames) :])

    def partial_audio(self) -> WindowAudio:
        """The end of the window for a live caption: at most 12 s, from a pause on where there is one."""
        frames = [frame for frame in self._frames if frame.index >= self._start]
        if len(frames) > MAX_PARTIAL_FRAMES:
            frames = frames[-MAX_PARTIAL_FRAMES:]
            paused = next((at for at in self._pauses if frames[0].index <= at < frames[-1].index), None)
            frames = [frame for frame in frames if paused is None or frame.index >= paused]
        return self._audio(frames)

    def _overlap_start(self, frames: Sequence[Frame], window_frames: int) -> int:
        """The index of the frame at which the overlap is to begin; the last `window_frames` frames are the window."""
        before = len(frames) - window_frames
        wanted = max(MIN_OVERLAP_FRAMES, min(MAX_OVERLAP_FRAMES, TARGET_TRANSCRIBED_FRAMES - window_frames))
        room = max(0, MAX_TRANSCRIBED_FRAMES - window_frames)
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
    """The index of the frame that is least like speech, by probability and loudness; its neighbours count half."""
    if len(frames) < 3:
        return len(frames) - 1
    rms = frame_rms(np.stack([frame.samples for frame in frames]))
    likeness = np.array([frame.probability for frame in frames]) + rms
    return int(np.argmin(likeness[:-2] + 2 * likeness[1:-1] + likeness[2:])) + 1


def frame_rms(samples: Samples) -> NDArray[np.float32]:
    """Root mean square of each frame, in [0, 1] of full scale; `[n, FRAME_SAMPLES]` → `[n]`."""
    rms: NDArray[np.float32] = np.sqrt(np.mean(np.square(samples.astype(np.float32) / 32768.0), axis=1))
    return rms
