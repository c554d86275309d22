"""Applies journal records to the tables, in one transaction with the position of their partition."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from pipeline.errors import PipelineError
from pipeline.state import InterviewState, Receipt
from server.hot.journal import START, JournalRecord
from server.hot.packing import unpack
from server.store.engine import Database
from server.store.errors import RecordRefused, StalePosition
from server.store.rows import PROJECTED, RowChange, action_rows, call_rows, changes, turn_rows
from server.store.tables import (
    ANSWERS,
    DEAD_RECORDS,
    JOURNAL_POSITIONS,
    LLM_CALLS,
    SESSIONS,
    SNAPSHOTS,
    SYNC_UPLOADS,
    SYNC_VERSIONS,
    TOKENS,
    Row,
)
from server.store.upserting import upsert

STATUS = {"accept": "pending", "superseded": "superseded", "fail": "failed"}
"""Of answers, by the kind of the record."""


class Applier:
    """Writes journal records into the database.

    Args:
        database: which it writes into.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    async def position(self, partition: int) -> str:
        """Id of the last record of the partition that is stored, `START` when there is none yet."""
        async with self.database.write(patient=True) as connection:
            await upsert(connection, JOURNAL_POSITIONS, [{"partition": partition, "last_id": START}], keep=True)
            query = select(JOURNAL_POSITIONS.c.last_id).where(JOURNAL_POSITIONS.c.partition == partition)
            return str((await connection.execute(query)).scalar_one())

    async def apply(self, partition: int, expected: str, records: Sequence[JournalRecord]) -> None:
        """Write records that follow each other, and move the position from `expected` to the last one.

        Everything or nothing. Writing a record again writes the same rows.

        Raises:
            StalePosition: the position is not `expected` any more.
            RecordRefused: one of the records can't be written.
            StoreUnavailable: the database can't be used now.
        """
        async with self.database.write(patient=True) as connection:
            await self.claim(connection, partition, expected)
            for record in records:
                await self.write(connection, record)
            await self.move(connection, partition, records[-1].id)

    async def bury(self, partition: int, expected: str, record: JournalRecord, error: str) -> None:
        """Store a record that can't be applied in `journal_dead`, and move the position past it; errors as in `apply`.

        The calls of language models that it carries are stored all the same, where they can be read.
        """
        row = {
            "partition": partition,
            "id": record.id,
            "session_id": record.session_id,
            "kind": record.kind,
            "rev": record.rev,
            "turn_key": record.turn_key,
            "error": error,
            "payload": record.payload,
            "packed_state": record.packed_state,
            "packed_data": record.packed_data,
            "failed_at": datetime.now(UTC),
        }
        async with self.database.write(patient=True) as connection:
            await self.claim(connection, partition, expected)
            await upsert(connection, DEAD_RECORDS, [row])
            await _rescue_calls(connection, record)
            await self.move(connection, partition, record.id)

    async def claim(self, connection: AsyncConnection, partition: int, expected: str) -> None:
        """Let no other writer write this partition's rows until the transaction ends.

        Must come before anything is written: writers that wait here can't wait for each other in a circle, and none
        overwrites rows with what it read before another moved the position on.

        Raises:
            StalePosition: the position is not `expected` any more.
        """
        c = JOURNAL_POSITIONS.c
        query = select(c.last_id).where(c.partition == partition).with_for_update()
        if await connection.scalar(query) != expected:
            raise StalePosition(f"partition {partition} is not at {expected} any more")

    async def move(self, connection: AsyncConnection, partition: int, new: str) -> None:
        """Move the position on, as the last step of a transaction that has claimed the partition."""
        at = JOURNAL_POSITIONS.c.partition == partition
        await connection.execute(update(JOURNAL_POSITIONS).where(at).values(last_id=new))

    async def positions(self) -> dict[int, str]:
        """Id of the last stored record of every partition that has one."""
        query = select(JOURNAL_POSITIONS.c.partition, JOURNAL_POSITIONS.c.last_id)
        return {row["partition"]: row["last_id"] for row in await self.database.rows(query)}

    async def skip(self, partition: int, expected: str, new: str) -> None:
        """Move the position from `expected` on without records; errors as in `apply`."""
        async with self.database.write(patient=True) as connection:
            await self.claim(connection, partition, expected)
            await self.move(connection, partition, new)

    async def erase(self, connection: AsyncConnection, session_id: str) -> None:
        """Delete every row of a session."""
        await _erase(connection, session_id)

    async def write(self, connection: AsyncConnection, record: JournalRecord) -> None:
        """Write the rows of one record. Raises RecordRefused."""
        try:
            match record.kind:
                case "create" | "commit":
                    await _apply_state(connection, record)
                case kind if kind in STATUS:
                    await _apply_answer(connection, record)
                case "note":
                    extra = json.loads(record.data)
                    await add_calls(connection, record, extra, extra.get("turn_number"))
                case "erase":
                    await _erase(connection, record.session_id)
                case _:
                    raise RecordRefused(f"journal records of the kind {record.kind!r} are unknown")
        except (ValidationError, PipelineError, ValueError, KeyError, TypeError, AttributeError) as exc:
            raise RecordRefused(f"{record.kind} {record.id}: {type(exc).__name__}") from exc


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a record with a state changes.

    Args:
        changes: of rows.
        receipts: the state's, if the changes are the whole session, else None.
        calls: rows of model calls.
        state: the record's.
    """

    changes: list[RowChange]
    receipts: tuple[Receipt, ...] | None
    calls: list[Row]
    state: InterviewState


async def _apply_state(connection: AsyncConnection, record: JournalRecord) -> None:
    """Make the rows of the session those of the record's state, and add the rows of its turn."""
    query = select(SNAPSHOTS.c.rev, SNAPSHOTS.c.state).where(SNAPSHOTS.c.session_id == record.session_id)
    known = (await connection.execute(query)).one_or_none()
    # After a gap the rows may be those of no state at all, so nothing is taken for known.
    before = known.state if known is not None and known.rev == record.rev - 1 else None
    made = await asyncio.to_thread(lambda: prepare(record, readable(before)))
    if made.receipts is not None and known is not None:
        await clear_projection(connection, record.session_id)
    await remove_rows(connection, made.changes)
    for change in made.changes:
        await upsert(connection, change.table, change.upserts)
    await upsert(connection, LLM_CALLS, made.calls, keep=True)
    await upsert(connection, SNAPSHOTS, [snapshot_row(record)])
    if answers_turn(record):
        await upsert(connection, ANSWERS, [committed_row(record)], unchanged=("accepted_at", "payload"))
    await settle_state(connection, record, made.receipts)


