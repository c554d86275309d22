"""Two processes on one Redis and one database: whoever watches may be on another one than the interview."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from server.auth import COOKIE
from tests.support.moderator import ModeratorClient, Place, place
from tests.support.redis_fixtures import embedded_url, hot
from tests.support.whole import eventually

__all__ = ["embedded_url", "hot"]


@asynccontextmanager
async def nodes(folder: Path, redis_url: str, count: int = 2) -> AsyncIterator[list[Place]]:
    """Processes that share what they keep."""
    shared = {
        "redis_url": redis_url,
        "database_url": f"sqlite+aiosqlite:///{folder / 'shared.db'}",
        "moderator_token": "the-same-token-on-all-of-the-nodes",
    }
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(place(folder / f"node{number}", None, **shared)) for number in range(count)
        ]


@pytest.fixture
async def two(tmp_path: Path, hot: object, embedded_url: str) -> AsyncIterator[list[Place]]:
    """Two of them."""
    async with nodes(tmp_path, embedded_url) as running:
        yield running


async def test_watcher_on_another_node_sees_a_turn_and_commands_it(two: list[Place]) -> None:
    near, far = two
    session_id, token = await near.begin()
    async with far.moderator() as watcher, near.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed", turn_number=0)
        await watcher.hello()
        await watcher.watch(session_id)
        assert (await watcher.until("respondent"))["connected"]
        await respondent.answer("I like the taste.")
        assert (await watcher.until("transcript.final"))["text"] == "I like the taste."
        started = await watcher.until("question.started", turn_number=1)
        text = ""
        while (frame := await watcher.next())["type"] != "question.completed":
            if frame["type"] == "question.delta":
                assert frame["attempt"] == started["attempt"]
                text += frame["text"]
        assert frame["text"] == text
        await watcher.until("scores", turn_number=1)
        done = await watcher.order("inject", question="And the price?")
        assert done["applies_to_turn"] == 2
        await respondent.answer("Cheap.")
        assert (await respondent.until("question.completed", turn_number=2))["text"] == "And the price?"
        await watcher.order("claim")
        await respondent.until("notice", code="moderator_here")
        assert (await watcher.have("session.state", claimed_by="moderator"))["state"] == "active"


async def test_watcher_who_comes_in_the_middle_of_a_question_gets_all_of_it(two: list[Place]) -> None:
    near, far = two
    session_id, token = await near.begin()
    async with near.respondent(token) as respondent, far.moderator() as away, near.moderator() as there:
        await respondent.hello()
        await respondent.until("question.completed", turn_number=0)
        gate = near.providing.writer.close_gate(8)
        await respondent.answer("I like the taste.")
        await near.providing.writer.at_gate.wait()
        for watcher in (away, there):
            await watcher.hello()
            await watcher.watch(session_id)
            await watcher.until("question.started", turn_number=1)
            first = await watcher.until("question.delta", turn_number=1)
            assert first["text"]
        gate.set()
        for watcher in (away, there):
            asked = await watcher.until("question.completed", turn_number=1)
            said = [frame["text"] for frame in watcher.seen if frame["type"] == "question.delta"]
            assert "".join(said) == asked["text"]


async def test_overview_on_one_node_has_the_sessions_of_both(two: list[Place]) -> None:
    near, far = two
    here, token = await near.begin()
    there, other = await far.begin()
    async with near.respondent(token) as one, far.respondent(other) as two_, far.moderator() as watcher:
        await one.hello()
        await two_.hello()
        await one.until("question.completed")
        await two_.until("question.completed")
        await near.stored()
        await far.stored()
        await watcher.hello()
        rows = (await watcher.overview())["rows"]
        assert {row["session_id"] for row in rows} == {here, there}
        await watcher.until("overview.row", session_id=here, connected=True)
        await one.turn("I like the taste.")
        await watcher.until("overview.row", session_id=here, turn_number=1)
    assert not {"question.delta", "scores"} & {frame["type"] for frame in watcher.seen}


async def test_watchers_of_all_nodes_are_named(two: list[Place]) -> None:
    near, far = two
    session_id, token = await near.begin()
    ada, ben = await near.make_token(name="Ada"), await near.make_token(name="Ben")
    async with near.respondent(token) as respondent, near.moderator(ada["token"]) as one:
        await respondent.hello()
        await one.hello()
        await one.watch(session_id)
        async with far.moderator(ben["token"]) as two_:
            await two_.hello()
            snapshot = await two_.watch(session_id)
            assert snapshot["state"]["watchers"] == ["Ada", "Ben"]
            await one.until("watchers", names=["Ada", "Ben"])
        await one.until("watchers", names=["Ada"])


async def test_token_revoked_on_one_node_ends_connections_on_the_other(two: list[Place]) -> None:
    near, far = two
    made = await near.make_token()
    async with far.moderator(made["token"]) as watcher:
        await watcher.hello()
        await near.http.delete(f"/api/tokens/{made['id']}", headers={"authorization": f"Bearer {near.token}"})
        assert await watcher.closed() == 4401


async def test_logout_on_one_node_ends_the_login_on_the_other(two: list[Place]) -> None:
    near, far = two
    value = (await near.http.post("/api/login", json={"token": near.token})).cookies[COOKIE]
    cookie = {"cookie": f"{COOKIE}={value}"}
    async with ModeratorClient(far.url, headers=cookie) as watcher:
        await watcher.hello()
        assert (await near.http.post("/api/logout", headers=cookie)).status_code == 204
        assert await watcher.closed() == 4401
    assert (await far.http.get("/api/me", headers=cookie)).status_code == 401


async def test_nothing_travels_that_nobody_watches(two: list[Place]) -> None:
    near, far = two
    session_id, token = await near.begin()
    spread: list[bytes] = []
    original = near.storage.hot.broadcasts.send

    async def spying(messages: Sequence[tuple[str | None, bytes]]) -> None:
        spread.extend(body for _, body in messages)
        await original(messages)

    near.storage.hot.broadcasts.send = spying  # type: ignore[method-assign]
    async with near.respondent(token) as respondent, far.moderator() as watcher:
        await respondent.hello()
        await respondent.until("question.completed")
        await respondent.turn("I like the taste.")
        assert not [body for body in spread if b'"frames"' in body or b'"rows"' in body]
        await watcher.hello()
        await watcher.watch(session_id)
        await watcher.until("respondent")
        await respondent.turn("And the smell.")
        await watcher.until("question.completed", turn_number=2)
        assert [body for body in spread if b'"frames"' in body]
        assert not [body for body in spread if b'"rows"' in body]
        await watcher.send("unsubscribe")
        await watcher.settle()
        await eventually(lambda: _true(not near.parts.watch.exchange.wanted(session_id)))
        spread.clear()
        await respondent.turn("And the price.")
        assert not [body for body in spread if b'"frames"' in body]


async def _true(found: bool) -> bool:
    return found


async def test_watcher_follows_a_session_that_moves_to_another_node(two: list[Place]) -> None:
    near, far = two
    session_id, token = await near.begin()
    async with far.moderator() as watcher:
        await watcher.hello()
        async with near.respondent(token) as respondent:
            await respondent.hello()
            await respondent.until("question.completed")
            await watcher.watch(session_id)
            await respondent.turn("I like the taste.")
            await watcher.until("question.completed", turn_number=1)
        async with far.respondent(token) as respondent:
            await respondent.hello()
            await respondent.turn("And the smell.")
            await watcher.until("question.completed", turn_number=2)


async def test_held_answer_is_still_held_on_the_next_node(two: list[Place]) -> None:
    near, far = two
    session_id, token = await near.begin()
    async with near.moderator() as watcher:
        await watcher.hello()
        async with near.respondent(token) as respondent:
            await respondent.hello()
            await respondent.until("question.completed")
            await watcher.watch(session_id)
            await watcher.order("claim")
            await respondent.answer("I like the taste.")
            await watcher.until("respondent", activity="held")
        async with far.respondent(token) as respondent:
            ready = await respondent.hello()
            assert ready["pending"] is not None
            await respondent.until("notice", code="moderator_here")
            await watcher.order("inject", question="And the price?")
            asked = await respondent.until("question.completed", turn_number=1)
            assert asked["text"] == "And the price?"
    await asyncio.gather(near.stored(), far.stored())
