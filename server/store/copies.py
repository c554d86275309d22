"""Whole sessions as rows that can be written into another database, and where sessions were sent and came from.

A copy is every row of a session with the configuration that it is pinned to. Left out are its tokens, which are valid
on this server only, and the records of sending and receiving themselves.

A session that came from a device belongs to that device and its concept. What the device sends of it later takes the
place of what is here if its revision is not lower; the other of the two is kept as a version. Nothing that was
confirmed to a device is given up, so a session that has MOST_VERSIONS versions is not taken again.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Float,
    Integer,
    LargeBinary,
    Select,
    String,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from pipeline.state import UNFINISHED
from server.store.engine import Database
from server.store.errors import StoreUnavailable, translated
from server.store.tables import (
    CONFIGURATIONS,
    LLM_CALLS,
    METADATA,
    SESSIONS,
    SYNC_CHUNKS,
    SYNC_RECEIVED,
    SYNC_SENT,
    SYNC_UPLOADS,
    SYNC_VERSIONS,
    Row,
    UtcTime,
)
from server.store.upserting import upsert

COPIED: tuple[Table, ...] = (
    CONFIGURATIONS,
    SESSIONS,
    *(
        table
        for table in METADATA.sorted_tables
        if table is not SYNC_SENT and any(key.column is SESSIONS.c.id for key in table.foreign_keys)
    ),
)
"""Tables of a copy, those that others refer to first."""

MOST_UPLOADS = 32
"""Copies that one device may be sending at the same time; beyond that, those it touched longest ago are deleted."""
UPLOAD_LIFE = timedelta(days=7)
PACKED_ROWS = 200
UNPACKED_BYTES = 256 * 1024
MOST_VERSIONS = 20
"""Versions of one session that are kept besides the one that is shown."""
HELD_HERE = "This interview was held on this server itself: it can't be sent here."
OTHER_DEVICE = (
    "This interview came here from another device, with other content: nothing was changed here. If this device has "
    "a new token, the operator of this server can hand the interviews of the old one over to it."
)
OTHER_CONCEPT = "This interview is here already, on another concept: nothing was changed here."
TOO_MANY_VERSIONS = (
    f"This interview was sent in {MOST_VERSIONS + 1} different states already: nothing was changed here."
)


RowsOf = Callable[[str], Iterator[list[Row]]]
"""The rows of a table of a copy by its name, as `parsed_row` gave them, a few at a time; blocks."""


class CopyRefused(Exception):
    """A copy or a row that is not written here; the message says why, `code` is a wire code."""

    retryable = False

    def __init__(self, message: str, *, code: str = "invalid_input") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Unsent:
    """A finished session that a server has not confirmed to have as it is now."""

    session_id: str
    concept_id: str
    rev: int
    call_count: int


@dataclass(frozen=True, slots=True)
class UploadKey:
    """Names a copy that is being received: the device, the session, and the SHA-256 of the bundle."""

    device_id: str
    session_id: str
    digest: str

    def rows_of(self, table: Table) -> ColumnElement[bool]:
        """The condition for its rows in `sync_uploads` or `sync_chunks`."""
        return and_(*(table.c[name] == value for name, value in asdict(self).items()))


@dataclass(frozen=True, slots=True)
class Received:
    """How a session came here; `concept_id` is None once it was erased.

    `versions` are the digests of its other states that are kept, those kept last at the end.
    """

    digest: str
    rev: int
    device_id: str
    device_name: str
    received_at: datetime
    concept_id: str | None
    versions: tuple[str, ...] = ()

    @property
    def present(self) -> bool:
        """Whether the session is here; it is not once it was erased."""
        return self.concept_id is not None

    def has(self, digest: str) -> bool:
        """Whether a bundle with exactly these bytes came here."""
        return digest == self.digest or digest in self.versions

    def check(self, key: UploadKey, concept_id: str) -> None:
        """Refuse a copy of this session that is not the same device's, or on another concept.

        A device that has the very bytes that are here has the same interview, whoever brought it.

        Raises:
            CopyRefused: `forbidden`; `invalid_input` where it would be one version too many.
        """
        if self.concept_id not in (None, concept_id):
            raise CopyRefused(OTHER_CONCEPT, code="forbidden")
        if self.has(key.digest):
            return
        if self.device_id != key.device_id:
            raise CopyRefused(OTHER_DEVICE, code="forbidden")
        if self.present and len(self.versions) >= MOST_VERSIONS:
            raise CopyRefused(TOO_MANY_VERSIONS)


@dataclass(frozen=True, slots=True)
class Version:
    """A state of a session that was sent besides the one that is shown; `recordings` are the names of its files."""

    digest: str
    rev: int
    device_id: str
    device_name: str
    received_at: datetime
    kept_at: datetime
    recordings: tuple[str, ...]


class Copies:
    """Copies of sessions in one database.

    Args:
        database: the store.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    async def unsent(
        self, target: str | None, concepts: frozenset[str] | None = None, limit: int = 1000
    ) -> list[Unsent]:
        """Finished sessions that were not confirmed as they are now, oldest first.

        Args:
            target: by that server; by any one if not given.
            concepts: only those of these concepts; None for all.
            limit: how many at most.
        """
        c, calls = SESSIONS.c, _call_count()
        query = (
            select(c.id.label("session_id"), c.concept_id, c.rev, calls.label("call_count"))
            .where(c.state.not_in(UNFINISHED), ~_sent(target, calls))
            .order_by(c.created_at, c.id)
            .limit(limit)
        )
        if concepts is not None:
            query = query.where(c.concept_id.in_(sorted(concepts)))
        return [Unsent(**row) for row in await self.database.rows(query)]

    async def counts(self, target: str | None) -> tuple[int, int]:
        """How many finished sessions were not confirmed, and how many are not finished."""
        unfinished, count = SESSIONS.c.state.in_(UNFINISHED), select(func.count()).select_from(SESSIONS)
        waiting = await self.database.scalar(count.where(~unfinished, ~_sent(target, _call_count())))
        return waiting, await self.database.scalar(count.where(unfinished))

    async def rows(self, session_id: str) -> list[tuple[str, Row]]:
        """Every row of a copy with the name of its table, always in the same order; none if there is no session."""
        async with self.database.read() as connection:
            return await _rows(connection, session_id)

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
            query = select(SESSIONS.c.rev, _call_count().label("calls")).where(SESSIONS.c.id == sent.session_id)
            known = (await connection.execute(query)).one_or_none()
            if known is None:
                return False
            await upsert(connection, SYNC_SENT, [row])
            return bool(known.rev == sent.rev and known.calls == sent.call_count)

    async def received(self, session_id: str) -> Received | None:
        """How a session came here, if it did."""
        async with self.database.read() as connection:
            return await _received(connection, session_id)

    async def received_at(self, session_ids: Sequence[str]) -> dict[str, datetime]:
        """When sessions came here, for those that did."""
        query = select(SYNC_RECEIVED).where(SYNC_RECEIVED.c.session_id.in_(session_ids))
        return {row["session_id"]: row["received_at"] for row in await self.database.rows(query)} if session_ids else {}

    async def versions(self, session_id: str) -> list[Version]:
        """The other states of a session that were sent, those kept last at the end."""
        c = SYNC_VERSIONS.c
        columns = [c[name] for name in Version.__slots__]
        query = select(*columns).where(c.session_id == session_id).order_by(c.kept_at, c.digest)
        return [Version(**row | {"recordings": tuple(row["recordings"])}) for row in await self.database.rows(query)]

    async def version_rows(self, session_id: str, digest: str) -> Iterator[tuple[str, Row]] | None:
        """The rows of such a state as `rows` gives them, unpacked as they are asked for; None if there is none."""
        c = SYNC_VERSIONS.c
        query = select(c.packed_rows).where(c.session_id == session_id, c.digest == digest)
        packed = await self.database.scalar(query)
        return _unpacked(packed) if packed is not None else None

    async def hand_over(self, old_id: str, new_id: str, new_name: str, session_id: str | None = None) -> int:
        """Let what one device sent belong to another.

        Args:
            old_id: the device that sent it.
            new_id: the device that may send it from now on.
            new_name: its name.
            session_id: only this session; all if not given.
        Returns:
            How many sessions.
        """
        c = SYNC_RECEIVED.c
        which = c.device_id == old_id if session_id is None else (c.device_id == old_id) & (c.session_id == session_id)
        async with self.database.write() as connection:
            statement = update(SYNC_RECEIVED).where(which).values(device_id=new_id, device_name=new_name)
            return int((await connection.execute(statement)).rowcount)

    async def exists(self, session_id: str) -> bool:
        """Whether there is such a session here."""
        return await self.database.scalar(select(SESSIONS.c.id).where(SESSIONS.c.id == session_id)) is not None

    async def open_upload(self, key: UploadKey, *, size: int, skew_s: float | None, at: datetime) -> int:
        """Begin or continue a copy; how many of its bytes are here.

        What the device sent of an earlier copy of the session is deleted.
        """
        c = SYNC_UPLOADS.c
        own = c.device_id == key.device_id
        newest = select(c.session_id).where(own).order_by(c.touched_at.desc(), c.session_id).limit(MOST_UPLOADS - 1)
        row = asdict(key) | {"size": size, "received": 0, "clock_skew_s": skew_s, "touched_at": at}
        async with self.database.write() as connection:
            await connection.execute(delete(SYNC_UPLOADS).where(c.touched_at < at - UPLOAD_LIFE))
            earlier = own & (c.session_id == key.session_id) & (c.digest != key.digest)
            await connection.execute(delete(SYNC_UPLOADS).where(earlier))
            kept = [*await connection.scalars(newest), key.session_id]
            await connection.execute(delete(SYNC_UPLOADS).where(own, c.session_id.not_in(kept)))
            await upsert(connection, SYNC_UPLOADS, [row], unchanged=("received",))
            query = select(c.received).where(key.rows_of(SYNC_UPLOADS))
            return int((await connection.execute(query)).scalar_one())

    async def add_chunk(self, key: UploadKey, start: int, data: bytes, at: datetime) -> int | None:
        """Keep the bytes from `start` on; how many are here then. Bytes that don't follow are not kept.

        Returns:
            None if no such copy was begun.
        """
        mine = key.rows_of(SYNC_UPLOADS)
        async with self.database.write() as connection:
            query = select(SYNC_UPLOADS.c.received, SYNC_UPLOADS.c.size).where(mine)
            upload = (await connection.execute(query)).one_or_none()
            if upload is None:
                return None
            if start != upload.received or not data or start + len(data) > upload.size:
                return int(upload.received)
            end = start + len(data)
            moved = await connection.execute(
                update(SYNC_UPLOADS).where(mine, SYNC_UPLOADS.c.received == start).values(received=end, touched_at=at)
            )
            if moved.rowcount != 1:
                return int((await connection.execute(query)).one().received)
            await connection.execute(insert(SYNC_CHUNKS).values(**asdict(key), start=start, data=data))
            return end

    async def upload(self, key: UploadKey) -> Row | None:
        """The row of a copy that is being received."""
        return next(iter(await self.database.rows(select(SYNC_UPLOADS).where(key.rows_of(SYNC_UPLOADS)))), None)

    async def chunks(self, key: UploadKey) -> AsyncIterator[bytes]:
        """The bytes of a copy that were received, piece by piece."""
        mine = key.rows_of(SYNC_CHUNKS)
        for row in await self.database.rows(select(SYNC_CHUNKS.c.start).where(mine).order_by(SYNC_CHUNKS.c.start)):
            one = select(SYNC_CHUNKS.c.data).where(mine, SYNC_CHUNKS.c.start == row["start"])
            yield await self.database.scalar(one) or b""

    async def drop_upload(self, key: UploadKey) -> None:
        """Forget a copy that is being received."""
        async with self.database.write() as connection:
            await connection.execute(delete(SYNC_UPLOADS).where(key.rows_of(SYNC_UPLOADS)))

    async def store(
        self,
        key: UploadKey,
        session: Row,
        rows_of: RowsOf,
        *,
        device_name: str,
        recordings: Sequence[str],
        at: datetime,
    ) -> Received:
        """Write a copy in one transaction, and forget its upload.

        Writing the same copy again changes nothing. Of two revisions the later one is what is shown afterwards, and the
        earlier one is kept as a version.

        Args:
            key: of its upload.
            session: its row in `sessions`.
            rows_of: the rows of each table.
            device_name: the name of the device that sent it.
            recordings: the names of its files.
            at: now.
        Returns:
            How the session came here, this copy included.
        Raises:
            CopyRefused: the session was begun here, or is another device's or concept's.
            RecordRefused, StoreUnavailable: the database can't take it.
        """
        mine = key.rows_of(SYNC_UPLOADS)
        async with self.database.write() as connection:
            await self._lock(connection, key.session_id)
            known = await _received(connection, key.session_id)
            if known is not None:
                known.check(key, session["concept_id"])
            skew_s = (await connection.execute(select(SYNC_UPLOADS.c.clock_skew_s).where(mine))).scalar_one_or_none()
            await connection.execute(delete(SYNC_UPLOADS).where(mine))
            if known is not None and (not known.present or known.has(key.digest)):
                return known
            note = {"rev": session["rev"], "device_name": device_name, "received_at": at}
            if known is not None and known.rev > session["rev"]:
                version = {**asdict(key), **note, "kept_at": at, "recordings": list(recordings)}
                await _keep_version(connection, version, await _packed(rows_of))
                return replace(known, versions=(*known.versions, key.digest))
            if known is not None:
                await _keep_shown(connection, known, key.session_id, at)
            deleted = await connection.execute(delete(SESSIONS).where(SESSIONS.c.id == key.session_id))
            if known is None and deleted.rowcount:
                raise CopyRefused(HELD_HERE)
            with translated():
                for table in COPIED:
                    batches = rows_of(table.name)
                    while found := await asyncio.to_thread(next, batches, None):
                        if table is CONFIGURATIONS:
                            await upsert(connection, table, found, keep=True)
                        else:
                            await connection.execute(insert(table), found)
            shown = asdict(key) | note | {"clock_skew_s": skew_s, "recordings": list(recordings)}
            await upsert(connection, SYNC_RECEIVED, [shown])
            stored = await _received(connection, key.session_id)
        assert stored is not None
        return stored

    async def _lock(self, connection: AsyncConnection, session_id: str) -> None:
        """Let nobody else store this session until the transaction ends; SQLite lets nobody else write at all."""
        if not self.database.is_sqlite:
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(session_id))))


