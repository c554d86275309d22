"""Live news between sessions' owners and watchers: directly on one node, by letters between nodes.

A letter is one line of JSON that says what it is, then the frames as they go to watchers, one a line. Only what
somebody watches is written at all.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any

import structlog

from server.ending import told_to_end
from server.hot.errors import HotMisconfigured, StorageUnavailable
from server.protocol.codec import encode
from server.protocol.watched import OverviewItem, OverviewRow, Watchers
from server.watch.demand import ANNOUNCE_EVERY_S, Demand, Interest
from server.watch.mailbox import Due, Mailbox
from server.watch.parties import Follower, Post, Source, letter_of

log = structlog.get_logger("askwell.watch")

BOUND_LETTERS = 4000
BATCH = 200
FEW = 25
"""Rows that are made at a time."""
AGAIN_S = 1.0


class Exchange:
    """Of one node.

    Args:
        post: carries letters to other nodes and back.
        node: this node's name, unlike any other's.
        clock: monotonic seconds.
        on_commit: told of a session that is watched here and has a new turn.
        on_revoked: told of tokens that have ended.
        on_lost: told how many letters could not be sent.
    """

    def __init__(
        self,
        post: Post,
        node: str,
        clock: Callable[[], float],
        *,
        on_commit: Callable[[str, int], None] = lambda session_id, turn: None,
        on_revoked: Callable[[str], None] = lambda token_id: None,
        on_lost: Callable[[float], None] = lambda count: None,
    ) -> None:
        self._post = post
        self._node = node
        self._demand = Demand(clock)
        self._on_commit = on_commit
        self._on_revoked = on_revoked
        self._on_lost = on_lost
        self._watchers: dict[str, dict[Mailbox, str]] = {}
        self._followers: dict[Mailbox, Follower] = {}
        self._sources: dict[str, Source] = {}
        self._rows: dict[str, OverviewItem] = {}
        """The latest row of every session that was heard of while somebody here has the overview."""
        self._out: deque[tuple[str | None, bytes]] = deque()
        self._stale_nodes: set[str | None] = set()
        self._tasks: asyncio.TaskGroup | None = None
        self._waiting = asyncio.Event()
        self._interest_changed = asyncio.Event()

    # Who watches here

    def watch(self, session_id: str, mailbox: Mailbox, name: str) -> None:
        """A watcher of this node looks at a session from now on."""
        self.unwatch(mailbox)
        self._watchers.setdefault(session_id, {})[mailbox] = name
        self._watchers_changed(session_id)
        self._interest_changed.set()

    def unwatch(self, mailbox: Mailbox) -> None:
        """A watcher of this node looks away."""
        for session_id in [one for one, found in self._watchers.items() if mailbox in found]:
            del self._watchers[session_id][mailbox]
            if not self._watchers[session_id]:
                del self._watchers[session_id]
            self._watchers_changed(session_id)
            self._interest_changed.set()

    def follow(self, follower: Follower) -> None:
        """A watcher of this node has the overview from now on."""
        self._followers[follower.mailbox] = follower
        self._interest_changed.set()

    def unfollow(self, mailbox: Mailbox) -> None:
        """A watcher of this node has it no more."""
        self._followers.pop(mailbox, None)
        if not self._followers:
            self._rows.clear()
        self._interest_changed.set()

    def leave(self, mailbox: Mailbox) -> None:
        """A watcher of this node is gone."""
        self.unwatch(mailbox)
        self.unfollow(mailbox)

    def names(self, session_id: str) -> tuple[str, ...]:
        """Who watches a session, on any node."""
        here = self._watchers.get(session_id, {}).values()
        return tuple(sorted({*here, *self._demand.names(session_id)}))

    async def known_rows(self) -> dict[str, OverviewItem]:
        """The latest rows that are known: of the sessions here, and of those elsewhere that were heard of."""
        found = dict(self._rows)
        async for rows in self._rows_here():
            found |= {row.session_id: row for row in rows}
        return found

    async def _rows_here(self) -> AsyncIterator[list[OverviewItem]]:
        """The rows of the sessions here, a few at a time, so that no respondent waits for all of them."""
        sources = list(self._sources.values())
        for start in range(0, len(sources), FEW):
            yield [source.row() for source in sources[start : start + FEW]]
            await asyncio.sleep(0)

    # What lives here

    def register(self, source: Source) -> None:
        """A session lives here from now on."""
        self._sources[source.session_id] = source

    def unregister(self, source: Source) -> None:
        """A session does not live here any more."""
        if self._sources.get(source.session_id) is source:
            del self._sources[source.session_id]

    def source(self, session_id: str) -> Source | None:
        """The session, if it lives here."""
        return self._sources.get(session_id)

    def wanted(self, session_id: str) -> bool:
        """Whether anybody watches the session."""
        return session_id in self._watchers or bool(self._demand.nodes_watching(session_id))

    @property
    def overview_wanted(self) -> bool:
        """Whether anybody has the overview."""
        return bool(self._followers) or bool(self._demand.nodes_with_overview())

    def publish(self, session_id: str, rev: int, frames: Sequence[str], *, committed_turn: int | None = None) -> None:
        """Send frames of a session that lives here to whoever watches it."""
        if not frames:
            return
        self._deliver(session_id, rev, frames, committed_turn)
        nodes = self._demand.nodes_watching(session_id)
        if nodes:
            letter = letter_of("frames", frames, session=session_id, rev=rev, turn=committed_turn)
            for node in nodes:
                self._send(node, letter)

    def publish_row(self, row: OverviewItem) -> None:
        """Send the row of a session that lives here to whoever has the overview."""
        self._take_row(row)
        nodes = self._demand.nodes_with_overview()
        if nodes:
            letter = letter_of("rows", [row.model_dump_json()])
            for node in nodes:
                self._send(node, letter)

    def publish_gone(self, session_id: str) -> None:
        """A session is erased."""
        self._take_gone(session_id)
        self._send(None, letter_of("gone", session=session_id, sender=self._node))

    def revoked(self, token_id: str) -> None:
        """A token has ended, for all nodes."""
        self._on_revoked(token_id)
        self._send(None, letter_of("revoked", token=token_id, sender=self._node))

    def ask(self, session_id: str | None) -> None:
        """Have the owner of a session elsewhere say what no stored state says; None: all owners, for the overview."""
        self._send(None, letter_of("interest", **self._interest()))
        self._send(None, letter_of("ask", session=session_id, sender=self._node))

    # Between nodes

    async def run(self) -> None:
        """Carry letters until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            tasks.create_task(self._listen(), name="watch listens")
            tasks.create_task(self._carry(), name="watch carries")
            tasks.create_task(self._announce(), name="watch announces")

    async def _announce(self) -> None:
        while not told_to_end():
            self._interest_changed.clear()
            self._send(None, letter_of("interest", **self._interest()))
            for session_id in self._demand.expired():
                self._watchers_changed(session_id)
            try:
                async with asyncio.timeout(ANNOUNCE_EVERY_S):
                    await self._interest_changed.wait()
            except TimeoutError:
                continue

    async def _carry(self) -> None:
        while not told_to_end():
            self._waiting.clear()
            if not self._out and not self._stale_nodes:
                await self._waiting.wait()
            batch = [self._out.popleft() for _ in range(min(BATCH, len(self._out)))]
            if self._stale_nodes:
                batch += [(node, letter_of("stale", sender=self._node)) for node in self._stale_nodes]
            stale, self._stale_nodes = self._stale_nodes, set()
            try:
                await self._post.spread(batch)
            except StorageUnavailable as exc:
                log.info("watch.letters_lost", letters=len(batch), reason=str(exc))
                self._on_lost(len(batch))
                self._stale_nodes |= stale | {node for node, _ in batch}
                await asyncio.sleep(AGAIN_S)

    async def _listen(self) -> None:
        while not told_to_end():
            try:
                async for letter in self._post.letters(self._node):
                    if letter is None:
                        self._missed()
                        self._interest_changed.set()
                    else:
                        self._read(letter)
            except HotMisconfigured as exc:
                log.warning("watch.deaf", reason=str(exc))
                return
            except Exception:
                log.exception("watch.defect")
            await asyncio.sleep(AGAIN_S)

    def _read(self, letter: bytes) -> None:
        try:
            first, *lines = letter.decode().split("\n")
            head = json.loads(first)
            self._obey(head, lines)
        except (ValueError, KeyError, TypeError) as exc:
            log.error("watch.unreadable", error=repr(exc))

    def _obey(self, head: Mapping[str, Any], lines: Sequence[str]) -> None:
        kind, sender = head["kind"], head.get("sender")
        if sender == self._node:
            return
        match kind:
            case "interest":
                self._interest_of(sender, Interest(head["sessions"], head["overview"]))
            case "frames":
                self._deliver(head["session"], head["rev"], lines, head["turn"])
            case "rows":
                for line in lines:
                    self._take_row(OverviewItem.model_validate_json(line))
            case "gone":
                self._take_gone(head["session"])
            case "ask":
                self._answer(str(sender), head["session"])
            case "stale":
                self._missed()
            case "revoked":
                self._on_revoked(head["token"])

    def _interest_of(self, node: Any, interest: Interest) -> None:
        if not isinstance(node, str):
            return
        for session_id in self._demand.announced(node, interest):
            self._watchers_changed(session_id)

    def _answer(self, node: str, session_id: str | None) -> None:
        if session_id is None:
            if self._tasks is not None:
                self._tasks.create_task(self._answer_all(node), name="watch rows")
        elif (source := self._sources.get(session_id)) is not None:
            self._send(node, letter_of("frames", source.present(), session=session_id, rev=source.rev, turn=None))

    async def _answer_all(self, node: str) -> None:
        async for rows in self._rows_here():
            self._send(node, letter_of("rows", [row.model_dump_json() for row in rows]))

    def _missed(self) -> None:
        """Letters of others were lost: whoever looks at what lives elsewhere gets it anew."""
        for session_id, found in self._watchers.items():
            if session_id not in self._sources:
                for mailbox in found:
                    mailbox.due(Due.SNAPSHOT)
        for mailbox in self._followers:
            mailbox.due(Due.OVERVIEW)

    def _interest(self) -> dict[str, Any]:
        sessions = {session_id: sorted(found.values()) for session_id, found in self._watchers.items()}
        return {"sessions": sessions, "overview": bool(self._followers), "sender": self._node}

    def _send(self, node: str | None, letter: bytes) -> None:
        if len(self._out) >= BOUND_LETTERS:
            lost, _ = self._out.popleft()
            self._on_lost(1)
            self._stale_nodes.add(lost)
        self._out.append((node, letter))
        self._waiting.set()

    # To watchers of this node

    def _deliver(self, session_id: str, rev: int, frames: Iterable[str], committed_turn: int | None) -> None:
        found = self._watchers.get(session_id)
        if not found:
            return
        for text in frames:
            for mailbox in found:
                mailbox.frame(text, rev)
        if committed_turn is not None:
            self._on_commit(session_id, committed_turn)

    def tell(self, session_id: str, text: str) -> None:
        """Send one frame to the watchers of a session on this node."""
        for mailbox in self._watchers.get(session_id, {}):
            mailbox.frame(text, 0)

    def tell_followers(self, key: str, text: str) -> None:
        """Send a frame to whoever has the overview on this node; a later one with the same key replaces it."""
        for mailbox in self._followers:
            mailbox.row(key, text)

    def _take_row(self, row: OverviewItem) -> None:
        if not self._followers:
            return
        row = self._named(row)
        self._rows[row.session_id] = row
        text = encode(OverviewRow(**dict(row)))
        for follower in self._followers.values():
            follower.tell(row, text)

    def _take_gone(self, session_id: str) -> None:
        self._rows.pop(session_id, None)
        for follower in self._followers.values():
            follower.gone(session_id)

    def _watchers_changed(self, session_id: str) -> None:
        names = self.names(session_id)
        self.tell(session_id, encode(Watchers(session_id=session_id, names=names)))
        source = self._sources.get(session_id)
        row = source.row() if source is not None else self._rows.get(session_id)
        if row is not None:
            self._take_row(row)

    def _named(self, row: OverviewItem) -> OverviewItem:
        return row.model_copy(update={"watchers": self.names(row.session_id)})
