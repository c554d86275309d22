"""The writer: moves journal records to the relational store.

Records of a partition are written in stream order, in one transaction with the partition's position, so that no second
writer can write them again. A lock per partition only saves other writers the same work. What follows a transaction
(expiry, confirming an erasure, trimming) is repeated when a writer ended in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from secrets import token_hex

import structlog

from server.cancellation import cancel_requested, run_to_completion
from server.hot.errors import HotError, SessionNotHot
from server.hot.journal import START, Journal, JournalRecord, position_key
from server.hot.redis import HotStore
from server.store.apply import Applier
from server.store.errors import RecordRefused, StalePosition, StoreError, StoreUnavailable
from server.store.rebuilding import Rebuilding, Rebuilt

log = structlog.get_logger()
RELEASE_S = 1.0
"""How long a writer that ends may take to release its locks."""


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """How the writer works.

    Args:
        batch: records per transaction at most.
        gather_s: how long a record waits at least, so that what happens at once shares a transaction; all partitions
            write at the same moments, twice in that time.
        wait_ms: how long to wait for a record before the lock is looked at again.
        lock_ttl_s: how long a partition stays locked by a writer that no longer renews its lock, which it does after a
            third of that.
        lock_retry_s: pause between attempts to lock a partition that another writer has.
        attempts: how often a record is tried alone before it becomes a dead letter.
        first_pause_s: pause after the first failure; doubles with each.
        longest_pause_s: longest pause between two tries.
        degraded_after_s: age of the oldest waiting record above which the writer is degraded.
        measure_every_s: how often the lag is measured.
        file_timeout_s: how long removing a session's files may take.
    """

    batch: int = 64
    gather_s: float = 0.05
    wait_ms: int = 4_000
    lock_ttl_s: float = 10.0
    lock_retry_s: float = 2.0
    attempts: int = 5
    first_pause_s: float = 0.05
    longest_pause_s: float = 5.0
    degraded_after_s: float = 30.0
    measure_every_s: float = 2.0
    file_timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Lag:
    """What waits in one partition: records, and the age of the oldest in seconds."""

    records: int
    seconds: float


async def _no_files(_: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class WriterHooks:
    """What else happens when the writer works.

    Args:
        dead_letter: called with a record that could not be stored and became a dead letter.
        lag: called with the lag by partition, each time it was measured.
        erase_files: removes a session's files (recordings, exports); called again after a crash.
    """

    dead_letter: Callable[[JournalRecord], None] = lambda record: None
    lag: Callable[[dict[int, Lag]], None] = lambda lag: None
    erase_files: Callable[[str], Awaitable[None]] = _no_files


class Writer:
    """Writes the journals' records to the relational store.

    Args:
        hot: the hot store, for expiry and erasure.
        journal: of the same server, with connections of its own.
        applier: of the store.
        settings: how it works.
        hooks: what else happens.
    """

    def __init__(
        self,
        hot: HotStore,
        journal: Journal,
        applier: Applier,
        settings: WriterSettings | None = None,
        hooks: WriterHooks | None = None,
    ) -> None:
        self._hot = hot
        self._journal = journal
        self._applier = applier
        self._rebuilding = Rebuilding(hot, journal, applier)
        self._settings = settings or WriterSettings()
        self._hooks = hooks or WriterHooks()
        self._holder = token_hex(8)
        self._partitions = range(hot.keys.partitions)
        self._positions: dict[int, str] = {}
        self._hurry = asyncio.Event()
        self._renew_at: dict[int, float] = {}
        """By partition that this writer has locked: when it renews the lock, by the loop's clock."""
        self._turns = {partition: asyncio.Lock() for partition in self._partitions}
        self._failures: dict[int, str] = {}
        self._lag: dict[int, Lag] = {}
        self._oldest: dict[int, tuple[str, float]] = {}
        """By partition: the oldest record when the lag was last measured, and since when it is that one."""

    @property
    def degraded(self) -> str | None:
        """Why the store is behind or can't be written, in words; None when all is well."""
        if self._failures:
            return next(iter(self._failures.values()))
        oldest_s = max((lag.seconds for lag in self._lag.values()), default=0.0)
        if oldest_s > self._settings.degraded_after_s:
            return f"the store is {oldest_s:.0f} s behind"
        return None

    async def run(self) -> None:
        """Write until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for partition in self._partitions:
                    group.create_task(self._keep_writing(partition), name=f"writer-{partition}")
                group.create_task(self._keep_measuring(), name="writer-lag")
        finally:
            await run_to_completion(self._release_locks(), within_s=RELEASE_S)

    async def rebuild(self) -> Rebuilt | None:
        """Fill in what the store lacks although it was stored before; None where nothing is missing.

        Raises:
            HotError, StoreError: not now.
        """
        positions = await self._applier.positions()
        total: Rebuilt | None = None
        for partition in self._partitions:
            if await self._lacks(partition, positions.get(partition, START)):
                position = await self._applier.position(partition)
                try:
                    _, found = await self._rebuilding.fill(partition, position)
                except StalePosition:
                    continue  # this partition was taken up and filled in meanwhile
                total = found if total is None or found is None else total + found
        if total is not None:
            log.warning("store.rebuilt", reason=str(total), **asdict(total))
        return total

    async def _lacks(self, partition: int, position: str) -> bool:
        return position_key(await self._journal.stored_up_to(partition)) > position_key(position)

    async def look_again(self) -> None:
        """Read the positions again, which another file of the store has elsewhere, and fill in what that one lacks."""
        self._positions.clear()
        try:
            await self.rebuild()
        except (HotError, StoreError) as error:
            log.warning("writer.retry", reason=str(error))

    async def drain(self, deadline_s: float) -> bool:
        """Write the records that wait now, whether or not `run` is running; from then on nothing is gathered.

        Returns:
            Whether nothing waits any more; False when the deadline passed, or another writer has a partition.
        """
        self._hurry.set()
        try:
            async with asyncio.timeout(deadline_s):
                return all([await self._drain(partition) for partition in self._partitions])
        except (TimeoutError, HotError, StoreError):
            return False

    async def measure(self) -> dict[int, Lag]:
        """Measure the lag now.

        Raises:
            StorageUnavailable: the hot server doesn't answer.
        """
        self._lag = {p: await self._lag_of(p) for p in self._partitions}
        self._hooks.lag(self._lag)
        return dict(self._lag)

    async def _lag_of(self, partition: int) -> Lag:
        records = await self._journal.length(partition)
        if not records:
            self._oldest.pop(partition, None)
            return Lag(0, 0.0)
        return Lag(records, await self._waits_for_s(partition))

    async def _waits_for_s(self, partition: int) -> float:
        """How long the oldest record waits, also after the clock of the hot server was set back."""
        oldest, clock_s = await self._journal.oldest(partition), asyncio.get_running_loop().time()
        if oldest is None:
            self._oldest.pop(partition, None)
            return 0.0
        record_id, age_s = oldest
        if position_key(record_id) <= position_key(self._positions.get(partition, START)):
            # Unless it is about to be removed, the journal was lost and begun anew: such records are never read.
            self._positions.pop(partition, None)
        if self._oldest.get(partition, ("", 0.0))[0] != record_id:
            self._oldest[partition] = (record_id, clock_s)
        return max(age_s, clock_s - self._oldest[partition][1])

    async def _keep_measuring(self) -> None:
        while not cancel_requested():
            try:
                await self.measure()
            except HotError as error:
                log.warning("writer.lag_unknown", reason=str(error))
            await asyncio.sleep(self._settings.measure_every_s)

    async def _keep_writing(self, partition: int) -> None:
        settings = self._settings
        pause_s = settings.first_pause_s
        while not cancel_requested():
            try:
                if await self._lock(partition):
                    await self._step(partition, wait_ms=settings.wait_ms)
                    wait_s = 0.0
                else:
                    self._positions.pop(partition, None)
                    wait_s = settings.lock_retry_s
                self._failures.pop(partition, None)
                pause_s = settings.first_pause_s
            except StalePosition:
                log.info("writer.position_moved", partition=partition)
                self._renew_at.pop(partition, None)
                wait_s = settings.lock_retry_s
            except (HotError, StoreError, OSError) as error:
                self._note_failure(partition, error)
                self._renew_at.pop(partition, None)
                wait_s, pause_s = pause_s, min(pause_s * 2, settings.longest_pause_s)
            if wait_s:
                await asyncio.sleep(wait_s)

    async def _drain(self, partition: int) -> bool:
        while True:
            if not await self._lock(partition):
                return await self._journal.length(partition) == 0
            try:
                await self._step(partition, wait_ms=None)
            except (StoreUnavailable, StalePosition) as error:
                self._note_failure(partition, error)
                await asyncio.sleep(self._settings.first_pause_s)
                continue
            self._failures.pop(partition, None)
            if await self._journal.length(partition) == 0:
                return True

    async def _step(self, partition: int, *, wait_ms: int | None) -> None:
        """Write what follows the partition's position, waiting for it if asked to."""
        async with self._turns[partition]:
            position = self._positions.get(partition) or await self._take_up(partition)
        records = await self._journal.read(partition, position, count=self._settings.batch, wait_ms=wait_ms)
        if not records:
            return
        if wait_ms is not None and await self._gather():
            records = await self._journal.read(partition, position, count=self._settings.batch)
        async with self._turns[partition]:
            if not records or self._positions.get(partition) != position:
                return
            try:
                await self._store(partition, position, records)
                await self._finish(partition, records)
            except BaseException:
                # The position is read again, and what follows storing is done again.
                self._positions.pop(partition, None)
                raise

    async def _gather(self) -> bool:
        """Wait for the moment at which the records of all partitions are written; whether there was one to wait for."""
        every_s, now_s = self._settings.gather_s / 2, asyncio.get_running_loop().time()
        if not every_s or self._hurry.is_set():
            return False
        with suppress(TimeoutError):
            # The third moment from now is at least `gather_s` away.
            async with asyncio.timeout(3 * every_s - now_s % every_s):
                await self._hurry.wait()
        return True

    async def _take_up(self, partition: int) -> str:
        """Read the partition's position, and repeat what follows storing for records that are stored already."""
        position, rebuilt = await self._rebuilding.fill(partition, await self._applier.position(partition))
        if rebuilt is not None:
            log.warning("store.rebuilt", partition=partition, reason=str(rebuilt), **asdict(rebuilt))
        await self._journal.continue_after(partition, position)
        while True:
            waiting = await self._journal.read(partition, START, count=self._settings.batch)
            stored = [record for record in waiting if position_key(record.id) <= position_key(position)]
            if not stored:
                break
            await self._finish(partition, stored)
        self._positions[partition] = position
        return position

    async def _store(self, partition: int, position: str, records: Sequence[JournalRecord]) -> None:
        try:
            await self._applier.apply(partition, position, records)
        except RecordRefused:
            for record in records:
                await self._store_alone(partition, position, record)
                position = record.id
        self._positions[partition] = records[-1].id

    async def _store_alone(self, partition: int, position: str, record: JournalRecord) -> None:
        reason = ""
        for attempt in range(1, self._settings.attempts + 1):
            try:
                await self._applier.apply(partition, position, [record])
                return
            except RecordRefused as error:
                reason = str(error)
                if attempt < self._settings.attempts:
                    await asyncio.sleep(self._settings.first_pause_s)
        log.error(
            "journal.record_buried",
            partition=partition,
            record=record.id,
            kind=record.kind,
            session=record.session_id,
            rev=record.rev,
            reason=reason,
        )
        await self._applier.bury(partition, position, record, reason)
        self._hooks.dead_letter(record)

    async def _finish(self, partition: int, records: Sequence[JournalRecord]) -> None:
        """What follows storing; can be repeated. Trimming is last, because it removes the records to repeat it for."""
        erased = [record for record in records if record.kind == "erase"]
        erased_ids = {record.session_id for record in erased}
        for session_id, last in {record.session_id: record.id for record in records}.items():
            if session_id not in erased_ids:
                with suppress(SessionNotHot):  # a damaged record names no session
                    await self._hot.expire_stored(session_id, last)
        self._applier.database.check_file()
        for record in erased:
            await self._journal.trim(partition, record.id, keep_last=True)
            await self._confirm_erased(record)
        await self._journal.trim(partition, records[-1].id)

    async def _confirm_erased(self, record: JournalRecord) -> None:
        async with asyncio.timeout(self._settings.file_timeout_s):
            await self._hooks.erase_files(record.session_id)
        await self._applier.database.forget_deleted()
        await self._hot.confirm_erased(record.session_id, record.id)
        await self._hot.checks.forget_deleted()
        log.info("session.erased", session=record.session_id)

    def _note_failure(self, partition: int, error: Exception) -> None:
        self._failures[partition] = str(error)
        log.warning("writer.retry", partition=partition, reason=str(error))

    async def _lock(self, partition: int) -> bool:
        """Lock the partition, and wait for the reply even if cancelled; without asking while the lock is still fresh.

        A lock acquired after the writer has released its locks would keep other writers out until it expires.
        """
        now_s = asyncio.get_running_loop().time()
        if now_s < self._renew_at.get(partition, now_s):
            return True
        self._renew_at.pop(partition, None)
        asking = self._journal.lock(partition, self._holder, self._settings.lock_ttl_s)
        locked = await run_to_completion(asking, within_s=RELEASE_S)
        if locked:
            self._renew_at[partition] = now_s + self._settings.lock_ttl_s / 3
        return locked

    async def _release_locks(self) -> None:
        self._renew_at.clear()
        unlocking = (self._journal.unlock(partition, self._holder) for partition in self._partitions)
        try:
            async with asyncio.timeout(RELEASE_S):
                results = await asyncio.gather(*unlocking, return_exceptions=True)
        except TimeoutError as error:
            results = [error]
        failures = [result for result in results if isinstance(result, BaseException)]
        for failure in failures:
            if not isinstance(failure, (TimeoutError, HotError)):
                raise failure
        if failures:
            log.info("writer.locks_left", reason=f"{failures[0]}; they end by themselves")
