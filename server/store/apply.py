"""From journal records to rows, in one transaction with the partition's position."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Table, delete, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from pipeline.errors import PipelineError
from pipeline.state import InterviewState, Receipt
from server.hot.journal import START, JournalRecord
from server.hot.packing import unpack
from server.store.engine import Database
from server.store.errors import RecordRefused, StalePosition, translated
from server.store.rows import (
    PROJECTED,
    Change,
    Row,
    action_rows,
    call_rows,
    changes,
    in_removal_order,
    table_of,
    turn_rows,
)
from server.store.sync_tables import SyncUploadRow
from server.store.tables import AnswerRow, DeadRow, LLMCallRow, PositionRow, SessionRow, SnapshotRow, TokenRow

ADVANCE_POSITION = """
UPDATE journal_position SET last_id = :new
WHERE partition = :partition
AND last_id = :expected -- guard:position
"""

_SESSIONS, _ANSWERS, _SNAPSHOTS = table_of(SessionRow), table_of(AnswerRow), table_of(SnapshotRow)
_DEAD, _POSITIONS, _TOKENS = table_of(DeadRow), table_of(PositionRow), table_of(TokenRow)
_CALLS, _UPLOADS = table_of(LLMCallRow), table_of(SyncUploadRow)


class Applier:
    """Writes journal records into the database.

    Args:
        database: where to.
        advance: the statement that moves a position; another one only for tests of its guard.
    """

    def __init__(self, database: Database, *, advance: str = ADVANCE_POSITION) -> None:
        self.database = database
        self._advance = text(advance)

    async def position(self, partition: int) -> str:
        """Id of the last record of the partition that is stored, `START` when there is none yet."""
        async with self.database.write(patient=True) as connection:
            await upsert(connection, _POSITIONS, [{"partition": partition, "last_id": START}], keep=True)
            query = select(_POSITIONS.c.last_id).where(_POSITIONS.c.partition == partition)
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
            for record in records:
                await self._apply_one(connection, record)
            await self._move(connection, partition, expected, records[-1].id)

    async def bury(self, partition: int, expected: str, record: JournalRecord, error: str) -> None:
        """Put a record that can't be written among the dead ones and move on; errors as in `apply`.

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
            await upsert(connection, _DEAD, [row])
            await _rescue_calls(connection, record)
            await self._move(connection, partition, expected, record.id)

    async def _move(self, connection: AsyncConnection, partition: int, expected: str, new: str) -> None:
        moved = await connection.execute(self._advance, {"new": new, "partition": partition, "expected": expected})
        if moved.rowcount != 1:
            raise StalePosition(f"partition {partition} is not at {expected} any more")

    async def _apply_one(self, connection: AsyncConnection, record: JournalRecord) -> None:
        try:
            match record.kind:
                case "create" | "commit":
                    await _apply_state(connection, record)
                case "accept" | "superseded" | "fail":
                    await _apply_answer(connection, record)
                case "note":
                    extra = json.loads(record.data)
                    await _add_calls(connection, record, extra, extra.get("turn_number"))
                case "erase":
                    await _erase(connection, record.session_id)
                case _:
                    raise RecordRefused(f"journal records of the kind {record.kind!r} are unknown")
        except (ValidationError, PipelineError, ValueError, KeyError, TypeError, AttributeError) as exc:
            raise RecordRefused(f"{record.kind} {record.id}: {type(exc).__name__}") from exc


async def _apply_state(connection: AsyncConnection, record: JournalRecord) -> None:
    """Bring the rows of the session to the record's state, and add what the record says of its turn."""
    query = select(_SNAPSHOTS.c.rev, _SNAPSHOTS.c.state).where(_SNAPSHOTS.c.session_id == record.session_id)
    known = (await connection.execute(query)).one_or_none()
    # After a gap the rows may be those of no state at all, so nothing is taken for known.
    before = known.state if known is not None and known.rev == record.rev - 1 else None
    found, receipts, calls = await asyncio.to_thread(_prepare, record, before)
    whole = receipts is not None
    if whole and known is not None:
        await _clear_projection(connection, record.session_id)
    await _write(connection, found)
    if calls:
        await upsert(connection, _CALLS, calls, keep=True)
    snapshot = {"session_id": record.session_id, "rev": record.rev, "state": record.packed_state}
    await upsert(connection, _SNAPSHOTS, [snapshot])
    if record.kind == "commit" and record.mode == "turn":
        await _apply_committed_answer(connection, record)
    for receipt in receipts or ():
        await _settle_answer(connection, record, receipt)
    if record.kind == "commit" and record.mode == "drop":
        pending = (_ANSWERS.c.session_id == record.session_id) & _ANSWERS.c.status.in_(("pending", "failed"))
        await connection.execute(update(_ANSWERS).where(pending).values(status="superseded"))


def _prepare(record: JournalRecord, before: bytes | None) -> tuple[list[Change], tuple[Receipt, ...] | None, list[Row]]:
    """What a record makes.

    Runs on a thread: it parses much JSON.

    Returns:
        The changes; the state's receipts where the changes are the whole session, else None; rows of model calls.
    """
    data = record.state
    if data is None:
        raise RecordRefused(f"{record.kind} {record.id}: there is no state")
    state = InterviewState.load(data)
    if state.session_id != record.session_id:
        raise RecordRefused(f"{record.kind} {record.id}: the state is another session's")
    old = _readable(before)
    found = changes(old, state)
    extra = json.loads(record.data)
    if extra.get("turn"):
        found += turn_rows(record.session_id, extra["turn"])
    if extra.get("moderator"):
        found += action_rows(record.session_id, extra["moderator"], _at(record))
    calls = call_rows(record.session_id, extra.get("calls") or (), state.turn_count, _at(record))
    return found, state.receipts if old is None else None, calls


