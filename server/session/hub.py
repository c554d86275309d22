"""The sessions of this node: claiming, rebuilding, creating, releasing and erasing them.

The newest claim owns a session, on whatever node; nothing expires.

Entering the hub starts its tasks; leaving it lets running turns finish, within a bound, and closes every socket with
1012.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary

import structlog

from pipeline.state import InterviewState
from server.cancellation import cancel_requested
from server.hot.errors import (
    HotError,
    HotMisconfigured,
    StorageUnavailable,
)
from server.hot.values import Wake
from server.protocol.codes import CLOSE_SERVICE_RESTART
from server.protocol.moderator import AnyCommand
from server.session.clock_changes import TOLERANCE_S, ClockChanges
from server.session.commands import QueuedCommand
from server.session.context import SessionServices
from server.session.loading import SessionLoader
from server.session.new import NewSession
from server.session.owner import SessionOwner
from server.session.problems import Forgotten, Moved, SessionProblem
from server.session.routing import CommandRouter

T = TypeVar("T")
log = structlog.get_logger("askwell.session")
SWEEP_LIMIT = 50
RESUBSCRIBE_S = 1.0


class Hub:
    """Owners of the sessions that live on this node.

    Args:
        services: of the node.
        drain_s: how long running turns may take to finish when the hub is left.
    """

    def __init__(self, services: SessionServices, *, drain_s: float = 10.0) -> None:
        self._services = services
        self.settings = services.settings
        self.on_claim: list[Callable[[SessionOwner], None]] = []
        """Called with every owner that begins to live here, before it runs; for those who observe all sessions."""
        self._loader = SessionLoader(services)
        self._router = CommandRouter(services, self.attach, self.owner)
        self._drain_s = drain_s
        self._owners: dict[str, SessionOwner] = {}
        self._claims: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks = asyncio.TaskGroup()
        self._background: list[asyncio.Task[None]] = []
        self._draining = False
        self._clock_changes = ClockChanges(services.now, services.clock)

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._background = [
            self._tasks.create_task(self._receive_wakes(), name="hub wakes"),
            self._tasks.create_task(self._sweep_for_ever(), name="hub sweeps"),
            self._tasks.create_task(self._tidy_for_ever(), name="hub tidying"),
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
                    tasks.create_task(_settled(owner))
        except TimeoutError:
            log.warning("hub.drain_incomplete", sessions=sum(owner.context.worker.busy for owner in owners))
        for owner in owners:
            owner.stop(Moved("storage_unavailable", "This server is restarting.", close_code=CLOSE_SERVICE_RESTART))

    @property
    def sessions(self) -> int:
        """How many sessions live here."""
        return len(self._owners)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is being done for any session here."""
        return not any(owner.context.worker.busy for owner in self._owners.values())

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
        return await self._loader.create(new)

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
            # News of a newer claim may be on their way. Who connects now must not be the one to be sent away.
            if here is not None and await self._is_ours(here):
                here.touch()
                return here
            self.admit()
            owner = await self._loader.claim(session_id)
            self._owners[session_id] = owner
            for told in self.on_claim:
                told(owner)
            self._tasks.create_task(self._own(owner), name=f"owner {session_id}")
            # A message about a newer claim may have come before this owner was registered here.
            self._tasks.create_task(self._guarded(self._check_ownership(owner)), name=f"check {session_id}")
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
            await self._services.hot.erase(session_id)
        log.info("session.erased", session=session_id)

    async def command(self, session_id: str, command: AnyCommand, *, who: str) -> int:
        """Have a moderator's command applied by the session's owner, on whatever node it lives.

        Returns:
            The number of the turn it applies to.

        Raises:
            SessionProblem: it was refused, or the session does not exist.
        """
        at = self._services.now().isoformat()
        return await self._router.send(session_id, QueuedCommand(command.command_id, who, at, command))

    def admit(self) -> None:
        """Make sure that there is room for one more session; idle ones are released if need be.

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

    async def _own(self, owner: SessionOwner) -> None:
        try:
            await owner.run()
        except Exception:
            log.exception("session.lost", session=owner.session_id)
        finally:
            if self._owners.get(owner.session_id) is owner:
                del self._owners[owner.session_id]

    # What happens elsewhere

    async def _receive_wakes(self) -> None:
        while not cancel_requested():
            try:
                async for wake in self._services.hot.inbox.wakes():
                    self._tasks.create_task(self._guarded(self._woken(wake)), name=f"wake {wake.kind}")
            except HotMisconfigured as exc:
                # Without messages of other nodes, a session that was taken over is noticed at its next write.
                log.warning("hub.deaf", reason=str(exc))
                return
            except Exception:
                log.exception("hub.defect")
            await asyncio.sleep(RESUBSCRIBE_S)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Work in the background whose failure is logged and harms no session."""
        try:
            await work
        except Exception:
            log.exception("hub.defect")

    async def _woken(self, wake: Wake) -> None:
        if wake.kind == "replied":
            self._router.replied(wake.owner)
            return
        if wake.kind == "resync":
            for mine in list(self._owners.values()):
                await self._check_ownership(mine)
            return
        owner = self.owner(wake.session_id)
        if owner is None:
            return
        match wake.kind:
            case "claimed":
                if wake.owner != owner.owner_id:
                    await self._check_ownership(owner)
            case "erased":
                await owner.context.worker.erased()
            case "inbox":
                await self._router.apply_waiting(owner)

    async def _check_ownership(self, owner: SessionOwner) -> None:
        """Check that the session is still owned here: this claim may be newer than the news of another."""
        if await self._is_ours(owner):
            await self._router.apply_waiting(owner)

    async def _is_ours(self, owner: SessionOwner) -> bool:
        """Whether no other owner has claimed the session, as far as is known; an owner that lost it leaves."""
        try:
            holder = await self._services.hot.owner_of(owner.session_id)
        except StorageUnavailable:
            return True
        if holder not in (None, "", owner.owner_id):
            owner.context.worker.taken_over()
        return owner.leaving is None

    # Housekeeping

    async def _sweep_for_ever(self) -> None:
        while not cancel_requested():
            await asyncio.sleep(self.settings.sweep_every_s)
            await self._guarded(self.sweep())

    async def _tidy_for_ever(self) -> None:
        while not cancel_requested():
            await asyncio.sleep(self.settings.tidy_every_s)
            await self._guarded(self.tidy())

    async def tidy(self) -> None:
        """Let go of sessions that nobody is connected to here, and keep little of those that nobody uses."""
        self._release_idle(self.settings.idle_release_s)
        for owner in list(self._owners.values()):
            await owner.rest(self.settings.rest_after_s)

    async def sweep(self) -> None:
        """Let go of sessions that nobody uses here, mark those that were left alone as abandoned, erase those that
        never began, and those that were held back for as long as they are kept.
        """
        await self.tidy()
        await self._keep_hot()
        for session_id in await self._services.store.held_back(self._services.now(), SWEEP_LIMIT):
            log.info("session.held_too_long", session=session_id)
            await self.erase(session_id)
        if not await self._knows_who_was_silent():
            return
        await self._abandon_quiet()
        await self._erase_unstarted()

    async def _abandon_quiet(self) -> None:
        before = self._services.now() - timedelta(seconds=self.settings.abandon_after_s)
        for session_id in await self._services.store.quiet_sessions(before, SWEEP_LIMIT):
            abandon = QueuedCommand(f"abandon:{self._services.new_id()}", "", self._services.now().isoformat(), None)
            try:
                await self._router.send(session_id, abandon)
            except (SessionProblem, HotError) as exc:
                log.info("sweep.passed_over", session=session_id, reason=str(exc))

    async def _erase_unstarted(self) -> None:
        before = self._services.now() - timedelta(seconds=self.settings.unstarted_until_s)
        for session_id in await self._services.store.unstarted_sessions(before, SWEEP_LIMIT):
            owner = self.owner(session_id)
            if owner is not None and owner.unused_s() is None:
                continue
            log.info("session.never_began", session=session_id)
            await self.erase(session_id)

    async def _knows_who_was_silent(self) -> bool:
        """Whether the wall clock tells how long a session was left alone.

        It does not after it was set, until as much time has passed; nor while hot storage has another time.
        """
        self._clock_changes.look()
        if not self._clock_changes.none_for(self.settings.abandon_after_s):
            return False
        try:
            apart_s = abs(await self._services.hot.checks.time_s() - self._services.now().timestamp())
        except HotError as exc:
            log.info("sweep.passed_over", reason=str(exc))
            return False
        if apart_s > TOLERANCE_S:
            log.warning("clock.differs", apart_s=round(apart_s), reason="nobody is marked as abandoned meanwhile")
        return apart_s <= TOLERANCE_S

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


async def _settled(owner: SessionOwner) -> None:
    """Wait until an answer that is over is taken, and nothing runs any more."""
    await owner.context.settle_answers()
    await owner.context.worker.settled()
