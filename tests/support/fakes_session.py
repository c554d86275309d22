"""Surroundings of sessions that a test can disturb: storage that fails on demand, a writer that waits, a node."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette

from pipeline.calls import LLMCall, Role, record_call
from pipeline.concept import ConsentText, SessionConfiguration
from pipeline.ports import QuestionRequest, SlotProposal, SlotRequest
from pipeline.state import InterviewState
from pipeline.turn import Providers, TurnPipeline
from server.hot.errors import OutcomeUnknown, StorageUnavailable
from server.hot.redis import HotStore
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
from server.session.connection import respondent_route
from server.session.hub import Hub
from server.session.measure import HeardMeasure, TurnMeasure
from server.session.new import NewSession
from server.session.owner import SessionOwner
from server.session.settings import HubSettings, ListeningSettings, SocketSettings
from server.session.voice import Voice
from tests.support.client import RespondentClient
from tests.support.interview import (
    FixedRater,
    OwnSlots,
    PlainWriter,
    ScriptedExtractor,
    TableEmbedder,
    Ticks,
    WordParser,
    configuration,
)

T = TypeVar("T")

QUICK = HubSettings(
    turn_deadline_s=20.0,
    still_thinking_s=4.0,
    storage_retry_s=0.01,
    storage_patience_s=20.0,
    command_wait_s=0.2,
)


class TroubledHot:
    """The real store, with trouble on demand: away altogether, or one lost answer to a write."""

    def __init__(self, inner: HotStore) -> None:
        self.inner = inner
        self.away = False
        self.deaf = False
        self.calls: list[str] = []
        self._losses: deque[tuple[str, Literal["before", "after"]]] = deque()

    def lose(self, operation: str, when: Literal["before", "after"]) -> None:
        """The next call of this operation has an unknown outcome: not done (`before`) or done (`after`)."""
        self._losses.append((operation, when))

    async def _try(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        self.calls.append(name)
        if self.away:
            raise OutcomeUnknown(f"{name}: nobody there")
        if self._losses and self._losses[0][0] == name:
            _, when = self._losses.popleft()
            if when == "after":
                await work()
            raise OutcomeUnknown(f"{name}: no answer")
        return await work()

    async def create(
        self,
        session_id: str,
        *,
        state: bytes,
        rev: int = 0,
        record: bytes = b"{}",
        events: Sequence[Mapping[str, Any]] = (),
    ) -> Created:
        return await self._try(
            "create",
            lambda: self.inner.create(session_id, state=state, rev=rev, record=record, events=events),
        )

    async def restore(
        self,
        session_id: str,
        *,
        state: bytes,
        rev: int,
        pending: Pending | None = None,
        receipts: Sequence[StoredReceipt] = (),
    ) -> str:
        return await self._try(
            "restore",
            lambda: self.inner.restore(session_id, state=state, rev=rev, pending=pending, receipts=receipts),
        )

    async def claim(self, session_id: str, owner: str) -> HotSession:
        return await self._try("claim", lambda: self.inner.claim(session_id, owner))

    async def read(self, session_id: str) -> HotSession:
        return await self._try("read", lambda: self.inner.read(session_id))

    async def keep(self, session_id: str, owner: str) -> bool:
        return await self._try("keep", lambda: self.inner.keep(session_id, owner))

    async def owner_of(self, session_id: str) -> str | None:
        return await self._try("owner_of", lambda: self.inner.owner_of(session_id))

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
        return await self._try(
            "accept",
            lambda: self.inner.accept(
                session_id,
                owner=owner,
                rev=rev,
                turn_key=turn_key,
                payload=payload,
                digest=digest,
                turn_number=turn_number,
                event=event,
                first=first,
                rerun=rerun,
            ),
        )

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
        return await self._try(
            "commit",
            lambda: self.inner.commit(
                session_id,
                owner=owner,
                rev=rev,
                turn_key=turn_key,
                state=state,
                events=events,
                record=record,
                receipt=receipt,
                embeddings=embeddings,
                keep_pending=keep_pending,
                drop_pending=drop_pending,
            ),
        )

    async def fail(
        self,
        session_id: str,
        *,
        owner: str,
        turn_key: str,
        event: Mapping[str, Any],
        record: bytes = b"{}",
    ) -> Failed:
        return await self._try(
            "fail",
            lambda: self.inner.fail(session_id, owner=owner, turn_key=turn_key, event=event, record=record),
        )

    async def events_after(self, session_id: str, last_event_id: int, limit: int = 500) -> list[DurableEvent]:
        return await self._try("events_after", lambda: self.inner.events_after(session_id, last_event_id, limit))

    async def embeddings(self, session_id: str) -> dict[str, bytes]:
        return await self._try("embeddings", lambda: self.inner.embeddings(session_id))

    async def erase(self, session_id: str) -> Erasure:
        return await self._try("erase", lambda: self.inner.erase(session_id))

    async def inbox_push(self, session_id: str, item: bytes) -> str | None:
        return await self._try("inbox_push", lambda: self.inner.inbox_push(session_id, item))

    async def inbox_read(self, session_id: str) -> list[bytes]:
        return await self._try("inbox_read", lambda: self.inner.inbox_read(session_id))

    async def inbox_drop(self, session_id: str, item: bytes) -> None:
        await self._try("inbox_drop", lambda: self.inner.inbox_drop(session_id, item))

    async def reply_put(self, session_id: str, command_id: str, reply: bytes, ttl_s: float = 60.0) -> None:
        await self._try("reply_put", lambda: self.inner.reply_put(session_id, command_id, reply, ttl_s))

    async def note(self, session_id: str, *, owner: str | None, record: bytes) -> str:
        return await self._try("note", lambda: self.inner.note(session_id, owner=owner, record=record))

    async def reply_get(self, session_id: str, command_id: str) -> bytes | None:
        return await self._try("reply_get", lambda: self.inner.reply_get(session_id, command_id))

    async def wakes(self) -> AsyncGenerator[Wake, None]:
        """News of other nodes; none while deaf."""
        async for wake in self.inner.wakes():
            if not self.deaf:
                yield wake


@dataclass(frozen=True)
class Stored:
    """What the relational store has of a session."""

    state: bytes
    rev: int
    pending: Pending | None = None
    receipts: tuple[StoredReceipt, ...] = ()


class MemoryStore:
    """Snapshots and configurations in memory; shared by the nodes of a test."""

    def __init__(self) -> None:
        self.sessions: dict[str, Stored] = {}
        self.configurations: dict[str, SessionConfiguration] = {}
        self.quiet: list[str] = []
        self.meeting: asyncio.Barrier | None = None
        """Where readers wait for each other, if a test wants them to be there at once."""
        self.away = False

    async def stored_session(self, session_id: str) -> Stored | None:
        if self.meeting is not None:
            await self.meeting.wait()
        return self.sessions.get(session_id)

    async def quiet_sessions(self, before: datetime, limit: int) -> list[str]:
        return self.quiet[:limit]

    async def load_configuration(self, config_hash: str) -> SessionConfiguration | None:
        return self.configurations.get(config_hash)

    async def save_configuration(self, config_hash: str, configuration: SessionConfiguration) -> None:
        if self.away:
            raise StorageUnavailable("the database is locked")
        self.configurations[config_hash] = configuration


class StagedWriter(PlainWriter):
    """Writes as it is told: waits at a gate after so many pieces, fails, or says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: deque[Exception] = deque()
        self.gate: asyncio.Event | None = None
        self.pieces_before_gate = 0
        self.at_gate = asyncio.Event()
        self.runs = 0

    def close_gate(self, pieces: int) -> asyncio.Event:
        """Wait after `pieces` pieces of the next question until the returned event is set."""
        self.pieces_before_gate = pieces
        self.gate = asyncio.Event()
        self.at_gate = asyncio.Event()
        return self.gate

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        self.runs += 1
        if self.errors:
            raise self.errors.popleft()
        count = 0
        async for piece in super().write(request):
            if self.gate is not None and count == self.pieces_before_gate:
                await self._wait()
            yield piece
            count += 1
        if self.gate is not None and count <= self.pieces_before_gate:
            await self._wait()

    async def _wait(self) -> None:
        assert self.gate is not None
        self.at_gate.set()
        await self.gate.wait()


