"""The one task of a session: runs its jobs one after another, and copes with hot storage that is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import structlog

from pipeline.errors import PipelineError
from server.hot.errors import HotError, NotOwner, SessionErased, SessionNotHot, StorageUnavailable
from server.lean_event import LeanEvent
from server.protocol.codes import CLOSE_NORMAL, CLOSE_SERVICE_RESTART, CLOSE_TAKEN_OVER
from server.protocol.outbound import Notice
from server.session.audience import Audience
from server.session.events import InterviewErased, SessionObserver, SessionRefreshed, StorageRecovered
from server.session.ledger import Ledger
from server.session.problems import Forgotten, Moved, SessionProblem
from server.session.settings import HubSettings

T = TypeVar("T")
log = structlog.get_logger("askwell.session")
LONGEST_PAUSE_S = 2.0


def quiet_future() -> asyncio.Future[Any]:
    """A future whose error may stay unread: asyncio does not complain about it."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.add_done_callback(_read_error)
    return future


def _read_error(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


@dataclass(slots=True)
class Job(Generic[T]):
    """One piece of work and its result. It is done also if nobody waits for the result any more."""

    name: str
    work: Callable[[], Awaitable[T]]
    done: asyncio.Future[T] = field(default_factory=quiet_future)

    def succeed(self, result: T) -> None:
        """Set the result."""
        if not self.done.done():
            self.done.set_result(result)

    def fail(self, error: BaseException) -> None:
        """Set the error."""
        if not self.done.done():
            self.done.set_exception(error)


class Worker:
    """Runs the jobs of one session until it leaves this node.

    Args:
        ledger: the session.
        audience: its respondent.
        settings: times and bounds.
        clock: monotonic seconds.
        tell: tells the session's observers.
    """

    def __init__(
        self,
        ledger: Ledger,
        audience: Audience,
        settings: HubSettings,
        clock: Callable[[], float],
        tell: SessionObserver,
    ) -> None:
        self._ledger = ledger
        self._audience = audience
        self._settings = settings
        self._clock = clock
        self._tell = tell
        self._jobs: list[Job[Any]] = []
        self._changed = LeanEvent()
        self._current: asyncio.Task[None] | None = None
        self._settled = LeanEvent()
        self._storage_down = False
        self.leaving: Moved | None = None
        """Why this worker takes no more jobs, if so."""
        self.last_used = clock()
        """When a job last began, in seconds of the clock."""

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        return self._current is not None or len(self._jobs) > 0

    @property
    def able(self) -> bool:
        """Whether jobs can succeed: it is not leaving and storage was not found to be away."""
        return self.leaving is None and not self._storage_down

    async def run(self) -> None:
        """Run jobs until it is time to leave."""
        try:
            async with asyncio.TaskGroup() as tasks:
                while (job := await self._next()) is not None:
                    name = f"{job.name} {self._ledger.session_id}"
                    self._current = tasks.create_task(self._perform(job), name=name)
                    await asyncio.wait({self._current})
                    self._current = None
        finally:
            self.leaving = self.leaving or Moved("storage_unavailable", "This server is stopping.")
            while self._jobs:
                self._jobs.pop(0).fail(self.leaving)
            self._audience.close(self.leaving.close_code)
            self._settled.set()

    async def _next(self) -> Job[Any] | None:
        """The next job, or None when it is time to leave."""
        if not self._jobs:
            self._settled.set()
        while self.leaving is None:
            if self._jobs:
                self._settled.clear()
                self.last_used = self._clock()
                return self._jobs.pop(0)
            self._changed.clear()
            await self._changed.wait()
        return None

    async def settled(self) -> None:
        """Wait until no job runs or waits."""
        while self.busy and self.leaving is None:
            self._settled.clear()
            await self._settled.wait()

    # Leaving

    def stop(self, reason: Moved) -> None:
        """Leave at once; the running job is cancelled, which changes nothing that is stored."""
        if self.leaving is None:
            self.leaving = reason
        self._audience.close(self.leaving.close_code)
        if self._current is not None and self._current is not asyncio.current_task():
            self._current.cancel()
        self._changed.set()

    def taken_over(self) -> None:
        """Another owner, maybe on another node, has claimed the session."""
        self.stop(Moved("turn_in_progress", "This interview was opened elsewhere.", close_code=CLOSE_TAKEN_OVER))

    def forgotten(self) -> Moved:
        """Hot storage has lost the session; why this worker is leaving."""
        if self.leaving is None:
            log.warning("session.not_hot", session=self._ledger.session_id)
            self.stop(Forgotten())
        assert self.leaving is not None
        return self.leaving

    async def erased(self) -> None:
        """The session does not exist any more; the respondent is told."""
        if self.leaving is None:
            self._tell(InterviewErased())
            await self._audience.publish_erased()
        self.stop(Moved("not_found", "This interview was erased.", close_code=CLOSE_NORMAL))

    def refuse_when_unable(self) -> None:
        """Refuse what can't be done now.

        Raises:
            Moved: this worker is leaving.
            SessionProblem: `storage_unavailable`.
        """
        if self.leaving is not None:
            raise self.leaving
        if self._storage_down:
            raise SessionProblem("storage_unavailable")

    # Jobs

    def put(self, name: str, work: Callable[[], Awaitable[T]]) -> Job[T]:
        """Queue a job after all others.

        Raises:
            Moved, SessionProblem: as `refuse_when_unable`; `rate_limited` when too many wait.
        """
        self.refuse_when_unable()
        if len(self._jobs) >= self._settings.max_jobs:
            raise SessionProblem("rate_limited")
        job = Job(name, work)
        self._jobs.append(job)
        self._changed.set()
        return job

    def put_first(self, name: str, work: Callable[[], Awaitable[T]]) -> None:
        """Queue a job before all others; for the owner's own work, without a bound."""
        self._jobs.insert(0, Job(name, work))
        self._changed.set()

    async def do(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """Queue a job and wait for its result. It runs also if the caller stops waiting.

        Raises:
            Moved, SessionProblem: as `put`; and what `work` raises.
        """
        return await self.put(name, work).done

    async def _perform(self, job: Job[Any]) -> None:
        self._audience.last_sent_at = self._clock()
        async with asyncio.TaskGroup() as tasks:
            watchdog = tasks.create_task(self._watch())
            try:
                job.succeed(await job.work())
            except asyncio.CancelledError:
                job.fail(self.leaving or Moved("storage_unavailable", "This server is stopping."))
                raise
            except NotOwner as exc:
                self.taken_over()
                job.fail(exc)
            except SessionErased as exc:
                await self.erased()
                job.fail(exc)
            except SessionNotHot:
                job.fail(self.forgotten())
            except StorageUnavailable as exc:
                job.fail(SessionProblem("storage_unavailable"))
                self.recover(exc)
            except (SessionProblem, HotError, PipelineError) as exc:
                job.fail(exc)
            except Exception:
                log.exception("session.defect", session=self._ledger.session_id, job=job.name)
                self._ledger.stale = True
                job.fail(SessionProblem("internal"))
            finally:
                watchdog.cancel()

    async def _watch(self) -> None:
        """Send a notice whenever the respondent has heard nothing for `still_thinking_s`."""
        limit_s = self._settings.still_thinking_s
        while True:
            quiet_s = self._clock() - self._audience.last_sent_at
            if quiet_s >= limit_s:
                await self._notify()
            else:
                await asyncio.sleep(limit_s - quiet_s)

    # Storage

    async def fresh(self) -> None:
        """Read the session again if the outcome of an earlier write is unknown."""
        if self._ledger.stale:
            await self._audience.publish(await self._ledger.refresh())
            self._tell(SessionRefreshed())

    async def insist(self, write: Callable[[], Awaitable[T]]) -> T:
        """Repeat a write that is safe to repeat until its outcome is known; the respondent is told.

        Raises:
            StorageUnavailable: storage did not come back in time; this worker is leaving.
        """
        settings, loop = self._settings, asyncio.get_running_loop()
        pause_s, end = settings.storage_retry_s, loop.time() + settings.storage_patience_s
        try:
            while True:
                try:
                    return await write()
                except StorageUnavailable as exc:
                    if loop.time() + pause_s >= end:
                        self.stop(Moved("storage_unavailable", str(exc), close_code=CLOSE_SERVICE_RESTART))
                        raise
                if not self._storage_down:
                    self._storage_down = True
                    await self._notify()
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
        finally:
            self._storage_down = False

    async def _notify(self) -> None:
        """Say that it takes time, or, where an answer is stored, that it is."""
        pending = self._ledger.pending
        kept = self._storage_down and pending is not None and not pending.failed
        await self._audience.broadcast(Notice.of("answer_kept" if kept else "still_thinking"))

    def recover(self, cause: StorageUnavailable) -> None:
        """Refuse everything until storage answers again, then read the session again."""
        if self.able:
            log.warning("storage.unavailable", session=self._ledger.session_id, error=str(cause))
            self._storage_down = True
            self.put_first("recover", self._recovery)

    async def _recovery(self) -> None:
        self._ledger.stale = True
        await self.insist(self.fresh)
        self._tell(StorageRecovered())
