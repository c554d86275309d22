"""Whole sessions as rows that can be written elsewhere, and what is known of where they went and came from.

A copy is every row of a session, but for tokens (which open it here only) and the notes on sync themselves, with the
configuration that it is pinned to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, Table, and_, delete, exists, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from server.store.apply import upsert
from server.store.copied import COPIED, CopyRefused, plain
from server.store.engine import Database
from server.store.errors import translated
from server.store.repository import UNFINISHED
from server.store.rows import Row, table_of
from server.store.sync_tables import SyncChunkRow, SyncReceivedRow, SyncSentRow, SyncUploadRow
from server.store.tables import ConfigurationRow, LLMCallRow, SessionRow

_SESSIONS, _CONFIGURATIONS, _CALLS = table_of(SessionRow), table_of(ConfigurationRow), table_of(LLMCallRow)
_SENT, _RECEIVED = table_of(SyncSentRow), table_of(SyncReceivedRow)
_UPLOADS, _CHUNKS = table_of(SyncUploadRow), table_of(SyncChunkRow)

MOST_UPLOADS = 32
"""Copies that one device may have on their way at the same time; older ones begin anew."""
UPLOAD_LIFE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Unsent:
    """A finished session that a server is not known to have as it is now."""

    session_id: str
    concept_id: str
    rev: int
    call_count: int


@dataclass(frozen=True, slots=True)
class Received:
    """How a session came here; `present` is false once it was erased."""

    digest: str
    rev: int
    device_id: str
    received_at: datetime
    present: bool


class Copies:
    """Copies of sessions in one database.

    Args:
        database: the store.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    # Going away

    async def unsent(
        self, target: str | None, concepts: frozenset[str] | None = None, limit: int = 1000
    ) -> list[Unsent]:
        """Finished sessions that were not confirmed as they are now, oldest first.

        Args:
            target: by that server; by any one if not given.
            concepts: only those of these concepts; None for all.
            limit: how many at most.
        """
        calls = _call_count()
        query = (
            select(_SESSIONS.c.id, _SESSIONS.c.concept_id, _SESSIONS.c.rev, calls.label("call_count"))
            .where(_SESSIONS.c.state.not_in(UNFINISHED), ~_sent(target, calls))
            .order_by(_SESSIONS.c.created_at, _SESSIONS.c.id)
            .limit(limit)
        )
        if concepts is not None:
            query = query.where(_SESSIONS.c.concept_id.in_(sorted(concepts)))
        rows = await self._rows(query)
        return [Unsent(row["id"], row["concept_id"], row["rev"], row["call_count"]) for row in rows]

    async def counts(self, target: str | None) -> tuple[int, int]:
        """How many finished sessions were not confirmed, and how many are not finished."""
        waiting = select(func.count().label("n")).where(
            _SESSIONS.c.state.not_in(UNFINISHED), ~_sent(target, _call_count())
        )
        running = select(func.count().label("n")).where(_SESSIONS.c.state.in_(UNFINISHED))
        return (await self._rows(waiting))[0]["n"], (await self._rows(running))[0]["n"]

    async def rows(self, session_id: str) -> list[tuple[str, Row]]:
        """Every row of a copy with the name of its table, always in the same order; none if there is no session."""
        found: list[tuple[str, Row]] = []
        async with self.database.read() as connection:
            for table in COPIED:
                query = select(table).order_by(*table.primary_key)
                if table is _CONFIGURATIONS:
                    pinned = select(_SESSIONS.c.config_hash).where(_SESSIONS.c.id == session_id)
                    query = query.where(table.c.hash.in_(pinned))
                else:
                    query = query.where(_session_column(table) == session_id)
                for row in (await connection.execute(query)).mappings():
                    found.append((table.name, plain(table, row)))
        return found if any(name == "sessions" for name, _ in found) else []

    async def confirm(self, sent: Unsent, *, target: str, digest: str, at: datetime) -> bool:
        """Note that a server has a session; false if it is not here any more, or went on meanwhile."""
        row = {
            "session_id": sent.session_id,
            "target": target,
            "digest": digest,
            "rev": sent.rev,
            "call_count": sent.call_count,
            "confirmed_at": at,
        }
        async with self.database.write() as connection:
            query = select(_SESSIONS.c.rev, _call_count().label("calls")).where(_SESSIONS.c.id == sent.session_id)
            known = (await connection.execute(query)).one_or_none()
            if known is None:
                return False
            await upsert(connection, _SENT, [row])
            return bool(known.rev == sent.rev and known.calls == sent.call_count)

    # Coming in

    async def received(self, session_id: str) -> Received | None:
        """How a session came here, if it did."""
        async with self.database.read() as connection:
            return await _received(connection, session_id)

    async def received_at(self, session_ids: Sequence[str]) -> dict[str, datetime]:
        """When sessions came here, for those that did."""
        query = select(_RECEIVED.c.session_id, _RECEIVED.c.received_at).where(_RECEIVED.c.session_id.in_(session_ids))
        return {row["session_id"]: row["received_at"] for row in await self._rows(query)} if session_ids else {}

    async def exists(self, session_id: str) -> bool:
        """Whether there is such a session here."""
        return bool(await self._rows(select(_SESSIONS.c.id).where(_SESSIONS.c.id == session_id)))

    async def open_upload(
        self, device_id: str, session_id: str, digest: str, *, size: int, skew_s: float | None, at: datetime
    ) -> int:
        """Begin or go on with a copy; how many of its bytes are here. What the device sent of another content goes."""
        mine = and_(_UPLOADS.c.device_id == device_id, _UPLOADS.c.session_id == session_id)
        async with self.database.write() as connection:
            await connection.execute(delete(_UPLOADS).where(_UPLOADS.c.touched_at < at - UPLOAD_LIFE))
            await connection.execute(delete(_UPLOADS).where(mine, _UPLOADS.c.digest != digest))
            newest = (
                select(_UPLOADS.c.session_id)
                .where(_UPLOADS.c.device_id == device_id)
                .order_by(_UPLOADS.c.touched_at.desc(), _UPLOADS.c.session_id)
                .limit(MOST_UPLOADS - 1)
            )
            kept = [row[0] for row in await connection.execute(newest)]
            others = and_(_UPLOADS.c.device_id == device_id, _UPLOADS.c.session_id.not_in([*kept, session_id]))
            await connection.execute(delete(_UPLOADS).where(others))
            row = {
                "device_id": device_id,
                "session_id": session_id,
                "digest": digest,
                "size": size,
                "received": 0,
                "clock_skew_s": skew_s,
                "touched_at": at,
            }
            await upsert(connection, _UPLOADS, [row], unchanged=("received",))
            query = select(_UPLOADS.c.received).where(mine, _UPLOADS.c.digest == digest)
            return int((await connection.execute(query)).scalar_one())

    async def add_chunk(
        self, device_id: str, session_id: str, digest: str, start: int, data: bytes, at: datetime
    ) -> int | None:
        """Keep the bytes from `start` on; how many are here then. Bytes that don't follow are not kept.

        Returns:
            None if no such copy was begun.
        """
        mine = _upload(_UPLOADS, device_id, session_id, digest)
        async with self.database.write() as connection:
            query = select(_UPLOADS.c.received, _UPLOADS.c.size).where(mine)
            upload = (await connection.execute(query)).one_or_none()
            if upload is None:
                return None
            if start != upload.received or not data or start + len(data) > upload.size:
                return int(upload.received)
            end = start + len(data)
            moved = await connection.execute(
                update(_UPLOADS).where(mine, _UPLOADS.c.received == start).values(received=end, touched_at=at)
            )
            if moved.rowcount != 1:
                return int((await connection.execute(query)).one().received)
            key = {"device_id": device_id, "session_id": session_id, "digest": digest}
            await connection.execute(insert(_CHUNKS).values(**key, start=start, data=data))
            return end

    async def upload(self, device_id: str, session_id: str, digest: str) -> Row | None:
        """What is known of a copy on its way."""
        rows = await self._rows(select(_UPLOADS).where(_upload(_UPLOADS, device_id, session_id, digest)))
        return rows[0] if rows else None

    async def chunks(self, device_id: str, session_id: str, digest: str) -> AsyncIterator[bytes]:
        """The pieces of a copy that is here, in order."""
        mine = _upload(_CHUNKS, device_id, session_id, digest)
        starts = [
            row["start"] for row in await self._rows(select(_CHUNKS.c.start).where(mine).order_by(_CHUNKS.c.start))
        ]
        for start in starts:
            rows = await self._rows(select(_CHUNKS.c.data).where(mine, _CHUNKS.c.start == start))
            yield rows[0]["data"] if rows else b""

    async def drop_upload(self, device_id: str, session_id: str, digest: str) -> None:
        """Forget a copy on its way."""
        async with self.database.write() as connection:
            await connection.execute(delete(_UPLOADS).where(_upload(_UPLOADS, device_id, session_id, digest)))

    async def store(
        self, rows: Mapping[str, Sequence[Row]], *, digest: str, device_id: str, device_name: str, at: datetime
    ) -> datetime:
        """Write a copy with `parse`d rows by table, all of it or nothing; the upload is forgotten with it.

        Writing the same copy again changes nothing, an older one neither.

        Returns:
            When it came here first in this form.
        Raises:
            CopyRefused: the session was begun here, and did not come from a device.
            RecordRefused, StoreUnavailable: the database can't take it.
        """
        [session] = rows["sessions"]
        session_id = session["id"]
        mine = _upload(_UPLOADS, device_id, session_id, digest)
        async with self.database.write() as connection:
            known = await _received(connection, session_id)
            skew_s = (await connection.execute(select(_UPLOADS.c.clock_skew_s).where(mine))).scalar_one_or_none()
            await connection.execute(delete(_UPLOADS).where(mine))
            if known is not None and (not known.present or known.digest == digest or known.rev > session["rev"]):
                return known.received_at
            present = await connection.execute(select(_SESSIONS.c.id).where(_SESSIONS.c.id == session_id))
            if known is None and present.one_or_none() is not None:
                raise CopyRefused("This interview was held on this server itself: it can't be sent here.")
            await connection.execute(delete(_SESSIONS).where(_SESSIONS.c.id == session_id))
            with translated():
                for table in COPIED:
                    found = rows.get(table.name)
                    if found and table is _CONFIGURATIONS:
                        await upsert(connection, table, found, keep=True)
                    elif found:
                        await connection.execute(insert(table), list(found))
            note = {
                "session_id": session_id,
                "digest": digest,
                "rev": session["rev"],
                "device_id": device_id,
                "device_name": device_name,
                "clock_skew_s": skew_s,
                "received_at": at,
            }
            await upsert(connection, _RECEIVED, [note])
        return at

    async def _rows(self, query: Any) -> list[Row]:
        async with self.database.read() as connection:
            return [dict(row) for row in (await connection.execute(query)).mappings()]


