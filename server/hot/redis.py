"""Hot state of sessions: one script per operation, each in one slot.

A session is a state (opaque bytes), its durable events, its receipts and at most one pending answer. Whoever holds it
names itself with an owner id; the newest claim wins. Every operation that writes can be repeated after a lost answer
without writing twice, and is repeated here until a deadline, so that an unknown outcome is not taken for a failure.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from secrets import token_hex
from typing import Any, Self

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import RedisError

from server.hot.connection import Client, Connection, open_client, plain_client
from server.hot.errors import (
    AnswerSuperseded,
    Conflict,
    Gone,
    HotError,
    HotMisconfigured,
    InboxFull,
    JournalFull,
    NotOwner,
    PartitionMismatch,
    ScriptFailed,
    SessionExists,
    SessionNotHot,
    StorageUnavailable,
    TurnInProgress,
    TurnKeyReused,
)
from server.hot.keys import DEFAULT_PARTITIONS, PARTITIONS_KEY, WAKE_CHANNEL, KeySpace
from server.hot.packing import event_text, pack_off_loop, unpack
from server.hot.values import (
    Accepted,
    AlreadyCommitted,
    AlreadyPending,
    Committed,
    Created,
    DurableEvent,
    Erasure,
    Failed,
    HotSession,
    HotSettings,
    Pending,
    ServerReport,
    StoredReceipt,
    Wake,
)


class HotStore:
    """Hot storage of every session; one per process, shared by all tasks of one event loop.

    Args:
        connection: to the server.
        keys: names, for the number of partitions that the data were made with.
        listener: the client that hears wakes, where that of the connection is a cluster's.
    """

    def __init__(self, connection: Connection, keys: KeySpace | None = None, *, listener: Redis | None = None) -> None:
        self.connection = connection
        self.keys = keys or KeySpace()
        self._listener = listener

    @classmethod
    def connect(
        cls,
        url: str,
        settings: HotSettings | None = None,
        *,
        partitions: int = DEFAULT_PARTITIONS,
        cluster: bool = False,
        scripts: Mapping[str, str] | None = None,
    ) -> Self:
        """A store on the server at `url` (`redis://`, `rediss://` or `unix://`); connects at the first use.

        Args:
            url: where the server is.
            settings: bounds and times.
            partitions: journals the sessions are spread over; fixed once there are data.
            cluster: whether the server is a cluster.
            scripts: other scripts than the packaged ones, for tests of the guards.
        """
        settings = settings or HotSettings()
        client = open_client(
            url,
            timeout_s=settings.attempt_timeout_s,
            max_connections=settings.max_connections,
            cluster=cluster,
        )
        connection = Connection(client, settings, scripts=scripts)
        # A cluster passes messages on to every server, so that any of them will do to listen.
        listener = plain_client(url, timeout_s=settings.attempt_timeout_s, max_connections=2) if cluster else None
        return cls(connection, KeySpace(partitions), listener=listener)

    @property
    def client(self) -> Client:
        """The client below, for what is not an operation on a session."""
        return self.connection.client

    @property
    def settings(self) -> HotSettings:
        """Bounds and times in use."""
        return self.connection.settings

    async def close(self) -> None:
        """Close every connection."""
        await self.connection.close()
        if self._listener is not None:
            await self._listener.aclose()

    async def prepare(self, *, embedded: bool) -> ServerReport:
        """Check, at start, that the server keeps what it is given and that the partitions fit the data.

        Args:
            embedded: the server is our own child and needs no advice.

        Raises:
            HotMisconfigured: it may evict keys, or the number of partitions differs (`PartitionMismatch`).
            StorageUnavailable: it can't be reached within the deadline.
        """
        caveats: list[str] = []
        policies = await self._config("maxmemory-policy")
        if not policies:
            caveats.append("its settings can't be read: make sure that maxmemory-policy is noeviction")
        elif policies != {"noeviction"}:
            found = ", ".join(sorted(policies))
            raise HotMisconfigured(f"Redis must not evict keys: maxmemory-policy is {found}, set it to noeviction")
        if not embedded:
            caveats += await self._durability_caveats()
        count = str(self.keys.partitions)
        await self._ask("SET", PARTITIONS_KEY, count, "NX", writes=True)
        made_with = (await self._ask("GET", PARTITIONS_KEY)).decode()
        if made_with != count:
            raise PartitionMismatch(f"the data were made with {made_with} partitions, the setting says {count}")
        return ServerReport(version=await self._version(), caveats=tuple(caveats))

    async def ping(self) -> bool:
        """Whether the server answers now, without trying again."""
        try:
            async with asyncio.timeout(self.settings.attempt_timeout_s):
                return bool(await self.client.execute_command("PING"))
        except (RedisError, OSError):
            return False

    async def create(
        self,
        session_id: str,
        *,
        state: bytes,
        rev: int = 0,
        record: bytes = b"{}",
        events: Sequence[Mapping[str, Any]] = (),
    ) -> Created:
        """Make a session hot for the first time.

        Raises:
            SessionExists: it is there already.
            Gone: it was erased.
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
            *map(event_text, events),
        )
        return Created(epoch=_text(reply[1]), last_event_id=int(reply[2]), journal_id=_text(reply[3]))

    async def restore(
        self,
        session_id: str,
        *,
        state: bytes,
        rev: int,
        pending: Pending | None = None,
        receipts: Sequence[StoredReceipt] = (),
    ) -> str:
        """Make a session hot again from its snapshot; event ids begin at 1 again under a new epoch.

        Args:
            session_id: the session.
            state: the stored state.
            rev: its revision.
            pending: an answer that was accepted after that revision.
            receipts: of the session's committed and superseded answers, so that their keys stay known.

        Returns:
            The new epoch.

        Raises:
            SessionExists: it is hot already; claim it instead.
            Gone: it was erased.
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
        for receipt in receipts:
            if receipt.superseded:
                fields += [f"s:{receipt.turn_key}", receipt.digest]
            else:
                head = f"{receipt.digest} {receipt.rev} 1 0 0-0\n".encode()
                fields += [f"t:{receipt.turn_key}", head + receipt.receipt]
        ttl_ms = int(self.settings.hot_ttl_s * 1000)
        packed = await self._pack(state)
        reply = await self._run("restore", session_id, token_hex(8), token_hex(8), rev, ttl_ms, packed, *fields)
        return _text(reply[1])

    async def claim(self, session_id: str, owner: str) -> HotSession:
        """Make `owner` the session's owner, whoever was before, and return the session.

        Raises:
            SessionNotHot: there is no hot state.
            Gone: it was erased.
        """
        reply = await self._run("claim", session_id, owner, int(self.settings.hot_ttl_s * 1000))
        return _hot_session(reply)

    async def read(self, session_id: str) -> HotSession:
        """The session without changing its owner; errors as in `claim`."""
        return _hot_session(await self._run("read", session_id, writes=False))

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
        rerun: bool = False,
    ) -> Accepted | AlreadyPending | AlreadyCommitted:
        """Store and journal an answer before it is run; the acknowledgement of it.

        Args:
            session_id: the session.
            owner: the caller.
            rev: the revision that the answer belongs to.
            turn_key: the client's key.
            payload: the answer, opaque.
            digest: of what the answer says, without blanks; tells another text under the same key.
            turn_number: the number of the turn it will be.
            event: `turn.started` without `attempt` and `id`, which are added.
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
            event_text(event),
            self.settings.journal_limit,
        )
        status = _text(reply[0])
        if status == "COMMITTED":
            done = _committed(reply[1])
            return AlreadyCommitted(receipt=done.receipt, rev=done.rev, event_ids=done.event_ids)
        if status == "PENDING":
            return AlreadyPending(attempt=int(reply[1]))
        return Accepted(
            attempt=int(reply[1]),
            event_id=int(reply[2]),
            journal_id=_text(reply[3]),
            superseded=_text(reply[4]) or None,
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
        """Make a turn, or a command, true: new state, durable events, journal record, pending answer cleared.

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
            Gone: the session was erased.
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
        return _committed(reply[1])

    async def fail(
        self,
        session_id: str,
        *,
        owner: str,
        turn_key: str,
        event: Mapping[str, Any],
        record: bytes = b"{}",
    ) -> Failed:
        """Put on record that the pending answer's run failed; the answer stays pending for another attempt.

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
        return Failed(event_id=int(reply[1]), journal_id=_text(reply[2]))

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

    async def expire_stored(self, session_id: str, journal_id: str, ttl_s: float | None = None) -> bool:
        """Let the session's keys expire after `ttl_s` if `journal_id` is its last record, stored now.

        Returns:
            Whether it was the last one; if not, the keys stay until a later record is stored.
        """
        ttl_ms = int((self.settings.hot_ttl_s if ttl_s is None else ttl_s) * 1000)
        reply = await self._run("stored", session_id, journal_id, ttl_ms)
        return bool(reply[1])

    async def erase(self, session_id: str) -> Erasure:
        """Remove the session from hot storage, refuse its id from now on, have the writer remove the rest."""
        reply = await self._run("erase", session_id, int(self.settings.tombstone_ttl_s * 1000))
        return Erasure(_text(reply[1]).split(" ")[0])

    async def confirm_erased(self, session_id: str, journal_id: str) -> None:
        """Put on record that nothing of the session is left anywhere."""
        await self._run("erased", session_id, journal_id, int(self.settings.tombstone_ttl_s * 1000))

    async def erasure(self, session_id: str) -> Erasure:
        """How far the erasing of the session is."""
        text = await self._ask("GET", self.keys.session(session_id).gone)
        return Erasure(text.decode().split(" ")[0]) if text else Erasure.NONE

    async def is_gone(self, session_id: str) -> bool:
        """Whether the session was erased, or is being erased."""
        return await self.erasure(session_id) is not Erasure.NONE

    async def forget_deleted(self) -> None:
        """Rewrite the server's append-only file, so that what was erased is not on disk any more either.

        A rewrite that is running already does not begin again; a server that refuses is left alone.
        """
        try:
            await self._of_each_server("BGREWRITEAOF")
        except ScriptFailed:
            return

    async def inbox_push(self, session_id: str, item: bytes) -> str | None:
        """Leave a command for the session's owner, on whatever node, and wake it; the same item counts once.

        Returns:
            The owner's id, or None when nobody owns the session at the moment.

        Raises:
            InboxFull: too many commands wait already.
            Gone: the session was erased.
        """
        settings = self.settings
        ttl_ms = int(settings.inbox_ttl_s * 1000)
        reply = await self._run("inbox_push", session_id, item, settings.inbox_limit, ttl_ms)
        return _text(reply[1]) or None

    async def inbox_read(self, session_id: str) -> list[bytes]:
        """Commands that wait, oldest first. They stay until dropped, so that a dying owner loses none."""
        return list(await self._ask("LRANGE", self.keys.session(session_id).inbox, 0, -1))

    async def inbox_drop(self, session_id: str, item: bytes) -> None:
        """Remove a command that was applied."""
        await self._run("inbox_drop", session_id, item)

    async def reply_put(self, session_id: str, command_id: str, reply: bytes, ttl_s: float = 60.0) -> None:
        """Leave the answer to a command for the node that sent it, and wake it."""
        key = self.keys.reply(session_id, command_id)
        await self._ask("SET", key, reply, "PX", int(ttl_s * 1000), writes=True)
        await self._ask("PUBLISH", WAKE_CHANNEL, f"replied {session_id} {command_id}")

    async def reply_get(self, session_id: str, command_id: str) -> bytes | None:
        """The answer to a command, if the owner has given one."""
        reply: bytes | None = await self._ask("GET", self.keys.reply(session_id, command_id))
        return reply

    async def wakes(self) -> AsyncGenerator[Wake, None]:
        """What happens to sessions on any node, as it happens; never ends.

        Messages can be lost while the server is away. The first item, and the first after each reconnection, is
        therefore `resync`.
        """
        pause_s = 0.05
        while True:
            try:
                async with aclosing(self._subscription()) as messages:
                    async for message in messages:
                        pause_s = 0.05
                        yield message
            except (RedisError, OSError):
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, 1.0)

    async def _subscription(self) -> AsyncGenerator[Wake, None]:
        client = self._listener if isinstance(self.client, RedisCluster) else self.client
        if client is None:
            raise HotMisconfigured("a cluster needs a listener of its own")
        subscription = client.pubsub(ignore_subscribe_messages=True)
        try:
            await subscription.subscribe(WAKE_CHANNEL)
            yield Wake("resync", "", "")
            while True:
                message = await subscription.get_message(timeout=1.0)
                if message is not None:
                    kind, session_id, owner = message["data"].decode().split(" ", 2)
                    yield Wake(kind, session_id, owner)
        finally:
            await subscription.aclose()  # type: ignore[no-untyped-call]

    async def _pack(self, data: bytes) -> bytes:
        return await pack_off_loop(data, compress_above=self.settings.compress_above)

    async def _run(self, name: str, session_id: str, *arguments: str | bytes | int, writes: bool = True) -> list[Any]:
        keys = self.keys.session(session_id).all()
        reply = await self.connection.run(name, keys, session_id, *arguments, writes=writes)
        if (error := _refusal(_text(reply[0]), reply)) is not None:
            raise error
        return reply

    async def _ask(self, *command: str | bytes | int, writes: bool = False) -> Any:
        return await self.connection.insist(
            str(command[0]), lambda: self.client.execute_command(*command), writes=writes
        )

    async def _of_each_server(self, *command: str) -> list[Any]:
        """The answers of every server that writes: one, or the primaries of a cluster."""
        if isinstance(self.client, Redis):
            return [await self._ask(*command)]
        cluster = self.client
        await cluster.initialize()

        def asking(node: Any) -> Callable[[], Awaitable[Any]]:
            return lambda: cluster.execute_command(*command, target_nodes=node)

        return [
            await self.connection.insist(command[0], asking(node), writes=False) for node in cluster.get_primaries()
        ]

    async def _config(self, name: str) -> set[str]:
        """The values of a setting on every server; empty where it can't be read."""
        try:
            answers = await self._of_each_server("CONFIG GET", name)
        except (ScriptFailed, HotMisconfigured):
            return set()
        return {_text(value) for answer in answers for key, value in answer.items() if _text(key) == name}

    async def _version(self) -> str:
        [info, *_] = await self._of_each_server("INFO", "server")
        return str(info.get("valkey_version") or info.get("redis_version") or "unknown")

    async def _durability_caveats(self) -> list[str]:
        caveats: list[str] = []
        if "no" in await self._config("appendonly"):
            caveats.append("appendonly is no: a crash of the server loses every turn since its last snapshot")
        elif await self._config("appendfsync") - {"always"}:
            caveats.append("appendfsync is not always: a crash of the server may lose the last second")
        if not self.settings.wait_replicas:
            caveats.append("no replica confirms a turn before it counts (WAIT is off)")
        if not self.settings.wait_aof:
            caveats.append("no disk confirms a turn before it counts (WAITAOF is off)")
        if (self.settings.wait_replicas or self.settings.wait_aof) and not isinstance(self.client, Redis):
            caveats.append("WAIT and WAITAOF are not used on a cluster")
        return caveats


