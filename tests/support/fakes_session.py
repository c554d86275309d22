"""A node that a test can disturb: storage that fails on demand, a writer that waits, a node."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar
from uuid import uuid4

from starlette.applications import Starlette

from config.settings import Settings
from config.voice import VoiceSettings
from pipeline.calls import LLMCall, Role, record_call
from pipeline.concept import ConsentText, SessionConfiguration
from pipeline.language.acts.reading import RuleReader
from pipeline.ports import QuestionRequest, SlotProposal, SlotRequest
from pipeline.state import InterviewState
from pipeline.turn import Providers, TurnPipeline
from server.hot.checks import ServerChecks
from server.hot.connection import Connection
from server.hot.errors import OutcomeUnknown, StorageUnavailable
from server.hot.messages import CommandInbox
from server.hot.redis import HotStore
from server.hot.values import Wake
from server.metrics import Metrics
from server.serving import bind, serving
from server.session.context import SessionServices
from server.session.hub import Hub
from server.session.measure import TurnMeasure
from server.session.new import NewSession
from server.session.owner import SessionOwner
from server.session.settings import HubSettings
from server.sockets.realtime import realtime_route
from server.sockets.respondent import RespondentServices
from server.sockets.settings import SocketSettings
from server.speech.engine import Speech
from server.speech.listening import Listeners
from server.speech.measure import SpokenAnswerMeasure
from server.speech.settings import ListeningSettings
from server.speech.spoken_turns import SpeechServices
from server.store.repository import Repository, StoredSession
from server.transport.limits import ConnectionLimits
from server.voice.voices import Voices
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
from tests.support.patience import PATIENCE_S

T = TypeVar("T")

ENDING_AT_ONCE = ListeningSettings(reopen_s=0.0)
"""Spoken answers that can't be taken up again after their end: most tests need not wait for that."""
QUICK = HubSettings(
    turn_deadline_s=20.0,
    still_thinking_s=4.0,
    storage_retry_s=0.01,
    storage_patience_s=20.0,
    command_wait_s=0.2,
)


COMMANDS = {"HGET": "owner_of", "HGETALL": "embeddings", "SET": "reply", "GET": "reply_to", "PUBLISH": "publish"}


