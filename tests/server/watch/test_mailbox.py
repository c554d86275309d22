"""What waits for one watcher: bounded, the latest first of what may be left out."""

from __future__ import annotations

import asyncio

from server.watch.mailbox import Due, Mailbox
from tests.support.patience import PATIENCE_S


async def drained(box: Mailbox) -> list[object]:
    """Everything that is there now."""
    box.close(1000)
    found: list[object] = []
    while (item := await box.next()) is not None:
        found.append(item)
    return found


async def taken(box: Mailbox, count: int) -> list[object]:
    """The next items."""
    async with asyncio.timeout(PATIENCE_S):
        return [await box.next() for _ in range(count)]


async def test_replies_come_before_frames_and_frames_before_rows() -> None:
    box = Mailbox()
    box.row("s1", "row")
    box.frame("frame", 1)
    box.reply("reply")
    assert await taken(box, 3) == ["reply", "frame", "row"]


async def test_only_the_latest_row_of_a_session_is_sent() -> None:
    box = Mailbox()
    for number in range(1000):
        box.row("s1", f"row {number}")
        box.row("s2", f"other {number}")
    assert await taken(box, 2) == ["row 999", "other 999"]


async def test_frames_beyond_the_bound_are_given_up_for_a_snapshot() -> None:
    box = Mailbox(bound=3)
    for number in range(4):
        box.frame(f"frame {number}", 1)
    box.frame("later", 1)
    assert await taken(box, 1) == [Due.SNAPSHOT]
    assert box.lost == 1
    assert box.waiting == 0
    box.started(Due.SNAPSHOT)
    box.frame("while it is made", 2)
    assert await taken(box, 1) == ["while it is made"]


async def test_long_frames_are_bounded_by_their_length() -> None:
    box = Mailbox(bound_chars=10)
    box.frame("123456", 1)
    box.frame("123456", 1)
    assert await taken(box, 1) == [Due.SNAPSHOT]


async def test_frames_that_are_in_the_snapshot_are_left_out() -> None:
    box = Mailbox()
    for rev in (4, 5, 6):
        box.frame(f"at {rev}", rev)
    box.drop_up_to(5)
    assert await taken(box, 1) == ["at 6"]


async def test_rows_are_not_kept_while_the_overview_is_due() -> None:
    box = Mailbox()
    box.row("s1", "old")
    box.due(Due.OVERVIEW)
    box.row("s1", "in it")
    assert await taken(box, 1) == [Due.OVERVIEW]
    box.started(Due.OVERVIEW)
    box.row("s1", "after it")
    assert await taken(box, 1) == ["after it"]


async def test_closed_mailbox_gives_out_replies_only() -> None:
    box = Mailbox()
    box.frame("frame", 1)
    box.reply("you may not")
    box.due(Due.OVERVIEW)
    assert await drained(box) == ["you may not"]
    assert box.close_code == 1000


async def test_next_waits_for_something() -> None:
    box = Mailbox()
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(box.next())
        await asyncio.sleep(0)
        box.frame("frame", 1)
        assert await waiting == "frame"
