"""Names of everything kept in Redis.

A session's keys and the journal of its partition share one hash tag, so that a script never crosses slots. The number
of partitions, the journals, which the writer trims, and how far each was stored never expire; neither do the keys of a
session while a record of it waits in the journal.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

from pipeline.state import is_session_id
from server.hot.errors import SessionNotHot

DEFAULT_PARTITIONS = 16
PARTITIONS_KEY = "askwell:partitions"
WAKE_CHANNEL = "askwell:wake"
WATCH_CHANNEL = "askwell:watch"
DEVICE_PREFIX = "askwell:device:"
CONFIGURATION_PREFIX = "askwell:configuration:"


@dataclass(frozen=True, slots=True)
class SessionKeys:
    """The keys of one session and the journal of its partition."""

    meta: str
    state: str
    events: str
    embeddings: str
    receipts: str
    inbox: str
    tombstone: str
    journal: str

    def all(self) -> tuple[str, ...]:
        """Every key, in the order in which the scripts expect them."""
        return (
            self.meta,
            self.state,
            self.events,
            self.embeddings,
            self.receipts,
            self.inbox,
            self.tombstone,
            self.journal,
        )


@dataclass(frozen=True, slots=True)
class KeySpace:
    """Names for a given number of partitions; the number never changes for one set of data."""

    partitions: int = DEFAULT_PARTITIONS

    def __post_init__(self) -> None:
        if not 1 <= self.partitions <= 1024:
            raise ValueError(f"partitions must be between 1 and 1024, not {self.partitions}")

    def partition_of(self, session_id: str) -> int:
        """The partition of a session, in [0, partitions): CRC-32 of its id, the same on every machine."""
        return crc32(session_id.encode()) % self.partitions

    def session(self, session_id: str) -> SessionKeys:
        """The session's keys.

        Raises:
            SessionNotHot: the id can't be the id of a session.
        """
        if not is_session_id(session_id):
            raise SessionNotHot("this is not the id of a session")
        partition = self.partition_of(session_id)
        prefix = f"askwell:{{p{partition:02d}}}:{session_id}"
        before, after = self.meta_parts(partition)
        return SessionKeys(
            meta=f"{before}{session_id}{after}",
            state=f"{prefix}:state",
            events=f"{prefix}:events",
            embeddings=f"{prefix}:embeddings",
            receipts=f"{prefix}:receipts",
            inbox=f"{prefix}:inbox",
            tombstone=f"{prefix}:gone",
            journal=self.journal(partition),
        )

    @staticmethod
    def meta_parts(partition: int) -> tuple[str, str]:
        """What stands before and after a session's id in the name of its `meta` key, for scripts."""
        return f"askwell:{{p{partition:02d}}}:", ":meta"

    def reply(self, session_id: str, command_id: str) -> str:
        """Where the owner leaves its answer to a command."""
        partition = self.partition_of(session_id)
        return f"askwell:{{p{partition:02d}}}:{session_id}:reply:{command_id}"

    def journal(self, partition: int) -> str:
        """The stream of a partition's records."""
        return f"askwell:{{p{partition:02d}}}:journal"

    def stored(self, partition: int) -> str:
        """Up to which record a partition's journal was stored and trimmed."""
        return f"askwell:{{p{partition:02d}}}:stored"

    def every(self, partition: int, part: str) -> str:
        """A pattern for one key of each session of the partition, `meta` or `gone`."""
        return f"askwell:{{p{partition:02d}}}:*:{part}"

    def writer_lock(self, partition: int) -> str:
        """The short lock of the partition's writer."""
        return f"askwell:{{p{partition:02d}}}:writer"
