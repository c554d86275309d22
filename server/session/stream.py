"""The question that is being made right now, as a listener and as a text for whoever comes late."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from server.protocol.base import Message
from server.protocol.outbound import QuestionDelta, QuestionStarted

ATTEMPTS_PER_TURN = 10


class QuestionStream:
    """Implements `pipeline.ports.QuestionSink`: passes pieces on and keeps what is out.

    Attempts of a question only grow: each run of a turn has a range of its own, each new wording within a run is the
    next in that range.

    Args:
        broadcast: sends a message to everybody who listens.
        run: which run of the turn this is, from 1.
        clock: monotonic seconds.
    """

    def __init__(
        self, broadcast: Callable[[Message], Awaitable[None]], *, run: int, clock: Callable[[], float]
    ) -> None:
        self._broadcast = broadcast
        self._clock = clock
        self._attempt = (run - 1) * ATTEMPTS_PER_TURN
        self._turn_number: int | None = None
        self._text = ""
        self.first_token_at: float | None = None

    @property
    def text(self) -> str:
        """What is out of the present attempt."""
        return self._text

    def running(self) -> list[Message]:
        """The running question for a client that was not there: its start, and all of it as one delta."""
        if self._turn_number is None:
            return []
        number, attempt = self._turn_number, self._attempt
        started = QuestionStarted(turn_number=number, attempt=attempt)
        if not self._text:
            return [started]
        return [started, QuestionDelta(turn_number=number, attempt=attempt, text=self._text)]

    async def started(self, turn_number: int) -> None:
        """A question is about to come."""
        self._attempt += 1
        self._turn_number = turn_number
        self._text = ""
        await self._broadcast(QuestionStarted(turn_number=turn_number, attempt=self._attempt))

    async def delta(self, text: str) -> None:
        """The next piece."""
        if not text:
            return
        if self._turn_number is None:
            raise RuntimeError("a question's text came before its start")
        if self.first_token_at is None:
            self.first_token_at = self._clock()
        self._text += text
        await self._broadcast(QuestionDelta(turn_number=self._turn_number, attempt=self._attempt, text=text))

    async def retracted(self) -> None:
        """Forget what came so far; a new attempt follows."""
        self._text = ""
