"""The receiving calls: who may, what they refuse, and that nothing odd gets in."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import socket
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from server.sync.networks import is_public
from tests.support.syncing import Pair, device, full_interview, pair
from tests.support.whole import bearer, process

DIGEST = "0" * 64
OFFER: dict[str, Any] = {
    "session_id": "s1", "concept_id": "coffee", "rev": 1, "digest": DIGEST, "size": 10, "format": 1,
}  # fmt: skip


async def bundle_of(both: Pair) -> list[dict[str, Any]]:
    """The lines of the only interview that waits."""
    source = both.kiosk.parts.sync.source(None)
    [unsent] = await source.waiting()
    async with source.opened(unsent) as opened:
        assert opened is not None
        return [json.loads(line) for line in opened.file]


async def upload(both: Pair, lines: list[dict[str, Any]], content: bytes | None = None) -> httpx.Response:
    """Send lines as the kiosk would; the answer to the last call."""
    content = b"".join(json.dumps(line).encode() + b"\n" for line in lines) if content is None else content
    digest, mine, header = hashlib.sha256(content).hexdigest(), bearer(both.token), lines[0]
    offer = {name: header[name] for name in ("session_id", "concept_id", "rev", "format")}
    begun = await both.centre.call(
        "POST", "/api/sync/sessions", json={**offer, "digest": digest, "size": len(content)}, headers=mine
    )
    assert begun.json()["status"] == "wanted"
    path = f"/api/sync/sessions/{header['session_id']}"
    await both.centre.call("POST", f"{path}/chunks?digest={digest}&offset=0", content=content, headers=mine)
    return await both.centre.call("POST", f"{path}/finish", json={"digest": digest}, headers=mine)


def first(lines: list[dict[str, Any]], table: str) -> dict[str, Any]:
    """The first row of a table."""
    found: dict[str, Any] = next(line["row"] for line in lines if line.get("table") == table)
    return found


def _another_session(lines: list[dict[str, Any]]) -> None:
    first(lines, "utterances")["session_id"] = "another"


def _newer_column(lines: list[dict[str, Any]]) -> None:
    first(lines, "utterances")["mood"] = "good"


def _newer_table(lines: list[dict[str, Any]]) -> None:
    lines.insert(3, {"table": "moods", "row": {"session_id": lines[0]["session_id"]}})
    lines[-1]["end"]["rows"] += 1


def _missing_column(lines: list[dict[str, Any]]) -> None:
    del first(lines, "utterances")["text"]


def _wrong_type(lines: list[dict[str, Any]]) -> None:
    first(lines, "utterances")["turn_number"] = "one"


def _too_long(lines: list[dict[str, Any]]) -> None:
    first(lines, "utterances")["speaker"] = "x" * 21


def _moment_without_zone(lines: list[dict[str, Any]]) -> None:
    first(lines, "utterances")["recorded_at"] = "2026-01-01T10:00:00"


def _damaged_state(lines: list[dict[str, Any]]) -> None:
    first(lines, "session_snapshots")["state"] = "cmFiYw=="


def _still_running(lines: list[dict[str, Any]]) -> None:
    first(lines, "sessions")["state"] = "active"


def _another_configuration(lines: list[dict[str, Any]]) -> None:
    row = first(lines, "configurations")
    row["content"] = row["content"].replace("Thank you", "Buy now")


def _no_snapshot(lines: list[dict[str, Any]]) -> None:
    lines[:] = [line for line in lines if line.get("table") != "session_snapshots"]
    lines[-1]["end"]["rows"] -= 1


def _row_lost(lines: list[dict[str, Any]]) -> None:
    lines.remove(next(line for line in lines if line.get("table") == "kg_nodes"))


def _edge_without_node(lines: list[dict[str, Any]]) -> None:
    first(lines, "kg_edges")["source_id"] = "nobody"


def _file_elsewhere(lines: list[dict[str, Any]]) -> None:
    next(line for line in lines if "file" in line)["file"] = "../../askwell.db.flac"


SPOILT: tuple[tuple[Callable[[list[dict[str, Any]]], None], str], ...] = (
    (_another_session, "a row of another interview"),
    (_newer_column, "newer askwell: there is no `utterances.mood`"),
    (_newer_table, "newer askwell: there is no `moods`"),
    (_missing_column, "another version of askwell: `utterances.text`"),
    (_wrong_type, "`utterances.turn_number` can't be read"),
    (_too_long, "`utterances.speaker` can't be read"),
    (_moment_without_zone, "`utterances.recorded_at` can't be read"),
    (_damaged_state, "state of the interview can't be read"),
    (_still_running, "state is told in two ways"),
    (_another_configuration, "configuration is told in two ways"),
    (_no_snapshot, "missing"),
    (_row_lost, "missing"),
    (_edge_without_node, "contradict each other"),
    (_file_elsewhere, "no name of a recording"),
)


async def test_interview_that_does_not_fit_is_refused_whole(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        whole = await bundle_of(both)
        for spoil, reason in SPOILT:
            lines = deepcopy(whole)
            spoil(lines)
            refused = await upload(both, lines)
            assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input"), reason
            assert reason in refused.json()["detail"]
            async with both.centre.storage.database.read() as connection:
                for table in (
                    "sessions",
                    "utterances",
                    "configurations",
                    "sync_received",
                    "sync_uploads",
                    "sync_chunks",
                ):
                    query = text(f"SELECT count(*) FROM {table}")
                    assert (await connection.execute(query)).scalar_one() == 0, (reason, table)
        assert (await both.send()).sent == 1, "nothing of it is in the way of the real one"
        mine, theirs = await both.exports(session_id)
        assert mine.content == theirs.content


async def test_bytes_that_are_no_interview_are_refused(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        lines = [{"session_id": "s1", "concept_id": "coffee", "rev": 1, "format": 1}]
        for content in (b"{}\n", b"[]\n", b"\xff\n", b'{"askwell":"session","format":1}\n', b"{" * 50_000 + b"\n"):
            refused = await upload(both, lines, content)
            assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input"), content[:40]


async def test_only_devices_may_send(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        _, respondent = await server.begin()
        calls: list[tuple[str, str, dict[str, Any]]] = [
            ("GET", "/api/sync", {}),
            ("POST", "/api/sync/sessions", {"json": OFFER}),
            ("POST", f"/api/sync/sessions/s1/chunks?digest={DIGEST}&offset=0", {"content": b"x"}),
            ("POST", "/api/sync/sessions/s1/finish", {"json": {"digest": DIGEST}}),
        ]
        for method, path, options in calls:
            for headers, status in ((server.moderator, 403), (respondent, 403), ({}, 401), (bearer("wrong"), 401)):
                refused = await server.call(method, path, headers=headers, **options)
                assert refused.status_code == status, path
        assert "moderator's" in (await server.call("GET", "/api/sync", headers=server.moderator)).json()["detail"]


async def test_offer_that_can_not_be_meant_is_refused(tmp_path: Path) -> None:
    changes: list[dict[str, Any]] = [
        {"digest": "xyz"}, {"size": 0}, {"size": 10**18}, {"session_id": "../etc"}, {"format": 2}, {"rev": -1},
        {"more": 1}, {"concept_id": ""}, {"size": 2**40},
    ]  # fmt: skip
    async with process(tmp_path) as server:
        token, _ = await device(server)
        for change in changes:
            refused = await server.call("POST", "/api/sync/sessions", json={**OFFER, **change}, headers=bearer(token))
            assert refused.status_code in (413, 422), change


async def test_piece_that_does_not_follow_is_not_kept(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        mine = bearer((await device(server))[0])
        path = f"/api/sync/sessions/s1/chunks?digest={DIGEST}&offset="

        async def piece(offset: str, content: bytes, **headers: str) -> httpx.Response:
            return await server.call("POST", path + offset, content=content, headers={**mine, **headers})

        assert (await piece("0", b"abc")).status_code == 404
        await server.call("POST", "/api/sync/sessions", json={**OFFER, "sent_at": "noon"}, headers=mine)
        assert (await piece("0", b"abc")).json() == {"offset": 3}
        for offset, content in (("0", b"abc"), ("5", b"x"), ("3", b""), ("3", b"x" * 8)):
            assert (await piece(offset, content)).json() == {"offset": 3}
        assert (await piece("x", b"abc")).status_code == 422
        packed = {"content-encoding": "gzip"}
        assert (await piece("3", gzip.compress(b"de"), **packed)).json() == {"offset": 5}
        assert (await piece("5", b"no gzip", **packed)).status_code == 400
        assert (await piece("5", gzip.compress(b"0" * 9_000_000), **packed)).status_code == 413
        early = await server.call("POST", "/api/sync/sessions/s1/finish", json={"digest": DIGEST}, headers=mine)
        assert (early.status_code, early.json()["detail"]) == (409, "Only 5 of 10 bytes are here.")


async def test_scoped_moderator_may_not_have_everything_sent_away(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        body = {"kind": "moderator", "name": "Ada", "concepts": ["coffee"]}
        token = (await server.call("POST", "/api/tokens", json=body, headers=server.moderator)).json()["token"]
        wish = {"to": "http://127.0.0.1:9", "token": "t"}
        refused = await server.call("POST", "/api/sync/push", json=wish, headers=bearer(token))
        assert refused.status_code == 403
        told = await server.call("POST", "/api/sync/push", json={**wish, "to": "nowhere"}, headers=server.moderator)
        assert told.status_code == 200
        assert "not a web address" in json.loads(told.text)["error"]


INSIDE = (
    "http://127.0.0.1:9",
    "http://localhost:9",
    "http://[::1]:9",
    "http://10.1.2.3",
    "https://192.168.1.1",
    "http://169.254.169.254/latest",
    "http://0.0.0.0",
    "http://2130706433",
    "http://0x7f.1",
    "http://[::ffff:127.0.0.1]",
    "http://[64:ff9b::7f00:1]",
    "http://[fd00:ec2::254]",
    "http://168.63.129.16",
    "http://someone@127.0.0.1:9",
)


async def test_moderator_has_nothing_sent_to_addresses_inside_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process(tmp_path) as server:
        body = {"kind": "moderator", "name": "Ada"}
        ada = bearer((await server.call("POST", "/api/tokens", json=body, headers=server.moderator)).json()["token"])

        async def push(to: str, headers: dict[str, str]) -> httpx.Response:
            return await server.call("POST", "/api/sync/push", json={"to": to, "token": "t"}, headers=headers)

        for url in INSIDE:
            refused = await push(url, ada)
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), url
            assert "own moderator token" in refused.json()["detail"]
        assert (await push("ftp://127.0.0.1", server.moderator)).status_code == 200, "the installation's own token may"
        visits: list[str] = []
        caller = await asyncio.start_server(lambda reader, writer: visits.append("came"), "127.0.0.1", 0)
        async with caller:
            port = caller.sockets[0].getsockname()[1]
            monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", Rebinding("93.184.215.14", "127.0.0.1"))
            late = await push(f"http://changing.example:{port}", ada)
            assert late.status_code == 200, "the name meant a public address when it was asked about first"
            assert "inside this network" in json.loads(late.text)["error"]
            assert visits == []


class Rebinding:
    """A name server whose answers change from one question to the next."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)

    async def __call__(self, host: str, port: int | None, **options: object) -> list[object]:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port))]


@pytest.mark.parametrize(
    ("address", "public"),
    [("93.184.215.14", True), ("2606:2800:21f::1", True), ("64:ff9b::5db8:d70e", True), ("100.64.0.1", False),
     ("2002:7f00:1::1", False), ("fe80::1%eth0", False), ("224.0.0.1", False), ("2001:0:5ef5::1", False)],
)  # fmt: skip
def test_address_is_public_only_on_the_public_internet(address: str, public: bool) -> None:
    assert is_public(address) is public