async def settle_state(
    connection: AsyncConnection, record: JournalRecord, receipts: tuple[Receipt, ...] | None
) -> None:
    """What a record with a state means for answers other than its turn's."""
    for receipt in receipts or ():
        await _settle_answer(connection, record, receipt)
    if record.kind == "commit" and record.mode == "drop":
        pending = (ANSWERS.c.session_id == record.session_id) & ANSWERS.c.status.in_(("pending", "failed"))
        await connection.execute(update(ANSWERS).where(pending).values(status="superseded"))


def prepare(record: JournalRecord, before: InterviewState | None) -> Prepared:
    """What a record with a state changes.

    Runs on a thread, because it parses much JSON.

    Args:
        record: of a kind that has a state.
        before: the stored state right before it; None where there is none.
    Raises:
        RecordRefused, ValidationError, PipelineError, ValueError, KeyError, TypeError: it can't be read.
    """
    data = record.state
    if data is None:
        raise RecordRefused(f"{record.kind} {record.id}: there is no state")
    state = InterviewState.load(data)
    if state.session_id != record.session_id:
        raise RecordRefused(f"{record.kind} {record.id}: the state is another session's")
    found = changes(before, state)
    extra = json.loads(record.data)
    if extra.get("turn"):
        found += turn_rows(record.session_id, extra["turn"])
    if extra.get("moderator"):
        found += action_rows(record.session_id, extra["moderator"], _at(record))
    calls = call_rows(record.session_id, extra.get("calls") or (), state.turn_count, _at(record))
    return Prepared(found, state.receipts if before is None else None, calls, state)


def readable(packed: bytes | None) -> InterviewState | None:
    """The stored state; None if it can't be read any more, and everything is to be written again."""
    if packed is None:
        return None
    try:
        return InterviewState.load(unpack(packed))
    except (ValidationError, PipelineError, ValueError):
        return None


async def clear_projection(connection: AsyncConnection, session_id: str) -> None:
    """Delete the session's projected rows, except the session itself and its consents, to write them again."""
    for table in reversed(PROJECTED):
        if table.name not in ("sessions", "consents"):
            await connection.execute(delete(table).where(table.c.session_id == session_id))


