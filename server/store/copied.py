"""The rows of a copy: which there are, how they travel, and whether those that arrive can be written here."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Column, Float, Integer, LargeBinary, String, Table

from server.store.rows import Row, table_of
from server.store.sync_tables import SyncSentRow
from server.store.tables import Base, ConfigurationRow, SessionRow
from server.store.types import UtcTime

_SESSIONS, _CONFIGURATIONS = table_of(SessionRow), table_of(ConfigurationRow)
_SENT = table_of(SyncSentRow)
_MAX_INT, _MAX_BIGINT = 2**31 - 1, 2**63 - 1

COPIED: tuple[Table, ...] = (
    _CONFIGURATIONS,
    _SESSIONS,
    *(
        table
        for table in Base.metadata.sorted_tables
        if table is not _SENT and any(key.column is _SESSIONS.c.id for key in table.foreign_keys)
    ),
)
"""Tables of a copy, those that others refer to first."""

_BY_NAME = {table.name: table for table in COPIED}


class CopyRefused(Exception):
    """A row that can't be written here; the message says why."""

    code = "invalid_input"
    retryable = False


def plain(table: Table, row: Mapping[Any, Any]) -> Row:
    """A row as JSON holds it: moments as ISO 8601, bytes in base64."""
    return {column.name: _plain_value(row[column.name]) for column in table.columns}


def _plain_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def parse(table_name: str, plain: Mapping[str, Any], session_id: str) -> Row:
    """A row of a copy as it is written here.

    Args:
        table_name: which table.
        plain: what `Copies.rows` gave, through JSON.
        session_id: whose row it must be.
    Raises:
        CopyRefused: it is none, is another session's, or belongs to another version of askwell.
    """
    table = _BY_NAME.get(table_name)
    if table is None:
        raise CopyRefused(f"The interview comes from a newer askwell: there is no `{table_name}` here.")
    unknown = [name for name in plain if name not in table.columns]
    if unknown:
        raise CopyRefused(f"The interview comes from a newer askwell: there is no `{table_name}.{unknown[0]}` here.")
    row: Row = {}
    for column in table.columns:
        if column.name in plain:
            row[column.name] = _parsed(column, plain[column.name], f"{table_name}.{column.name}")
        elif column.nullable:
            row[column.name] = None
        elif column.server_default is None:
            raise CopyRefused(
                f"The interview comes from another version of askwell: `{table_name}.{column.name}` lacks."
            )
    if table is not _CONFIGURATIONS and row.get("id" if table is _SESSIONS else "session_id") != session_id:
        raise CopyRefused(f"`{table_name}` has a row of another interview.")
    return row


def _parsed(column: Column[Any], value: Any, where: str) -> Any:
    if value is None:
        if not column.nullable:
            raise CopyRefused(f"`{where}` is empty.")
        return None
    kind = column.type
    try:
        if isinstance(kind, JSON):
            return value
        if isinstance(kind, UtcTime):
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                raise ValueError(where)
            return moment
        if isinstance(kind, LargeBinary):
            return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error) as exc:
        raise CopyRefused(f"`{where}` can't be read.") from exc
    if not _fits(kind, value):
        raise CopyRefused(f"`{where}` can't be read.")
    return value


def _fits(kind: Any, value: Any) -> bool:
    if isinstance(kind, Boolean):
        return isinstance(value, bool)
    if isinstance(kind, Integer):
        limit = _MAX_BIGINT if isinstance(kind, BigInteger) else _MAX_INT
        return type(value) is int and -limit - 1 <= value <= limit
    if isinstance(kind, Float):
        return type(value) in (int, float)
    if isinstance(kind, String):
        return isinstance(value, str) and "\x00" not in value and (kind.length is None or len(value) <= kind.length)
    return False
