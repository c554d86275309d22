"""An answer that is over is read once more as a whole, while it may still go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Literal, Protocol

import structlog

from audio.errors import AudioError, TranscriberDropped
from audio.second_reading import is_surer, same_words
from audio.texts import join_words
from audio.types import Word
from server.speech.transcript import SpokenTranscript, one_line

if TYPE_CHECKING:
    from audio.answer_sound import AnswerSound
    from server.session.owner import SessionOwner

log = structlog.get_logger("askwell.speech")

SecondReadingOutcome = Literal["differs", "same", "worse", "nothing", "given_up", "failed"]
"""It has other words of which the model is surer, the same, others of which it is less sure, or none for some of the
sound; there was no time for it; or the transcriber failed."""
Read = Callable[[], Coroutine[Any, Any, tuple[Word, ...]]]
"""Reads the whole answer; no words where some of it has none. Raises AudioError, of which TranscriberDropped is want of
time."""
Wait = Callable[[], Coroutine[Any, Any, None]]
"""Waits for something that must not be delayed."""


class SecondReading:
    """The second reading of one answer.

    Args:
        first: the answer as it was understood first.
        language: two-letter code.
        read: reads it once more.
        on_settled: told once what became of it.
    """

    def __init__(
        self,
        first: SpokenTranscript,
        language: str,
        read: Read,
        on_settled: Callable[[SecondReadingOutcome], None],
    ) -> None:
        self._first = first
        self._language = language
        self._read = read
        self._on_settled = on_settled
        self._task: asyncio.Task[None] | None = None
        self._text: str | None = None
        self._outcome: SecondReadingOutcome = "given_up"
        self._settled = False

    def begin(self, tasks: asyncio.TaskGroup, after: Wait | None) -> None:
        """Read it in the background, as a task of that group, after what is to be waited for."""
        self._task = tasks.create_task(self._run(after), name="second reading")

    def take(self) -> str | None:
        """Its text if it is there, has other words and is the surer one, else None; what is not read is given up."""
        if not self._settle(self._outcome):
            return None
        return self._text

    def give_up(self) -> None:
        """It is not wanted any more: the answer goes on, or comes to nothing."""
        self._settle("given_up")

    def _settle(self, outcome: SecondReadingOutcome) -> bool:
        """What became of it; False if that was settled before."""
        if self._settled:
            return False
        self._settled = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
        self._on_settled(outcome)
        return True

    async def _run(self, after: Wait | None) -> None:
        if after is not None:
            await after()
        try:
            words = await self._read()
        except TranscriberDropped:
            return
        except AudioError as exc:
            log.info("speech.second_reading_failed", error=str(exc) or type(exc).__name__)
            self._outcome = "failed"
            return
        if not words:
            self._outcome = "nothing"
            return
        if same_words(self._first.words, words):
            self._outcome = "same"
        elif not is_surer(words, self._first.words):
            self._outcome = "worse"
        else:
            self._text = one_line(join_words(words, self._language))
            self._outcome = "differs"


class ReadsAgain(Protocol):
    """Makes second readings."""

    def second_reading(
        self, session_id: str, language: str, first: SpokenTranscript, sound: AnswerSound
    ) -> SecondReading | None:
        """The second reading of an answer, not begun yet; None where it is of no use, or not wanted."""
        ...


class SecondReadings:
    """The second readings of one session's answers, one at a time.

    Args:
        owner: the session.
        speech: makes them.
    """

    def __init__(self, owner: SessionOwner, speech: ReadsAgain) -> None:
        self._owner = owner
        self._speech = speech
        self._current: SecondReading | None = None

    def begin(self, first: SpokenTranscript, sound: AnswerSound, after: Wait | None) -> None:
        """An answer is over unless its speaker goes on: read it once more, if that may be of use.

        Args:
            first: the answer as it was understood.
            sound: of the answer.
            after: waits for what must not be delayed.
        """
        self.give_up()
        state = self._owner.context.state
        self._current = self._speech.second_reading(state.session_id, state.language, first, sound)
        if self._current is not None:
            self._current.begin(self._owner.tasks, after)

    def give_up(self) -> None:
        """The answer goes on, or comes to nothing."""
        reading = self.hand_over()
        if reading is not None:
            reading.give_up()

    def hand_over(self) -> SecondReading | None:
        """The current one, if any, which somebody else settles from now on."""
        reading, self._current = self._current, None
        return reading
