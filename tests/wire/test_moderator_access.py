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


async def test_logout_ends_the_login_and_its_sockets_and_no_other(here: Place) -> None:
    cookies = []
    for _ in range(2):
        answer = await here.http.post("/api/login", json={"token": here.token})
        cookies.append({"cookie": f"{COOKIE}={answer.cookies[COOKIE]}"})
        here.http.cookies.clear()
    mine, other = cookies
    async with (
        ModeratorClient(here.url, headers=mine) as out,
        ModeratorClient(here.url, headers=other) as stays,
        here.moderator() as token,
    ):
        for one in (out, stays, token):
            await one.hello()
        assert (await here.http.post("/api/logout", headers=mine)).status_code == 204
        await out.refused("unauthorised")
        assert await out.closed() == 4401
        await stays.settle()
        await token.settle()
    assert (await here.http.get("/api/me", headers=mine)).status_code == 401, "the cookie was kept by someone"
    assert (await here.http.get("/api/me", headers=other)).status_code == 200
    async with ModeratorClient(here.url, headers=mine) as again:
        await again.send("hello")
        await again.refused("unauthorised")


async def test_revoked_token_takes_those_made_with_it_along(here: Place) -> None:
    ada = await here.make_token(name="Ada")
    ben = await here.http.post("/api/tokens", json={"kind": "moderator", "name": "Ben"}, headers=bearer(ada["token"]))
    hall = await here.http.post(
        "/api/tokens", json={"kind": "device", "name": "Hall"}, headers=bearer(ben.json()["token"])
    )
    items = {item["name"]: item for item in (await here.call("/api/tokens"))["items"]}
    assert [(items[name]["created_by"], items[name]["created_by_name"]) for name in ("Ada", "Ben", "Hall")] == [
        ("root", "moderator"),
        (ada["id"], "Ada"),
        (ben.json()["id"], "Ben"),
    ]
    async with here.moderator(ben.json()["token"]) as watcher:
        await watcher.hello()
        await here.http.delete(f"/api/tokens/{ada['id']}", headers=bearer(here.token))
        assert await watcher.closed() == 4401
    answer = await here.http.get("/api/me", headers=bearer(hall.json()["token"]))
    assert answer.status_code == 401


async def test_scoped_moderator_revokes_what_was_made_with_the_own_token_only(here: Place) -> None:
    ada = await here.make_token(name="Ada", concepts=["tea"])
    eve = await here.make_token(name="Eve", concepts=["tea"])
    body = {"kind": "device", "name": "Hall", "concepts": ["tea"]}
    hall = (await here.http.post("/api/tokens", json=body, headers=bearer(ada["token"]))).json()
    statuses = [
        (await here.http.delete(f"/api/tokens/{hall['id']}", headers=bearer(one["token"]))).status_code
        for one in (eve, ada)
    ]
    assert statuses == [403, 204]


async def test_wrong_tokens_on_every_door_are_counted_and_right_ones_get_in(tmp_path: Path) -> None:
    async with place(tmp_path, wrong_token_burst="8", wrong_tokens_per_s="0.001") as here:
        _, respondent = await here.begin()

        async def guess(number: int) -> int:
            wrong = f"wrong-{number}"
            match number % 4:
                case 0:
                    answer = await here.http.get("/api/sessions", headers=bearer(wrong))
                case 1:
                    answer = await here.http.get("/api/sessions", headers={"cookie": f"{COOKIE}={wrong}"})
                case 2:
                    answer = await here.http.post("/api/login", json={"token": wrong})
                case _:
                    answer = await here.http.get("/api/sync", headers=bearer(wrong))
            if answer.status_code == 429:
                assert int(answer.headers["retry-after"]) >= 1
            return answer.status_code

        assert [await guess(number) for number in range(12)] == [401] * 8 + [429] * 4
        async with here.moderator("wrong") as watcher, here.respondent("wrong") as other:
            await watcher.send("hello", token="wrong")
            await watcher.refused("rate_limited", ref="hello")
            await other.send("hello", token="wrong")
            await other.expect("error", code="rate_limited")
        assert (await here.http.post("/api/login", json={"token": here.token})).status_code == 200
        async with here.moderator() as watcher, here.respondent(respondent) as other:
            await watcher.hello()
            await other.hello()


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