def _refusal(status: str, reply: Sequence[Any]) -> HotError | None:
    """The error that a script's status word stands for, None when it did what it was asked."""
    match status:
        case "GONE":
            return Gone("this interview was erased")
        case "NOT_FOUND":
            return SessionNotHot("this session has no hot state")
        case "EXISTS":
            return SessionExists("this session has hot state already")
        case "NOT_OWNER":
            return NotOwner("another connection took this session over", owner=_text(reply[1]))
        case "CONFLICT":
            return Conflict(f"the session moved on to revision {_text(reply[1])}")
        case "KEY_REUSED":
            return TurnKeyReused("this turn key was used before, with other text")
        case "IN_PROGRESS":
            return TurnInProgress("another answer is being worked on", turn_key=_text(reply[1]))
        case "SUPERSEDED":
            return AnswerSuperseded("a later answer replaced this one")
        case "FULL":
            return JournalFull("storage is behind; no new answer can be taken just now")
        case "INBOX_FULL":
            return InboxFull("too many commands wait for this session")
        case _:
            return None


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _hot_session(reply: Sequence[Any]) -> HotSession:
    (_, state, rev, epoch, last_event_id, owner, previous, key, payload, digest, attempt, failed, turn) = reply
    pending = None
    if key:
        pending = Pending(
            turn_key=_text(key),
            payload=payload,
            digest=_text(digest),
            attempt=int(attempt),
            failed=_text(failed) == "1",
            turn_number=int(turn),
        )
    try:
        unpacked = unpack(state)
    except ValueError as exc:
        raise StorageUnavailable(f"the stored state can't be read: {exc}") from exc
    return HotSession(
        state=unpacked,
        rev=int(rev),
        epoch=_text(epoch),
        last_event_id=int(last_event_id),
        owner=_text(owner),
        previous_owner=_text(previous),
        pending=pending,
    )


def _committed(stored: bytes) -> Committed:
    """A stored receipt: one line `digest rev first_event n_events journal_id`, then the receipt's bytes."""
    head, _, receipt = stored.partition(b"\n")
    _, rev, first, count, journal_id = head.decode().split(" ")
    first_id = int(first)
    return Committed(
        rev=int(rev), event_ids=range(first_id, first_id + int(count)), journal_id=journal_id, receipt=receipt
    )
