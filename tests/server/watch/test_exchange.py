"""News between nodes: what is watched travels, nothing else; what is lost is made good by a whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from pipeline.state import InterviewState
from server.hot.broadcast import Broadcasts
from server.hot.errors import StorageUnavailable
from server.protocol.watched import OverviewItem
from server.watch.alerts import Facts
from server.watch.demand import FORGET_AFTER_S, Demand, Interest
from server.watch.exchange import Follower, LiveExchange
from server.watch.letters import BOUND_MESSAGES
from server.watch.live import LiveSession
from server.watch.mailbox import Due, Mailbox
from server.watch.rows import row_of
from tests.support.interview import NOW, new_state
from tests.support.patience import PATIENCE_S


class Wire(Broadcasts):
    """Carries letters between nodes in memory; can be away."""

    def __init__(self) -> None:
        self.queues: dict[str, asyncio.Queue[bytes | None]] = {}
        self.away = False
        self.carried: list[tuple[str | None, bytes]] = []

    async def send(self, letters: Sequence[tuple[str | None, bytes]]) -> None:
        """To one node or all."""
        if self.away:
            raise StorageUnavailable("nobody there")
        for node, body in letters:
            self.carried.append((node, body))
            for name, queue in self.queues.items():
                if node in (None, name):
                    queue.put_nowait(body)

    async def receive(self, node: str) -> AsyncGenerator[bytes | None, None]:
        """What came for this node."""
        queue = self.queues.setdefault(node, asyncio.Queue())
        yield None
        while True:
            yield await queue.get()


class Session(LiveSession):
    """A session that lives on a node."""

    def __init__(self, **changes: Any) -> None:
        self.now: InterviewState = new_state(**{"status": "active", **changes})

    @property
    def session_id(self) -> str:
        """The session."""
        return self.now.session_id

    @property
    def rev(self) -> int:
        """Its revision."""
        return self.now.rev

    def row(self) -> OverviewItem:
        """Its row."""
        return row_of(self.now, Facts(connected=True, activity="thinking", changed_at=NOW))

    def frames(self) -> list[str]:
        """What no stored state says."""
        return [f'{{"present": "{self.session_id}"}}']


@asynccontextmanager
async def two_nodes(
    on_lost: Callable[[float], None] = lambda count: None,
) -> AsyncIterator[tuple[Wire, LiveExchange, LiveExchange]]:
    """Two exchanges on one wire; the first one's losses are told."""
    wire = Wire()
    clock = asyncio.get_running_loop().time
    one, two = LiveExchange(wire, "one", clock, on_lost=on_lost), LiveExchange(wire, "two", clock)
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(exchange.run()) for exchange in (one, two)]
        async with asyncio.timeout(PATIENCE_S):
            while len(wire.queues) < 2:
                await asyncio.sleep(0.001)
        yield wire, one, two
        for task in running:
            task.cancel()


