"""What is in a database, and whether it is what the states say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from pipeline.state import InterviewState
from server.hot.journal import START, Journal, JournalRecord
from server.hot.redis import HotStore
from server.store.engine import Database
from server.store.rows import PROJECTED, changes
from server.store.tables import METADATA

NOT_OF_A_SESSION = frozenset({"configurations", "journal_position"})


async def all_rows(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, in the order of the primary key; tables without rows are left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    async with database.read() as connection:
        for table in METADATA.sorted_tables:
            query = select(table).order_by(*table.primary_key)
            if rows := [dict(row) for row in (await connection.execute(query)).mappings()]:
                found[table.name] = rows
    return found


def expected_rows(state: InterviewState) -> dict[str, list[dict[str, Any]]]:
    """What the tables that follow from a state should hold, ordered as in `all_rows`."""
    expected: dict[str, list[dict[str, Any]]] = {}
    for change in changes(None, state):
        names = [column.name for column in change.table.primary_key]
        expected[change.table.name] = sorted(change.upserts, key=lambda row: tuple(row[name] for name in names))
    return expected


async def assert_projected(database: Database, state: InterviewState) -> None:
    """Every table that follows from the state holds what it says of the session, nothing else."""
    found = await all_rows(database)
    expected = expected_rows(state)
    for table in PROJECTED:
        name = "id" if table.name == "sessions" else "session_id"
        mine = [row for row in found.get(table.name, []) if row[name] == state.session_id]
        assert _comparable(mine) == _comparable(expected.get(table.name, [])), table.name


def _comparable(rows: Sequence[dict[str, Any]]) -> str:
    return json.dumps([{name: row[name] for name in sorted(row)} for row in rows], default=str)


async def journal_of(hot: HotStore, session_id: str) -> list[JournalRecord]:
    """The session's records that wait in the journal."""
    journal = Journal(hot.connection)
    records = await journal.read(hot.keys.partition_of(session_id), START, count=10_000)
    return [record for record in records if record.session_id == session_id]
