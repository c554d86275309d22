"""Whoever listens to a session on this node: at most one respondent's connection, and the running question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.codes import CLOSE_TAKEN_OVER
from server.protocol.outbound import PendingTurn, Ready
from server.session.ledger import Ledger
from server.session.outbox import Outbox
from server.session.ports import Hot
from server.session.stream import QuestionStream
from server.session.witness import Witness


class Heard(Protocol):
    """What is heard of the respondent, for whoever comes late."""

    @property
    def first_unreceived(self) -> int:
        """The number of the first audio frame that did not come."""
        ...

    def running(self) -> Sequence[Message]:
        """What was understood so far of the answer that is being spoken."""
        ...


class Audience:
    """Sends what happens to whoever is connected; without anybody, it happens all the same.

    Args:
        hot: where events of the past are.
        ledger: the session.
        clock: monotonic seconds.
        witness: told of all that is sent, and who comes and goes.
    """

    def __init__(self, hot: Hot, ledger: Ledger, clock: Callable[[], float], witness: Witness) -> None:
        self._hot = hot
        self._ledger = ledger
        self._clock = clock
        self._witness = witness
        self._outbox: Outbox | None = None
        self._stream: QuestionStream | None = None
        self.listening: Heard | None = None
        """What is heard of the respondent."""
        self.last_sign = clock()
        """When the respondent last heard something, in seconds of the clock."""

    @property
    def present(self) -> bool:
        """Whether a respondent is connected."""
        return self._outbox is not None

    async def join(self, outbox: Outbox, *, last_event_id: int, epoch: str | None) -> None:
        """Send `ready`, what was missed, and the running question; then live.

        The connection before it is closed with 4001.

        Raises:
            StorageUnavailable: what was missed can't be read.
        """
        if self._outbox is not None:
            self._outbox.close(CLOSE_TAKEN_OVER)
        ledger = self._ledger
        known = epoch in (None, ledger.epoch) and last_event_id <= ledger.last_event_id
        last = last_event_id if known else ledger.last_event_id
        outbox.hold(last)
        self._outbox = outbox
        self._witness.attended(True)
        await outbox.send(self._ready())
        while known and (page := await self._hot.events_after(ledger.session_id, last)):
            for event in page:
                await outbox.replay(event)
            last = page[-1].id
        await outbox.release(self._running)

    def leave(self, outbox: Outbox) -> None:
        """The connection is gone; what runs goes on."""
        if self._outbox is outbox:
            self._outbox = None
            self._witness.attended(False)

    def close(self, code: int) -> None:
        """Close the connection once it has got what is on its way."""
        if self._outbox is not None:
            self._outbox.close(code)

    async def broadcast(self, message: Message) -> None:
        """Send an ephemeral message."""
        self.last_sign = self._clock()
        self._witness.said(message)
        if self._outbox is not None:
            await self._outbox.broadcast(message)

    async def publish(self, events: Sequence[DurableEvent]) -> None:
        """Send durable events that were just written."""
        if events:
            self.last_sign = self._clock()
            self._witness.told(events)
        for event in events:
            if self._outbox is not None:
                await self._outbox.event(event)

    async def bid_farewell(self) -> None:
        """Say that the session is erased: an event that nobody can replay any more."""
        number = self._ledger.last_event_id + 1
        gone = {"type": "session.state", "id": number, "state": "completed", "reason": "withdrawn"}
        await self.publish([DurableEvent(id=number, data=gone)])

    def begin_question(self, run: int) -> QuestionStream:
        """Somewhere for a question to go while it is made; `run` counts the tries of its turn from 1."""
        self._stream = QuestionStream(self.broadcast, run=run, clock=self._clock)
        return self._stream

    def end_question(self) -> None:
        """The question is complete, or will not be."""
        self._stream = None

    def _running(self) -> list[Message]:
        heard = self.listening.running() if self.listening is not None else []
        return [*heard, *(self._stream.running() if self._stream is not None else [])]

    def _ready(self) -> Ready:
        ledger, state = self._ledger, self._ledger.state
        pending = ledger.pending
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
            first_unreceived_seq=self.listening.first_unreceived if self.listening is not None else 0,
        )