def _call_count() -> Any:
    return select(func.count()).where(_CALLS.c.session_id == _SESSIONS.c.id).correlate(_SESSIONS).scalar_subquery()


def _sent(target: str | None, calls: Any) -> Any:
    same = and_(_SENT.c.session_id == _SESSIONS.c.id, _SENT.c.rev == _SESSIONS.c.rev, _SENT.c.call_count == calls)
    if target is not None:
        same = and_(same, _SENT.c.target == target)
    return exists(select(_SENT.c.session_id).where(same).correlate(_SESSIONS))


def _upload(table: Table, device_id: str, session_id: str, digest: str) -> Any:
    return and_(table.c.device_id == device_id, table.c.session_id == session_id, table.c.digest == digest)


async def _received(connection: AsyncConnection, session_id: str) -> Received | None:
    query = (
        select(_RECEIVED, _SESSIONS.c.id.label("present"))
        .outerjoin(_SESSIONS, _SESSIONS.c.id == _RECEIVED.c.session_id)
        .where(_RECEIVED.c.session_id == session_id)
    )
    row = (await connection.execute(query)).mappings().one_or_none()
    if row is None:
        return None
    return Received(row["digest"], row["rev"], row["device_id"], row["received_at"], row["present"] is not None)


def _session_column(table: Table) -> Column[Any]:
    return table.c.id if table is _SESSIONS else table.c.session_id