async def _apply_answer(connection: AsyncConnection, record: JournalRecord) -> None:
    await upsert(connection, ANSWERS, [pending_row(record)], unchanged=("accepted_at", "receipt"))
    await add_calls(connection, record, json.loads(record.data), record.turn_number)


async def add_calls(
    connection: AsyncConnection, record: JournalRecord, extra: Mapping[str, Any], turn_number: int | None
) -> None:
    """Add the model calls that a record carries, unless the session is not stored, or was erased."""
    rows = call_rows(record.session_id, extra.get("calls") or (), turn_number, _at(record))
    known = select(SESSIONS.c.id).where(SESSIONS.c.id == record.session_id)
    if rows and await connection.scalar(known) is not None:
        await upsert(connection, LLM_CALLS, rows, keep=True)


async def _rescue_calls(connection: AsyncConnection, record: JournalRecord) -> None:
    """Add the model calls of a record whose other content can't be applied, as far as they can be read."""
    turn_number = record.turn_number if record.kind == "fail" or record.mode == "turn" else None
    with suppress(RecordRefused, ValueError, KeyError, TypeError, AttributeError):
        extra = json.loads(record.data)
        async with connection.begin_nested():
            await add_calls(connection, record, extra, turn_number)


async def _settle_answer(connection: AsyncConnection, record: JournalRecord, receipt: Receipt) -> None:
    """Mark an answer as committed whose own commit could not be stored.

    Otherwise a session that is rebuilt from the store would run it again.
    """
    row = _answer(record, "committed") | {
        "turn_key": receipt.turn_key,
        "turn_number": receipt.turn_number,
        "digest": receipt.digest,
        "payload": b"",
        "error": None,
        "receipt": receipt.model_dump_json().encode(),
    }
    await upsert(connection, ANSWERS, [row], keep=True)
    waiting = ANSWERS.c.status.in_(("pending", "failed"))
    same = (ANSWERS.c.session_id == record.session_id) & (ANSWERS.c.turn_key == receipt.turn_key)
    settled = {name: row[name] for name in ("status", "rev", "receipt", "error", "updated_at")}
    await connection.execute(update(ANSWERS).where(same & waiting).values(**settled))


def answers_turn(record: JournalRecord) -> bool:
    """Whether it is the commit of an answer's turn."""
    return record.kind == "commit" and record.mode == "turn"


def snapshot_row(record: JournalRecord) -> Row:
    """The state of a record that has one."""
    return {"session_id": record.session_id, "rev": record.rev, "state": record.packed_state}


def committed_row(record: JournalRecord) -> Row:
    """The answer whose turn a record commits."""
    return _answer(record, "committed") | {"payload": b"", "error": None, "receipt": record.receipt}


def pending_row(record: JournalRecord) -> Row:
    """The answer that a record accepts, supersedes or lets fail."""
    extra = json.loads(record.data)
    error = {name: value for name, value in extra.items() if name != "calls"} or None
    return _answer(record, STATUS[record.kind]) | {"payload": record.payload, "error": error}


def _answer(record: JournalRecord, status: str) -> Row:
    return {
        "session_id": record.session_id,
        "turn_key": record.turn_key,
        "turn_number": record.turn_number,
        "status": status,
        "digest": record.digest,
        "attempt": record.attempt,
        "rev": record.rev,
        "receipt": None,
        "accepted_at": _at(record),
        "updated_at": _at(record),
    }


async def _erase(connection: AsyncConnection, session_id: str) -> None:
    """Delete every row of the session; rows that refer to `sessions` are deleted by cascade."""
    for table in (SESSIONS, TOKENS, DEAD_RECORDS, SYNC_UPLOADS, SYNC_VERSIONS):
        column = table.c.id if table is SESSIONS else table.c.session_id
        await connection.execute(delete(table).where(column == session_id))


async def remove_rows(connection: AsyncConnection, found: Sequence[RowChange]) -> None:
    """Delete what is to be removed, rows before those they refer to."""
    for change in reversed(found):
        for key in change.removals:
            matches = [change.table.c[name] == value for name, value in key.items()]
            await connection.execute(delete(change.table).where(*matches))


def _at(record: JournalRecord) -> datetime:
    return datetime.fromtimestamp(record.at_ms / 1000, UTC)
