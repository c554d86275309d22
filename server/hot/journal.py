"""The journal: records that are not in the relational store yet, one stream per partition, read in order.

The position up to which a partition was read is kept in the relational store; so there are no consumer groups.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from server.hot.connection import Connection, open_client
from server.hot.keys import KeySpace
from server.hot.packing import unpack
from server.hot.replies import text_of
from server.hot.values import HotSettings

START = "0-0"
LONGEST_WAIT_MS = 5_000

_IF_HOLDER = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
_RENEW = _IF_HOLDER + "return redis.call('PEXPIRE', KEYS[1], ARGV[2])"
_RELEASE = _IF_HOLDER + "return redis.call('DEL', KEYS[1])"


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """One record of a partition's stream; fields that a kind doesn't have are empty.

    `mode` of a commit says what became of a pending answer: `turn` answered it, `keep` left it, `drop` gave it up. A
    `note` changes no state. `id` is the position in the stream, `<ms>-<n>`.
    """

    partition: int
    id: str
    kind: str
    session_id: str
    rev: int
    turn_key: str = ""
    digest: str = ""
    turn_number: int = 0
    attempt: int = 0
    mode: str = ""
    payload: bytes = b""
    receipt: bytes = b""
    packed_state: bytes = b""
    packed_data: bytes = b""

    @property
    def state(self) -> bytes | None:
        """The session's state at `rev` (create, commit), None for other kinds.

        Raises:
            ValueError: the stored bytes are damaged.
        """
        return unpack(self.packed_state) if self.packed_state else None

    @property
    def data(self) -> bytes:
        """The record that the caller added, a JSON object; errors as in `state`."""
        return unpack(self.packed_data) if self.packed_data else b"{}"

    @property
    def at_ms(self) -> int:
        """When it was written, in ms since 1970 by the clock of the hot server."""
        return int(self.id.partition("-")[0])


def position_key(record_id: str) -> tuple[int, int]:
    """The sort key of a record id, for stream order."""
    ms, _, n = record_id.partition("-")
    return int(ms), int(n)


class Journal:
    """The journals of all partitions, for `server.writer`, which carries their records to the relational store.

    Records are appended by the scripts of hot storage.

    Args:
        connection: to the server, with room for one waiting read per partition.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.keys = connection.keys

    @classmethod
    def connect(cls, url: str, keys: KeySpace, settings: HotSettings | None = None, *, cluster: bool = False) -> Self:
        """A journal with connections of its own, so that blocking reads don't delay sessions."""
        settings = settings or HotSettings()
        client = open_client(
            url,
            timeout_s=settings.attempt_timeout_s,
            max_connections=2 * keys.partitions + 4,
            cluster=cluster,
        )
        patient = replace(settings, attempt_timeout_s=settings.attempt_timeout_s + LONGEST_WAIT_MS / 1000)
        return cls(Connection(client, patient, keys, scripts={}))

    async def close(self) -> None:
        """Close every connection."""
        await self.connection.close()

    async def read(
        self, partition: int, after: str, *, count: int = 100, wait_ms: int | None = None
    ) -> list[JournalRecord]:
        """Up to `count` records after the position `after`, in order.

        Args:
            partition: which journal.
            after: id of the last record known, `START` for the beginning.
            count: how many at most.
            wait_ms: how long to wait for the first when there is none, at most LONGEST_WAIT_MS; not at all if None.

        Raises:
            StorageUnavailable: the server doesn't answer.
        """
        command: list[str | int] = ["XREAD", "COUNT", count]
        if wait_ms is not None:
            command += ["BLOCK", max(1, min(wait_ms, LONGEST_WAIT_MS))]
        command += ["STREAMS", self.keys.journal(partition), after]
        reply = await self.connection.ask(*command)
        if not reply:
            return []
        entries = reply[0][1]
        return [_record(partition, entry_id, fields) for entry_id, fields in entries]

    async def trim(self, partition: int, position: str, *, keep_last: bool = False) -> None:
        """Remove every record up to `position`, and the one there too unless `keep_last`."""
        ms, n = position_key(position)
        await self.connection.ask("XTRIM", self.keys.journal(partition), "MINID", f"{ms}-{n if keep_last else n + 1}")

    async def length(self, partition: int) -> int:
        """Records that wait."""
        return int(await self.connection.ask("XLEN", self.keys.journal(partition)))

    async def lag_s(self, partition: int) -> float:
        """Age in seconds of the oldest record that waits, 0 when there is none."""
        reply = await self.connection.ask("XRANGE", self.keys.journal(partition), "-", "+", "COUNT", 1)
        if not reply:
            return 0.0
        return max(0.0, time.time() - position_key(text_of(reply[0][0]))[0] / 1000)

    async def last_id(self, partition: int) -> str:
        """Id of the last record ever written to the journal, `START` when there was none."""
        key = self.keys.journal(partition)
        if not await self.connection.ask("EXISTS", key):
            return START
        info = await self.connection.ask("XINFO STREAM", key)
        return text_of(info["last-generated-id"])

    async def continue_after(self, partition: int, position: str) -> None:
        """Make sure that new records get ids after `position`.

        The journal may have been lost, or its server's clock set back, while the relational store remembers a later
        position; records with earlier ids would never be read.
        """
        if position_key(await self.last_id(partition)) >= position_key(position):
            return
        key = self.keys.journal(partition)
        if not await self.connection.ask("XLEN", key):
            await self.connection.ask("DEL", key)
            await self.connection.ask("XADD", key, position, "kind", "mark")
            await self.connection.ask("XDEL", key, position)
        else:
            await self.connection.ask("XSETID", key, position)

    async def lock(self, partition: int, holder: str, ttl_s: float) -> bool:
        """Acquire or renew the partition's lock for `ttl_s` seconds; False while another holder has it."""
        key, ttl_ms = self.keys.writer_lock(partition), int(ttl_s * 1000)
        if await self.connection.ask("EVAL", _RENEW, 1, key, holder, ttl_ms):
            return True
        return bool(await self.connection.ask("SET", key, holder, "NX", "PX", ttl_ms))

    async def unlock(self, partition: int, holder: str) -> None:
        """Release the partition's lock, if `holder` has it."""
        await self.connection.ask("EVAL", _RELEASE, 1, self.keys.writer_lock(partition), holder)


def _record(partition: int, entry_id: bytes, fields: Mapping[bytes, bytes]) -> JournalRecord:
    """The record; one that can't be parsed gets the kind `damaged`, which the store refuses."""
    try:
        return _parsed_record(partition, entry_id, fields)
    except ValueError:
        session_id = fields.get(b"session", b"").decode(errors="replace")
        return JournalRecord(partition, text_of(entry_id), "damaged", session_id, 0, payload=repr(fields).encode())


def _parsed_record(partition: int, entry_id: bytes, fields: Mapping[bytes, bytes]) -> JournalRecord:
    def text(name: bytes) -> str:
        return fields.get(name, b"").decode()

    return JournalRecord(
        partition=partition,
        id=text_of(entry_id),
        kind=text(b"kind"),
        session_id=text(b"session"),
        rev=int(text(b"rev") or 0),
        turn_key=text(b"key"),
        digest=text(b"digest"),
        turn_number=int(text(b"turn") or 0),
        attempt=int(text(b"attempt") or 0),
        mode=text(b"mode"),
        payload=fields.get(b"payload", b""),
        receipt=fields.get(b"receipt", b""),
        packed_state=fields.get(b"state", b""),
        packed_data=fields.get(b"data", b""),
    )