def a_call(role: Role, task: str) -> LLMCall:
    """A call that was paid for."""
    return LLMCall(id=uuid4().hex, role=role, task=task, provider="test", model="slow", input_tokens=10)


class StagedExtractor(ScriptedExtractor):
    """Fails as often as it is told; can wait at a gate before it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: deque[Exception] = deque()
        self.gate: asyncio.Event | None = None
        self.at_gate = asyncio.Event()
        self.costs = False

    def close_gate(self) -> asyncio.Event:
        """Wait with every answer until the returned event is set."""
        self.gate, self.at_gate = asyncio.Event(), asyncio.Event()
        return self.gate

    async def extract(self, request: Any) -> Any:
        if self.costs:
            record_call(a_call("extraction", "extraction"))
        if self.errors:
            raise self.errors.popleft()
        if self.gate is not None:
            self.at_gate.set()
            await self.gate.wait()
        return await super().extract(request)


@dataclass
class Providing:
    """The providers of a node; shared by the nodes of a test."""

    writer: StagedWriter = field(default_factory=StagedWriter)
    extractor: StagedExtractor = field(default_factory=StagedExtractor)
    rater: FixedRater = field(default_factory=FixedRater)
    slots: OwnSlots = field(default_factory=OwnSlots)

    def providers(self) -> Providers:
        """What a pipeline works with."""
        return Providers(self.extractor, self.rater, self.slots, self.writer, TableEmbedder(), WordParser())

    def pipeline(self) -> TurnPipeline:
        """A pipeline of its own."""
        return TurnPipeline(self.providers(), Ticks())


class StagedSlots(OwnSlots):
    """Takes its time, as a remote model does: waits at a gate, fails as often as it is told; its calls cost."""

    inline = False

    def __init__(self, names: dict[str, str] | None = None) -> None:
        super().__init__(names)
        self.errors: deque[Exception] = deque()
        self.gate: asyncio.Event | None = None

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        record_call(a_call("scoring", "slots"))
        if self.gate is not None:
            await self.gate.wait()
        if self.errors:
            raise self.errors.popleft()
        return await super().propose(request)


class Calendar:
    """A wall clock that a test moves."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def advance(self, **amount: float) -> None:
        self.time += timedelta(**amount)