def _call_count() -> Any:
    return select(func.count()).where(LLM_CALLS.c.session_id == SESSIONS.c.id).correlate(SESSIONS).scalar_subquery()


def _sent(target: str | None, calls: Any) -> Any:
    c = SYNC_SENT.c
    same = and_(c.session_id == SESSIONS.c.id, c.rev == SESSIONS.c.rev, c.call_count == calls)
    if target is not None:
        same = and_(same, c.target == target)
    return exists(select(c.session_id).where(same).correlate(SESSIONS))


async def _received(connection: AsyncConnection, session_id: str) -> Received | None:
    query = (
        select(SYNC_RECEIVED, SESSIONS.c.concept_id)
        .outerjoin(SESSIONS, SESSIONS.c.id == SYNC_RECEIVED.c.session_id)
        .where(SYNC_RECEIVED.c.session_id == session_id)
    )
    row = (await connection.execute(query)).mappings().one_or_none()
    if row is None:
        return None
    c = SYNC_VERSIONS.c
    kept = select(c.digest).where(c.session_id == session_id).order_by(c.kept_at, c.digest)
    versions = tuple(await connection.scalars(kept))
    return Received(**{name: row[name] for name in Received.__slots__ if name != "versions"}, versions=versions)


async def _rows(connection: AsyncConnection, session_id: str) -> list[tuple[str, Row]]:
    found: list[tuple[str, Row]] = []
    for table in COPIED:
        rows = (await connection.execute(_rows_in(table, session_id))).mappings()
        found += [(table.name, json_row(row)) for row in rows]
    return found if any(name == "sessions" for name, _ in found) else []


