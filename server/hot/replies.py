"""Parsing of the scripts' replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from server.hot.errors import (
    AnswerSuperseded,
    Conflict,
    HotError,
    InboxFull,
    JournalFull,
    NotOwner,
    SessionErased,
    SessionExists,
    SessionNotHot,
    StorageUnavailable,
    TurnInProgress,
    TurnKeyReused,
)
from server.hot.packing import unpack
from server.hot.values import Committed, HotSession, Pending


def refusal(status: str, reply: Sequence[Any]) -> HotError | None:
    """The error that a script's status word stands for, None when it did what it was asked."""
    match status:
        case "ERASED":
            return SessionErased("this interview was erased")
        case "NOT_FOUND":
            return SessionNotHot("this session has no hot state")
        case "EXISTS":
            return SessionExists("this session has hot state already")
        case "NOT_OWNER":
            return NotOwner("another connection took this session over")
        case "CONFLICT":
            return Conflict(f"the session moved on to revision {text_of(reply[1])}")
        case "KEY_REUSED":
            return TurnKeyReused("this turn key was used before, with other text")
        case "IN_PROGRESS":
            return TurnInProgress("another answer is being worked on")
        case "SUPERSEDED":
            return AnswerSuperseded("a later answer replaced this one")
        case "FULL":
            return JournalFull("storage is behind; no new answer can be taken just now")
        case "INBOX_FULL":
            return InboxFull("too many commands wait for this session")
        case _:
            return None


def text_of(value: Any) -> str:
    """Bytes or a number as text."""
    return value.decode() if isinstance(value, bytes) else str(value)


def hot_session(reply: Sequence[Any]) -> HotSession:
    """The session that `claim` and `read` reply with. Raises StorageUnavailable when its state is damaged."""
    (_, state, rev, epoch, last_event_id, owner, key, payload, digest, attempt, failed, turn) = reply
    pending = None
    if key:
        pending = Pending(
            turn_key=text_of(key),
            payload=payload,
            digest=text_of(digest),
            attempt=int(attempt),
            failed=text_of(failed) == "1",
            turn_number=int(turn),
        )
    try:
        unpacked = unpack(state)
    except ValueError as exc:
        raise StorageUnavailable(f"the stored state can't be read: {exc}") from exc
    return HotSession(
        state=unpacked,
        rev=int(rev),
        epoch=text_of(epoch),
        last_event_id=int(last_event_id),
        owner=text_of(owner),
        pending=pending,
    )


def committed(stored: bytes) -> Committed:
    """A stored receipt: one line `digest rev first_event n_events journal_id`, then the receipt's bytes."""
    head, _, receipt = stored.partition(b"\n")
    _, rev, first, count, journal_id = head.decode().split(" ")
    first_id = int(first)
    return Committed(
        rev=int(rev), event_ids=range(first_id, first_id + int(count)), journal_id=journal_id, receipt=receipt
    )