class TroubledConnection(Connection):
    """The real connection, with trouble on demand."""

    def __init__(self, inner: Connection) -> None:
        super().__init__(inner.client, inner.settings, inner.keys, listener=inner.listener)
        self.away = False
        self.calls: list[str] = []
        self.losses: deque[tuple[str, Literal["before", "after"]]] = deque()

    async def run(self, name: str, session_id: str, *arguments: str | bytes | int, writes: bool = True) -> list[Any]:
        return await self._try(name, lambda: super(TroubledConnection, self).run(name, session_id, *arguments))

    async def ask(self, *command: str | bytes | int, writes: bool = False) -> Any:
        verb, key = str(command[0]), str(command[1])
        name = "inbox_read" if key.endswith(":inbox") else COMMANDS.get(verb, "events_after")
        return await self._try(name, lambda: super(TroubledConnection, self).ask(*command, writes=writes))

    async def _try(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        self.calls.append(name)
        if self.away:
            raise OutcomeUnknown(f"{name}: nobody there")
        if self.losses and self.losses[0][0] == name:
            _, when = self.losses.popleft()
            if when == "after":
                await work()
            raise OutcomeUnknown(f"{name}: no answer")
        return await work()


class DeafInbox(CommandInbox):
    """Tells of nothing that happens on other nodes while it is deaf."""

    deaf = False

    async def wakes(self) -> AsyncGenerator[Wake, None]:
        async for wake in super().wakes():
            if not self.deaf:
                yield wake


class TroubledHot(HotStore):
    """The real store, with trouble on demand: away altogether, or one lost answer to a write."""

    def __init__(self, inner: HotStore) -> None:
        self.inner = inner
        self.trouble = TroubledConnection(inner.connection)
        super().__init__(self.trouble)
        self.inbox: DeafInbox = DeafInbox(self.trouble)

    @property
    def calls(self) -> list[str]:
        """Names of the operations so far."""
        return self.trouble.calls

    def lose(self, operation: str, when: Literal["before", "after"]) -> None:
        """The next call of this operation has an unknown outcome: not done (`before`) or done (`after`)."""
        self.trouble.losses.append((operation, when))


class MemoryStore(Repository):
    """Snapshots and configurations in memory; shared by the nodes of a test."""

    def __init__(self) -> None:
        self.snapshots: dict[str, StoredSession] = {}
        self.configurations: dict[str, SessionConfiguration] = {}
        self.quiet: list[str] = []
        self.meeting: asyncio.Barrier | None = None
        """Where readers wait for each other, if a test wants them to be there at once."""
        self.away = False

    async def stored_session(self, session_id: str) -> StoredSession | None:
        if self.meeting is not None:
            await self.meeting.wait()
        return self.snapshots.get(session_id)

    async def quiet_sessions(self, before: datetime, limit: int) -> list[str]:
        return self.quiet[:limit]

    async def held_back(self, before: datetime, limit: int) -> list[str]:
        return []

    async def unstarted_sessions(self, before: datetime, limit: int) -> list[str]:
        return []

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
        return Providers(
            self.extractor, self.rater, self.slots, self.writer, TableEmbedder(), WordParser(), RuleReader()
        )

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
    """A wall clock that a test moves, and the monotonic clock that goes with it."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
        self._advanced_s = 0.0

    def __call__(self) -> datetime:
        return self.time

    def clock(self) -> float:
        """Monotonic seconds."""
        return time.monotonic() + self._advanced_s

    def advance(self, **amount: float) -> None:
        """Time passes."""
        self.time += timedelta(**amount)
        self._advanced_s += timedelta(**amount).total_seconds()

    def set(self, **amount: float) -> None:
        """Somebody sets the wall clock."""
        self.time += timedelta(**amount)


class CalendarChecks(ServerChecks):
    """Of a hot server whose clock is the test's."""

    def __init__(self, connection: Connection, calendar: Calendar) -> None:
        super().__init__(connection)
        self.calendar = calendar

    async def time_s(self) -> float:
        return self.calendar().timestamp()


def asking_consent(**settings: Any) -> SessionConfiguration:
    """The small configuration, with consent required."""
    plain = configuration(**settings)
    consent = ConsentText(text="Do you agree?", version="2")
    return plain.model_copy(update={"concept": plain.concept.model_copy(update={"consent": consent})})


@dataclass
class Node:
    """One process of a test: a hub, and a server around its socket."""

    hub: Hub
    listeners: Listeners
    hot: TroubledHot
    store: MemoryStore
    providing: Providing
    calendar: Calendar
    url: str = ""
    measures: list[TurnMeasure] = field(default_factory=list)
    heard: list[SpokenAnswerMeasure] = field(default_factory=list)

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


async def authenticate(token: str, address: str) -> str | None:
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
    speech: Speech | None = None,
    listening: ListeningSettings | None = None,
) -> AsyncIterator[Node]:
    """A hub without a server."""
    measures: list[TurnMeasure] = []
    heard: list[SpokenAnswerMeasure] = []
    calendar, pipeline = calendar or Calendar(), providing.pipeline()
    hot.checks = CalendarChecks(hot.connection, calendar)
    services = SessionServices(
        hot=hot,
        store=store,
        pipeline_of=lambda configuration: pipeline,
        settings=settings,
        now=calendar,
        clock=calendar.clock,
        new_id=lambda: uuid4().hex,
        turn_deadline_s=lambda configuration: settings.turn_deadline_s,
        on_turn=measures.append,
    )
    hub = Hub(services, drain_s=drain_s)
    understood = speech or Speech(Settings(), Metrics(), None)
    listeners = Listeners(SpeechServices(understood, listening or ENDING_AT_ONCE, None, heard.append))
    async with hub:
        yield Node(hub, listeners, hot, store, providing, calendar, measures=measures, heard=heard)


@asynccontextmanager
async def running_node(
    hot: TroubledHot,
    store: MemoryStore,
    providing: Providing,
    *,
    settings: HubSettings = QUICK,
    sockets: SocketSettings | None = None,
    calendar: Calendar | None = None,
    speech: Speech | None = None,
    listening: ListeningSettings | None = None,
    limits: ConnectionLimits | None = None,
    voices: Voices | None = None,
) -> AsyncIterator[Node]:
    """A hub behind a real server on a free port."""
    async with running_hub(
        hot, store, providing, settings=settings, calendar=calendar, speech=speech, listening=listening
    ) as node:
        voices = voices or Voices(VoiceSettings(), Metrics())
        services = RespondentServices(node.hub, node.listeners, voices, authenticate, sockets or SocketSettings())
        app = Starlette(routes=[services.route(), realtime_route(services)])
        with bind("127.0.0.1", 0) as listener:
            limits = limits or ConnectionLimits(per_address=10_000, new_burst=10_000)
            async with serving(app, listener, limits=limits):
                node.url = f"ws://127.0.0.1:{listener.getsockname()[1]}"
                yield node
                await node.hub.drain(1.0)


async def eventually(condition: Callable[[], bool], deadline_s: float = PATIENCE_S) -> None:
    """Wait until something is so; fails after the deadline."""
    async with asyncio.timeout(deadline_s):
        while not condition():
            await asyncio.sleep(0.002)


def status(owner: SessionOwner) -> str:
    """The session's state by name."""
    return owner.state.status
