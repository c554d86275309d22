"""The errors of hot storage.

    HotError
    ├── StorageUnavailable      the server can't be reached or can't write now
    │   ├── OutcomeUnknown      it was asked to write and never answered: ask again with the same key
    │   └── JournalFull         too many records wait for the relational store
    ├── NotOwner                another connection took the session over
    ├── Conflict                the session moved on since the caller read it
    │   └── SessionExists       there is hot state under this id already
    ├── SessionNotHot           no hot state; it may be rebuilt from its snapshot
    ├── SessionErased           the session was erased
    ├── TurnInProgress          another answer is running
    ├── TurnKeyReused           the key was used before, with other text
    ├── AnswerSuperseded        a later answer replaced the one of this key
    ├── InboxFull               too many commands wait for the owner
    ├── ScriptFailed            the server refused a script; a defect
    └── HotMisconfigured        the server's settings would lose data
        ├── PartitionMismatch   the data were made with another number of partitions
        ├── DataDirUnusable     the data directory can't be written
        ├── DataDirInUse        another process uses the data directory
        └── EmbeddedFailed      the embedded server does not start or stay up

Every error carries `code` (a wire code of the protocol) and `retryable`.
"""

from __future__ import annotations

from typing import ClassVar


class HotError(Exception):
    """Base of the errors of this package."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class StorageUnavailable(HotError):
    """The server can't be reached, or can't write at the moment."""

    code = "storage_unavailable"
    retryable = True


class OutcomeUnknown(StorageUnavailable):
    """A write was sent and not answered within the deadline; repeating it with the same key is safe."""


class JournalFull(StorageUnavailable):
    """The journal reached its bound because the relational store is behind."""


class NotOwner(HotError):
    """Another connection took the session over; its owner will run a pending answer again."""

    code = "turn_in_progress"
    retryable = True


class Conflict(HotError):
    """The session moved on since the caller read it."""

    code = "turn_in_progress"
    retryable = True


class SessionExists(Conflict):
    """There is hot state under this id already."""


class SessionNotHot(HotError):
    """No hot state under this id; a snapshot may exist in the store."""

    code = "not_found"


class SessionErased(HotError):
    """The session was erased; nothing may be written under its id again."""

    code = "not_found"


class TurnInProgress(HotError):
    """Another answer of this session is running."""

    code = "turn_in_progress"
    retryable = True


class TurnKeyReused(HotError):
    """The turn key was used before, with other text."""

    code = "invalid_input"


class AnswerSuperseded(HotError):
    """A later answer replaced the one of this key after it had failed."""

    code = "invalid_input"


class InboxFull(HotError):
    """More commands wait for the owner than the bound allows."""

    code = "rate_limited"
    retryable = True


class ScriptFailed(HotError):
    """The server refused a script or an argument."""


class HotMisconfigured(HotError):
    """The server's settings would lose data, so nothing is started."""


class PartitionMismatch(HotMisconfigured):
    """The data were made with another number of partitions than configured."""


class DataDirUnusable(HotMisconfigured):
    """The data directory can't be created or written."""


class DataDirInUse(HotMisconfigured):
    """Another process uses the data directory; the message names it where it is known."""


class EmbeddedFailed(HotMisconfigured):
    """The embedded server does not start, or exits again and again."""
