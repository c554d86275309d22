"""The journal: records that are not in the relational store yet, one stream per partition, read in order.

The position up to which a partition was read is kept in the relational store; so there are no consumer groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from server.hot.connection import Connection, open_client
from server.hot.keys import KeySpace
from server.hot.packing import unpack
from server.hot.replies import text_of
from server.hot.values import HotSettings

START = "0-0"
LONGEST_WAIT_MS = 5_000

_IF_HOLDER = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
_LOCK = """
local holder = redis.call('GET', KEYS[1])
local late = redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2])
if holder and holder ~= ARGV[1] and not late then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_OLDEST = """
local first = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not first then return {} end
local now = redis.call('TIME')
return {first[1], now[1] * 1000 + math.floor(now[2] / 1000)}
"""
_MOVE = """
local entries = redis.call('XRANGE', KEYS[1], '-', '+')
redis.call('XSETID', KEYS[1], ARGV[1])
for _, entry in ipairs(entries) do
  local old, fields = entry[1], entry[2]
  local id = redis.call('XADD', KEYS[1], '*', unpack(fields))
  redis.call('XDEL', KEYS[1], old)
  for i = 1, #fields, 2 do
    local meta = fields[i] == 'session' and ARGV[2] .. fields[i + 1] .. ARGV[3]
    if meta and redis.call('HGET', meta, 'jid') == old then redis.call('HSET', meta, 'jid', id) end
  end
end
return #entries
"""
_TRIM = "redis.call('SET', KEYS[2], ARGV[2]) return redis.call('XTRIM', KEYS[1], 'MINID', ARGV[1])"
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
    def connect(
        cls,
        url: str,
        keys: KeySpace,
        settings: HotSettings | None = None,
        *,
        cluster: bool = False,
        outage: Callable[[], str | None] = lambda: None,
    ) -> Self:
        """A journal with connections of its own, so that blocking reads don't delay sessions.

        `outage` is as in `Connection`.
        """
        settings = settings or HotSettings()
        client = open_client(
            url,
            timeout_s=settings.attempt_timeout_s,
            max_connections=2 * keys.partitions + 4,
            cluster=cluster,
        )
        patient = replace(settings, attempt_timeout_s=settings.attempt_timeout_s + LONGEST_WAIT_MS / 1000)
        return cls(Connection(client, patient, keys, scripts={}, outage=outage))

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
        """Remove every record up to `position`, and the one there too unless `keep_last`; all are stored."""
        ms, n = position_key(position)
        first = f"{ms}-{n if keep_last else n + 1}"
        await self.connection.ask(
            "EVAL", _TRIM, 2, self.keys.journal(partition), self.keys.stored(partition), first, position
        )

    async def stored_up_to(self, partition: int) -> str:
        """Id of the last record that was stored before it was removed, `START` when there was none."""
        found = await self.connection.ask("GET", self.keys.stored(partition))
        if found is not None:
            return text_of(found)
        return START if await self.length(partition) else await self.last_id(partition)

    async def length(self, partition: int) -> int:
        """Records that wait."""
        return int(await self.connection.ask("XLEN", self.keys.journal(partition)))

    async def oldest(self, partition: int) -> tuple[str, float] | None:
        """Id of the oldest record that waits, and its age in seconds by the clock of the hot server; None without any.

        The age is below 0 after that clock was set back.
        """
        reply = await self.connection.ask("EVAL", _OLDEST, 1, self.keys.journal(partition))
        if not reply:
            return None
        record_id = text_of(reply[0])
        return record_id, (int(reply[1]) - position_key(record_id)[0]) / 1000

    async def last_id(self, partition: int) -> str:
        """Id of the last record ever written to the journal, `START` when there was none."""
        info = await self._info(partition)
        return START if info is None else text_of(info["last-generated-id"])

    async def _info(self, partition: int) -> Mapping[str, Any] | None:
        """What the server says about the stream, None when there is none."""
        key = self.keys.journal(partition)
        if not await self.connection.ask("EXISTS", key):
            return None
        info: Mapping[str, Any] = await self.connection.ask("XINFO STREAM", key)
        return info

    async def continue_after(self, partition: int, position: str) -> None:
        """Make sure that new records get ids after `position`, and that no record is taken for a stored one.

        The journal may have been lost while its server's clock was set back, so that records have ids before the
        position that the relational store remembers; they would never be read. Those of a journal that was begun anew,
        from which nothing was ever removed, are not stored yet: they get new ids. Those of one that only lost its end
        were stored before.
        """
        info = await self._info(partition)
        last_id = START if info is None else text_of(info["last-generated-id"])
        if position_key(last_id) >= position_key(position):
            return
        key = self.keys.journal(partition)
        if info is None or not info["length"]:
            await self.connection.ask("DEL", key)
            await self.connection.ask("XADD", key, position, "kind", "mark")
            await self.connection.ask("XDEL", key, position)
        elif info["entries-added"] == info["length"]:
            prefix, suffix = self.keys.meta_parts(partition)
            await self.connection.ask("EVAL", _MOVE, 1, key, position, prefix, suffix)
        else:
            await self.connection.ask("XSETID", key, position)

    async def lock(self, partition: int, holder: str, ttl_s: float) -> bool:
        """Acquire or renew the partition's lock for `ttl_s` seconds; False while another holder has it.

        A lock that is held for longer than that was left behind before the server's clock was set back, and counts as
        free.
        """
        key = self.keys.writer_lock(partition)
        return bool(await self.connection.ask("EVAL", _LOCK, 1, key, holder, int(ttl_s * 1000)))

    async def forget_locks(self) -> None:
        """Release every lock, whoever has it: for a process that knows that there is no other one."""
        for partition in range(self.keys.partitions):
            await self.connection.ask("DEL", self.keys.writer_lock(partition))

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
