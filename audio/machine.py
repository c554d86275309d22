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

from audio.endpoint import (
    FRAME_SAMPLES,
    PAUSE_FRAMES,
    Patience,
    Probabilities,
    SpeechRuns,
    least_silence,
    silence_needed,
    worded_end,
)
from audio.readings import middle
from audio.tails import SEARCHED_SAMPLES, sound_end
from audio.types import (
    RATE_HZ,
    AlmostUp,
    Ended,
    Samples,
    SpeechStarted,
    SpeechStopped,
    Transcript,
    samples_of,
)
from audio.understanding import Understanding
from audio.windows import Frame, Windows
from audio.wishes import Output

WARN_BEFORE_S = 30
"""How long before the longest answer is reached it is told; half of it where it is under a minute."""
LEAD_FRAMES = 15
"""Of the silence that ended an answer the next one gets the last 480 ms, in which its first word may have begun."""
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


@dataclass(frozen=True, slots=True)
class _End:
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
        self._queue: deque[Frame | _Patience | _Hold | _Done] = deque()
        self._rest: Samples = np.zeros(0, np.int16)
        self._fed = 0
        self._pushed = 0
        self._place = 0
        self._runs = SpeechRuns()
        self._windows = Windows()
        self._stretches: deque[tuple[int, int]] = deque(maxlen=REMEMBERED_STRETCHES)
        self._out: list[Output] = []
        self._understood = Understanding(language=language, out=self._out)
        self._paused = False
        self._uncaptioned = 0
        self._first: int | None = None
        self._warned = False
        self._hold_until = 0
        self._stalled = False
        self._stopped = False
        self._end: _End | None = None
        self._ended = False
        self._after: list[Samples] = []
        self._later: list[Samples] = []

    # -- what is known from outside

    @property
    def ended(self) -> bool:
        """Whether `Ended` was said."""
        return self._ended

    @property
    def closed(self) -> bool:
        """Whether the end is decided or asked for: what is fed from now on belongs to the next answer."""
        return self._stopped or self._end is not None

    @property
    def pressing(self) -> bool:
        """Whether what was asked for as a guess is needed now: silence may be the end, it is, or speech went on."""
        return self._stalled or self._end is not None or not self._paused

    @property
    def backlog(self) -> int:
        """Samples that wait for words."""
        return sum(len(item.samples) for item in self._queue if isinstance(item, Frame))

    @property
    def held(self) -> int:
        """Samples in memory, those that wait included."""
        return self.backlog + self._windows.held

    @property
    def unread(self) -> int:
        """Windows that are being read, the last one not counted."""
        return self._understood.unread

    def leftover(self) -> Samples:
        """What was taken beyond the end, to begin the next answer with; nothing before the end."""
        if not self._ended:
            return np.zeros(0, np.int16)
        return np.concatenate([np.zeros(0, np.int16), *self._after, *self._later])

    # -- what happens to it

    def feed(self, samples: Samples, probabilities: Probabilities | Sequence[float]) -> list[Output]:
        """Take samples and the probabilities of the frames that they complete.

        Args:
            samples: any number, mono at RATE_HZ.
            probabilities: one for each frame of FRAME_SAMPLES that is now complete; not looked at once it is closed.
        Raises:
            ValueError: the numbers don't fit.
        """
        self._fed += len(samples)
        if self.closed:
            self._later.append(samples.copy())
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
        if not self._ended:
            self._understood.decoded(decode_id, transcript)
        return self._drain()

    def failed(self, decode_id: int, error: str) -> list[Output]:
        """A transcription that was wanted failed. A partial is let go, others are tried once more."""
        if not self._ended:
            self._understood.failed(decode_id, error)
        return self._drain()

    def done(self) -> list[Output]:
        """The answer ends here, whatever the silence."""
        if not self.closed:
            self._stopped = True
            self._queue.append(_Done(self._rest))
            self._rest = np.zeros(0, np.int16)
        return self._drain()

    def hold(self, samples: int) -> list[Output]:
        """No silence ends the answer within so many samples from here."""
        if not self.closed:
            self._queue.append(_Hold(self._fed + samples))
        return self._drain()

    def set_patience(self, patience: Patience) -> list[Output]:
        """From here on another patience."""
        if not self.closed:
            self._queue.append(_Patience(patience))
        return self._drain()

    # -- frames and commands in their order

    def _drain(self) -> list[Output]:
        if self._stalled:
            self._decide()
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
        out = self._out.copy()
        self._out.clear()
        return out

    def _take(self, frame: Frame) -> None:
        self._place = (frame.index + 1) * FRAME_SAMPLES
        before = self._runs.end
        change = self._runs.push(frame.probability)
        if change == "onset":
            self._windows.onset()
        known = self._first is not None or self._runs.speaking
        self._windows.push(frame, quiet=frame.index + 1 - self._runs.end if known else None)
        if change == "onset":
            self._begin(before)
        elif change == "pause":
            self._pause()
        if self._runs.speaking:
            self._go_on()
        if not self._limit():
            self._decide()

    def _begin(self, before: int) -> None:
        """Speech is certain since `self._runs.onset`; `before` is where the last speech ended."""
        onset = self._runs.onset
        if self._first is None:
            self._first = onset * FRAME_SAMPLES
        self._out.append(SpeechStarted(onset * FRAME_SAMPLES))
        if not self._paused:
            return
        self._paused = False
        if self._windows.long:
            edge = max(before + PAUSE_FRAMES, (before + onset) // 2)
            self._windows.cut(edge, forced=False)
            self._understood.last_is_closed(onset * FRAME_SAMPLES, edge * FRAME_SAMPLES)
        else:
            self._understood.last_goes_on(onset * FRAME_SAMPLES)

    def _pause(self) -> None:
        end = self._runs.end
        self._paused = True
        self._uncaptioned = 0
        self._windows.pause(end + PAUSE_FRAMES // 2)
        self._stretches.append((self._runs.onset * FRAME_SAMPLES, self._sound_end()))
        self._out.append(SpeechStopped(self._stretches[-1][1]))
        self._understood.drop_caption()
        self._understood.last(self._windows.stretch(), self._place, "guess")

    def _go_on(self) -> None:
        if self._windows.full:
            at = self._windows.quietest()
            self._understood.window(self._windows.stretch(at), at * FRAME_SAMPLES, at * FRAME_SAMPLES)
            self._windows.cut(at, forced=True)
        self._uncaptioned += FRAME_SAMPLES
        if self._partial_every and self._uncaptioned >= self._partial_every:
            self._uncaptioned = 0
            self._understood.caption(self._windows.partial(), self._place)

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
        if self._runs.speaking:
            at = self._windows.quietest()
            if at > self._runs.onset:
                self._stretches.append((self._runs.onset * FRAME_SAMPLES, self._runs.end * FRAME_SAMPLES))
            self._understood.last(self._windows.stretch(at), at * FRAME_SAMPLES, "final")
            self._close("too_long", at * FRAME_SAMPLES, at)
        else:
            self._close("too_long", self._place, self._after_silence())
        return True

    def _decide(self) -> None:
        """End the answer if the silence is long enough; stand still where only the words can tell."""
        self._stalled = False
        if not self._paused or self._runs.rising or self._place < self._hold_until:
            return
        spoken = self._runs.voiced * FRAME_SAMPLES
        if self._place - self._stretches[-1][1] < least_silence(self._patience, spoken=spoken):
            return
        if not self._understood.known:
            self._stalled = True
            return
        text = None if self._understood.troubled else self._understood.text
        needed = silence_needed(self._patience, text, language=self._language, spoken=spoken)
        if self._place - self._speech_end() >= needed:
            self._close("silence", self._place, self._after_silence())

    def _sound_end(self) -> int:
        """Where the speech that has just stopped was last heard."""
        end = self._runs.end
        recent = self._windows.recent(max(self._runs.onset, end - SEARCHED_SAMPLES // FRAME_SAMPLES))
        before = [frame.samples for frame in recent if frame.index < end]
        after = [frame.samples for frame in recent if frame.index >= end]
        if not before or not after:
            return end * FRAME_SAMPLES
        found = sound_end(np.concatenate(before), np.concatenate(after))
        return (end - len(before)) * FRAME_SAMPLES + found

    def _speech_end(self) -> int:
        last = self._stretches[-1][1] if self._stretches else self._runs.end * FRAME_SAMPLES
        words = self._understood.words
        return worded_end(self._stretches, middle(words[-1]), default=last) if words else last

    def _after_silence(self) -> int:
        """The frame from which a silence belongs to the next answer."""
        return max(self._runs.end + PAUSE_FRAMES, self._place // FRAME_SAMPLES - LEAD_FRAMES)

    def _stop(self, rest: Samples) -> None:
        before = self._runs.end
        if self._runs.settle():
            self._windows.onset()
            self._begin(before)
        if len(rest):
            self._windows.push(Frame(self._pushed, rest, 0.0), quiet=0 if self._runs.speaking else None)
        if self._runs.speaking:
            self._stretches.append((self._runs.onset * FRAME_SAMPLES, self._runs.end * FRAME_SAMPLES))
            self._understood.last(self._windows.stretch(), self._place + len(rest), "final")
        self._close("stop", self._place + len(rest), None)

    # -- the end

    def _close(self, reason: Reason, at: int, after: int | None) -> None:
        """Nothing more is taken; from frame `after` on what is known belongs to the next answer."""
        self._end = _End(reason, at)
        self._understood.finish()
        if after is not None:
            self._after += [frame.samples for frame in self._windows.recent(after)]
        self._after += [item.samples for item in self._queue if isinstance(item, Frame)]
        self._after += [item.rest for item in self._queue if isinstance(item, _Done)]
        self._after.append(self._rest)
        self._queue.clear()
        self._rest = np.zeros(0, np.int16)

    def _finish(self) -> None:
        end = self._end
        if end is None or self._ended or not self._understood.known:
            return
        self._ended = True
        speech_end = self._speech_end() if self._first is not None else end.at
        self._out.append(
            Ended(self._understood.text, self._understood.words, min(speech_end, end.at), end.at, end.reason)
        )