def _rows_in(table: Table, session_id: str) -> Select[Any]:
    """The query for a session's rows of a table of a copy, in their order."""
    query = select(table).order_by(*table.primary_key)
    if table is CONFIGURATIONS:
        return query.where(table.c.hash.in_(select(SESSIONS.c.config_hash).where(SESSIONS.c.id == session_id)))
    return query.where((table.c.id if table is SESSIONS else table.c.session_id) == session_id)


async def _keep_shown(connection: AsyncConnection, known: Received, session_id: str, at: datetime) -> None:
    """Keep what is shown of a session as a version, with what was added to it here."""
    query = select(SYNC_RECEIVED.c.recordings).where(SYNC_RECEIVED.c.session_id == session_id)
    recordings = (await connection.execute(query)).scalar_one()
    names = ("digest", "rev", "device_id", "device_name", "received_at")
    note = {"session_id": session_id, **{name: getattr(known, name) for name in names}}
    packer = _Packer()
    for table in COPIED:
        async with connection.stream(_rows_in(table, session_id)) as rows:
            async for batch in rows.mappings().partitions(PACKED_ROWS):
                await asyncio.to_thread(packer.add, table.name, batch)
    await _keep_version(connection, {**note, "kept_at": at, "recordings": recordings}, packer.end())


