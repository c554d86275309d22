"""Applies the records that partitions have at the same time together: one transaction, a statement per table.

A turn alone takes two transactions of eight statements each; records of several sessions differ in values only.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pydantic import ValidationError
from sqlalchemy import JSON, Table, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pipeline.errors import PipelineError
from pipeline.state import InterviewState
from server.hot.journal import JournalRecord
from server.store.apply import (
    STATUS,
    Applier,
    Prepared,
    add_calls,
    answers_turn,
    clear_projection,
    committed_row,
    pending_row,
    prepare,
    readable,
    remove_rows,
    settle_state,
    snapshot_row,
)
from server.store.engine import Database
from server.store.errors import RecordRefused, StalePosition, StoreError
from server.store.rows import PROJECTED
from server.store.serialised import Serialised, as_json
from server.store.tables import (
    ANSWERS,
    JOURNAL_POSITIONS,
    LLM_CALLS,
    MODERATOR_ACTIONS,
    SCORING,
    SIGNALS,
    SNAPSHOTS,
    Row,
)
from server.store.upserting import upsert

GATHER_S = 0.01
"""How long the records of a partition wait for those of others that were read at the same moment."""
States = dict[str, tuple[int, InterviewState]]
"""By session: the revision that was written last in this transaction, and its state."""
WITH_STATE = ("create", "commit")
WRITTEN = (*PROJECTED, SCORING, SIGNALS, MODERATOR_ACTIONS)
"""Tables that records with a state write, those that others refer to first."""


@dataclass(slots=True)
class Part:
    """Records of one partition that wait; `settled` when they are written, or why they are not is known."""

    partition: int
    expected: str
    records: Sequence[JournalRecord]
    settled: bool = False
    error: Exception | None = None


class GroupedApplier(Applier):
    """Writes journal records into the database, those of several partitions in one transaction.

    A partition's records are written or not as with `Applier`: where a transaction is refused because of a record, each
    partition's are written alone, so that one can't keep others from being stored.

    Args:
        database: which it writes into.
        gather_s: how long records wait for others.
    """

    def __init__(self, database: Database, *, gather_s: float = 0.0) -> None:
        super().__init__(database)
        self._gather_s = gather_s
        self._waiting: list[Part] = []
        self._leading = asyncio.Lock()

    async def apply(self, partition: int, expected: str, records: Sequence[JournalRecord]) -> None:
        """As of `Applier`, together with what other partitions apply meanwhile."""
        part = Part(partition, expected, records)
        self._waiting.append(part)
        try:
            # Whoever comes first writes for all; if that one is cancelled, the next one does.
            async with self._leading:
                if not part.settled:
                    await asyncio.sleep(self._gather_s)
                    await self._write(self._taken())
        finally:
            if part in self._waiting:
                self._waiting.remove(part)
        if part.error is not None:
            raise part.error

    def _taken(self) -> list[Part]:
        """What waits, each partition once, in the order of partitions: groups can't wait for each other in a circle."""
        chosen: dict[int, Part] = {}
        for part in self._waiting:
            chosen.setdefault(part.partition, part)
        return [chosen[partition] for partition in sorted(chosen)]

    async def _write(self, parts: Sequence[Part]) -> None:
        try:
            async with self.database.write(patient=True) as connection:
                claimed = await self.claim_all(connection, parts)
                await self.write_all(connection, [record for part in claimed for record in part.records])
                await self.move_all(connection, claimed)
        except RecordRefused as exc:
            if len(parts) == 1:
                parts[0].error = exc
            else:
                await self._write_alone([part for part in parts if part.error is None])
        except (StoreError, OSError) as exc:
            for part in parts:
                part.error = part.error or exc
        for part in parts:
            part.settled = True
            self._waiting.remove(part)

    async def _write_alone(self, parts: Sequence[Part]) -> None:
        for part in parts:
            try:
                await super().apply(part.partition, part.expected, part.records)
            except (StoreError, OSError) as exc:
                part.error = exc

    async def claim_all(self, connection: AsyncConnection, parts: Sequence[Part]) -> list[Part]:
        """Claim every partition, as `claim` does one; the parts whose position is the expected one."""
        c = JOURNAL_POSITIONS.c
        wanted = [part.partition for part in parts]
        query = select(c.partition, c.last_id).where(c.partition.in_(wanted)).order_by(c.partition).with_for_update()
        found = {row.partition: row.last_id for row in await connection.execute(query)}
        for part in parts:
            if found.get(part.partition) != part.expected:
                part.error = StalePosition(f"partition {part.partition} is not at {part.expected} any more")
        return [part for part in parts if part.error is None]

    async def move_all(self, connection: AsyncConnection, parts: Sequence[Part]) -> None:
        """Move the positions of partitions on, as `move` does one."""
        if parts:
            at = JOURNAL_POSITIONS.c.partition == bindparam("at")
            positions = [{"at": part.partition, "new": part.records[-1].id} for part in parts]
            await connection.execute(update(JOURNAL_POSITIONS).where(at).values(last_id=bindparam("new")), positions)

    async def write_all(self, connection: AsyncConnection, records: Sequence[JournalRecord]) -> None:
        """Write the rows of records, those of each session in order. Raises RecordRefused."""
        known: States = {}
        for round_ in _rounds(records):
            try:
                await self._write_states(connection, [r for r in round_ if r.kind in WITH_STATE], known)
                await self._write_answers(connection, [r for r in round_ if r.kind in STATUS])
            except (ValidationError, PipelineError, ValueError, KeyError, TypeError, AttributeError) as exc:
                raise RecordRefused(f"one of {len(round_)} records: {type(exc).__name__}") from exc
            for record in round_:
                if record.kind not in WITH_STATE and record.kind not in STATUS:
                    known.pop(record.session_id, None)
                    await self.write(connection, record)

    async def _write_states(
        self,
        connection: AsyncConnection,
        records: Sequence[JournalRecord],
        known: dict[str, tuple[int, InterviewState]],
    ) -> None:
        """As `Applier.write`, for records with a state of different sessions; `known` gets their states."""
        if not records:
            return
        c = SNAPSHOTS.c
        unknown = [record.session_id for record in records if record.session_id not in known]
        query = select(c.session_id, c.rev, c.state).where(c.session_id.in_(unknown))
        stored = {row.session_id: (row.rev, row.state) for row in await connection.execute(query)} if unknown else {}
        prepared = await asyncio.to_thread(_prepared, records, stored, known)
        for record, one in zip(records, prepared, strict=True):
            if one.receipts is not None and (record.session_id in stored or record.session_id in known):
                await clear_projection(connection, record.session_id)
            await remove_rows(connection, one.changes)
        for table in WRITTEN:
            found = [change.upserts for one in prepared for change in one.changes if change.table is table]
            await upsert(connection, table, [row for rows in found for row in rows])
        await upsert(connection, LLM_CALLS, [row for one in prepared for row in one.calls], keep=True)
        await upsert(connection, SNAPSHOTS, [snapshot_row(record) for record in records])
        answers = [committed_row(record) for record in records if answers_turn(record)]
        await upsert(connection, ANSWERS, answers, unchanged=("accepted_at", "payload"))
        for record, one in zip(records, prepared, strict=True):
            await settle_state(connection, record, one.receipts)
            known[record.session_id] = (record.rev, one.state)

    async def _write_answers(self, connection: AsyncConnection, records: Sequence[JournalRecord]) -> None:
        """As `Applier.write`, for records of answers of different sessions."""
        await upsert(
            connection, ANSWERS, [pending_row(record) for record in records], unchanged=("accepted_at", "receipt")
        )
        for record in records:
            await add_calls(connection, record, json.loads(record.data), record.turn_number)


