"""A session in hot storage as its owner sees it: the last committed state, and every write that changes it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar

import numpy as np

from pipeline.calls import CallLog, LLMCall
from pipeline.ports import Vectors
from pipeline.state import InterviewState, Receipt
from pipeline.turn import Answer, answer_digest
from server.hot.errors import HotError, JournalFull, NotOwner
from server.hot.redis import HotStore
from server.hot.values import Accepted, AlreadyCommitted, AlreadyPending, DurableEvent, HotSession, Pending
from server.protocol.codes import ErrorCode
from server.session.change import Change, record_json
from server.session.resting import Resting

T = TypeVar("T")
PendingAnswer = Literal["clear", "keep", "supersede"]
"""What a commit does with a pending answer: it is the turn of that answer, it leaves it alone, or it gives it up."""
JOURNAL_RETRY_S = 0.1


class Ledger:
    """One session in hot storage, written by its owner only.

    Args:
        hot: hot storage.
        session_id: the session.
        owner_id: this owner's id; every write fails with NotOwner once another owner has claimed the session.
        session: as the claim returned it.
        journal_wait_s: how long an answer waits while the journal is full.
    """

    def __init__(
        self, hot: HotStore, session_id: str, owner_id: str, session: HotSession, *, journal_wait_s: float = 0.0
    ) -> None:
        self._hot = hot
        self._journal_wait_s = journal_wait_s
        self.session_id = session_id
        self.owner_id = owner_id
        self.stale = False
        """The outcome of a write is unknown: `refresh` before anything else."""
        self.calls = CallLog()
        """Calls of language models made for this session; the next write puts them on record."""
        self._offered: tuple[str, tuple[LLMCall, ...]] | None = None
        self._published_id = session.last_event_id
        self.committed_ms: int | None = None
        """When the latest commit was made, in milliseconds since 1970 by the clock of hot storage."""
        self._embeddings: dict[str, Vectors] | None = None
        self._state: InterviewState | Resting
        self._load(session)

    @classmethod
    async def claim(cls, hot: HotStore, session_id: str, owner_id: str, *, journal_wait_s: float = 0.0) -> Self:
        """Own the session from now on; arguments as of the class.

        Raises:
            SessionNotHot: hot storage does not have it.
            SessionErased: it was erased.
            StateVersionError: a newer version of this program wrote its state.
            StorageUnavailable: hot storage can't be reached.
        """
        session = await hot.claim(session_id, owner_id)
        return cls(hot, session_id, owner_id, session, journal_wait_s=journal_wait_s)

    @property
    def state(self) -> InterviewState:
        """The session after its last commit; looking at it ends its rest."""
        if isinstance(self._state, Resting):
            self._state = self._state.state()
        return self._state

    @state.setter
    def state(self, state: InterviewState) -> None:
        self._state = state

    @property
    def outline(self) -> InterviewState:
        """The session for alerts and overviews: while it rests, without graphs and histories."""
        return self._state.outline if isinstance(self._state, Resting) else self._state

    @property
    def resting(self) -> bool:
        """Whether the state is packed."""
        return isinstance(self._state, Resting)

    async def rest(self) -> None:
        """Keep as little as can be until somebody looks at the state; changes nothing if somebody does meanwhile."""
        state = self._state
        if isinstance(state, Resting) or self.stale:
            return
        resting = await asyncio.to_thread(Resting.of, state)
        if self._state is state and not self.stale:
            self._state, self._embeddings = resting, None

    def _load(self, session: HotSession) -> None:
        self.state = InterviewState.load(session.state)
        self.epoch = session.epoch
        self.last_event_id = session.last_event_id
        self.pending = session.pending

    async def refresh(self) -> list[DurableEvent]:
        """Read the session again, after a write of unknown outcome.

        Returns:
            Durable events that were not published yet.

        Raises:
            NotOwner: another owner took the session over meanwhile.
        """
        session = await self._hot.read(self.session_id)
        if session.owner != self.owner_id:
            raise NotOwner("another connection took this session over")
        self._load(session)
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

    # Writes

    async def accept(
        self, answer: Answer, *, first: Sequence[Mapping[str, Any]] = (), rerun: bool = False
    ) -> tuple[Accepted | AlreadyPending | AlreadyCommitted, list[DurableEvent]]:
        """Store an answer before its turn runs; the events to publish are `first`, then its `turn.started`.

        Raises:
            JournalFull: there was no room in time; nothing is written.
            HotError: as `HotStore.accept`; after `StorageUnavailable` the ledger is stale.
        """
        number = self.state.turn_count + 1
        event = {"type": "turn.started", "turn_number": number, "turn_key": answer.turn_key}
        payload, digest = answer_payload(answer), answer_digest(answer)
        try:
            accepted = await _while_journal_full(
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
                self._journal_wait_s,
            )
        except JournalFull:
            raise
        except (HotError, asyncio.CancelledError):
            self.stale = True
            raise
        if not isinstance(accepted, Accepted):
            return accepted, []
        self.pending = Pending(answer.turn_key, payload, digest, accepted.attempt, False, number)
        started = {**event, "attempt": accepted.attempt}
        ids = range(accepted.first_event_id, accepted.event_id + 1)
        return accepted, await self._with_ids(ids, [*first, started][-len(ids) :])

    async def commit(self, key: str, change: Change, *, pending: PendingAnswer) -> list[DurableEvent]:
        """Write a change; only `SessionContext.commit` calls this, which publishes and tells observers.

        Args:
            key: the answer's turn key or the command's id; with the same key a commit can be repeated safely.
            change: what becomes true.
            pending: what happens to a pending answer.

        Returns:
            The events to publish, in order. Where the key was committed before by another run, those of that run.

        Raises:
            HotError: as `HotStore.commit`.
        """
        calls = self._calls_for(key)
        state, events, receipt = change.state, change.events, change.receipt
        committed = await self._hot.commit(
            self.session_id,
            owner=self.owner_id,
            rev=self.state.rev,
            turn_key=key,
            state=state.dump(),
            events=events,
            record=change.record.dump(calls),
            receipt=receipt.model_dump_json().encode() if receipt is not None else b"",
            embeddings=packed_vectors(change.embeddings),
            keep_pending=pending == "keep",
            drop_pending=pending == "supersede",
        )
        if pending != "keep":
            self.pending = None
        if committed.rev != state.rev or len(committed.event_ids) != len(events):
            return await self.refresh()
        self.calls.settle(calls)
        self._offered = None
        self.committed_ms = int(committed.journal_id.partition("-")[0])
        self.state = state
        if self._embeddings is not None:
            self._embeddings.update(change.embeddings)
        return await self._with_ids(committed.event_ids, events) if events else []

    async def fail(self, turn_key: str, code: ErrorCode, *, retryable: bool, detail: str) -> list[DurableEvent]:
        """Record that the pending answer's run failed; the answer stays pending. Errors as `HotStore.fail`."""
        event = {"type": "turn.failed", "turn_key": turn_key, "code": code, "retryable": retryable}
        calls = self.calls.peek()
        record = record_json({"failure": {"code": code, "retryable": retryable, "detail": detail}}, calls)
        failed = await self._hot.fail(
            self.session_id, owner=self.owner_id, turn_key=turn_key, event=event, record=record
        )
        self.calls.settle(calls)
        if self.pending is not None and self.pending.turn_key == turn_key:
            self.pending = replace(self.pending, failed=True)
        return await self._with_ids(range(failed.event_id, failed.event_id + 1), [event])

    async def record_calls(self, *, owned: bool = True) -> None:
        """Record the calls of language models that no other write will carry; without calls, nothing is written.

        Args:
            owned: False for an owner whose session was taken over: its calls were paid for too.

        Raises:
            HotError: as `HotStore.note`; the calls stay for the next write.
        """
        calls = self.calls.peek()
        if calls:
            record = record_json({"turn_number": self.state.turn_count}, calls)
            await self._hot.note(self.session_id, owner=self.owner_id if owned else None, record=record)
            self.calls.settle(calls)

    # What is known

    def as_pending(self, answer: Answer) -> Answer:
        """The answer as it is stored if it is pending already: a client that repeats it sends its text only."""
        pending = self.pending
        if pending is None or pending.turn_key != answer.turn_key or pending.digest != answer_digest(answer):
            return answer
        return answer_of(pending)

    def receipt(self, turn_key: str) -> Receipt | None:
        """The result of the turn with this key, if it is committed."""
        return self.state.receipt(turn_key)

    async def events_of(self, turn_key: str) -> list[DurableEvent]:
        """The durable events of one turn, for a client that sent its answer again."""
        found: list[DurableEvent] = []
        last = 0
        while page := await self._hot.events_after(self.session_id, last):
            found += [event for event in page if event.data.get("turn_key") == turn_key]
            last = page[-1].id
        return found

    def _calls_for(self, key: str) -> tuple[LLMCall, ...]:
        """The calls that a commit carries; the same when it is repeated, because storage keeps its first record."""
        if self._offered is None or self._offered[0] != key:
            self._offered = (key, self.calls.peek())
        return self._offered[1]

    async def _with_ids(self, ids: range, events: Sequence[Mapping[str, Any]]) -> list[DurableEvent]:
        """The events with the ids they were given, preceded by any before them that were not published yet."""
        if ids.start != self._published_id + 1:
            return await self._unpublished()
        self._published_id = self.last_event_id = ids[-1]
        return [
            DurableEvent(id=number, data={**event, "id": number}) for number, event in zip(ids, events, strict=True)
        ]

    async def _unpublished(self) -> list[DurableEvent]:
        found: list[DurableEvent] = []
        while page := await self._hot.events_after(self.session_id, self._published_id):
            found += page
            self._published_id = page[-1].id
        self.last_event_id = max(self.last_event_id, self._published_id)
        return found


