"""Hot state of sessions: one script per operation, each in one slot.

A session is a state (opaque bytes), its durable events, its receipts and at most one pending answer. Its owner has an
owner id; the latest claim wins. Every operation that writes can be repeated after a lost reply without writing twice,
and is repeated here until a deadline, so that an unknown outcome is not taken for a failure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Any

from server.hot.broadcast import Broadcasts
from server.hot.checks import ServerChecks
from server.hot.connection import Connection
from server.hot.keys import CONFIGURATION_PREFIX
from server.hot.messages import CommandInbox
from server.hot.packing import event_text, pack_off_loop, unpack
from server.hot.replies import committed, hot_session, text_of
from server.hot.values import (
    Accepted,
    AlreadyCommitted,
    AlreadyPending,
    Committed,
    Created,
    DurableEvent,
    Erasure,
    Failed,
    HotCopy,
    HotSession,
    Pending,
    StoredReceipt,
)


class HotStore:
    """Hot storage of every session; one per process, shared by all tasks of one event loop.

    Args:
        connection: to the server.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.keys = connection.keys
        """Names of the keys."""
        self.settings = connection.settings
        """Bounds and times in use."""
        self.inbox = CommandInbox(connection)
        """Commands for the owners of sessions."""
        self.broadcasts = Broadcasts(connection)
        """Messages between nodes about what is watched."""
        self.checks = ServerChecks(connection)
        """The server itself."""
        self._run = connection.run
        self._ask = connection.ask

    async def close(self) -> None:
        """Close every connection."""
        await self.connection.close()

    async def _pack(self, data: bytes) -> bytes:
        return await pack_off_loop(data, compress_above=self.settings.compress_above)

    async def create(
        self,
        session_id: str,
        *,
        state: bytes,
        rev: int = 0,
        record: bytes = b"{}",
        token: bytes = b"",
        events: Sequence[Mapping[str, Any]] = (),
    ) -> Created:
        """Make a session hot for the first time; `token` is the entry of its respondent's token, opaque.

        Raises:
            SessionExists: it is there already.
            SessionErased: it was erased.
        """
        packed = await self._pack(state)
        reply = await self._run(
            "create",
            session_id,
            token_hex(8),
            token_hex(8),
            rev,
            packed,
            await self._pack(record),
            token,
            *map(event_text, events),
        )
        return Created(epoch=text_of(reply[1]), last_event_id=int(reply[2]), journal_id=text_of(reply[3]))

    async def restore(
        self,
        session_id: str,
        *,
        state: bytes,
        rev: int,
        pending: Pending | None = None,
        receipts: Sequence[StoredReceipt] = (),
        token: bytes = b"",
    ) -> str:
        """Make a session hot again from its snapshot; event ids begin at 1 again under a new epoch.

        Args:
            session_id: the session.
            state: the stored state.
            rev: its revision.
            pending: an answer that was accepted after that revision.
            receipts: of the session's committed and superseded answers, so that their keys stay known.
            token: the entry of its respondent's token.

        Returns:
            The new epoch.

        Raises:
            SessionExists: it is hot already; claim it instead.
            SessionErased: it was erased.
        """
        fields: list[str | bytes | int] = ["", b"", "", 0, 0, 0]
        if pending is not None:
            fields = [
                pending.turn_key,
                pending.payload,
                pending.digest,
                pending.attempt,
                int(pending.failed),
                pending.turn_number,
            ]
        fields.append(token)
        for receipt in receipts:
            if receipt.superseded:
                fields += [f"s:{receipt.turn_key}", receipt.digest]
            else:
                head = f"{receipt.digest} {receipt.rev} 1 0 0-0\n".encode()
                fields += [f"t:{receipt.turn_key}", head + receipt.receipt]
        ttl_ms = int(self.settings.hot_ttl_s * 1000)
        packed = await self._pack(state)
        reply = await self._run("restore", session_id, token_hex(8), token_hex(8), rev, ttl_ms, packed, *fields)
        return text_of(reply[1])

    async def claim(self, session_id: str, owner: str) -> HotSession:
        """Make `owner` the session's owner, whoever was before, and return the session.

        Raises:
            SessionNotHot: there is no hot state.
            SessionErased: it was erased.
        """
        reply = await self._run("claim", session_id, owner, int(self.settings.hot_ttl_s * 1000))
        return hot_session(reply)

    async def read(self, session_id: str) -> HotSession:
        """The session without changing its owner; errors as in `claim`."""
        return hot_session(await self._run("read", session_id, writes=False))

    async def keep(self, session_id: str, owner: str) -> bool:
        """Let the session's keys live for another `hot_ttl_s`, if they would end and `owner` owns it.

        Returns:
            Whether `owner` owns it.

        Raises:
            SessionNotHot: there is no hot state.
        """
        reply = await self._run("keep", session_id, owner, int(self.settings.hot_ttl_s * 1000))
        return bool(reply[1])

    async def owner_of(self, session_id: str) -> str | None:
        """The owner's id, or None when the session is not hot or has none."""
        owner = await self._ask("HGET", self.keys.session(session_id).meta, "owner")
        return owner.decode() if owner else None

    async def accept(
        self,
        session_id: str,
        *,
        owner: str,
        rev: int,
        turn_key: str,
        payload: bytes,
        digest: str,
        turn_number: int,
        event: Mapping[str, Any],
        first: Sequence[Mapping[str, Any]] = (),
        rerun: bool = False,
    ) -> Accepted | AlreadyPending | AlreadyCommitted:
        """Store and journal an answer before it is run; the acknowledgement of it.

        Args:
            session_id: the session.
            owner: the caller.
            rev: the revision that the answer belongs to.
            turn_key: the client's key.
            payload: the answer, opaque.
            digest: of the answer's content, without blanks; a key with another digest is refused.
            turn_number: the number of the turn it will be.
            event: `turn.started` without `attempt` and `id`, which are added.
            first: durable events to append right before it, without ids; only by the answer's first attempt.
            rerun: run a pending answer again, as another attempt, also if it has not failed.

        Returns:
            `Accepted` when it is to be run now; `AlreadyPending` when it runs already; `AlreadyCommitted` when its
            turn is done. The latter two changed nothing.

        Raises:
            TurnKeyReused: the key came with other text before.
            TurnInProgress: another answer is pending and has not failed.
            AnswerSuperseded: the answer of this key failed and another took its place.
            NotOwner: someone else owns the session.
            Conflict: the session is not at `rev`.
            JournalFull: the relational store is too far behind.
        """
        if " " in digest or not digest:
            raise ValueError("a digest has no blanks and is not empty")
        reply = await self._run(
            "accept",
            session_id,
            token_hex(8),
            owner,
            rev,
            turn_key,
            digest,
            int(rerun),
            turn_number,
            payload,
            self.settings.journal_limit,
            event_text(event),
            *map(event_text, first),
        )
        status = text_of(reply[0])
        if status == "COMMITTED":
            done = committed(reply[1])
            return AlreadyCommitted(receipt=done.receipt, rev=done.rev, event_ids=done.event_ids)
        if status == "PENDING":
            return AlreadyPending(attempt=int(reply[1]))
        return Accepted(
            attempt=int(reply[1]),
            event_id=int(reply[2]),
            journal_id=text_of(reply[3]),
            superseded=text_of(reply[4]) or None,
            first_event_id=int(reply[5]),
        )

    async def commit(
        self,
        session_id: str,
        *,
        owner: str,
        rev: int,
        turn_key: str,
        state: bytes,
        events: Sequence[Mapping[str, Any]] = (),
        record: bytes = b"{}",
        receipt: bytes = b"",
        embeddings: Mapping[str, bytes] | None = None,
        keep_pending: bool = False,
        drop_pending: bool = False,
    ) -> Committed:
        """Commit a turn or a command: new state, durable events, journal record, pending answer cleared.

        Repeating it is safe: a revision that this key advanced already is reported as it was.

        Args:
            session_id: the session.
            owner: the caller.
            rev: the revision the new state was made from.
            turn_key: of the pending answer, or the id of the command.
            state: the new state; the journal gets it too.
            events: durable events in order, without ids.
            record: what else the journal gets: the turn's record as a JSON object.
            receipt: kept under the key, for a client that sends the answer again.
            embeddings: vectors to keep beside the state, by name.
            keep_pending: this is a command; a pending answer stays as it is.
            drop_pending: this is a command that gives a pending answer up; it stays on record as superseded.

        Raises:
            NotOwner: someone else owns the session.
            Conflict: the session is not at `rev`, or the answer of this key is not the pending one.
            SessionErased: the session was erased.
            OutcomeUnknown: no answer within the deadline; commit again with the same key.
        """
        mode = "drop" if drop_pending else "keep" if keep_pending else "turn"
        vectors: list[str | bytes] = []
        for name, vector in (embeddings or {}).items():
            vectors += [name, vector]
        reply = await self._run(
            "commit",
            session_id,
            owner,
            rev,
            turn_key,
            mode,
            await self._pack(state),
            await self._pack(record),
            receipt,
            len(events),
            *map(event_text, events),
            *vectors,
        )
        return committed(reply[1])

    async def fail(
        self,
        session_id: str,
        *,
        owner: str,
        turn_key: str,
        event: Mapping[str, Any],
        record: bytes = b"{}",
    ) -> Failed:
        """Record that the pending answer's run failed; the answer stays pending for another attempt.

        Args:
            session_id: the session.
            owner: the caller.
            turn_key: of the pending answer.
            event: `turn.failed` without `id`.
            record: the reason, for the journal.

        Raises:
            NotOwner: someone else owns the session.
            Conflict: this answer is not pending, or failed already.
        """
        reply = await self._run(
            "fail", session_id, token_hex(8), owner, turn_key, event_text(event), await self._pack(record)
        )
        return Failed(event_id=int(reply[1]), journal_id=text_of(reply[2]))

    async def note(self, session_id: str, *, owner: str | None, record: bytes) -> str:
        """Write a journal record only: state, revision, events and pending answer stay.

        Args:
            session_id: the session.
            owner: the caller, who must own the session; None for a former owner.
            record: for the journal, a JSON object.

        Returns:
            The id of the journal record.

        Raises:
            NotOwner: someone else owns the session.
            SessionNotHot: there is no hot state.
            SessionErased: the session was erased.
        """
        reply = await self._run("note", session_id, token_hex(8), owner or "", await self._pack(record))
        return text_of(reply[1])

    async def copy_of(self, session_id: str) -> HotCopy:
        """What the store needs to have of a session; errors as in `claim`."""
        keys = self.keys.session(session_id)
        receipts = await self._ask("HGETALL", keys.receipts)
        token = await self._ask("HGET", keys.meta, "token")
        session = await self.read(session_id)
        superseded = {
            text_of(name)[2:]: text_of(digest) for name, digest in receipts.items() if text_of(name).startswith("s:")
        }
        packed = await self._pack(session.state)
        return HotCopy(session_id, packed, session.rev, session.pending, superseded, token or b"")

    async def sessions_of(self, partition: int) -> tuple[list[str], list[str]]:
        """Ids of the partition's sessions: those that are hot, and those that were erased lately."""
        hot, erased = [await self._named(partition, part) for part in ("meta", "gone")]
        return hot, erased

    async def _named(self, partition: int, part: str) -> list[str]:
        async def scan() -> list[str]:
            pattern = self.keys.every(partition, part)
            return [text_of(key).split(":")[-2] async for key in self.connection.client.scan_iter(pattern, count=1000)]

        return sorted(set(await self.connection.insist("SCAN", scan, writes=False)))

    async def keep_configuration(self, config_hash: str, content: bytes) -> None:
        """Keep a configuration that sessions are pinned to, for `tombstone_ttl_s`."""
        ttl_ms = int(self.settings.tombstone_ttl_s * 1000)
        await self._ask("SET", CONFIGURATION_PREFIX + config_hash, await self._pack(content), "PX", ttl_ms)

    async def configuration(self, config_hash: str) -> bytes | None:
        """The configuration with that content hash, if it is kept here."""
        found = await self._ask("GET", CONFIGURATION_PREFIX + config_hash)
        return unpack(found) if found is not None else None

    async def events_after(self, session_id: str, last_event_id: int, limit: int = 500) -> list[DurableEvent]:
        """Up to `limit` durable events with ids above `last_event_id`, in order; none if not hot."""
        first = max(last_event_id, 0)
        texts = await self._ask("LRANGE", self.keys.session(session_id).events, first, first + limit - 1)
        events = [json.loads(text) for text in texts]
        return [DurableEvent(id=event["id"], data=event) for event in events]

    async def last_event_id(self, session_id: str) -> int:
        """The id of the latest durable event, 0 when there is none."""
        return int(await self._ask("LLEN", self.keys.session(session_id).events))

    async def embeddings(self, session_id: str) -> dict[str, bytes]:
        """The vectors kept beside the state; empty after a rebuild."""
        found = await self._ask("HGETALL", self.keys.session(session_id).embeddings)
        return {name.decode(): vector for name, vector in found.items()}

    async def expire_stored(self, session_id: str, journal_id: str) -> bool:
        """Let the session's keys expire after `hot_ttl_s` if `journal_id` is its last record, stored now.

        Returns:
            Whether it was the last one; if not, the keys stay until a later record is stored.
        """
        reply = await self._run("stored", session_id, journal_id, int(self.settings.hot_ttl_s * 1000))
        return bool(reply[1])

    async def erase(self, session_id: str) -> Erasure:
        """Remove the session from hot storage and refuse its id from now on; the writer removes the rest."""
        reply = await self._run("erase", session_id, int(self.settings.tombstone_ttl_s * 1000))
        return Erasure(text_of(reply[1]).split(" ")[0])

    async def confirm_erased(self, session_id: str, journal_id: str) -> None:
        """Record that the session is erased everywhere."""
        await self._run("erased", session_id, journal_id, int(self.settings.tombstone_ttl_s * 1000))

    async def erasure(self, session_id: str) -> Erasure:
        """How far the erasing of the session is."""
        text = await self._ask("GET", self.keys.session(session_id).tombstone)
        return Erasure(text.decode().split(" ")[0]) if text else Erasure.NONE

    async def is_erased(self, session_id: str) -> bool:
        """Whether the session was erased, or is being erased."""
        return await self.erasure(session_id) is not Erasure.NONE