async def _packed(rows_of: RowsOf) -> bytes:
    packer = _Packer()
    for table in COPIED:
        batches = rows_of(table.name)
        while batch := await asyncio.to_thread(next, batches, None):
            await asyncio.to_thread(packer.add, table.name, batch)
    return packer.end()


async def _keep_version(connection: AsyncConnection, version: Row, packed: bytes) -> None:
    with translated():
        await connection.execute(insert(SYNC_VERSIONS).values(**version, packed_rows=packed))


class _Packer:
    """Rows as compressed lines of JSON, a few at a time."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(6)
        self._packed = bytearray()

    def add(self, table: str, rows: Iterable[Mapping[Any, Any]]) -> None:
        """Add rows of a table; blocks."""
        for row in rows:
            line = json.dumps([table, json_row(row)], separators=(",", ":")).encode()
            self._packed += self._packer.compress(line + b"\n")

    def end(self) -> bytes:
        """All of it."""
        return bytes(self._packed + self._packer.flush())


def _unpacked(packed: bytes) -> Iterator[tuple[str, Row]]:
    """The rows that a `_Packer` packed; blocks."""
    unpacker, rest, left = zlib.decompressobj(), b"", packed
    while not unpacker.eof:
        more = unpacker.decompress(left, UNPACKED_BYTES)
        if not more and not left:
            raise StoreUnavailable("a version of a session can't be read: its rows are damaged")
        left = unpacker.unconsumed_tail
        *lines, rest = (rest + more).split(b"\n")
        for line in lines:
            table, row = json.loads(line)
            yield table, row


def json_row(row: Mapping[Any, Any]) -> Row:
    """A row as JSON holds it: moments as ISO 8601, bytes in base64."""
    return {name: _json_value(value) for name, value in row.items()}


def _json_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def parsed_row(table_name: str, content: Mapping[str, Any], session_id: str) -> Row:
    """A row of a copy as it is written here.

    Args:
        table_name: which table.
        content: what `Copies.rows` gave, through JSON.
        session_id: whose row it must be.
    Raises:
        CopyRefused: it is none, is another session's, or belongs to another version of askwell.
    """
    table = next((table for table in COPIED if table.name == table_name), None)
    if table is None:
        raise CopyRefused(f"The interview comes from a newer askwell: there is no `{table_name}` here.")
    unknown = [name for name in content if name not in table.columns]
    if unknown:
        raise CopyRefused(f"The interview comes from a newer askwell: there is no `{table_name}.{unknown[0]}` here.")
    row: Row = {}
    for column in table.columns:
        if column.name in content:
            row[column.name] = _parsed(column, content[column.name], f"{table_name}.{column.name}")
        elif column.nullable:
            row[column.name] = None
        elif column.server_default is None:
            raise CopyRefused(
                f"The interview comes from another version of askwell: `{table_name}.{column.name}` lacks."
            )
    if table is not CONFIGURATIONS and row.get("id" if table is SESSIONS else "session_id") != session_id:
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
        bits = 63 if isinstance(kind, BigInteger) else 31
        return type(value) is int and -(2**bits) <= value < 2**bits
    if isinstance(kind, Float):
        return type(value) in (int, float)
    if isinstance(kind, String):
        return isinstance(value, str) and "\x00" not in value and (kind.length is None or len(value) <= kind.length)
    return False
