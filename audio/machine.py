"""The state machine of one spoken answer, without I/O: it turns samples, probabilities and transcripts into events.

Frames are processed one by one. Where a decision depends on words or a judgement that are not known yet (may this
silence end the answer?) the machine waits, and later frames and commands are queued. So `SpeechStarted`,
`SpeechStopped`, `TimeAlmostUp`, `AnswerEnded` and the final text depend on the audio alone, not on the size of its
chunks or the time that transcriptions take; a command takes effect at the sample before which it was given. Partial
transcripts depend on that time, and so does whether a provisional transcript or a lengthened silence is reported before
it is void.

No frames are processed after `AnswerEnded`; the audio after the end is in `leftover`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audio.assembler import TranscriptAssembler
from audio.ending_silence import EndingSilence
from audio.endpoint import (
    FRAME_SAMPLES,
    PAUSE_FRAMES,
    Patience,
    Probabilities,
    SpeechSegmenter,
    last_spoken_end,
)
from audio.outputs import MachineOutput
from audio.overlap import word_middle
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
"""`TimeAlmostUp` is sent this many seconds before the longest answer is reached, but not before half of it."""
NEXT_ANSWER_LEAD_FRAMES = 15
"""Frames at the end of the silence that ended an answer (480 ms) that belong to the next one, for its first word."""
MAX_SEGMENTS = 64
"""Number of segments of speech that are remembered, to find the last one with words."""

Reason = Literal["silence", "stop", "too_long"]


@dataclass(frozen=True, slots=True)
class _SetPatience:
    """A command: change the patience."""

    patience: Patience


@dataclass(frozen=True, slots=True)
class _HoldUntil:
    """A command: no silence ends the answer before the position `until`."""

    until: int


@dataclass(frozen=True, slots=True)
class _Stop:
    """A command: end the answer; `rest` are the samples of an incomplete frame before it."""

    rest: Samples


@dataclass(frozen=True, slots=True)
class _PendingEnd:
    """The decision to end the answer at the position `at`; it is carried out once all words are known."""

    reason: Reason
    at: int


class SpeechMachine:
    """The state of one answer.

    Args:
        language: two-letter code.
        patience: how long a silence must be to end the answer.
        more_ms: how much longer than that, in milliseconds.
        max_answer_s: length of the longest answer, in seconds from its first speech; None for no limit.
        partial_every_ms: milliseconds of speech between partial transcripts; 0 for none.
        by_sound: whether it is judged by the sound, too, that somebody has finished.
        keep_sound: whether the sound of the whole answer is kept.
    """

    def __init__(
        self,
        *,
        language: str = "en",
        patience: Patience = "normal",
        more_ms: int = 0,
        max_answer_s: float | None = 300,
        partial_every_ms: int = 1000,
        by_sound: bool = False,
        keep_sound: bool = False,
    ) -> None:
        self._max_samples = None if max_answer_s is None else max(FRAME_SAMPLES, int(max_answer_s * RATE_HZ))
        self._partial_every = samples_of(partial_every_ms)
        self._queue: deque[Frame | _SetPatience | _HoldUntil | _Stop] = deque()
        self._incomplete_frame: Samples = np.zeros(0, np.int16)
        self._samples_fed = 0
        self._frames_queued = 0
        self._position = 0
        self._speech = SpeechSegmenter()
        self._windows = WindowBuffer(keep_sound=keep_sound)
        self.sound = self._windows.sound
        """The sound of the answer so far; None if it is not kept."""
        self._segments: deque[tuple[int, int]] = deque(maxlen=MAX_SEGMENTS)
        self._out: list[MachineOutput] = []
        self._assembler = TranscriptAssembler(language=language, out=self._out)
        self._silence = EndingSilence(
            language=language, patience=patience, more_ms=more_ms, by_sound=by_sound, out=self._out
        )
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

    # -- state

    @property
    def ended(self) -> bool:
        """Whether `AnswerEnded` was returned."""
        return self._ended

    @property
    def closed(self) -> bool:
        """Whether the end is decided or requested: audio that is fed from now on belongs to the next answer."""
        return self._stop_requested or self._end is not None

    @property
    def needs_provisional(self) -> bool:
        """Whether a requested `guess` is needed now: the silence may be or is the end, or speech has resumed."""
        return self._awaiting_words or self._end is not None or not self._paused

    @property
    def queued_samples(self) -> int:
        """Samples in the queue, which wait until words are known."""
        return sum(len(item.samples) for item in self._queue if isinstance(item, Frame))

    @property
    def held_samples(self) -> int:
        """Samples in memory, including the queue, which bounds the memory that an answer takes."""
        return self.queued_samples + self._windows.held_samples + self._silence.held_samples

    @property
    def _spoken(self) -> int:
        """Samples of speech so far."""
        return self._speech.speech_frames * FRAME_SAMPLES

    @property
    def _known(self) -> bool:
        """Whether all words and the judgement of the pause are known."""
        return self._assembler.complete and not self._silence.pending

    @property
    def _known_text(self) -> str | None:
        """The answer so far, None where it could not be transcribed; only while it is known."""
        return None if self._assembler.last_failed else self._assembler.text

    @property
    def unfinished_windows(self) -> int:
        """Number of closed windows whose words are not known yet."""
        return self._assembler.unfinished_windows

    def leftover(self) -> Samples:
        """The samples after the end, with which the next answer begins; empty until the answer has ended."""
        if not self._ended:
            return np.zeros(0, np.int16)
        return np.concatenate([np.zeros(0, np.int16), *self._after_end, *self._fed_after_end])

    # -- inputs; each returns the events and requests that follow from it

    def feed(self, samples: Samples, probabilities: Probabilities | Sequence[float]) -> list[MachineOutput]:
        """Add samples.

        Args:
            samples: any number, mono, at RATE_HZ.
            probabilities: that of speech for each newly completed frame of FRAME_SAMPLES; ignored once `closed`.
        Raises:
            ValueError: the number of probabilities is not that of the frames.
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
        """A requested transcription has completed; one that is not pending is ignored."""
        if not self._ended:
            self._assembler.transcribed(request_id, transcript)
        return self._process_queue()

    def failed(self, request_id: int, error: str) -> list[MachineOutput]:
        """A requested transcription has failed. A partial one is given up, others are requested once more."""
        if not self._ended:
            self._assembler.failed(request_id, error)
        return self._process_queue()

    def judged(self, request_id: int, finished: float | None) -> list[MachineOutput]:
        """A requested judgement: the probability, in [0, 1], that the speaker has finished; None if there is none."""
        self._silence.judged(request_id, finished)
        return self._process_queue()

    def stop(self) -> list[MachineOutput]:
        """End the answer here, without a silence."""
        if not self.closed:
            self._stop_requested = True
            self._queue.append(_Stop(self._incomplete_frame))
            self._incomplete_frame = np.zeros(0, np.int16)
        return self._process_queue()

    def hold(self, samples: int) -> list[MachineOutput]:
        """No silence ends the answer within this many samples from here."""
        if not self.closed:
            self._queue.append(_HoldUntil(self._samples_fed + samples))
        return self._process_queue()

    def set_patience(self, patience: Patience) -> list[MachineOutput]:
        """Change the patience from here on."""
        if not self.closed:
            self._queue.append(_SetPatience(patience))
        return self._process_queue()

    # -- frames and commands, in order

    def _process_queue(self) -> list[MachineOutput]:
        if self._awaiting_words:
            self._check_silence()
        while self._queue and not self._awaiting_words and self._end is None:
            item = self._queue.popleft()
            if isinstance(item, Frame):
                self._process_frame(item)
            elif isinstance(item, _SetPatience):
                self._silence.change(item.patience)
            elif isinstance(item, _HoldUntil):
                self._hold_until = max(self._hold_until, item.until)
            else:
                self._stop(item.rest)
        self._tell_lengthened()
        self._finish()
        out = self._out.copy()
        self._out.clear()
        return out

    def _process_frame(self, frame: Frame) -> None:
        self._position = (frame.index + 1) * FRAME_SAMPLES
        self._silence.hear(frame.samples)
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
        """A segment of speech has begun; `before` is the frame at which the last one ended."""
        onset = self._speech.onset
        if self._first_onset is None:
            self._first_onset = onset * FRAME_SAMPLES
        self._out.append(SpeechStarted(onset * FRAME_SAMPLES))
        self._silence.withdraw()
        if not self._paused:
            return
        self._paused = False
        if self._windows.is_long:
            cut = max(before + PAUSE_FRAMES, (before + onset) // 2)
            self._windows.start_window(cut, cut_in_speech=False)
            self._assembler.close_last_window(onset * FRAME_SAMPLES, cut * FRAME_SAMPLES)
        else:
            self._assembler.discard_last(onset * FRAME_SAMPLES)

    def _speech_stopped(self) -> None:
        end = self._speech.end
        self._paused = True
        self._since_partial = 0
        self._windows.note_pause(end + PAUSE_FRAMES // 2)
        sound_end = self._windows.sound_end(self._speech.onset, self._speech.end)
        self._segments.append((self._speech.onset * FRAME_SAMPLES, sound_end))
        self._out.append(SpeechStopped(self._segments[-1][1]))
        self._assembler.cancel_partial()
        self._assembler.request_last(self._windows.window_audio(), self._position, "guess")
        self._silence.request()

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
        """Report that the longest answer is nearly reached, and end the answer once it is; whether it has ended."""
        if self._max_samples is None or self._first_onset is None:
            return False
        left = self._first_onset + self._max_samples - self._position
        if not self._warned and left <= min(WARNING_S * RATE_HZ, self._max_samples // 2):
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
        """End the answer if the silence is long enough; wait where that depends on words that are not known yet."""
        self._awaiting_words = False
        if not self._paused or self._speech.pending or self._position < self._hold_until:
            return
        if self._position - self._segments[-1][1] < self._silence.least(self._spoken):
            return
        if not self._known:
            self._awaiting_words = True
            return
        if self._position - self._speech_end() >= self._silence.needed(self._known_text, self._spoken):
            self._close("silence", self._position, self._after_silence())

    def _tell_lengthened(self) -> None:
        """Report that the pause may be longer than the patience says, if that is known and so."""
        if self._paused and self._end is None and self._position >= self._hold_until and self._known:
            self._silence.tell(self._known_text, self._spoken, since=self._speech_end(), at=self._position)

    def _speech_end(self) -> int:
        """The position of the end of the last speech with words, or of any speech where there are no words."""
        last = self._segments[-1][1] if self._segments else self._speech.end * FRAME_SAMPLES
        words = self._assembler.words
        return last_spoken_end(self._segments, word_middle(words[-1]), default=last) if words else last

    def _after_silence(self) -> int:
        """The frame from which on the silence at the end belongs to the next answer."""
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
        """Decide to end the answer at the position `at`; frames from `after` on are left over (None: queued ones)."""
        self._end = _PendingEnd(reason, at)
        self._assembler.finish()
        if after is not None:
            self._after_end += self._windows.leave(after)
        self._after_end += [item.samples for item in self._queue if isinstance(item, Frame)]
        self._after_end += [item.rest for item in self._queue if isinstance(item, _Stop)]
        self._after_end.append(self._incomplete_frame)
        self._queue.clear()
        self._incomplete_frame = np.zeros(0, np.int16)

    def _finish(self) -> None:
        """Report the end if it is decided and all words are known."""
        end = self._end
        if end is None or self._ended or not self._assembler.complete:
            return
        self._ended = True
        speech_end = self._speech_end() if self._first_onset is not None else end.at
        self._out.append(
            AnswerEnded(self._assembler.text, self._assembler.words, min(speech_end, end.at), end.at, end.reason)
        )