def asking_consent(**settings: Any) -> SessionConfiguration:
    """The small configuration, with consent required."""
    plain = configuration(**settings)
    consent = ConsentText(text="Do you agree?", version="2")
    return plain.model_copy(update={"concept": plain.concept.model_copy(update={"consent": consent})})


@dataclass
class Node:
    """One process of a test: a hub, and a server around its socket."""

    hub: Hub
    hot: TroubledHot
    store: MemoryStore
    providing: Providing
    calendar: Calendar
    url: str = ""
    measures: list[TurnMeasure] = field(default_factory=list)
    heard: list[HeardMeasure] = field(default_factory=list)

    async def session(self, chosen: SessionConfiguration | None = None, **changes: Any) -> InterviewState:
        """A new session."""
        new = NewSession(
            session_id=uuid4().hex,
            configuration=chosen or configuration(),
            config_hash=f"hash-{'asking' if chosen is not None and chosen.concept.consent else 'plain'}",
            language="en",
            seed=7,
        )
        return await self.hub.create(_changed(new, changes))

    def client(self, session_id: str, **options: Any) -> RespondentClient:
        """A respondent's client for that session; use it as a context."""
        return RespondentClient(self.url, f"token-{session_id}", **options)


def _changed(new: NewSession, changes: dict[str, Any]) -> NewSession:
    fields = {name: getattr(new, name) for name in NewSession.__dataclass_fields__}
    return NewSession(**{**fields, **changes})


async def authenticate(token: str) -> str | None:
    """Tokens of the tests name their session."""
    return token.removeprefix("token-") if token.startswith("token-") else None


@asynccontextmanager
async def running_hub(
    hot: TroubledHot,
    store: MemoryStore,
    providing: Providing,
    *,
    calendar: Calendar | None = None,
    settings: HubSettings = QUICK,
    drain_s: float = 5.0,
    voice: Voice | None = None,
    listening: ListeningSettings | None = None,
) -> AsyncIterator[Node]:
    """A hub without a server."""
    measures: list[TurnMeasure] = []
    heard: list[HeardMeasure] = []
    calendar = calendar or Calendar()
    hub = Hub(
        hot=hot,
        snapshots=store,
        configurations=store,
        pipeline=providing.pipeline(),
        settings=settings,
        now=calendar,
        observe=measures.append,
        drain_s=drain_s,
        voice=voice,
        listening=listening,
        observe_heard=heard.append,
    )
    async with hub:
        yield Node(hub, hot, store, providing, calendar, measures=measures, heard=heard)


@asynccontextmanager
async def running_node(
    hot: TroubledHot,
    store: MemoryStore,
    providing: Providing,
    *,
    settings: HubSettings = QUICK,
    sockets: SocketSettings | None = None,
    calendar: Calendar | None = None,
    voice: Voice | None = None,
    listening: ListeningSettings | None = None,
) -> AsyncIterator[Node]:
    """A hub behind a real server on a free port."""
    async with running_hub(
        hot, store, providing, settings=settings, calendar=calendar, voice=voice, listening=listening
    ) as node:
        app = Starlette(routes=[respondent_route(node.hub, authenticate, sockets)])
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            config = uvicorn.Config(
                app,
                lifespan="off",
                log_level="warning",
                ws="websockets-sansio",
                ws_max_size=32 * 1024 * 1024,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=2,
            )
            server = uvicorn.Server(config)
            async with asyncio.TaskGroup() as tasks:
                serving = tasks.create_task(server.serve(sockets=[listener]))
                node.url = f"ws://127.0.0.1:{listener.getsockname()[1]}"
                try:
                    await eventually(lambda: server.started)
                    yield node
                finally:
                    await node.hub.drain(1.0)
                    server.should_exit = True
                    await serving


async def eventually(condition: Callable[[], bool], deadline_s: float = 5.0) -> None:
    """Wait until something is so; fails after the deadline."""
    async with asyncio.timeout(deadline_s):
        while not condition():
            await asyncio.sleep(0.002)


def status(owner: SessionOwner) -> str:
    """The session's state by name."""
    return owner.state.status
