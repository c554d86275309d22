"""Who may watch what, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from server.auth import COOKIE
from tests.support.client import key
from tests.support.moderator import ModeratorClient, Place, place
from tests.support.whole import bearer


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    """One process on a free port."""
    async with place(tmp_path) as running:
        yield running


async def test_wrong_token_is_told_and_closed(here: Place) -> None:
    _, respondents = await here.begin()
    device = (await here.make_token("device"))["token"]
    for wrong in ("nonsense", respondents, device):
        async with here.moderator(wrong) as watcher:
            await watcher.send("hello", token=wrong)
            refusal = await watcher.refused("unauthorised", ref="hello")
            assert refusal["message"] == "This is not the token of a moderator, or it has ended."
            assert await watcher.closed() == 4401


async def test_hello_without_a_token_needs_the_cookie(here: Place) -> None:
    async with ModeratorClient(here.url) as watcher:
        await watcher.send("hello")
        await watcher.refused("unauthorised")
        assert await watcher.closed() == 4401
    answer = await here.http.post("/api/login", json={"token": here.token})
    cookie = {"cookie": f"{COOKIE}={answer.cookies[COOKIE]}"}
    async with ModeratorClient(here.url, headers=cookie) as watcher:
        ready = await watcher.hello()
        assert (ready["name"], ready["concepts"]) == ("moderator", None)
        assert (await here.http.get("/api/me", headers=cookie)).json() == {
            "kind": "moderator",
            "name": "moderator",
            "token_id": "root",
            "concepts": None,
        }


async def test_page_of_another_origin_is_not_let_in(here: Place) -> None:
    with pytest.raises(InvalidStatus):
        async with ModeratorClient(here.url, here.token, origin="https://elsewhere.example"):
            pass


async def test_first_message_must_be_hello(here: Place) -> None:
    async with here.moderator() as watcher:
        await watcher.send("overview")
        await watcher.refused("invalid_message")
        assert await watcher.closed() == 1002


async def test_revoked_token_ends_its_connections_and_no_other(here: Place) -> None:
    made = await here.make_token()
    async with here.moderator(made["token"]) as out, here.moderator() as stays:
        await out.hello()
        await stays.hello()
        answer = await here.http.delete(f"/api/tokens/{made['id']}", headers=bearer(here.token))
        assert answer.status_code == 204
        await out.refused("unauthorised")
        assert await out.closed() == 4401
        await stays.settle()
    async with here.moderator(made["token"]) as again:
        await again.send("hello", token=made["token"])
        await again.refused("unauthorised")


async def test_revoked_token_ends_the_connection_though_a_command_is_on_its_way(here: Place) -> None:
    made = await here.make_token()
    session_id, token = await here.begin()
    gate = here.providing.writer.close_gate(2)
    async with here.moderator(made["token"]) as out, here.respondent(token) as respondent:
        await out.hello()
        await respondent.hello()
        await here.providing.writer.at_gate.wait()
        await out.begin("pause", session_id=session_id)
        await here.settled_inbox(session_id)
        await here.http.delete(f"/api/tokens/{made['id']}", headers=bearer(here.token))
        assert await out.closed() == 4401
        gate.set()
        await respondent.until("session.state", state="paused")


async def test_scope_holds_for_overview_subscription_and_commands(here: Place) -> None:
    coffee, token = await here.begin("coffee")
    tea, _ = await here.begin("tea")
    await here.stored()
    made = await here.make_token(concepts=["tea"])
    async with here.moderator(made["token"]) as watcher, here.respondent(token) as respondent:
        assert (await watcher.hello())["concepts"] == ["tea"]
        rows = (await watcher.overview())["rows"]
        assert [row["session_id"] for row in rows] == [tea]
        await respondent.hello()
        await respondent.until("question.completed")
        await watcher.send("subscribe", session_id=coffee)
        await watcher.refused("forbidden", ref="subscribe")
        command_id = await watcher.begin("pause", session_id=coffee)
        await watcher.refused("forbidden", ref=command_id)
        await watcher.send("overview", filter={"concept_id": "coffee"})
        await watcher.refused("forbidden", ref="overview")
        await watcher.settle()
    assert coffee not in str(watcher.seen)
    for path in ("", "/actions", "/scores", "/graph", "/transcript", "/usage"):
        answer = await here.http.get(f"/api/sessions/{coffee}{path}", headers=bearer(made["token"]))
        assert answer.status_code == 403, path
    body = {"type": "pause", "command_id": key()}
    path = f"/api/sessions/{coffee}/commands"
    assert (await here.http.post(path, json=body, headers=bearer(made["token"]))).status_code == 403


async def test_tokens_are_listed_without_themselves_and_within_the_scope(here: Place) -> None:
    all_of_it = await here.make_token(name="Ada")
    device = await here.make_token("device", name="Hall", concepts=["tea"])
    await here.http.get("/api/concepts", headers=bearer(device["token"]))
    await here.http.delete(f"/api/tokens/{all_of_it['id']}", headers=bearer(here.token))
    items = (await here.call("/api/tokens"))["items"]
    assert [(one["name"], one["kind"], one["concepts"]) for one in items] == [
        ("Hall", "device", ["tea"]),
        ("Ada", "moderator", None),
    ]
    assert items[1]["revoked_at"] is not None
    assert all_of_it["token"] not in str(items)
    scoped = await here.make_token(name="Ben", concepts=["tea"])
    names = [one["name"] for one in (await here.call("/api/tokens", scoped["token"]))["items"]]
    assert names == ["Ben", "Hall"]


async def test_unknown_session_and_odd_messages_are_refused_and_the_socket_lives(here: Place) -> None:
    async with here.moderator() as watcher:
        await watcher.hello()
        await watcher.send("subscribe", session_id="no-such-session")
        refusal = await watcher.refused("not_found", ref="subscribe")
        assert refusal["message"] == "There is no such interview, or it was erased."
        await watcher.send("dance")
        await watcher.refused("invalid_message")
        await watcher.socket.send(b"\x00\x01")
        await watcher.refused("invalid_message")
        await watcher.socket.send("not json")
        await watcher.refused("invalid_message")
        await watcher.settle()
