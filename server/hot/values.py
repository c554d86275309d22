"""Settings, arguments and results of hot storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from config.settings import StorageSettings

_DECLARED = StorageSettings()


@dataclass(frozen=True, slots=True)
class HotSettings:
    """Bounds and times of hot storage.

    Args:
        op_deadline_s: how long one operation is tried again before it gives up.
        attempt_timeout_s: how long one attempt may take.
        hot_ttl_s: how long a stored session stays hot after its last use.
        tombstone_ttl_s: how long the id of an erased session stays refused.
        inbox_ttl_s: how long a command waits for an owner.
        inbox_limit: commands that may wait for one session.
        journal_limit: records per partition above which no new answer is accepted.
        compress_above: bytes above which states and records are compressed.
        max_connections: of this process to the server, for operations.
        wait_replicas: replicas that must have a write before it counts (`WAIT`); 0 asks for none.
        wait_aof: servers, besides the replicas, that must have it on disk (`WAITAOF`), 0 or 1.
        wait_timeout_ms: how long to wait for them.
    """

    op_deadline_s: float = 10.0
    attempt_timeout_s: float = 2.0
    hot_ttl_s: float = _DECLARED.hot_ttl_s
    tombstone_ttl_s: float = 90 * 86_400.0
    inbox_ttl_s: float = 3_600.0
    inbox_limit: int = 100
    journal_limit: int = 10_000
    compress_above: int = 1_024
    max_connections: int = 64
    wait_replicas: int = _DECLARED.wait_replicas
    wait_aof: int = _DECLARED.wait_aof
    wait_timeout_ms: int = _DECLARED.wait_timeout_ms


@dataclass(frozen=True, slots=True)
class Pending:
    """An answer that was accepted and not committed yet.

    `attempt` counts runs from 1; `failed` means that its last run ended in `turn.failed`.
    """

    turn_key: str
    payload: bytes
    digest: str
    attempt: int
    failed: bool
    turn_number: int


@dataclass(frozen=True, slots=True)
class HotSession:
    """A session as it stands in hot storage; `owner` is empty when it has none."""

    state: bytes
    rev: int
    epoch: str
    last_event_id: int
    owner: str
    pending: Pending | None


@dataclass(frozen=True, slots=True)
class HotCopy:
    """What hot storage has of a session that the store should have.

    `superseded` are the digests of given-up answers by turn key, `token` is the entry of the respondent's token.
    """

    session_id: str
    packed_state: bytes
    rev: int
    pending: Pending | None
    superseded: Mapping[str, str]
    token: bytes


@dataclass(frozen=True, slots=True)
class Created:
    """A session was created; its events have the ids 1 to `last_event_id`."""

    epoch: str
    last_event_id: int
    journal_id: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer is on disk as attempt `attempt`.

    `event_id` is the id of its `turn.started`; the events of `first` have the ids from `first_event_id` on, and none
    where a later attempt did not append them again.
    """

    attempt: int
    event_id: int
    journal_id: str
    superseded: str | None
    first_event_id: int


@dataclass(frozen=True, slots=True)
class AlreadyPending:
    """This answer is pending already and its attempt `attempt` has not failed; nothing was changed."""

    attempt: int


@dataclass(frozen=True, slots=True)
class AlreadyCommitted:
    """This answer's turn is committed; `receipt` is what its commit left for the client."""

    receipt: bytes
    rev: int
    event_ids: range


@dataclass(frozen=True, slots=True)
class Committed:
    """The turn or command is committed: the session is at `rev`, its events have these ids."""

    rev: int
    event_ids: range
    journal_id: str
    receipt: bytes


@dataclass(frozen=True, slots=True)
class Failed:
    """The failure is recorded; `event_id` is the id of its `turn.failed`."""

    event_id: int
    journal_id: str


@dataclass(frozen=True, slots=True)
class DurableEvent:
    """One event as it goes over the wire; `data` contains the id too."""

    id: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """A committed or superseded answer from the relational store, for a rebuild."""

    turn_key: str
    digest: str
    rev: int
    receipt: bytes
    superseded: bool = False


class Erasure(Enum):
    """How far the erasing of a session is."""

    NONE = "none"
    ERASING = "erasing"
    ERASED = "erased"


@dataclass(frozen=True, slots=True)
class Wake:
    """A notification about a session for its owner, on any node.

    `kind` is `inbox` (a command waits), `claimed` (`owner` took it over), `erased`, `replied` (a command was
    answered) or `resync` (messages may have been missed: look at everything you own; the session is empty then).
    """

    kind: str
    session_id: str
    owner: str


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The server's version, and sentences on what it does not guarantee."""

    version: str
    caveats: tuple[str, ...] = field(default=())
