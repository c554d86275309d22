"""The end of one spoken answer, after which its speaker may still go on for a while."""

from __future__ import annotations

from collections.abc import Callable

from audio.answer_sound import AnswerSound
from audio.types import RATE_HZ, ms
from server.protocol.outbound import SpeechStopped
from server.speech.spoken_turns import SpokenTurns
from server.speech.transcript import SpokenTranscript

STALLED_S = 1.0
"""Audio that is so late, in seconds, does not come while it is waited for."""


class Ending:
    """Whether an answer is over unless its speaker goes on.

    Args:
        turns: of the session that it belongs to.
        clock: monotonic seconds.
    """

    def __init__(self, turns: SpokenTurns, clock: Callable[[], float]) -> None:
        self.playing = False
        """A question is being read aloud."""
        self.settled = False
        """Nothing is waited for any more."""
        self.open = False
        """It was over, and is unless its speaker goes on."""
        self.at: float | None = None
        """Since when it is over, in seconds of the clock."""
        self.reopened = 0
        """How often its speaker went on."""
        self._turns = turns
        self._clock = clock
        self._reopen_s = turns.services.settings.reopen_s
        self._lingered = 0
        self._held_until = 0
        self._sound = AnswerSound()

    def add(self, sound: AnswerSound | None) -> None:
        """Words were understood in this sound, where such is kept."""
        if sound is not None:
            self._sound.append(sound)

    async def begin(
        self, turn_key: str, transcript: SpokenTranscript, *, early: bool, worded: bool, done: Callable[[], None]
    ) -> bool:
        """It is over; whether its speaker may still go on.

        Args:
            turn_key, transcript, early, done: as of `SpokenTurns.linger`.
            worded: whether words have come since it was over last, and not only noise.
        """
        if worded:
            self._lingered = 0
            if self.open:
                self.reopened += 1
                self._turns.reopened()
        self.settled = False
        self.at = self.at or self._clock()
        self.open = await self._turns.linger(turn_key, transcript, self._sound, early=early, done=done)
        return self.open

    async def withdraw(self) -> None:
        """Its speaker goes on, or needs time."""
        if self.open:
            self.at = None
            await self._turns.withdraw()

    def pass_by(self, samples: int) -> None:
        """So much audio has come that no stream of this answer has heard before."""
        self._lingered += samples

    def hold(self, samples: int, end: int) -> None:
        """For so many samples from the position `end` no silence ends it."""
        self._lingered = -samples
        self._held_until = end + samples

    def pause(self, at: int, end: int, *, left: int | None = None) -> SpeechStopped:
        """What is told of a pause since the position `at`: the silence that ends it, if any does at the position `end`.

        Args:
            at, end: samples from its start.
            left: the silence in samples; None for what the patience says.
        """
        silence_ms = self._turns.silence_ms if left is None else ms(left)
        return SpeechStopped(at_ms=ms(at), ends_ms=silence_ms if end >= self._held_until else None)

    @property
    def wait_s(self) -> float:
        """How long to wait for audio before none is expected any more, in seconds."""
        return max(0.0, self._reopen_s - self._lingered / RATE_HZ) + STALLED_S

    @property
    def closes(self) -> bool:
        """Whether it was open for long enough, if nobody speaks."""
        return self.settled or self._turns.closes(self._lingered / RATE_HZ, read_aloud=self.playing)