def _readable(packed: bytes | None) -> InterviewState | None:
    """The stored state, or None where it can't be read any more: then everything is written anew."""
    if packed is None:
        return None
    try:
        return InterviewState.load(unpack(packed))
    except (ValidationError, PipelineError, ValueError):
        return None


async def _clear_projection(connection: AsyncConnection, session_id: str) -> None:
    """Remove the session's projected rows (not the session, consents and records of turns) to write them anew."""
    for table in reversed(PROJECTED):
        if table.name not in ("sessions", "consents"):
            await connection.execute(delete(table).where(table.c.session_id == session_id))


async def _apply_answer(connection: AsyncConnection, record: JournalRecord) -> None:
    status = {"accept": "pending", "superseded": "superseded", "fail": "failed"}[record.kind]
    extra = json.loads(record.data)
    error = {name: value for name, value in extra.items() if name != "calls"} or None
    row = _answer(record, status) | {"payload": record.payload, "error": error}
    await upsert(connection, _ANSWERS, [row], unchanged=("accepted_at", "receipt"))
    await _add_calls(connection, record, extra, record.turn_number)


async def _add_calls(
    connection: AsyncConnection, record: JournalRecord, extra: Mapping[str, Any], turn_number: int | None
) -> None:
    """Add what a record says of model calls; those of a session that is not, or not any more, there are dropped."""
    rows = call_rows(record.session_id, extra.get("calls") or (), turn_number, _at(record))
    if not rows:
        return
    query = select(_SESSIONS.c.id).where(_SESSIONS.c.id == record.session_id)
    if (await connection.execute(query)).one_or_none() is not None:
        await upsert(connection, _CALLS, rows, keep=True)


async def _rescue_calls(connection: AsyncConnection, record: JournalRecord) -> None:
    """Add the calls that a record carries which can't be written for another reason."""
    turn_number = record.turn_number if record.kind == "fail" or record.mode == "turn" else None
    with suppress(RecordRefused, ValueError, KeyError, TypeError, AttributeError):
        extra = json.loads(record.data)
        async with connection.begin_nested():
            await _add_calls(connection, record, extra, turn_number)


async def _apply_committed_answer(connection: AsyncConnection, record: JournalRecord) -> None:
    row = _answer(record, "committed") | {"payload": b"", "error": None, "receipt": record.receipt}
    await upsert(connection, _ANSWERS, [row], unchanged=("accepted_at", "payload"))


async def _settle_answer(connection: AsyncConnection, record: JournalRecord, receipt: Receipt) -> None:
    """Mark an answer as committed whose own commit could not be stored; a rebuilt session would run it again."""
    row = _answer(record, "committed") | {
        "turn_key": receipt.turn_key,
        "turn_number": receipt.turn_number,
        "digest": receipt.digest,
        "payload": b"",
        "error": None,
        "receipt": receipt.model_dump_json().encode(),
    }
    await upsert(connection, _ANSWERS, [row], keep=True)
    waiting = _ANSWERS.c.status.in_(("pending", "failed"))
    same = (_ANSWERS.c.session_id == record.session_id) & (_ANSWERS.c.turn_key == receipt.turn_key)
    settled = {name: row[name] for name in ("status", "rev", "receipt", "error", "updated_at")}
    await connection.execute(update(_ANSWERS).where(same & waiting).values(**settled))


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
    """Remove every row of the session; what hangs below `sessions` goes by cascade."""
    await connection.execute(delete(_SESSIONS).where(_SESSIONS.c.id == session_id))
    await connection.execute(delete(_TOKENS).where(_TOKENS.c.session_id == session_id))
    await connection.execute(delete(_DEAD).where(_DEAD.c.session_id == session_id))
    await connection.execute(delete(_UPLOADS).where(_UPLOADS.c.session_id == session_id))


async def _write(connection: AsyncConnection, found: Sequence[Change]) -> None:
    for change in in_removal_order(found):
        for key in change.removals:
            matches = [change.table.c[name] == value for name, value in key.items()]
            await connection.execute(delete(change.table).where(*matches))
    for change in found:
        if change.upserts:
            await upsert(connection, change.table, change.upserts)


async def upsert(
    connection: AsyncConnection,
    table: Table,
    rows: Sequence[Row],
    *,
    unchanged: Sequence[str] = (),
    keep: bool = False,
) -> None:
    """Insert rows, or change those whose primary key is there already (except the columns named `unchanged`).

    With `keep`, rows that are there stay as they are.
    """
    updated = () if keep else tuple(name for name in rows[0] if name not in unchanged)
    statement = _upsert_statement(table, connection.dialect.name, updated)
    with translated():
        await connection.execute(statement, list(rows))


@lru_cache(maxsize=128)
def _upsert_statement(table: Table, dialect: str, updated: tuple[str, ...]) -> Any:
    keys = [column.name for column in table.primary_key]
    insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
    statement: Any = insert(table)
    values = {name: statement.excluded[name] for name in updated if name not in keys}
    if not values:
        return statement.on_conflict_do_nothing(index_elements=keys)
    return statement.on_conflict_do_update(index_elements=keys, set_=values)


def _at(record: JournalRecord) -> datetime:
    return datetime.fromtimestamp(record.at_ms / 1000, UTC)
