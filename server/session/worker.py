"""The one task of a session: does what is asked, piece after piece, and copes with storage that is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import structlog

from pipeline.errors import PipelineError
from server.hot.errors import Gone, HotError, NotOwner, SessionNotHot, StorageUnavailable
from server.protocol.codes import CLOSE_COME_AGAIN, CLOSE_NORMAL, CLOSE_TAKEN_OVER
from server.protocol.outbound import Notice
from server.session.audience import Audience
from server.session.jobs import Job, JobQueue
from server.session.ledger import Ledger, insist
from server.session.problems import Forgotten, Moved, SessionProblem
from server.session.surroundings import Surroundings

T = TypeVar("T")
log = structlog.get_logger("askwell.session")


def _nothing() -> None:
    return


class Worker:
    """Works on one session until it is time to leave.

    Args:
        around: what owners share.
        ledger: the session.
        audience: who listens.
    """

    def __init__(self, around: Surroundings, ledger: Ledger, audience: Audience) -> None:
        self._around = around
        self._ledger = ledger
        self._audience = audience
        self._jobs = JobQueue(around.settings.max_jobs)
        self._current: asyncio.Task[None] | None = None
        self._leaving: Moved | None = None
        self._settled = asyncio.Event()
        self._storage_down = False
        self.last_used = around.clock()
        self.on_refreshed: Callable[[], None] = _nothing
        """Called when the session was read anew after an unknown outcome."""
        self.on_recovered: Callable[[], None] = _nothing
        """Called when storage is back."""

    @property
    def leaving(self) -> Moved | None:
        """Why this worker is no use any more, if so."""
        return self._leaving

    @property
    def busy(self) -> bool:
        """Whether something is being done or waits."""
        return self._current is not None or len(self._jobs) > 0

    @property
    def able(self) -> bool:
        """Whether it is worth asking for something."""
        return self._leaving is None and not self._storage_down

    async def run(self) -> None:
        """Do what comes until it is time to leave."""
        try:
            async with asyncio.TaskGroup() as tasks:
                while (job := await self._next_job()) is not None:
                    name = f"{job.name} {self._ledger.session_id}"
                    self._current = tasks.create_task(self._perform(job), name=name)
                    await asyncio.wait({self._current})
                    self._current = None
        finally:
            self._leaving = self._leaving or Moved("storage_unavailable", "This server is stopping.")
            self._jobs.fail_all(self._leaving)
            self._audience.close(self._leaving.close_code)
            self._settled.set()

    async def _next_job(self) -> Job[Any] | None:
        if not self.busy:
            self._settled.set()
        job = await self._jobs.next(lambda: self._leaving is not None)
        if job is not None:
            self._settled.clear()
            self.last_used = self._around.clock()
        return job

    async def settled(self) -> None:
        """Wait until nothing is being done and nothing waits."""
        while self.busy and self._leaving is None:
            self._settled.clear()
            await self._settled.wait()

    # Leaving

    def stop(self, reason: Moved) -> None:
        """Leave at once; what runs is cancelled and leaves no trace."""
        if self._leaving is None:
            self._leaving = reason
        self._audience.close(self._leaving.close_code)
        if self._current is not None and self._current is not asyncio.current_task():
            self._current.cancel()
        self._jobs.wake()

    def taken_over(self) -> None:
        """Another connection, maybe on another node, owns the session now."""
        self.stop(Moved("turn_in_progress", "This interview was opened elsewhere.", close_code=CLOSE_TAKEN_OVER))

    def forgotten(self) -> Moved:
        """Hot storage has lost the session; why this worker is leaving."""
        if self._leaving is None:
            log.warning("session.not_hot", session=self._ledger.session_id)
            self.stop(Forgotten())
        assert self._leaving is not None
        return self._leaving

    async def erased(self) -> None:
        """The session does not exist any more; whoever is connected is told."""
        if self._leaving is None:
            await self._audience.bid_farewell()
        self.stop(Moved("not_found", "This interview was erased.", close_code=CLOSE_NORMAL))

    def refuse_when_unable(self) -> None:
        """Refuse what can't be done now.

        Raises:
            Moved: this worker is leaving.
            SessionProblem: `storage_unavailable`.
        """
        if self._leaving is not None:
            raise self._leaving
        if self._storage_down:
            raise SessionProblem("storage_unavailable")

    # Doing

    def put(self, name: str, work: Callable[[], Awaitable[T]]) -> Job[T]:
        """Have something done after all that waits.

        Raises:
            Moved, SessionProblem: as `refuse_when_unable`; `rate_limited` when too much waits.
        """
        self.refuse_when_unable()
        return self._jobs.put(Job(name, work))

    def put_first(self, name: str, work: Callable[[], Awaitable[T]]) -> None:
        """Have something done before all that waits; for the session's own needs."""
        self._jobs.put_first(Job(name, work))

    async def do(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        """Have something done and wait for its result. It is done also if the caller stops waiting.

        Raises:
            Moved, SessionProblem: as `put`; and what `work` raises.
        """
        return await self.put(name, work).done

    async def _perform(self, job: Job[Any]) -> None:
        self._audience.last_sign = self._around.clock()
        async with asyncio.TaskGroup() as tasks:
            watchdog = tasks.create_task(self._watch())
            try:
                job.succeed(await job.work())
            except asyncio.CancelledError:
                job.fail(self._leaving or Moved("storage_unavailable", "This server is stopping."))
                raise
            except NotOwner as exc:
                self.taken_over()
                job.fail(exc)
            except Gone as exc:
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
        """Nobody waits in silence for long."""
        limit_s = self._around.settings.still_thinking_s
        while True:
            quiet_s = self._around.clock() - self._audience.last_sign
            if quiet_s >= limit_s:
                await self._notify()
            else:
                await asyncio.sleep(limit_s - quiet_s)

    # Storage

    async def fresh(self) -> None:
        """See what hot storage holds if the outcome of an earlier write is unknown."""
        if self._ledger.stale:
            await self._audience.publish(await self._ledger.refresh())
            self.on_refreshed()

    async def insist(self, write: Callable[[], Awaitable[T]]) -> T:
        """Repeat a write until its outcome is known; the respondent is told that nothing is lost.

        Raises:
            StorageUnavailable: storage did not come back in time; this worker is leaving.
        """
        settings = self._around.settings
        try:
            return await insist(
                write,
                pause_s=settings.storage_retry_s,
                patience_s=settings.storage_patience_s,
                on_trouble=self._trouble,
            )
        except StorageUnavailable as exc:
            self.stop(Moved("storage_unavailable", str(exc), close_code=CLOSE_COME_AGAIN))
            raise
        finally:
            self._storage_down = False

    async def _trouble(self) -> None:
        if not self._storage_down:
            self._storage_down = True
            await self._notify()

    async def _notify(self) -> None:
        """Say that it takes time; that the answer is kept only if one is on disk."""
        pending = self._ledger.pending
        kept = self._storage_down and pending is not None and not pending.failed
        await self._audience.broadcast(Notice.of("answer_kept" if kept else "still_thinking"))

    def recover(self, cause: StorageUnavailable) -> None:
        """Refuse everything until storage is back, then see what it holds."""
        if self.able:
            log.warning("storage.unavailable", session=self._ledger.session_id, error=str(cause))
            self._storage_down = True
            self.put_first("recover", self._recovery)

    async def _recovery(self) -> None:
        self._ledger.stale = True
        await self.insist(self.fresh)
        self.on_recovered()
