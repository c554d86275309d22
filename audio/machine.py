"""One answer as a machine without I/O: samples, probabilities and transcripts in, events and wishes out.

Frames are taken one by one in their order. Where a decision needs words that are not there yet (may this silence end
the answer?) the machine stands still and what follows waits in a queue. So started, stopped, almost up, ended and every
text depend on the audio alone, not on its chunks nor on when a reading came; commands count from the sample before
which they came. What is only told on the way depends on time, too: captions, and guesses that were refuted before they
were read are not told at all.

After `AnswerEnded` the machine takes nothing more; what lay beyond the end is in `leftover`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audio.assembler import TranscriptAssembler
from audio.endpoint import (
    FRAME_SAMPLES,
    PAUSE_FRAMES,
    Patience,
    Probabilities,
    SpeechSegmenter,
    last_spoken_end,
    minimum_silence,
    required_silence,
)
from audio.outputs import MachineOutput
from audio.overlap import word_middle
from audio.sound_end import SEARCHED_SAMPLES, find_sound_end
from audio.types import (
    RATE_HZ,
    AnswerEnded,
    Samples,
    SpeechStarted,
    SpeechStopped,
    TimeAlmostUp,
    Transcript,
    samples_of,
)
from audio.windows import Frame, WindowBuffer

WARNING_S = 30
"""How long before the longest answer is reached it is told; half of it where it is under a minute."""
NEXT_ANSWER_LEAD_FRAMES = 15
"""Of the silence that ended an answer the next one gets the last 480 ms, in which its first word may have begun."""
MAX_SEGMENTS = 64
"""Stretches of speech that are remembered to find the last one with words."""

Reason = Literal["silence", "stop", "too_long"]


@dataclass(frozen=True, slots=True)
class _SetPatience:
    patience: Patience


@dataclass(frozen=True, slots=True)
class _HoldUntil:
    until: int


@dataclass(frozen=True, slots=True)
class _Stop:
    rest: Samples


@dataclass(frozen=True, slots=True)
class _PendingEnd:
    """An answer that is over as soon as all its words are known."""

    reason: Reason
    at: int


class SpeechMachine:
    """One answer.

    Args:
        language: two-letter code.
        patience: how long a silence ends the answer.
        max_answer_s: longest answer in seconds from its first speech; None for no limit.
        partial_every_ms: speech between captions; 0 for none.
    """

    def __init__(
        self,
        *,
        language: str = "en",
        patience: Patience = "normal",
        max_answer_s: float | None = 300,
        partial_every_ms: int = 1000,
    ) -> None:
        self._language = language
        self._patience: Patience = patience
        self._longest = None if max_answer_s is None else max(FRAME_SAMPLES, int(max_answer_s * RATE_HZ))
        self._partial_every = samples_of(partial_every_ms)
        self._queue: deque[Frame | _SetPatience | _HoldUntil | _Stop] = deque()
        self._incomplete_frame: Samples = np.zeros(0, np.int16)
        self._samples_fed = 0
        self._frames_queued = 0
        self._position = 0
        self._speech = SpeechSegmenter()
        self._windows = WindowBuffer()
        self._segments: deque[tuple[int, int]] = deque(maxlen=MAX_SEGMENTS)
        self._out: list[MachineOutput] = []
        self._assembler = TranscriptAssembler(language=language, out=self._out)
        self._paused = False
        self._since_partial = 0
        self._first_onset: int | None = None
        self._warned = False
        self._hold_until = 0
        self._awaiting_words = False
        self._stop_requested = False
        self._end: _PendingEnd | None = None
        self._ended = False
        self._after_end: list[Samples] = []
        self._fed_after_end: list[Samples] = []

    # -- what is known from outside

    @property
    def ended(self) -> bool:
        """Whether `AnswerEnded` was said."""
        return self._ended

    @property
    def closed(self) -> bool:
        """Whether the end is decided or asked for: what is fed from now on belongs to the next answer."""
        return self._stop_requested or self._end is not None

    @property
    def needs_provisional(self) -> bool:
        """Whether what was asked for as a guess is needed now: silence may be the end, it is, or speech went on."""
        return self._awaiting_words or self._end is not None or not self._paused

    @property
    def queued_samples(self) -> int:
        """Samples that wait for words."""
        return sum(len(item.samples) for item in self._queue if isinstance(item, Frame))

    @property
    def held_samples(self) -> int:
        """Samples in memory, those that wait included."""
        return self.queued_samples + self._windows.held_samples

    @property
    def unfinished_windows(self) -> int:
        """Windows that are being read, the last one not counted."""
        return self._assembler.unfinished_windows

    def leftover(self) -> Samples:
        """What was taken beyond the end, to begin the next answer with; nothing before the end."""
        if not self._ended:
            return np.zeros(0, np.int16)
        return np.concatenate([np.zeros(0, np.int16), *self._after_end, *self._fed_after_end])

    # -- what happens to it

    def feed(self, samples: Samples, probabilities: Probabilities | Sequence[float]) -> list[MachineOutput]:
        """Take samples and the probabilities of the frames that they complete.

        Args:
            samples: any number, mono at RATE_HZ.
            probabilities: one for each frame of FRAME_SAMPLES that is now complete; not looked at once it is closed.
        Raises:
            ValueError: the numbers don't fit.
        """
        self._samples_fed += len(samples)
        if self.closed:
            self._fed_after_end.append(samples.copy())
            return []
        joined = np.concatenate([self._incomplete_frame, samples])
        count = len(joined) // FRAME_SAMPLES
        if len(probabilities) != count:
            raise ValueError(f"{count} frames, {len(probabilities)} probabilities")
        for n, probability in enumerate(probabilities):
            part = joined[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES].copy()
            self._queue.append(Frame(self._frames_queued, part, float(probability)))
            self._frames_queued += 1
        self._incomplete_frame = joined[count * FRAME_SAMPLES :].copy()
        return self._process_queue()

    def transcribed(self, request_id: int, transcript: Transcript) -> list[MachineOutput]:
        """A transcription that was wanted is there; one that nobody waits for is ignored."""
        if not self._ended:
            self._assembler.transcribed(request_id, transcript)
        return self._process_queue()

    def failed(self, request_id: int, error: str) -> list[MachineOutput]:
        """A transcription that was wanted failed. A partial is let go, others are tried once more."""
        if not self._ended:
            self._assembler.failed(request_id, error)
        return self._process_queue()

    def stop(self) -> list[MachineOutput]:
        """The answer ends here, whatever the silence."""
        if not self.closed:
            self._stop_requested = True
            self._queue.append(_Stop(self._incomplete_frame))
            self._incomplete_frame = np.zeros(0, np.int16)
        return self._process_queue()

    def hold(self, samples: int) -> list[MachineOutput]:
        """No silence ends the answer within so many samples from here."""
        if not self.closed:
            self._queue.append(_HoldUntil(self._samples_fed + samples))
        return self._process_queue()

    def set_patience(self, patience: Patience) -> list[MachineOutput]:
        """From here on another patience."""
        if not self.closed:
            self._queue.append(_SetPatience(patience))
        return self._process_queue()

    # -- frames and commands in their order

    def _process_queue(self) -> list[MachineOutput]:
        if self._awaiting_words:
            self._check_silence()
        while self._queue and not self._awaiting_words and self._end is None:
            item = self._queue.popleft()
            if isinstance(item, Frame):
                self._process_frame(item)
            elif isinstance(item, _SetPatience):
                self._patience = item.patience
            elif isinstance(item, _HoldUntil):
                self._hold_until = max(self._hold_until, item.until)
            else:
                self._stop(item.rest)
        self._finish()
        out = self._out.copy()
        self._out.clear()
        return out

    def _process_frame(self, frame: Frame) -> None:
        self._position = (frame.index + 1) * FRAME_SAMPLES
        before = self._speech.end
        change = self._speech.push(frame.probability)
        if change == "onset":
            self._windows.keep_lead_in()
        known = self._first_onset is not None or self._speech.speaking
        self._windows.push(frame, silent_frames=frame.index + 1 - self._speech.end if known else None)
        if change == "onset":
            self._speech_started(before)
        elif change == "pause":
            self._speech_stopped()
        if self._speech.speaking:
            self._speech_continues()
        if not self._check_length():
            self._check_silence()

    def _speech_started(self, before: int) -> None:
        """Speech is certain since `self._runs.onset`; `before` is where the last speech ended."""
        onset = self._speech.onset
        if self._first_onset is None:
            self._first_onset = onset * FRAME_SAMPLES
        self._out.append(SpeechStarted(onset * FRAME_SAMPLES))
        if not self._paused:
            return
        self._paused = False
        if self._windows.is_long:
            edge = max(before + PAUSE_FRAMES, (before + onset) // 2)
            self._windows.start_window(edge, cut_in_speech=False)
            self._assembler.close_last_window(onset * FRAME_SAMPLES, edge * FRAME_SAMPLES)
        else:
            self._assembler.discard_last(onset * FRAME_SAMPLES)

    def _speech_stopped(self) -> None:
        end = self._speech.end
        self._paused = True
        self._since_partial = 0
        self._windows.note_pause(end + PAUSE_FRAMES // 2)
        self._segments.append((self._speech.onset * FRAME_SAMPLES, self._sound_end()))
        self._out.append(SpeechStopped(self._segments[-1][1]))
        self._assembler.cancel_partial()
        self._assembler.request_last(self._windows.window_audio(), self._position, "guess")

    def _speech_continues(self) -> None:
        if self._windows.is_full:
            at = self._windows.quietest_frame()
            self._assembler.request_window(self._windows.window_audio(at), at * FRAME_SAMPLES, at * FRAME_SAMPLES)
            self._windows.start_window(at, cut_in_speech=True)
        self._since_partial += FRAME_SAMPLES
        if self._partial_every and self._since_partial >= self._partial_every:
            self._since_partial = 0
            self._assembler.request_partial(self._windows.partial_audio(), self._position)

    def _check_length(self) -> bool:
        """Tell that the longest answer is nearly reached, and end it where it is."""
        if self._longest is None or self._first_onset is None:
            return False
        left = self._first_onset + self._longest - self._position
        if not self._warned and left <= min(WARNING_S * RATE_HZ, self._longest // 2):
            self._warned = True
            self._out.append(TimeAlmostUp(max(0, left), self._position))
        if left > 0:
            return False
        if self._speech.speaking:
            at = self._windows.quietest_frame()
            if at > self._speech.onset:
                self._segments.append((self._speech.onset * FRAME_SAMPLES, self._speech.end * FRAME_SAMPLES))
            self._assembler.request_last(self._windows.window_audio(at), at * FRAME_SAMPLES, "final")
            self._close("too_long", at * FRAME_SAMPLES, at)
        else:
            self._close("too_long", self._position, self._after_silence())
        return True

    def _check_silence(self) -> None:
        """End the answer if the silence is long enough; stand still where only the words can tell."""
        self._awaiting_words = False
        if not self._paused or self._speech.pending or self._position < self._hold_until:
            return
        spoken = self._speech.speech_frames * FRAME_SAMPLES
        if self._position - self._segments[-1][1] < minimum_silence(self._patience, spoken=spoken):
            return
        if not self._assembler.complete:
            self._awaiting_words = True
            return
        text = None if self._assembler.last_failed else self._assembler.text
        needed = required_silence(self._patience, text, language=self._language, spoken=spoken)
        if self._position - self._speech_end() >= needed:
            self._close("silence", self._position, self._after_silence())

    def _sound_end(self) -> int:
        """Where the speech that has just stopped was last heard."""
        end = self._speech.end
        recent = self._windows.frames_since(max(self._speech.onset, end - SEARCHED_SAMPLES // FRAME_SAMPLES))
        before = [frame.samples for frame in recent if frame.index < end]
        after = [frame.samples for frame in recent if frame.index >= end]
        if not before or not after:
            return end * FRAME_SAMPLES
        found = find_sound_end(np.concatenate(before), np.concatenate(after))
        return (end - len(before)) * FRAME_SAMPLES + found

    def _speech_end(self) -> int:
        last = self._segments[-1][1] if self._segments else self._speech.end * FRAME_SAMPLES
        words = self._assembler.words
        return last_spoken_end(self._segments, word_middle(words[-1]), default=last) if words else last

    def _after_silence(self) -> int:
        """The frame from which a silence belongs to the next answer."""
        return max(self._speech.end + PAUSE_FRAMES, self._position // FRAME_SAMPLES - NEXT_ANSWER_LEAD_FRAMES)

    def _stop(self, rest: Samples) -> None:
        before = self._speech.end
        if self._speech.confirm():
            self._windows.keep_lead_in()
            self._speech_started(before)
        if len(rest):
            self._windows.push(
                Frame(self._frames_queued, rest, 0.0), silent_frames=0 if self._speech.speaking else None
            )
        if self._speech.speaking:
            self._segments.append((self._speech.onset * FRAME_SAMPLES, self._speech.end * FRAME_SAMPLES))
            self._assembler.request_last(self._windows.window_audio(), self._position + len(rest), "final")
        self._close("stop", self._position + len(rest), None)

    # -- the end

    def _close(self, reason: Reason, at: int, after: int | None) -> None:
        """Nothing more is taken; from frame `after` on what is known belongs to the next answer."""
        self._end = _PendingEnd(reason, at)
        self._assembler.finish()
        if after is not None:
            self._after_end += [frame.samples for frame in self._windows.frames_since(after)]
        self._after_end += [item.samples for item in self._queue if isinstance(item, Frame)]
        self._after_end += [item.rest for item in self._queue if isinstance(item, _Stop)]
        self._after_end.append(self._incomplete_frame)
        self._queue.clear()
        self._incomplete_frame = np.zeros(0, np.int16)

    def _finish(self) -> None:
        end = self._end
        if end is None or self._ended or not self._assembler.complete:
            return
        self._ended = True
        speech_end = self._speech_end() if self._first_onset is not None else end.at
        self._out.append(
            AnswerEnded(self._assembler.text, self._assembler.words, min(speech_end, end.at), end.at, end.reason)
        )
