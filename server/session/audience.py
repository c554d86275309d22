"""What is sent to a session's respondent: durable events, ephemeral messages, and the question that is being made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from server.hot.redis import HotStore
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.codes import CLOSE_TAKEN_OVER
from server.protocol.outbound import (
    PendingTurn,
    QuestionDelta,
    QuestionStarted,
    QuestionWithdrawn,
    Ready,
    TranscriptPartial,
)
from server.session.events import EventsPublished, MessageSent, RespondentConnected, SessionObserver
from server.session.ledger import Ledger
from server.session.outbox import Outbox

ATTEMPTS_PER_RUN = 10


class QuestionStream:
    """Implements `pipeline.ports.QuestionSink`: sends the pieces of a question and keeps what was sent.

    Attempts count upwards over all runs of a turn: each run has a range of ATTEMPTS_PER_RUN numbers, each new wording
    within a run takes the next one.

    Args:
        broadcast: sends a message to the respondent.
        run: which run of the turn this is, from 1.
        clock: monotonic seconds.
    """

    def __init__(
        self, broadcast: Callable[[Message], Awaitable[None]], *, run: int, clock: Callable[[], float]
    ) -> None:
        self._broadcast = broadcast
        self._clock = clock
        self._attempt = (run - 1) * ATTEMPTS_PER_RUN
        self._turn_number: int | None = None
        self._text = ""
        self.first_token_at: float | None = None
        """When the first piece was sent, in seconds of the clock."""

    def running(self) -> list[Message]:
        """The question so far, for a client that connects now: its start, and its text as one delta."""
        if self._turn_number is None:
            return []
        number, attempt = self._turn_number, self._attempt
        started = QuestionStarted(turn_number=number, attempt=attempt)
        if not self._text:
            return [started]
        return [started, QuestionDelta(turn_number=number, attempt=attempt, text=self._text)]

    def written(self) -> tuple[int, str] | None:
        """Turn number and text of the question so far; None before it begins."""
        return None if self._turn_number is None else (self._turn_number, self._text)

    async def started(self, turn_number: int) -> None:
        """A question begins."""
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
        """Discard what was sent; a new attempt follows."""
        self._text = ""

    def withdrawal(self) -> QuestionWithdrawn | None:
        """What tells that the question so far is void; None where nothing was sent of it. A new attempt may follow."""
        number, self._turn_number, self._text = self._turn_number, None, ""
        return None if number is None else QuestionWithdrawn(turn_number=number, attempt=self._attempt)


class Audience:
    """The respondent's connection, at most one at a time; without any, what is sent is only told to observers.

    Args:
        hot: where past events are.
        ledger: the session.
        clock: monotonic seconds.
        tell: tells the session's observers.
    """

    def __init__(self, hot: HotStore, ledger: Ledger, clock: Callable[[], float], tell: SessionObserver) -> None:
        self._hot = hot
        self._ledger = ledger
        self._clock = clock
        self._tell = tell
        self._outbox: Outbox | None = None
        self._stream: QuestionStream | None = None
        self.last_sent_at = clock()
        """When something was last sent to the respondent, in seconds of the clock."""
        self.transcript: TranscriptPartial | None = None
        """The transcript on the respondent's screen: of the answer being spoken, or of one offered for review."""
        self.first_unreceived_seq = 0
        """Number of the first audio frame that was not received."""

    @property
    def present(self) -> bool:
        """Whether a respondent is connected."""
        return self._outbox is not None

    async def join(self, outbox: Outbox, *, last_event_id: int, epoch: str | None) -> None:
        """Send `ready`, the events that were missed, and the question so far; then everything as it happens.

        The connection before it is closed with 4001.

        Raises:
            StorageUnavailable: the missed events can't be read.
        """
        if self._outbox is not None:
            self._outbox.close(CLOSE_TAKEN_OVER)
        ledger = self._ledger
        known = epoch in (None, ledger.epoch) and last_event_id <= ledger.last_event_id
        last = last_event_id if known else ledger.last_event_id
        outbox.hold(last)
        self._outbox = outbox
        self._tell(RespondentConnected(True))
        await outbox.send(self._ready())
        while known and (page := await self._hot.events_after(ledger.session_id, last)):
            for event in page:
                await outbox.replay(event)
            last = page[-1].id
        await outbox.release(self._running)

    def leave(self, outbox: Outbox) -> None:
        """That connection is closed."""
        if self._outbox is outbox:
            self._outbox = None
            self._tell(RespondentConnected(False))

    def close(self, code: int) -> None:
        """Close the connection after what was sent already."""
        if self._outbox is not None:
            self._outbox.close(code)

    async def broadcast(self, message: Message) -> None:
        """Send an ephemeral message."""
        self.last_sent_at = self._clock()
        self._tell(MessageSent(message))
        if self._outbox is not None:
            await self._outbox.broadcast(message)

    async def publish(self, events: Sequence[DurableEvent]) -> None:
        """Send durable events that were just written."""
        if events:
            self.last_sent_at = self._clock()
            self._tell(EventsPublished(events))
        for event in events:
            if self._outbox is not None:
                await self._outbox.event(event)

    async def publish_erased(self) -> None:
        """Say that the session was erased: an event that nobody can replay any more."""
        number = self._ledger.last_event_id + 1
        gone = {"type": "session.state", "id": number, "state": "completed", "reason": "withdrawn"}
        await self.publish([DurableEvent(id=number, data=gone)])

    def begin_question(self, run: int) -> QuestionStream:
        """Where a question is written to while it is made; `run` counts the runs of its turn from 1."""
        self._stream = QuestionStream(self.broadcast, run=run, clock=self._clock)
        return self._stream

    def go_on_with(self, stream: QuestionStream) -> None:
        """A question is written to this stream again, in a further attempt."""
        self._stream = stream

    def running_question(self) -> tuple[int, str] | None:
        """Turn number and text so far of the question that is being written; None while none is."""
        return None if self._stream is None else self._stream.written()

    def end_question(self) -> None:
        """The question is complete, or will not be."""
        self._stream = None

    def _running(self) -> list[Message]:
        transcript = [self.transcript] if self.transcript is not None else []
        return [*transcript, *(self._stream.running() if self._stream is not None else [])]

    def _ready(self) -> Ready:
        ledger, state, pending = self._ledger, self._ledger.state, self._ledger.pending
        running = None
        if pending is not None and not pending.failed:
            running = PendingTurn(turn_key=pending.turn_key, turn_number=pending.turn_number, attempt=pending.attempt)
        return Ready(
            session_id=ledger.session_id,
            state=state.status,
            epoch=ledger.epoch,
            last_event_id=ledger.last_event_id,
            turn_number=state.turn_count + 1,
            pending=running,
            first_unreceived_seq=self.first_unreceived_seq,
        )
