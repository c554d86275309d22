"""Inserting rows, or changing those that are there, in both dialects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from server.store.errors import translated
from server.store.tables import Row


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
    if not rows:
        return
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
