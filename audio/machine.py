"""One answer as a machine without I/O: samples, probabilities and transcripts in, events and wishes out.

Frames are taken one by one in their order. Where a decision needs words that are not there yet (may this silence end
the answer?) the machine stands still and what follows waits in a queue. So started, stopped, almost up, ended and every
text depend on the audio alone, not on its chunks nor on when a reading came; commands count from the sample before
which they came. What is only told on the way depends on time, too: captions, and guesses that were refuted before they
were read are not told at all.

After `Ended` the machine takes nothing more; what lay beyond the end is in `leftover`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audio.captions import Captions
from audio.endpoint import (
    FRAME_SAMPLES,
    PAUSE_FRAMES,
    Patience,
    Probabilities,
    SpeechRuns,
    least_silence,
    silence_needed,
)
from audio.readings import TRIES, Reading, Readings, middle, text_of
from audio.types import (
    RATE_HZ,
    AlmostUp,
    Ended,
    Guessed,
    Purpose,
    Samples,
    SpeechStarted,
    SpeechStopped,
    Transcript,
    Trouble,
    Withdrawn,
    Word,
    samples_of,
)
from audio.windows import Frame, Stretch, Windows
from audio.wishes import DecodeDropped, DecodeWanted, Output

WARN_BEFORE_S = 30
"""How long before the longest answer is reached it is told; half of it where it is under a minute."""
LEAD_FRAMES = 15
"""Of the silence that ended an answer the next one gets the last 480 ms, in which its first word may have begun."""
ONSET_SLACK = samples_of(100)
"""A word may be placed so much before the speech it belongs to."""
REMEMBERED_STRETCHES = 64
"""Stretches of speech that are remembered to find the last one with words."""

Reason = Literal["silence", "stop", "too_long"]


@dataclass(frozen=True, slots=True)
class _Patience:
    patience: Patience


@dataclass(frozen=True, slots=True)
class _Hold:
    until: int


@dataclass(frozen=True, slots=True)
class _Done:
    rest: Samples


@dataclass(slots=True)
class _Guess:
    """The reading of the current window in the current pause."""

    reading: Reading
    told: bool = False


@dataclass(frozen=True, slots=True)
class _End:
    """An answer that is over as soon as all its words are known."""

    reason: Reason
    at: int
    speech_end: int


class SpeechMachine:
    """One answer.

    Args:
        language: two-letter code.
        patience: how long a silence ends the answer.
        max_answer_s: longest answer in seconds from its first speech; None for no limit.
        partial_every_ms: speech between captions; 0 for none.
        before: context for every transcription, such as names that may be said.
    """

    def __init__(
        self,
        *,
        language: str = "en",
        patience: Patience = "normal",
        max_answer_s: float | None = 300,
        partial_every_ms: int = 1000,
        before: str = "",
    ) -> None:
        self._language = language
        self._patience: Patience = patience
        self._longest = None if max_answer_s is None else max(FRAME_SAMPLES, int(max_answer_s * RATE_HZ))
        self._partial_every = samples_of(partial_every_ms)
        self._before = before
        self._queue: deque[Frame | _Patience | _Hold | _Done] = deque()
        self._rest: Samples = np.zeros(0, np.int16)
        self._fed = 0
        self._pushed = 0
        self._place = 0
        self._runs = SpeechRuns()
        self._windows = Windows()
        self._stretches: deque[tuple[int, int]] = deque(maxlen=REMEMBERED_STRETCHES)
        self._readings = Readings()
        self._captions = Captions(language)
        self._guess: _Guess | None = None
        self._partial: Reading | None = None
        self._unread = 0
        self._first: int | None = None
        self._warned = False
        self._hold_until = 0
        self._stalled = False
        self._end: _End | None = None
        self._ended = False
        self._after: list[Samples] = []
        self._out: list[Output] = []

    # -- what is known from outside

    @property
    def ended(self) -> bool:
        """Whether `Ended` was said."""
        return self._ended

    @property
    def taken(self) -> int:
        """Samples taken so far."""
        return self._fed

    @property
    def backlog(self) -> int:
        """Samples that wait for words."""
        return sum(len(item.samples) for item in self._queue if isinstance(item, Frame))

    @property
    def unread(self) -> int:
        """Windows that are being read, the last one not counted."""
        return self._readings.outstanding

    def leftover(self) -> Samples:
        """What was taken beyond the end, to begin the next answer with; nothing before the end."""
        return np.concatenate(self._after) if self._after else np.zeros(0, np.int16)

    # -- what happens to it

    def feed(self, samples: Samples, probabilities: Probabilities | Sequence[float]) -> list[Output]:
        """Take samples and the probabilities of the frames that they complete.

        Args:
            samples: any number, mono at RATE_HZ.
            probabilities: one for each frame of FRAME_SAMPLES that is now complete.
        Raises:
            ValueError: the numbers don't fit.
        """
        self._fed += len(samples)
        if self._end is not None:
            self._after.append(samples.copy())
            return []
        joined = np.concatenate([self._rest, samples])
        count = len(joined) // FRAME_SAMPLES
        if len(probabilities) != count:
            raise ValueError(f"{count} frames, {len(probabilities)} probabilities")
        for n, probability in enumerate(probabilities):
            part = joined[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES].copy()
            self._queue.append(Frame(self._pushed, part, float(probability)))
            self._pushed += 1
        self._rest = joined[count * FRAME_SAMPLES :].copy()
        return self._drain()

    def decoded(self, decode_id: int, transcript: Transcript) -> list[Output]:
        """A transcription that was wanted is there; one that nobody waits for is ignored."""
        reading = self._readings.take(decode_id)
        if reading is None or self._ended:
            return []
        if reading is self._partial:
            self._partial = None
            self._captions.read(reading.stretch.words(transcript), reading.stretch.offset)
            self._out.append(self._captions.heard(reading.until))
            return self._drain()
        reading.words = reading.stretch.words(transcript)
        return self._resolved()

    def failed(self, decode_id: int, error: str) -> list[Output]:
        """A transcription that was wanted failed. A partial is let go, others are tried once more."""
        reading = self._readings.take(decode_id)
        if reading is None or self._ended:
            return []
        if reading is self._partial:
            self._partial = None
            return self._drain()
        if reading.tries < TRIES:
            self._want(reading)
            return self._flush()
        reading.words = self._captions.between(reading.stretch.own, reading.until)
        reading.troubled = True
        self._out.append(Trouble(self._captions.heard(0).text, error, reading.until))
        return self._resolved()

    def done(self) -> list[Output]:
        """The answer ends here, whatever the silence."""
        if self._end is None and not any(isinstance(item, _Done) for item in self._queue):
            self._queue.append(_Done(self._rest))
            self._rest = np.zeros(0, np.int16)
        return self._drain()

    def hold(self, samples: int) -> list[Output]:
        """No silence ends the answer within so many samples from here."""
        self._queue.append(_Hold(self._fed + samples))
        return self._drain()

    def set_patience(self, patience: Patience) -> list[Output]:
        """From here on another patience."""
        self._queue.append(_Patience(patience))
        return self._drain()

    # -- frames and commands in their order

    def _flush(self) -> list[Output]:
        out, self._out = self._out, []
        return out

    def _drain(self) -> list[Output]:
        while self._queue and not self._stalled and self._end is None:
            item = self._queue.popleft()
            if isinstance(item, Frame):
                self._take(item)
            elif isinstance(item, _Patience):
                self._patience = item.patience
            elif isinstance(item, _Hold):
                self._hold_until = max(self._hold_until, item.until)
            else:
                self._stop(item.rest)
        self._finish()
        return self._flush()

    def _take(self, frame: Frame) -> None:
        self._place = (frame.index + 1) * FRAME_SAMPLES
        before = self._runs.end
        change = self._runs.push(frame.probability)
        known = self._first is not None or self._runs.speaking
        self._windows.push(frame, quiet=frame.index + 1 - self._runs.end if known else None)
        if change == "onset":
            self._begin(before)
        elif change == "pause":
            self._pause()
        if self._runs.speaking:
            self._go_on(frame)
        if self._first is not None and self._limit():
            return
        if self._guess is not None:
            self._decide()

    def _begin(self, before: int) -> None:
        """Speech is certain since `self._runs.onset`; `before` is where the last speech ended."""
        onset = self._runs.onset
        self._windows.onset()
        if self._first is None:
            self._first = onset * FRAME_SAMPLES
        self._out.append(SpeechStarted(onset * FRAME_SAMPLES))
        guess, self._guess = self._guess, None
        if guess is None:
            return
        if guess.told:
            self._out.append(Withdrawn(onset * FRAME_SAMPLES))
        if self._windows.ends_at_pause(onset - before):
            at = max(before + PAUSE_FRAMES, (before + onset) // 2)
            self._windows.cut(at, forced=False)
            self._readings.close(guess.reading, at * FRAME_SAMPLES)
            self._settle()
        else:
            self._drop(guess.reading)

    def _pause(self) -> None:
        end = self._runs.end
        self._windows.pause(end + PAUSE_FRAMES // 2)
        self._stretches.append((self._runs.onset * FRAME_SAMPLES, end * FRAME_SAMPLES))
        self._out.append(SpeechStopped(end * FRAME_SAMPLES))
        if self._partial is not None:
            self._drop(self._partial)
            self._partial = None
        self._unread = 0
        self._guess = _Guess(self._read("guess", self._windows.stretch()))

    def _go_on(self, frame: Frame) -> None:
        if self._windows.full:
            self._split()
        self._unread += FRAME_SAMPLES
        if self._partial_every and self._unread >= self._partial_every:
            self._unread = 0
            if self._partial is None:
                self._partial = Reading(self._windows.partial(), self._place, "partial")
                self._want(self._partial)

    def _split(self) -> None:
        """Cut the window within speech."""
        at = self._windows.quietest()
        self._readings.close(self._read("final", self._windows.stretch(at)), at * FRAME_SAMPLES)
        self._windows.cut(at, forced=True)

    def _limit(self) -> bool:
        """Tell that the longest answer is nearly reached, and end it where it is."""
        if self._longest is None or self._first is None:
            return False
        left = self._first + self._longest - self._place
        if not self._warned and left <= min(WARN_BEFORE_S * RATE_HZ, self._longest // 2):
            self._warned = True
            self._out.append(AlmostUp(max(0, left), self._place))
        if left > 0:
            return False
        if self._guess is not None:
            self._close("too_long", self._place, self._runs.end * FRAME_SAMPLES, self._after_silence())
        elif self._runs.speaking:
            at = self._windows.quietest()
            self._guess = _Guess(self._read("final", self._windows.stretch(at)))
            self._close("too_long", at * FRAME_SAMPLES, min(at, self._runs.end) * FRAME_SAMPLES, at)
        return True

    def _decide(self) -> None:
        """End the answer if the silence is long enough; stand still where only the words can tell."""
        self._stalled = False
        guess = self._guess
        if guess is None or self._runs.rising or self._place < self._hold_until:
            return
        end = self._runs.end * FRAME_SAMPLES
        spoken = self._runs.voiced * FRAME_SAMPLES
        if self._place - end < least_silence(self._patience, spoken=spoken):
            return
        if not self._readings.known(guess.reading):
            self._stalled = True
            return
        words = self._readings.words(guess.reading)
        text = None if guess.reading.troubled else text_of(words, self._language)
        end = self._worded_end(words)
        if self._place - end >= silence_needed(self._patience, text, language=self._language, spoken=spoken):
            self._close("silence", self._place, end, self._after_silence())

    def _worded_end(self, words: Sequence[Word]) -> int:
        """Where the last speech with words in it ended: a cough after the last word does not count."""
        last = self._runs.end * FRAME_SAMPLES
        if not words:
            return last
        said = middle(words[-1])
        return next((end for onset, end in reversed(self._stretches) if onset - ONSET_SLACK <= said), last)

    def _after_silence(self) -> int:
        """The frame from which a silence belongs to the next answer."""
        return max(self._runs.end + PAUSE_FRAMES, self._place // FRAME_SAMPLES - LEAD_FRAMES)

    def _stop(self, rest: Samples) -> None:
        if len(rest):
            begun = self._runs.speaking or self._runs.rising
            self._windows.push(Frame(self._pushed, rest, 0.0), quiet=0 if begun else None)
        at = self._place + len(rest)
        before = self._runs.end
        if self._runs.settle():
            self._begin(before)
        if self._runs.speaking:
            self._guess = _Guess(self._read("final", self._windows.stretch()))
        self._close("stop", at, self._runs.end * FRAME_SAMPLES if self._first is not None else at, None)

    # -- the end

    def _close(self, reason: Reason, at: int, speech_end: int, after: int | None) -> None:
        """Nothing more is taken; from frame `after` on what is known belongs to the next answer."""
        self._end = _End(reason, at, speech_end)
        if self._partial is not None:
            self._drop(self._partial)
            self._partial = None
        if after is not None:
            self._after += [frame.samples for frame in self._windows.recent(after)]
        self._after += [item.samples for item in self._queue if isinstance(item, Frame)]
        self._after += [item.rest for item in self._queue if isinstance(item, _Done)]
        self._after.append(self._rest)
        self._queue.clear()
        self._rest = np.zeros(0, np.int16)

    def _finish(self) -> None:
        if self._end is None or self._ended:
            return
        last = self._guess.reading if self._guess is not None else None
        if self._readings.outstanding or (last is not None and last.words is None):
            return
        self._ended = True
        words = self._readings.words(last)
        end = self._end
        speech_end = self._worded_end(words) if end.reason == "stop" and words else end.speech_end
        text = text_of(words, self._language)
        self._out.append(Ended(text, words, min(speech_end, end.at), end.at, end.reason))

    # -- readings

    def _read(self, purpose: Purpose, stretch: Stretch) -> Reading:
        reading = Reading(stretch, self._place, purpose)
        self._want(reading)
        return reading

    def _want(self, reading: Reading) -> None:
        decode_id = self._readings.ask(reading)
        stretch = reading.stretch
        self._out.append(DecodeWanted(decode_id, reading.purpose, stretch.samples, stretch.offset, self._before))

    def _drop(self, reading: Reading) -> None:
        self._out += [DecodeDropped(decode_id) for decode_id in self._readings.cancel(reading)]

    def _settle(self) -> bool:
        if not self._readings.merge():
            return False
        self._captions.settle(self._readings.merged, self._readings.edge)
        return True

    def _resolved(self) -> list[Output]:
        """A window's words are known: tell what follows from it."""
        settled = self._settle()
        guess = self._guess
        if guess is not None and not guess.told and self._readings.known(guess.reading):
            self._tell(guess)
            if self._stalled:
                self._decide()
        elif settled:
            self._out.append(self._captions.heard(self._readings.edge))
        return self._drain()

    def _tell(self, guess: _Guess) -> None:
        words = self._readings.words(guess.reading)
        text = text_of(words, self._language)
        if not text:
            return
        self._captions.replace(words)
        self._out.append(self._captions.heard(guess.reading.until))
        if self._end is None:
            guess.told = True
            self._out.append(Guessed(text, words, guess.reading.until))
