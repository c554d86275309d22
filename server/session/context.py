"""What sessions work with: the services of their node, and the context that all parts of one session share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import structlog

from pipeline.concept import SessionConfiguration
from pipeline.conduct.policy import ConductPolicy
from pipeline.ports import SlotProposal
from pipeline.state import InterviewState
from pipeline.turn import TurnPipeline
from server.hot.redis import HotStore
from server.session.audience import Audience
from server.session.change import Change
from server.session.events import SessionCommitted, SessionEvent, SessionObserver, SettingsRequested
from server.session.ledger import Ledger, PendingAnswer
from server.session.measure import TurnMeasure
from server.session.settings import HubSettings
from server.session.speculation import SpeculationLimiter
from server.session.worker import Worker
from server.store.repository import Repository

log = structlog.get_logger("askwell.session")
TAKE_YOUR_TIME: Final = "take_your_time"
"""The wish that takes effect once and is not kept."""


@dataclass(frozen=True)
class SessionServices:
    """What the sessions of a node share.

    Args:
        hot: hot storage.
        store: snapshots of sessions and the configurations they are pinned to.
        pipeline_of: the pipeline of a session with that configuration.
        settings: times and bounds.
        now: wall clock, with zone.
        clock: monotonic seconds.
        new_id: makes ids of owners and commands.
        turn_deadline_s: longest run of the pipeline for one answer of a session with that configuration, in seconds.
        on_turn: called after every run of a turn.
        conduct_of: what an interviewer does about acts, by language, for sessions begun before it was pinned.
        speculation: limits speculative turns.
    """

    hot: HotStore
    store: Repository
    pipeline_of: Callable[[SessionConfiguration], TurnPipeline]
    settings: HubSettings
    now: Callable[[], datetime]
    clock: Callable[[], float]
    new_id: Callable[[], str]
    turn_deadline_s: Callable[[SessionConfiguration], float]
    on_turn: Callable[[TurnMeasure], None]
    conduct_of: Callable[[str], ConductPolicy | None] = lambda language: None
    speculation: SpeculationLimiter = field(default_factory=SpeculationLimiter)


class SessionContext:
    """One session on the node that owns it; built once, shared by everything that works on the session.

    Args:
        services: of the node.
        ledger: the claimed session.
        configuration: what the session is pinned to.
    """

    def __init__(self, services: SessionServices, ledger: Ledger, configuration: SessionConfiguration) -> None:
        self.services = services
        self.ledger = ledger
        self.configuration = configuration
        self.observers: list[SessionObserver] = []
        self.slot_names: list[SlotProposal] = []
        """Names for slots that have been found and are not applied yet."""
        self.time_wanted = False
        """Whether the respondent asked for time, and no spoken answer has had it yet."""
        self.settlers: list[Callable[[], Awaitable[None]]] = []
        """Called before a command is decided on: what was said before it is to be taken first."""
        self._requested: dict[str, Any] = {}
        """Settings that somebody wants and that are not committed yet."""
        self.audience = Audience(services.hot, ledger, services.clock, self.tell)
        self.worker = Worker(ledger, self.audience, services.settings, services.clock, self.tell)

    @property
    def session_id(self) -> str:
        """The session."""
        return self.ledger.session_id

    @property
    def state(self) -> InterviewState:
        """The session after its last commit."""
        return self.ledger.state

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of speaking and listening as they are wanted now, whether or not they are committed yet."""
        return {**self.state.settings, **self._requested}

    def request_settings(self, changes: Mapping[str, Any]) -> None:
        """Somebody wants these settings: they hold from now on, for an answer that is spoken and for the next ones."""
        self._requested |= kept_settings(changes)
        self.time_wanted = self.time_wanted or bool(changes.get(TAKE_YOUR_TIME))
        self.tell(SettingsRequested(changes))

    def settle_settings(self, changes: Mapping[str, Any]) -> None:
        """These requested settings are committed, or refused; what was wanted since stays wanted."""
        for name, value in changes.items():
            if name in self._requested and self._requested[name] == value:
                del self._requested[name]

    async def settle_answers(self) -> None:
        """Have an answer taken that is over unless its speaker goes on: something comes that must not overtake it."""
        for settle in self.settlers:
            await settle()

    @property
    def pipeline(self) -> TurnPipeline:
        """The interview itself."""
        return self.services.pipeline_of(self.configuration)

    @property
    def deadline_s(self) -> float:
        """Longest run of the pipeline for one answer, in seconds."""
        return self.services.turn_deadline_s(self.configuration)

    def tell(self, event: SessionEvent) -> None:
        """Tell every observer; what one raises is logged."""
        for observer in self.observers:
            try:
                observer(event)
            except Exception:
                log.exception("session.observer_defect", session=self.session_id, event_type=type(event).__name__)

    async def commit(self, key: str, change: Change, *, pending: PendingAnswer, repeat: bool) -> None:
        """Make a change true: write it, send its events to the respondent, tell observers.

        This is the only way in which the state of a session changes.

        Args:
            key: the answer's turn key or the command's id; with the same key a change is made once.
            change: what becomes true.
            pending: what happens to a pending answer.
            repeat: whether the write is repeated until its outcome is known. If not, a lost reply is raised, and the
                session is read again before the next change.

        Raises:
            StorageUnavailable: the outcome is unknown; with `repeat`, the session leaves this node.
            HotError: as `HotStore.commit`; nothing is written.
        """
        before = self.state
        self.ledger.stale = True
        if repeat:
            events = await self.worker.insist(lambda: self.ledger.commit(key, change, pending=pending))
        else:
            events = await self.ledger.commit(key, change, pending=pending)
        self.ledger.stale = False
        self.audience.end_question()
        await self.audience.publish(events)
        self.tell(SessionCommitted(before, self.state, change.record))


def kept_settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the wishes that the session keeps."""
    return {name: value for name, value in changes.items() if name != TAKE_YOUR_TIME}
