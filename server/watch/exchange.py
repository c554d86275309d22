"""Live news of sessions, from the node where they live to moderators on any node; only what is watched is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any

from server.cancellation import cancel_requested
from server.hot.broadcast import Broadcasts
from server.protocol.codec import encode
from server.protocol.watched import OverviewGone, OverviewItem, OverviewRow, Watchers
from server.watch.demand import ANNOUNCE_EVERY_S, Demand, Interest
from server.watch.letters import NodeMessages, message_of
from server.watch.live import LiveSession
from server.watch.mailbox import Due, Mailbox

ROWS_AT_ONCE = 25
"""Rows that are made before other tasks get their turn."""


class Follower:
    """A moderator who has the overview.

    Args:
        mailbox: of the connection.
        fits: whether a row is within the filter and the moderator's scope.
    """

    def __init__(self, mailbox: Mailbox, fits: Callable[[OverviewItem], bool]) -> None:
        self.mailbox = mailbox
        self.fits = fits
        """Whether a row is to be shown."""
        self.shown: set[str] = set()
        """Sessions whose rows were sent."""

    def tell(self, row: OverviewItem, text: str) -> None:
        """A row changed."""
        if self.fits(row):
            self.shown.add(row.session_id)
            self.mailbox.row(row.session_id, text)
        else:
            self.gone(row.session_id)

    def gone(self, session_id: str) -> None:
        """A session is not to be shown any more."""
        if session_id in self.shown:
            self.shown.discard(session_id)
            self.mailbox.row(session_id, encode(OverviewGone(session_id=session_id)))


class LiveExchange:
    """Of one node.

    Args:
        broadcasts: carries messages to other nodes and back.
        node: this node's name, unlike any other's.
        clock: monotonic seconds.
        on_commit: called with a session that is watched here and its new turn.
        on_revoked: called with the id of a token or login that has ended.
        on_lost: called with the number of messages that could not be sent.
    """

    def __init__(
        self,
        broadcasts: Broadcasts,
        node: str,
        clock: Callable[[], float],
        *,
        on_commit: Callable[[str, int], None] = lambda session_id, turn: None,
        on_revoked: Callable[[str], None] = lambda token_id: None,
        on_lost: Callable[[float], None] = lambda count: None,
    ) -> None:
        self.messages = NodeMessages(
            broadcasts, node, on_message=self._handle, on_gap=self._missed_messages, on_lost=on_lost
        )
        self._demand = Demand(clock)
        self._on_commit = on_commit
        self._on_revoked = on_revoked
        self._watchers: dict[str, dict[Mailbox, str]] = {}
        self._followers: dict[Mailbox, Follower] = {}
        self._sessions: dict[str, LiveSession] = {}
        self._rows: dict[str, OverviewItem] = {}
        """The latest row of every session that was heard of while somebody here has the overview."""
        self._tasks: asyncio.TaskGroup | None = None
        self._interest_changed = asyncio.Event()

    # Who watches here

    def watch(self, session_id: str, mailbox: Mailbox, name: str) -> None:
        """A moderator of this node watches a session from now on."""
        self.unwatch(mailbox)
        self._watchers.setdefault(session_id, {})[mailbox] = name
        self._watchers_changed(session_id)
        self._interest_changed.set()

    def unwatch(self, mailbox: Mailbox) -> None:
        """A moderator of this node watches no session any more."""
        for session_id in [one for one, found in self._watchers.items() if mailbox in found]:
            del self._watchers[session_id][mailbox]
            if not self._watchers[session_id]:
                del self._watchers[session_id]
            self._watchers_changed(session_id)
            self._interest_changed.set()

    def follow(self, follower: Follower) -> None:
        """A moderator of this node has the overview from now on."""
        self._followers[follower.mailbox] = follower
        self._interest_changed.set()

    def unfollow(self, mailbox: Mailbox) -> None:
        """A moderator of this node has it no more."""
        self._followers.pop(mailbox, None)
        if not self._followers:
            self._rows.clear()
        self._interest_changed.set()

    def leave(self, mailbox: Mailbox) -> None:
        """A moderator of this node has disconnected."""
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
        """The rows of the sessions here, some at a time, so that no respondent waits for all of them."""
        sessions = list(self._sessions.values())
        for start in range(0, len(sessions), ROWS_AT_ONCE):
            yield [session.row() for session in sessions[start : start + ROWS_AT_ONCE]]
            await asyncio.sleep(0)

    # What lives here

    def register(self, session: LiveSession) -> None:
        """A session lives here from now on."""
        self._sessions[session.session_id] = session

    def unregister(self, session: LiveSession) -> None:
        """A session does not live here any more."""
        if self._sessions.get(session.session_id) is session:
            del self._sessions[session.session_id]

    def session(self, session_id: str) -> LiveSession | None:
        """The session, if it lives here."""
        return self._sessions.get(session_id)

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
            message = message_of("frames", frames, session=session_id, rev=rev, turn=committed_turn)
            for node in nodes:
                self.messages.send(node, message)

    def publish_row(self, row: OverviewItem) -> None:
        """Send the row of a session that lives here to whoever has the overview."""
        self._take_row(row)
        nodes = self._demand.nodes_with_overview()
        if nodes:
            message = message_of("rows", [row.model_dump_json()])
            for node in nodes:
                self.messages.send(node, message)

    def publish_gone(self, session_id: str) -> None:
        """A session is erased."""
        self._take_gone(session_id)
        self._send_all("gone", session=session_id)

    def revoke(self, ended: str) -> None:
        """A token or a login has ended, for all nodes."""
        self._on_revoked(ended)
        self._send_all("revoked", token=ended)

    def ask(self, session_id: str | None) -> None:
        """Ask the owner of a session elsewhere for what no stored state says; None: all owners, for the overview."""
        self._announce()
        self._send_all("ask", session=session_id)

    # Other nodes

    async def run(self) -> None:
        """Exchange messages with other nodes until cancelled."""
        async with asyncio.TaskGroup() as self._tasks:
            self._tasks.create_task(self.messages.run(), name="watch messages")
            self._tasks.create_task(self._announce_for_ever(), name="watch announces")

    async def _announce_for_ever(self) -> None:
        while not cancel_requested():
            self._interest_changed.clear()
            self._announce()
            for session_id in self._demand.expired():
                self._watchers_changed(session_id)
            try:
                async with asyncio.timeout(ANNOUNCE_EVERY_S):
                    await self._interest_changed.wait()
            except TimeoutError:
                continue

    def _announce(self) -> None:
        sessions = {session_id: sorted(found.values()) for session_id, found in self._watchers.items()}
        self._send_all("interest", sessions=sessions, overview=bool(self._followers))

    def _send_all(self, kind: str, **head: Any) -> None:
        self.messages.send(None, message_of(kind, **head, sender=self.messages.node))

    def _handle(self, head: Mapping[str, Any], frames: Sequence[str]) -> None:
        match head["kind"]:
            case "interest" if isinstance(head["sender"], str):
                for session_id in self._demand.announced(head["sender"], Interest(head["sessions"], head["overview"])):
                    self._watchers_changed(session_id)
            case "frames":
                self._deliver(head["session"], head["rev"], frames, head["turn"])
            case "rows":
                for line in frames:
                    self._take_row(OverviewItem.model_validate_json(line))
            case "gone":
                self._take_gone(head["session"])
            case "ask":
                self._answer(str(head["sender"]), head["session"])
            case "stale":
                self._missed_messages()
            case "revoked":
                self._on_revoked(head["token"])

    def _answer(self, node: str, session_id: str | None) -> None:
        if session_id is None:
            if self._tasks is not None:
                self._tasks.create_task(self._answer_all(node), name="watch rows")
        elif (live := self._sessions.get(session_id)) is not None:
            message = message_of("frames", live.frames(), session=session_id, rev=live.rev, turn=None)
            self.messages.send(node, message)

    async def _answer_all(self, node: str) -> None:
        async for rows in self._rows_here():
            self.messages.send(node, message_of("rows", [row.model_dump_json() for row in rows]))

    def _missed_messages(self) -> None:
        """Messages of others were lost: whoever watches what lives elsewhere gets it anew."""
        for session_id, found in self._watchers.items():
            if session_id not in self._sessions:
                for mailbox in found:
                    mailbox.due(Due.SNAPSHOT)
        for mailbox in self._followers:
            mailbox.due(Due.OVERVIEW)
        self._interest_changed.set()

    # To moderators of this node

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
        row = row.model_copy(update={"watchers": self.names(row.session_id)})
        self._rows[row.session_id] = row
        text = encode(OverviewRow(**dict(row)))
        for follower in self._followers.values():
            follower.tell(row, text)

    def _take_gone(self, session_id: str) -> None:
        self._rows.pop(session_id, None)
        for follower in self._followers.values():
            follower.gone(session_id)

    def _watchers_changed(self, session_id: str) -> None:
        self.tell(session_id, encode(Watchers(session_id=session_id, names=self.names(session_id))))
        live = self._sessions.get(session_id)
        row = live.row() if live is not None else self._rows.get(session_id)
        if row is not None:
            self._take_row(row)