async def soon(check: Any) -> None:
    """Wait until it holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not check():
            await asyncio.sleep(0.001)


async def text(box: Mailbox) -> Any:
    """The next item of a mailbox."""
    async with asyncio.timeout(PATIENCE_S):
        return await box.next()


async def test_frames_reach_watchers_here_and_elsewhere() -> None:
    async with two_nodes() as (wire, one, two):
        session, near, far = Session(), Mailbox(), Mailbox()
        one.register(session)
        one.publish("s-1", 1, ["unseen"])
        one.watch("s-1", near, "Ada")
        two.watch("s-1", far, "Ben")
        await soon(lambda: one.names("s-1") == ("Ada", "Ben") and two.names("s-1") == ("Ada", "Ben"))
        near.drop_up_to(0)
        far.drop_up_to(0)
        one.publish("s-1", 3, ["first", "second"])
        assert [await text(near), await text(near)] == ["first", "second"]
        assert [await text(far), await text(far)] == ["first", "second"]
        assert not [body for _, body in wire.carried if b"unseen" in body]


async def test_owner_elsewhere_says_what_no_state_says() -> None:
    async with two_nodes() as (_, one, two):
        one.register(Session())
        box = Mailbox()
        two.watch("s-1", box, "Ben")
        two.ask("s-1")
        while (found := await text(box)) != '{"present": "s-1"}':
            assert json.loads(found)["type"] == "watchers"


async def test_rows_travel_only_where_an_overview_is() -> None:
    async with two_nodes() as (wire, one, two):
        session = Session()
        one.register(session)
        assert not one.overview_wanted
        box = Mailbox()
        two.follow(Follower(box, lambda row: row.concept_id == "coffee"))
        await soon(lambda: one.overview_wanted)
        one.publish_row(session.row())
        assert json.loads(await text(box))["session_id"] == "s-1"
        one.publish_gone("s-1")
        assert json.loads(await text(box)) == {"type": "overview.gone", "session_id": "s-1"}
        two.unfollow(box)
        await soon(lambda: not one.overview_wanted)
        assert not [body for node, body in wire.carried if node is None and b'"rows"' in body]


async def test_row_that_leaves_the_filter_is_told_as_gone_once() -> None:
    async with two_nodes() as (_, one, _two):
        box, session = Mailbox(), Session()
        one.follow(Follower(box, lambda row: row.state == "active"))
        one.publish_row(session.row())
        assert json.loads(await text(box))["type"] == "overview.row"
        session.now = new_state(status="paused")
        one.publish_row(session.row())
        assert json.loads(await text(box))["type"] == "overview.gone"
        one.publish_row(session.row())
        box.reply("nothing came between")
        assert await text(box) == "nothing came between"


async def test_change_of_watchers_is_a_change_of_the_row() -> None:
    async with two_nodes() as (_, one, _two):
        box, session = Mailbox(), Session()
        one.register(session)
        one.follow(Follower(box, lambda row: True))
        one.watch("s-1", Mailbox(), "Ada")
        assert json.loads(await text(box))["watchers"] == ["Ada"]


async def test_letters_that_were_lost_make_watchers_elsewhere_begin_anew() -> None:
    lost: list[float] = []
    async with two_nodes(lost.append) as (wire, one, two):
        session, far = Session(), Mailbox()
        one.register(session)
        two.watch("s-1", far, "Ben")
        await soon(lambda: one.wanted("s-1"))
        far.drop_up_to(0)
        wire.away = True
        one.publish("s-1", 5, ["lost"])
        await soon(lambda: lost)
        wire.away = False
        while (found := await text(far)) is not Due.SNAPSHOT:
            assert "lost" not in found


async def test_more_letters_than_can_wait_push_out_the_oldest() -> None:
    lost: list[float] = []
    exchange = LiveExchange(Wire(), "one", lambda: 0.0, on_lost=lost.append)
    exchange._demand.announced("two", Interest({"s-1": ["Ben"]}))
    for number in range(BOUND_MESSAGES + 10):
        exchange.publish("s-1", 1, [str(number)])
    assert sum(lost) == 10
    assert exchange.messages.waiting <= BOUND_MESSAGES


async def test_node_that_is_not_heard_of_watches_nothing() -> None:
    now = 0.0
    demand = Demand(lambda: now)
    assert demand.announced("two", Interest({"s-1": ["Ben"]}, overview=True)) == {"s-1"}
    assert demand.announced("two", Interest({"s-1": ["Ben"]}, overview=True)) == set()
    assert demand.nodes_watching("s-1") == ["two"]
    now = FORGET_AFTER_S + 1
    assert demand.expired() == {"s-1"}
    assert demand.nodes_watching("s-1") == []
    assert demand.nodes_with_overview() == []


async def test_letter_that_can_not_be_read_harms_nobody() -> None:
    async with two_nodes() as (wire, one, two):
        await wire.send([(None, b"not json"), (None, b'{"kind": "frames"}'), (None, b"\xff\xfe")])
        box = Mailbox()
        one.register(Session())
        two.watch("s-1", box, "Ben")
        two.ask("s-1")
        await soon(lambda: box.waiting >= 1)


async def test_revoked_token_is_told_to_all_nodes() -> None:
    wire = Wire()
    ended: list[str] = []
    clock = asyncio.get_running_loop().time
    one = LiveExchange(wire, "one", clock, on_revoked=lambda token: ended.append(f"one {token}"))
    two = LiveExchange(wire, "two", clock, on_revoked=lambda token: ended.append(f"two {token}"))
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(exchange.run()) for exchange in (one, two)]
        await soon(lambda: len(wire.queues) == 2)
        one.revoke("t1")
        await soon(lambda: sorted(ended) == ["one t1", "two t1"])
        for task in running:
            task.cancel()
