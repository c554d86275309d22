"""The sessions of this node: claiming, rebuilding, creating, releasing and erasing them.

Entering the hub starts its tasks; leaving it lets running turns finish, within a bound, and closes every socket with
1012.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

import structlog

from pipeline.concept import SessionConfiguration
from pipeline.errors import StateVersionError
from pipeline.state import InterviewState
from server.ending import told_to_end
from server.hot.errors import (
    Gone,
    HotError,
    HotMisconfigured,
    SessionExists,
    SessionNotHot,
    StorageUnavailable,
)
from server.hot.values import Wake
from server.protocol.codes import CLOSE_COME_AGAIN
from server.protocol.moderator import AnyCommand
from server.session.inbox import Order
from server.session.ledger import Ledger
from server.session.measure import HeardObserver, Observer, ignore
from server.session.new import NewSession
from server.session.orders import Orders
from server.session.owner import SessionOwner
from server.session.ports import Configurations, Hot, Pipeline, Snapshots
from server.session.problems import Forgotten, Moved, SessionProblem
from server.session.recorder import NoRecorder, Recorder
from server.session.settings import HubSettings, ListeningSettings
from server.session.surroundings import Surroundings
from server.session.voice import Mute, Voice
from server.session.witness import NobodyWatches, Witnesses

T = TypeVar("T")
log = structlog.get_logger("askwell.session")
SWEEP_LIMIT = 50
LISTEN_AGAIN_S = 1.0


class Hub:
    """Owners of the sessions that live on this node.

    Args:
        hot: hot storage.
        snapshots: where sessions are found that hot storage has forgotten.
        configurations: where pinned configurations are kept.
        pipeline: the interview itself.
        settings: times and bounds.
        now: wall clock, with zone.
        clock: monotonic seconds.
        new_id: makes ids of owners and commands.
        observe: told of every run of a turn.
        turn_deadline_s: longest time for one turn of a session with that configuration; as the settings if not given.
        drain_s: how long running turns may take to finish when the hub is left.
        voice: what hears respondents; nothing if not given.
        listening: how they are listened to.
        observe_heard: told of every spoken answer.
        recorder: keeps the sound of answers; nothing is kept if not given.
        witnesses: told what happens to each session; nobody is if not given.
    """

    def __init__(
        self,
        *,
        hot: Hot,
        snapshots: Snapshots,
        configurations: Configurations,
        pipeline: Pipeline,
        settings: HubSettings | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = lambda: str(uuid4()),
        observe: Observer = ignore,
        turn_deadline_s: Callable[[SessionConfiguration], float] | None = None,
        drain_s: float = 10.0,
        voice: Voice | None = None,
        listening: ListeningSettings | None = None,
        observe_heard: HeardObserver = ignore,
        recorder: Recorder | None = None,
        witnesses: Witnesses | None = None,
    ) -> None:
        self.settings = settings or HubSettings()
        self._hot = hot
        self._snapshots = snapshots
        self._configurations = configurations
        self._around = Surroundings(
            hot,
            pipeline,
            self.settings,
            now,
            clock,
            new_id,
            observe,
            turn_deadline_s,
            voice=voice or Mute(),
            listening=listening or ListeningSettings(),
            observe_heard=observe_heard,
            recorder=recorder or NoRecorder(),
            witnesses=witnesses or NobodyWatches(),
        )
        self._orders = Orders(hot, self.settings, now, attach=self.attach, owner=self.owner)
        self._drain_s = drain_s
        self._owners: dict[str, SessionOwner] = {}
        self._claims: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._pinned: dict[str, SessionConfiguration] = {}
        self._tasks = asyncio.TaskGroup()
        self._background: list[asyncio.Task[None]] = []
        self._draining = False

    # Its life

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._background = [
            self._tasks.create_task(self._listen(), name="hub listens"),
            self._tasks.create_task(self._sweep_for_ever(), name="hub sweeps"),
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.drain(self._drain_s)
        for task in self._background:
            task.cancel()
        await self._tasks.__aexit__(kind, error, trace)

    async def drain(self, deadline_s: float) -> None:
        """Take no more sessions, let running turns finish within the deadline, and let go of every session."""
        self._draining = True
        owners = list(self._owners.values())
        try:
            async with asyncio.timeout(deadline_s), asyncio.TaskGroup() as tasks:
                for owner in owners:
                    tasks.create_task(owner.settled())
        except TimeoutError:
            log.warning("hub.drain_incomplete", sessions=sum(owner.busy for owner in owners))
        for owner in owners:
            owner.stop(Moved("storage_unavailable", "This server is restarting.", close_code=CLOSE_COME_AGAIN))

    @property
    def sessions(self) -> int:
        """How many sessions live here."""
        return len(self._owners)

    def owner(self, session_id: str) -> SessionOwner | None:
        """The session's owner, if it lives here."""
        owner = self._owners.get(session_id)
        return owner if owner is not None and owner.leaving is None else None

    # Sessions

    async def create(self, new: NewSession) -> InterviewState:
        """Begin a session, which is on disk when this returns.

        Raises:
            SessionProblem: `too_many_sessions`.
            HotError: storage can't take it now.
        """
        self.admit()
        if new.config_hash not in self._pinned:
            await self._configurations.save_configuration(new.config_hash, new.configuration)
            self._pinned[new.config_hash] = new.configuration
        state = new.state(self._around.now())
        await self._hot.create(state.session_id, state=state.dump(), rev=state.rev)
        log.info("session.created", session=state.session_id, concept=state.concept_id)
        return state

    async def attach(self, session_id: str) -> SessionOwner:
        """The session's owner on this node: the one that is here, or a new one that claims the session.

        Raises:
            SessionProblem: `not_found`, `too_many_sessions`.
            Moved: this node takes no sessions any more.
            HotError: storage can't be reached.
        """
        lock = self._claims.setdefault(session_id, asyncio.Lock())
        async with lock:
            here = self.owner(session_id)
            if here is not None:
                here.touch()
                return here
            self.admit()
            owner = await self._claim(session_id)
            self._owners[session_id] = owner
            self._tasks.create_task(self._own(owner), name=f"owner {session_id}")
            # News of a claim that overtook ours may have come before this owner was known here.
            self._tasks.create_task(self._guarded(self._look_at(owner)), name=f"look {session_id}")
            return owner

    async def use(self, session_id: str, work: Callable[[SessionOwner], Awaitable[T]]) -> T:
        """Have something done by the session's owner; once more if hot storage turns out to have lost the session.

        Args:
            session_id: the session.
            work: safe to repeat.

        Raises:
            SessionProblem, HotError: as `attach`, and what `work` raises.
        """
        try:
            return await work(await self.attach(session_id))
        except Forgotten:
            return await work(await self.attach(session_id))

    async def erase(self, session_id: str) -> None:
        """Erase a session everywhere; a running turn is cancelled. Erasing again changes nothing.

        Raises:
            StorageUnavailable: storage can't be reached; nothing is erased.
        """
        owner = self.owner(session_id)
        if owner is not None:
            await owner.withdraw()
        else:
            await self._hot.erase(session_id)
        log.info("session.erased", session=session_id)

    async def command(self, session_id: str, command: AnyCommand, *, who: str) -> int:
        """Have a moderator's command applied by the session's owner, on whatever node it lives.

        Returns:
            The number of the turn it applies to.

        Raises:
            SessionProblem: it was refused, or the session does not exist.
        """
        at = self._around.now().isoformat()
        return await self._orders.place(session_id, Order(command.command_id, who, at, command))

    def admit(self) -> None:
        """Whether there is room for one more session.

        Raises:
            SessionProblem: `too_many_sessions`.
            Moved: this node takes no sessions any more.
        """
        if self._draining:
            raise Moved("storage_unavailable", "This server is restarting. Please try again in a moment.")
        if len(self._owners) >= self.settings.max_sessions:
            self._release_idle(0.0)
        if len([owner for owner in self._owners.values() if owner.leaving is None]) >= self.settings.max_sessions:
            raise SessionProblem("too_many_sessions")

    async def _claim(self, session_id: str) -> SessionOwner:
        owner_id = self._around.new_id()
        try:
            wait_s = self.settings.room_wait_s
            try:
                ledger = await Ledger.claim(self._hot, session_id, owner_id, room_wait_s=wait_s)
            except SessionNotHot:
                await self._rebuild(session_id)
                ledger = await Ledger.claim(self._hot, session_id, owner_id, room_wait_s=wait_s)
        except (Gone, SessionNotHot) as exc:
            raise SessionProblem("not_found") from exc
        except StateVersionError as exc:
            raise Moved("storage_unavailable", str(exc), close_code=CLOSE_COME_AGAIN) from exc
        return SessionOwner(self._around, ledger, await self._configuration(ledger.state.config_hash))

    async def _rebuild(self, session_id: str) -> None:
        stored = await self._snapshots.stored_session(session_id)
        if stored is None:
            raise SessionProblem("not_found")
        try:
            epoch = await self._hot.restore(
                session_id,
                state=stored.state,
                rev=stored.rev,
                pending=stored.pending,
                receipts=stored.receipts,
            )
        except SessionExists:
            return
        log.warning("session.rebuilt", session=session_id, rev=stored.rev, epoch=epoch)

    async def _configuration(self, config_hash: str) -> SessionConfiguration:
        known = self._pinned.get(config_hash)
        if known is None:
            known = await self._configurations.load_configuration(config_hash)
            if known is None:
                log.error("configuration.missing", config_hash=config_hash)
                raise SessionProblem("internal", "The configuration of this interview is missing.")
            self._pinned[config_hash] = known
        return known

    async def _own(self, owner: SessionOwner) -> None:
        try:
            await owner.run()
        except Exception:
            log.exception("session.lost", session=owner.session_id)
        finally:
            if self._owners.get(owner.session_id) is owner:
                del self._owners[owner.session_id]

    # What happens elsewhere

    async def _listen(self) -> None:
        while not told_to_end():
            try:
                async for wake in self._hot.wakes():
                    self._tasks.create_task(self._guarded(self._woken(wake)), name=f"wake {wake.kind}")
            except HotMisconfigured as exc:
                # Without news, a lost session is found out by its next write.
                log.warning("hub.deaf", reason=str(exc))
                return
            except Exception:
                log.exception("hub.defect")
            await asyncio.sleep(LISTEN_AGAIN_S)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something in the background; its failure is logged and harms no session."""
        try:
            await work
        except Exception:
            log.exception("hub.defect")

    async def _woken(self, wake: Wake) -> None:
        if wake.kind == "replied":
            self._orders.replied(wake.owner)
            return
        if wake.kind == "resync":
            for mine in list(self._owners.values()):
                await self._look_at(mine)
            return
        owner = self.owner(wake.session_id)
        if owner is None:
            return
        match wake.kind:
            case "claimed":
                if wake.owner != owner.owner_id:
                    await self._look_at(owner)
            case "erased":
                await owner.erased()
            case "inbox":
                await self._orders.apply_waiting(owner)

    async def _look_at(self, owner: SessionOwner) -> None:
        """Whether the session is still ours; a claim of our own may have come after the news of another one."""
        try:
            holder = await self._hot.owner_of(owner.session_id)
        except StorageUnavailable:
            return
        if holder not in (None, "", owner.owner_id):
            owner.taken_over()
        elif holder is not None:
            await self._orders.apply_waiting(owner)

    # Housekeeping

    async def _sweep_for_ever(self) -> None:
        while not told_to_end():
            await asyncio.sleep(self.settings.sweep_every_s)
            await self._guarded(self.sweep())

    async def sweep(self) -> None:
        """Let go of sessions that nobody uses here, and mark those that were left alone as abandoned."""
        self._release_idle(self.settings.idle_release_s)
        await self._keep_hot()
        before = self._around.now() - timedelta(seconds=self.settings.abandon_after_s)
        for session_id in await self._snapshots.quiet_sessions(before, SWEEP_LIMIT):
            order = Order(f"abandon:{self._around.new_id()}", "", self._around.now().isoformat(), None)
            try:
                await self._orders.place(session_id, order)
            except (SessionProblem, HotError) as exc:
                log.info("sweep.passed_over", session=session_id, reason=str(exc))

    async def _keep_hot(self) -> None:
        try:
            for owner in list(self._owners.values()):
                await owner.keep_hot()
        except StorageUnavailable as exc:
            log.info("sweep.not_kept", reason=str(exc))

    def _release_idle(self, idle_s: float) -> None:
        for owner in list(self._owners.values()):
            unused_s = owner.unused_s()
            if unused_s is not None and unused_s >= idle_s:
                owner.stop(Moved("turn_in_progress", "This session was put aside."))