async def _while_journal_full(write: Callable[[], Awaitable[T]], wait_s: float) -> T:
    """Repeat a write that JournalFull refused, which wrote nothing; after `wait_s` seconds the error is raised."""
    loop = asyncio.get_running_loop()
    end = loop.time() + wait_s
    while True:
        try:
            return await write()
        except JournalFull:
            if loop.time() + JOURNAL_RETRY_S >= end:
                raise
        await asyncio.sleep(JOURNAL_RETRY_S)


def answer_payload(answer: Answer) -> bytes:
    """An answer as it is stored until its turn is committed."""
    kept: dict[str, Any] = {
        "turn_key": answer.turn_key,
        "kind": answer.kind,
        "text": answer.text,
        "corrects": answer.corrects,
    }
    if answer.spoken:
        kept |= {"spoken": True, "confidence": answer.confidence, "speech_ms": answer.speech_ms}
    return json.dumps(kept, ensure_ascii=False).encode()


def answer_of(pending: Pending) -> Answer:
    """The answer that `answer_payload` wrote."""
    return Answer(**json.loads(pending.payload))


def packed_vectors(embeddings: Mapping[str, Vectors]) -> dict[str, bytes]:
    """Vectors as they are stored: float32, as bytes."""
    return {name: np.asarray(vector, dtype=np.float32).tobytes() for name, vector in embeddings.items()}
