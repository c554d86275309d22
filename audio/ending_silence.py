"""How long a silence must be that ends an answer: the patience, and the judgement of the sound before the pause."""

from __future__ import annotations

from collections import deque

import numpy as np

from audio.endpoint import FRAME_SAMPLES, PATIENCE_MS, Patience, minimum_silence, required_silence
from audio.outputs import JudgementRequested, MachineOutput
from audio.turn_detector import HEARD_SAMPLES
from audio.types import Samples, SilenceLengthened, samples_of


class EndingSilence:
    """The silence that ends one answer, and the judgement of its current pause.

    Args:
        language: two-letter code.
        patience: how long a silence must be to end the answer.
        more_ms: how much longer than that, in milliseconds.
        by_sound: whether pauses are judged; if not, nothing is kept and requested.
        out: the list to which requests are appended.
    """

    def __init__(
        self, *, language: str, patience: Patience, more_ms: int, by_sound: bool, out: list[MachineOutput]
    ) -> None:
        self._patience: Patience = patience
        self._language = language
        self._more_ms = more_ms
        self._by_sound = by_sound
        self._out = out
        self._heard: deque[Samples] = deque(maxlen=-(-HEARD_SAMPLES // FRAME_SAMPLES))
        self._last_id = 0
        self._told = False
        self.pending = False
        """Whether the judgement of the pause was requested and is not known yet."""
        self._finished: float | None = None

    @property
    def held_samples(self) -> int:
        """Samples in memory: at most the last 8 s."""
        return len(self._heard) * FRAME_SAMPLES

    def hear(self, samples: Samples) -> None:
        """Add a frame of the answer, silent or not."""
        if self._by_sound:
            self._heard.append(samples)

    def request(self) -> None:
        """A pause has begun: request its judgement, if one is wanted."""
        self._told = False
        if not self._by_sound:
            return
        self._last_id += 1
        self.pending, self._finished = True, None
        self._out.append(JudgementRequested(self._last_id, np.concatenate([*self._heard])))

    def withdraw(self) -> None:
        """Speech has resumed: the judgement is void."""
        self.pending, self._finished = False, None

    def judged(self, request_id: int, finished: float | None) -> None:
        """The requested judgement: a probability, in [0, 1], None where there is none; one that is void is ignored."""
        if self.pending and request_id == self._last_id:
            self.pending, self._finished = False, finished

    def change(self, patience: Patience) -> None:
        """From here on the patience is this one."""
        self._patience, self._told = patience, False

    def least(self, spoken: int) -> int:
        """The least silence that may end the answer; `spoken` are its samples of speech."""
        return minimum_silence(self._patience, spoken=spoken, more_ms=self._more_ms)

    def needed(self, text: str | None, spoken: int) -> int:
        """The silence that ends the answer in this pause, in samples; `text` is None where it is not known."""
        return required_silence(
            self._patience,
            text,
            language=self._language,
            spoken=spoken,
            more_ms=self._more_ms,
            finished=self._finished,
        )

    def tell(self, text: str | None, spoken: int, *, since: int, at: int) -> None:
        """Report, once for each pause, that it may be longer than the patience says; it lasts from `since` to `at`."""
        if self._told:
            return
        self._told = True
        needed = self.needed(text, spoken)
        if needed > samples_of(PATIENCE_MS[self._patience] + self._more_ms):
            self._out.append(SilenceLengthened(max(0, needed - (at - since)), at))
