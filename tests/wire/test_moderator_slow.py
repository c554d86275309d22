"""A watcher who does not read: loses what came in between, gets all of it anew, and slows nobody down."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.protocol.codec import encode
from server.protocol.watched import WatchedTranscriptPartial
from server.watch import mailbox
from tests.support.moderator import Place, place
from tests.support.whole import eventually

LONG = "word " * 4000
MOST = 2000


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    """One process on a free port."""
    async with place(tmp_path) as running:
        yield running


async def test_watcher_who_does_not_read_gets_a_fresh_snapshot_and_slows_nobody(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as slow, here.moderator() as quick, here.respondent(token) as respondent:
        for watcher in (slow, quick):
            await watcher.hello()
        await respondent.hello()
        await respondent.until("question.completed")
        for watcher in (slow, quick):
            await watcher.watch(session_id)
        slow.socket.transport.pause_reading()
        boxes = list(here.parts.watch.connections)
        exchange, rev = here.parts.watch.exchange, 1_000_000
        for number in range(MOST):
            text = f"{number} {LONG}"
            said = WatchedTranscriptPartial(session_id=session_id, text=text, stable=0)
            exchange.publish(session_id, rev, [encode(said)])
            assert (await quick.until("transcript.partial"))["text"] == text
            if any(one.lost for one in boxes):
                break
        assert [one.lost for one in boxes].count(0) == 1, "the slow one lost something, the quick one nothing"
        assert all(one.waiting <= mailbox.BOUND_FRAMES for one in boxes)
        await respondent.turn("I like the taste.")
        slow.socket.transport.resume_reading()
        snapshot = await slow.until("snapshot")
        while snapshot["state"]["turn_count"] < 1:
            snapshot = await slow.until("snapshot")
        await respondent.answer("And on.")
        await slow.until("question.completed", turn_number=2)


async def test_watcher_who_leaves_is_forgotten(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        async with here.moderator() as watcher:
            await watcher.hello()
            await watcher.watch(session_id)
            await watcher.overview()
            assert here.parts.watch.exchange.wanted(session_id)
            watcher.socket.transport.abort()
        exchange = here.parts.watch.exchange

        async def nobody() -> bool:
            return not exchange.wanted(session_id) and not exchange.overview_wanted and not here.parts.watch.connections

        await eventually(nobody)
        await respondent.turn("I like the taste.")
