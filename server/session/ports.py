"""What a session's owner asks of the world around it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from pipeline.concept import SessionConfiguration
from pipeline.context import SlotNames, TurnContext, Wishes, no_names
from pipeline.ports import QuestionSink, SlotProposal, Vectors
from pipeline.state import InterviewState
from pipeline.turn import Answer, Outcome
from server.hot.values import (
    Accepted,
    AlreadyCommitted,
    AlreadyPending,
    Committed,
    Created,
    DurableEvent,
    Erasure,
    Failed,
    HotSession,
    Pending,
    StoredReceipt,
    Wake,
)


class Hot(Protocol):
    """Hot storage, as `server.hot.redis.HotStore` offers it; errors are those of `server.hot.errors`."""

    async def create(
        self,
        session_id: str,
        *,
        state: bytes,
        rev: int = 0,
        record: bytes = b"{}",
        events: Sequence[Mapping[str, Any]] = (),
    ) -> Created:
        """Make a session hot for the first time."""
        ...

    async def restore(
        self,
        session_id: str,
        *,
        state: bytes,
        rev: int,
        pending: Pending | None = None,
        receipts: Sequence[StoredReceipt] = (),
    ) -> str:
        """Make a session hot again from its snapshot; the new epoch."""
        ...

    async def note(self, session_id: str, *, owner: str | None, record: bytes) -> str:
        """Put something on record that changes nothing else."""
        ...

    async def claim(self, session_id: str, owner: str) -> HotSession:
        """Make `owner` the owner and return the session."""
        ...

    async def read(self, session_id: str) -> HotSession:
        """The session without changing its owner."""
        ...

    async def keep(self, session_id: str, owner: str) -> bool:
        """Put off the end of an owned session's keys; whether `owner` owns it."""
        ...

    async def owner_of(self, session_id: str) -> str | None:
        """The owner's id, if the session is hot and has one."""
        ...

    async def accept(
        self,
        session_id: str,
        *,
        owner: str,
        rev: int,
        turn_key: str,
        payload: bytes,
        digest: str,
        turn_number: int,
        event: Mapping[str, Any],
        first: Sequence[Mapping[str, Any]] = (),
        rerun: bool = False,
    ) -> Accepted | AlreadyPending | AlreadyCommitted:
        """Store and journal an answer before it is run."""
        ...

    async def commit(
        self,
        session_id: str,
        *,
        owner: str,
        rev: int,
        turn_key: str,
        state: bytes,
        events: Sequence[Mapping[str, Any]] = (),
        record: bytes = b"{}",
        receipt: bytes = b"",
        embeddings: Mapping[str, bytes] | None = None,
        keep_pending: bool = False,
        drop_pending: bool = False,
    ) -> Committed:
        """Make a turn, or a command, true."""
        ...

    async def fail(
        self,
        session_id: str,
        *,
        owner: str,
        turn_key: str,
        event: Mapping[str, Any],
        record: bytes = b"{}",
    ) -> Failed:
        """Put on record that the pending answer's run failed."""
        ...

    async def events_after(self, session_id: str, last_event_id: int, limit: int = 500) -> list[DurableEvent]:
        """Durable events with ids above `last_event_id`, in order."""
        ...

    async def embeddings(self, session_id: str) -> dict[str, bytes]:
        """The vectors kept beside the state."""
        ...

    async def erase(self, session_id: str) -> Erasure:
        """Remove the session and refuse its id from now on."""
        ...

    async def inbox_push(self, session_id: str, item: bytes) -> str | None:
        """Leave a command for the owner; the owner's id, if there is one."""
        ...

    async def inbox_read(self, session_id: str) -> list[bytes]:
        """Commands that wait, oldest first."""
        ...

    async def inbox_drop(self, session_id: str, item: bytes) -> None:
        """Remove a command that was applied."""
        ...

    async def reply_put(self, session_id: str, command_id: str, reply: bytes, ttl_s: float = 60.0) -> None:
        """Leave the answer to a command."""
        ...

    async def reply_get(self, session_id: str, command_id: str) -> bytes | None:
        """The answer to a command, if there is one."""
        ...

    def wakes(self) -> AsyncGenerator[Wake, None]:
        """What happens to sessions on any node, as it happens."""
        ...


class Pipeline(Protocol):
    """The interview itself, as `pipeline.turn.TurnPipeline` offers it; errors are those of `pipeline.errors`."""

    async def open(
        self,
        state: InterviewState,
        configuration: SessionConfiguration,
        *,
        now: datetime,
        sink: QuestionSink,
    ) -> Outcome:
        """The opening question."""
        ...

    async def run(
        self,
        state: InterviewState,
        answer: Answer,
        configuration: SessionConfiguration,
        *,
        now: datetime,
        sink: QuestionSink,
        embeddings: Mapping[str, Vectors],
        names: SlotNames = no_names,
        wishes: Wishes | None = None,
    ) -> Outcome:
        """One turn; `names` gives those that have come for nodes of the backlog, `wishes` what moderators want."""
        ...

    async def decide(
        self,
        state: InterviewState,
        answer: Answer,
        configuration: SessionConfiguration,
        *,
        now: datetime,
        sink: QuestionSink,
        embeddings: Mapping[str, Vectors],
        names: SlotNames = no_names,
    ) -> TurnContext:
        """One turn up to its question; nothing reaches the sink, and nothing comes of it without `speak`."""
        ...

    async def speak(self, context: TurnContext) -> Outcome:
        """The rest of a turn that `decide` began."""
        ...

    def defers_naming(self, configuration: SessionConfiguration) -> bool:
        """Whether slots get their names after the question is out."""
        ...

    async def name_slots(
        self, state: InterviewState, configuration: SessionConfiguration, *, named: Collection[str] = ()
    ) -> list[SlotProposal]:
        """Names for the oldest nodes of the backlog that are not `named` yet."""
        ...

    async def settle(
        self,
        state: InterviewState,
        configuration: SessionConfiguration,
        names: Sequence[SlotProposal],
        *,
        embeddings: Mapping[str, Vectors],
    ) -> Outcome | None:
        """An interview that is over, with these names in place; None if none fits any more."""
        ...

    async def rephrase(
        self,
        state: InterviewState,
        configuration: SessionConfiguration,
        *,
        now: datetime,
        sink: QuestionSink,
    ) -> Outcome:
        """The same question in other words."""
        ...


class StoredSession(Protocol):
    """A session as the relational store has it: enough to make it hot again."""

    @property
    def state(self) -> bytes:
        """The latest stored state."""
        ...

    @property
    def rev(self) -> int:
        """Its revision."""
        ...

    @property
    def pending(self) -> Pending | None:
        """An answer that was accepted after that revision."""
        ...

    @property
    def receipts(self) -> Sequence[StoredReceipt]:
        """Of committed and superseded answers."""
        ...


class Snapshots(Protocol):
    """Where sessions are found when hot storage has forgotten them."""

    async def stored_session(self, session_id: str) -> StoredSession | None:
        """The session's latest stored state, None when there is none."""
        ...

    async def quiet_sessions(self, before: datetime, limit: int) -> list[str]:
        """Ids of sessions that could still go on and have not changed since `before`, oldest first."""
        ...


class Configurations(Protocol):
    """Where the configurations are kept that sessions are pinned to."""

    async def load_configuration(self, config_hash: str) -> SessionConfiguration | None:
        """The configuration with this content hash."""
        ...

    async def save_configuration(self, config_hash: str, configuration: SessionConfiguration) -> None:
        """Keep a configuration under its content hash; keeping it again changes nothing."""
        ...