def _rounds(records: Sequence[JournalRecord]) -> Iterator[list[JournalRecord]]:
    """The first records of all sessions, then their second ones, and so on."""
    by_session: dict[str, list[JournalRecord]] = {}
    for record in records:
        by_session.setdefault(record.session_id, []).append(record)
    for column in zip_longest(*by_session.values()):
        yield [record for record in column if record is not None]


def _prepared(
    records: Sequence[JournalRecord],
    stored: Mapping[str, tuple[int, bytes]],
    known: States,
) -> list[Prepared]:
    """What records with a state change; their rows' JSON is text already. Runs on a thread, because it takes long."""
    found = []
    for record in records:
        made = prepare(record, _before(record, stored, known))
        for change in made.changes:
            _serialise(change.table, change.upserts)
        _serialise(LLM_CALLS, made.calls)
        found.append(made)
    return found


def _before(record: JournalRecord, stored: Mapping[str, tuple[int, bytes]], known: States) -> InterviewState | None:
    """The state right before that of the record. After a gap the rows may be those of no state at all: then None."""
    if record.session_id in known:
        rev, state = known[record.session_id]
        return state if rev == record.rev - 1 else None
    found = stored.get(record.session_id)
    return readable(found[1]) if found is not None and found[0] == record.rev - 1 else None


def _serialise(table: Table, rows: Sequence[Row]) -> None:
    names = [column.name for column in table.columns if isinstance(column.type, JSON)]
    for row in rows:
        for name in names:
            if row.get(name) is not None:
                row[name] = Serialised(as_json(row[name]))
