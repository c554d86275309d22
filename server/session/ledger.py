"""A session's truth as its owner holds it: the last committed state, and the writes that make the next one.

Every write goes through here, so that revision, event ids and ownership are looked after in one place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np

from pipeline.calls import CallLog, LLMCall
from pipeline.ports import Vectors
from pipeline.state import InterviewState, Receipt
from pipeline.turn import Answer, Outcome, answer_digest
from server.hot.errors import HotError, JournalFull, NotOwner, StorageUnavailable
from server.hot.values import Accepted, AlreadyCommitted, AlreadyPending, Committed, DurableEvent, HotSession, Pending
from server.protocol.codes import ErrorCode
from server.session.machine import Step
from server.session.ports import Hot
from server.session.records import (
    answer_of,
    answer_payload,
    calls_record,
    packed_vectors,
    record_of,
    turn_record,
)

T = TypeVar("T")
LONGEST_PAUSE_S = 2.0
ROOM_PAUSE_S = 0.1


class Ledger:
    """One session in hot storage, seen by its owner.

    Args:
        hot: hot storage.
        session_id: the session.
        owner_id: who we are; every write requires that we still own the session.
        session: as the claim returned it.
        room_wait_s: how long an answer waits for room in the journal.
    """

    def __init__(
        self,
        hot: Hot,
        session_id: str,
        owner_id: str,
        session: HotSession,
        *,
        room_wait_s: float = 0.0,
    ) -> None:
        self._hot = hot
        self._room_wait_s = room_wait_s
        self.session_id = session_id
        self.owner_id = owner_id
        self.stale = False
        """The outcome of a write is unknown: `refresh` before anything else."""
        self.calls = CallLog()
        """Calls of language models made for this session; whatever is written next puts them on record."""
        self._offered: tuple[str, tuple[LLMCall, ...]] | None = None
        self._published_id = session.last_event_id
        self.committed_ms: int | None = None
        """When the latest commit was made, in milliseconds since 1970 by the clock of hot storage."""
        self._embeddings: dict[str, Vectors] | None = None
        self._take(session)

    @classmethod
    async def claim(cls, hot: Hot, session_id: str, owner_id: str, *, room_wait_s: float = 0.0) -> Self:
        """Own the session from now on; arguments as of the class.

        Raises:
            SessionNotHot: hot storage does not know it.
            Gone: it was erased.
            StateVersionError: a newer version of this program wrote its state.
            StorageUnavailable: hot storage can't be reached.
        """
        session = await hot.claim(session_id, owner_id)
        return cls(hot, session_id, owner_id, session, room_wait_s=room_wait_s)

    def _take(self, session: HotSession) -> None:
        self.state = InterviewState.load(session.state)
        self.epoch = session.epoch
        self.last_event_id = session.last_event_id
        self.pending = session.pending

    async def refresh(self) -> list[DurableEvent]:
        """See what hot storage holds, after an unknown outcome.

        Returns:
            Durable events that were not published yet.

        Raises:
            NotOwner: another owner took the session over meanwhile.
        """
        session = await self._hot.read(self.session_id)
        if session.owner != self.owner_id:
            raise NotOwner("another connection took this session over", owner=session.owner)
        self._take(session)
        self._embeddings = None
        self._offered = None
        self.stale = False
        return await self._unpublished()

    async def embeddings(self) -> dict[str, Vectors]:
        """Vectors kept beside the state, by node or slot id; float32, shape [dimension]."""
        if self._embeddings is None:
            found = await self._hot.embeddings(self.session_id)
            self._embeddings = {name: np.frombuffer(data, dtype=np.float32) for name, data in found.items()}
        return self._embeddings

    async def accept(
        self, answer: Answer, *, first: Sequence[Mapping[str, Any]] = (), rerun: bool = False
    ) -> tuple[Accepted | AlreadyPending | AlreadyCommitted, list[DurableEvent]]:
        """Put an answer on disk; the events to publish are those named `first`, then its `turn.started`.

        Raises:
            JournalFull: there was no room in time; nothing is written.
            HotError: as `HotStore.accept`; after `StorageUnavailable` the ledger is stale.
        """
        number = self.state.turn_count + 1
        event = {"type": "turn.started", "turn_number": number, "turn_key": answer.turn_key}
        payload, digest = answer_payload(answer), answer_digest(answer)
        try:
            accepted = await with_room(
                lambda: self._hot.accept(
                    self.session_id,
                    owner=self.owner_id,
                    rev=self.state.rev,
                    turn_key=answer.turn_key,
                    payload=payload,
                    digest=digest,
                    turn_number=number,
                    event=event,
                    first=first,
                    rerun=rerun,
                ),
                self._room_wait_s,
            )
        except JournalFull:
            raise
        except (HotError, asyncio.CancelledError):
            self.stale = True
            raise
        if not isinstance(accepted, Accepted):
            return accepted, []
        self.pending = Pending(answer.turn_key, payload, digest, accepted.attempt, False, number)
        told = [*first, {**event, "attempt": accepted.attempt}]
        numbers = range(accepted.first_event_id, accepted.event_id + 1)
        numbered = [{**one, "id": number} for one, number in zip(told[-len(numbers) :], numbers, strict=True)]
        return accepted, await self._numbered(numbers.start, numbered)

    async def commit_turn(
        self, answer: Answer, outcome: Outcome, *, moderator: Mapping[str, Any] | None = None
    ) -> list[DurableEvent]:
        """Make a turn true; the events to publish, in order. Errors as `HotStore.commit`.

        Args:
            answer: whose turn it is.
            outcome: what it led to.
            moderator: who did what that took effect in it, for the record.
        """
        receipt = outcome.state.receipt(answer.turn_key)
        calls = self._offer(answer.turn_key)
        committed = await self._hot.commit(
            self.session_id,
            owner=self.owner_id,
            rev=self.state.rev,
            turn_key=answer.turn_key,
            state=outcome.state.dump(),
            events=outcome.events,
            record=turn_record(outcome, calls, moderator),
            receipt=receipt.model_dump_json().encode() if receipt is not None else b"",
            embeddings=packed_vectors(outcome.embeddings),
        )
        self.pending = None
        return await self._committed(committed, outcome.state, outcome.events, outcome.embeddings, calls)

    async def commit_outcome(self, command_id: str, outcome: Outcome) -> list[DurableEvent]:
        """Make an opening or a rephrased question true; as `commit_turn`, leaving a pending answer alone."""
        calls = self._offer(command_id)
        committed = await self._hot.commit(
            self.session_id,
            owner=self.owner_id,
            rev=self.state.rev,
            turn_key=command_id,
            state=outcome.state.dump(),
            events=outcome.events,
            record=turn_record(outcome, calls),
            embeddings=packed_vectors(outcome.embeddings),
            keep_pending=True,
        )
        return await self._committed(committed, outcome.state, outcome.events, outcome.embeddings, calls)

    async def commit_step(
        self, command_id: str, step: Step, *, moderator: Mapping[str, Any] | None = None, ends: bool = False
    ) -> list[DurableEvent]:
        """Make a command true.

        Args:
            command_id: makes repeating it safe.
            step: what comes of it.
            moderator: who did what, for the record.
            ends: a pending answer is given up; it stays on record.
        """
        calls = self._offer(command_id)
        committed = await self._hot.commit(
            self.session_id,
            owner=self.owner_id,
            rev=self.state.rev,
            turn_key=command_id,
            state=step.state.dump(),
            events=step.events,
            record=record_of({"moderator": moderator} if moderator else {}, calls),
            keep_pending=not ends,
            drop_pending=ends,
        )
        if ends:
            self.pending = None
        return await self._committed(committed, step.state, step.events, {}, calls)

    async def fail(self, turn_key: str, code: ErrorCode, *, retryable: bool, detail: str) -> list[DurableEvent]:
        """Put on record that a run failed; the answer stays pending. Errors as `HotStore.fail`."""
        event = {"type": "turn.failed", "turn_key": turn_key, "code": code, "retryable": retryable}
        calls = self.calls.peek()
        record = record_of({"failure": {"code": code, "retryable": retryable, "detail": detail}}, calls)
        failed = await self._hot.fail(
            self.session_id, owner=self.owner_id, turn_key=turn_key, event=event, record=record
        )
        self.calls.settle(calls)
        if self.pending is not None and self.pending.turn_key == turn_key:
            self.pending = _failed(self.pending)
        return await self._numbered(failed.event_id, [{**event, "id": failed.event_id}])

    async def note_calls(self, *, owned: bool = True) -> None:
        """Put the calls on record that no other write will carry; without calls, nothing is written.

        Args:
            owned: False for an owner that another one displaced: its calls were paid for too.

        Raises:
            HotError: as `HotStore.note`; the calls stay for the next write.
        """
        calls = self.calls.peek()
        if not calls:
            return
        record = calls_record(calls, self.state.turn_count)
        await self._hot.note(self.session_id, owner=self.owner_id if owned else None, record=record)
        self.calls.settle(calls)

    def as_kept(self, answer: Answer) -> Answer:
        """The answer with what is known of it if it is pending already: a client sends only its words again."""
        pending = self.pending
        if pending is None or pending.turn_key != answer.turn_key or pending.digest != answer_digest(answer):
            return answer
        return answer_of(pending)

    def receipt(self, turn_key: str) -> Receipt | None:
        """What the turn with this key answered, if it is committed."""
        return self.state.receipt(turn_key)

    async def events_of(self, turn_key: str) -> list[DurableEvent]:
        """The durable events of one turn, for a client that sent its answer again."""
        found: list[DurableEvent] = []
        last = 0
        while page := await self._hot.events_after(self.session_id, last):
            found += [event for event in page if event.data.get("turn_key") == turn_key]
            last = page[-1].id
        return found

    def _offer(self, key: str) -> tuple[LLMCall, ...]:
        """The calls that a commit carries; the same when it is repeated, because storage keeps its first record."""
        if self._offered is None or self._offered[0] != key:
            self._offered = (key, self.calls.peek())
        return self._offered[1]

    async def _committed(
        self,
        committed: Committed,
        state: InterviewState,
        events: tuple[dict[str, Any], ...],
        embeddings: Mapping[str, Vectors],
        calls: tuple[LLMCall, ...],
    ) -> list[DurableEvent]:
        if committed.rev != state.rev or len(committed.event_ids) != len(events):
            # This key was committed before, by another run: what is in storage is what happened.
            return await self.refresh()
        self.calls.settle(calls)
        self._offered = None
        self.committed_ms = int(committed.journal_id.partition("-")[0])
        self.state = state
        if self._embeddings is not None:
            self._embeddings.update(embeddings)
        if not events:
            return []
        numbered = [{**event, "id": number} for number, event in zip(committed.event_ids, events, strict=True)]
        return await self._numbered(committed.event_ids.start, numbered)

    async def _numbered(self, first_id: int, events: list[dict[str, Any]]) -> list[DurableEvent]:
        if first_id != self._published_id + 1:
            return await self._unpublished()
        self._published_id = self.last_event_id = first_id + len(events) - 1
        return [DurableEvent(id=event["id"], data=event) for event in events]

    async def _unpublished(self) -> list[DurableEvent]:
        found: list[DurableEvent] = []
        while page := await self._hot.events_after(self.session_id, self._published_id):
            found += page
            self._published_id = page[-1].id
        self.last_event_id = max(self.last_event_id, self._published_id)
        return found


async def with_room(write: Callable[[], Awaitable[T]], wait_s: float) -> T:
    """Repeat a write while the journal has no room for it; nothing is written then.

    Args:
        write: the write.
        wait_s: after this long, `JournalFull` is raised.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + wait_s
    while True:
        try:
            return await write()
        except JournalFull:
            if loop.time() + ROOM_PAUSE_S >= end:
                raise
        await asyncio.sleep(ROOM_PAUSE_S)


async def insist(
    write: Callable[[], Awaitable[T]],
    *,
    pause_s: float,
    patience_s: float,
    on_trouble: Callable[[], Awaitable[None]],
) -> T:
    """Repeat a write that is safe to repeat until its outcome is known.

    Args:
        write: the write.
        pause_s: first pause; doubles up to 2 s.
        patience_s: after this long the last error is raised.
        on_trouble: told after each try of unknown outcome.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + patience_s
    while True:
        try:
            return await write()
        except StorageUnavailable:
            if loop.time() + pause_s >= end:
                raise
        await on_trouble()
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


def _failed(pending: Pending) -> Pending:
    return Pending(pending.turn_key, pending.payload, pending.digest, pending.attempt, True, pending.turn_number)
