"""What every answer has in common: headers, hosts, origins, rates; the pages; operations."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, MutableMapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import text

from config.settings import ServerSettings
from server.database import DATABASE_NAME
from server.errors import STATUS, TITLE, ApiError, wire_error
from server.origins import Origins
from server.protocol.codes import SENTENCES
from server.rate_limits import KeyedBuckets, TokenBucket
from tests.support.patience import PATIENCE_S
from tests.support.redis_rows import all_rows
from tests.support.whole import Process, bearer, process

shared = pytest.mark.asyncio(loop_scope="module")
"""The mark of tests with the process that they share."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Process]:
    """A process for the tests that need no settings, break nothing and count nothing."""
    async with process(tmp_path_factory.mktemp("app")) as running:
        yield running


@shared
async def test_every_answer_carries_the_security_headers(api: Process) -> None:
    for path in ("/", "/api/concepts", "/static/theme.css", "/nowhere", "/api/nowhere", "/metrics"):
        headers = (await api.call("GET", path)).headers
        own = "connect-src 'self' ws://127.0.0.1:8080 wss://127.0.0.1:8080;"
        assert headers["content-security-policy"].startswith(f"default-src 'self'; {own}")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


@shared
async def test_pages_that_exist_are_served_and_others_are_not_found(api: Process) -> None:
    for path in ("/", "/interview/some-id", "/moderator", "/kiosk/coffee"):
        page = await api.call("GET", path)
        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["cache-control"] == ("no-store" if path.startswith("/kiosk/") else "no-cache")
    for path in ("/kiosks", "/moderators", "/static/../cli.py", "/static/none.js", "/interview/"):
        missing = await api.call("GET", path)
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found"), path


@shared
async def test_static_file_is_asked_about_and_not_sent_twice(api: Process) -> None:
    first = await api.call("GET", "/static/theme.css")
    assert first.headers["cache-control"] == "no-cache"
    again = await api.call("GET", "/static/theme.css", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@shared
async def test_wrong_method_is_a_problem(api: Process) -> None:
    refused = await api.call("PUT", "/api/sessions", json={})
    assert refused.status_code == 405
    assert refused.json()["detail"] == "This page or call can't be used with PUT."
    assert refused.headers["content-type"] == "application/problem+json"


@shared
async def test_strange_host_is_refused_on_loopback(api: Process) -> None:
    refused = await api.call("GET", "/api/concepts", headers={"host": "evil.example"})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert refused.headers["x-content-type-options"] == "nosniff"


async def test_page_of_a_strange_origin_can_change_nothing(tmp_path: Path) -> None:
    async with process(tmp_path, allowed_origins="https://lab.example") as api:
        body = {"concept_id": "coffee"}
        for origin in ("https://evil.example", "http://["):
            refused = await api.call("POST", "/api/sessions", json=body, headers={"origin": origin})
            assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), origin
        for origin in ("http://127.0.0.1:8080", "https://lab.example"):
            made = await api.call("POST", "/api/sessions", json=body, headers={"origin": origin})
            assert made.status_code == 201, origin
        assert made.headers["access-control-allow-origin"] == "https://lab.example"


async def test_too_many_changes_are_told_to_wait(tmp_path: Path) -> None:
    async with process(tmp_path, request_burst="2", requests_per_s="0.5") as api:
        codes = [(await api.call("POST", "/api/login", json={"token": "x"})).status_code for _ in range(3)]
        assert codes == [401, 401, 429]
        refused = await api.call("POST", "/api/login", json={"token": "x"})
        assert refused.json()["code"] == "rate_limited"
        assert 1 <= int(refused.headers["retry-after"]) <= 2
        assert (await api.call("GET", "/api/concepts")).status_code == 200


@shared
async def test_login_sets_a_cookie_that_pages_can_use_and_scripts_can_not_read(api: Process) -> None:
    assert (await api.call("GET", "/api/sessions")).status_code == 401
    answer = await api.call("POST", "/api/login", json={"token": api.storage.moderator_token})
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 200
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert api.storage.moderator_token not in cookie
    assert (await api.call("GET", "/api/sessions")).status_code == 200
    assert (await api.call("POST", "/api/logout")).status_code == 204
    assert (await api.call("GET", "/api/sessions")).status_code == 401


@shared
async def test_tokens_are_made_scoped_and_revoked(api: Process) -> None:
    body = {"kind": "moderator", "name": "Ada", "concepts": ["tea"]}
    assert (await api.call("POST", "/api/tokens", json=body)).status_code == 401
    made = await api.call("POST", "/api/tokens", json=body, headers=api.moderator)
    assert made.status_code == 201
    ada = bearer(made.json()["token"])
    session_id, _ = await api.interview(0)
    for path in (
        f"/api/sessions/{session_id}",
        f"/api/sessions/{session_id}/graph",
        "/api/sessions?concept_id=coffee",
    ):
        refused = await api.call("GET", path, headers=ada)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), path
    assert (await api.call("GET", "/api/sessions", headers=ada)).json()["items"] == []
    wider = await api.call("POST", "/api/tokens", json={**body, "concepts": None}, headers=ada)
    assert wider.status_code == 403
    token_path = f"/api/tokens/{made.json()['id']}"
    assert (await api.call("DELETE", token_path, headers=api.moderator)).status_code == 204
    assert (await api.call("GET", "/api/sessions", headers=ada)).status_code == 401
    unknown = await api.call("DELETE", "/api/tokens/none", headers=api.moderator)
    assert unknown.status_code == 404
    wrong = await api.call("POST", "/api/tokens", json={**body, "concepts": ["cofee"]}, headers=api.moderator)
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_input")


@shared
async def test_catalogue_is_open_to_anyone(api: Process) -> None:
    items = (await api.call("GET", "/api/concepts")).json()["items"]
    coffee = next(item for item in items if item["id"] == "coffee")
    assert coffee == {
        "id": "coffee",
        "name": "coffee",
        "title": "Your coffee",
        "titles": {"en": "Your coffee", "de": "Your coffee"},
        "methodology": "small",
        "engine": "signal_pools",
        "languages": ["en", "de"],
    }
    assert {"headphones_mec", "commute_jtbd", "restaurant_ci"} <= {item["id"] for item in items}
    tea = (await api.call("GET", "/api/concepts/tea")).json()
    assert tea["consent"]["text"] == "Do you agree?"
    assert "objective" not in tea
    elements = (await api.call("GET", "/api/concepts/coffee/elements")).json()["items"]
    assert [element["id"] for element in elements] == ["taste"]
    assert (await api.call("GET", "/api/concepts/cofee")).status_code == 404
    names = {item["id"] for item in (await api.call("GET", "/api/methodologies")).json()["items"]}
    assert {"means_end_chain", "jobs_to_be_done", "critical_incident", "small"} <= names
    personas = (await api.call("GET", "/api/personas")).json()["items"]
    assert "allotment_cook" in {item["id"] for item in personas}
    assert {item["concept"] for item in personas} <= {item["id"] for item in items}


async def test_closed_doors_open_for_tokens_only(tmp_path: Path) -> None:
    async with process(tmp_path, open_enrolment="false", metrics_token="m" * 43) as api:
        made = [
            (await api.call("POST", "/api/tokens", json=body, headers=api.moderator)).json()["token"]
            for body in (
                {"kind": "moderator", "name": "Ada", "concepts": ["tea"]},
                {"kind": "device", "name": "Hall", "concepts": ["coffee"]},
            )
        ]
        ada, hall = map(bearer, made)
        session = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"}, headers=hall)
        respondent = bearer(session.json()["respondent_token"])

        async def listed(headers: dict[str, str]) -> list[str]:
            answer = await api.call("GET", "/api/concepts", headers=headers)
            return sorted(item["id"] for item in answer.json()["items"])

        assert {"coffee", "tea", "voice", "headphones_mec"} <= set(await listed(api.moderator))
        assert [await listed(one) for one in (ada, hall, respondent, {})] == [["tea"], ["coffee"], [], []]
        for path, admitted in (
            ("/api/concepts/coffee", (hall, api.moderator)),
            ("/api/concepts/coffee/elements", (hall, api.moderator)),
            ("/api/methodologies", (ada, hall, api.moderator)),
            ("/metrics", (ada, api.moderator, bearer("m" * 43))),
        ):
            for headers in ({}, respondent, bearer("m" * 43), ada, hall, api.moderator):
                status = (await api.call("GET", path, headers=headers)).status_code
                assert (status == 200) is (headers in admitted), (path, status)
        for headers, shown in (({}, False), (hall, False), (bearer("wrong"), False), (ada, True)):
            ready = await api.call("GET", "/readyz", headers=headers)
            assert (ready.status_code, ready.json()["ready"], "checks" in ready.json()) == (200, True, shown)
        api.parts.readiness.leaving = True
        left = await api.call("GET", "/readyz")
        assert (left.status_code, left.json()) == (503, {"ready": False})
        api.parts.readiness.leaving = False


async def test_concept_that_anyone_may_start_is_listed_where_others_are_not(tmp_path: Path) -> None:
    write = tmp_path / "config" / "concepts" / "coffee.yaml"
    async with process(tmp_path, open_enrolment="false") as api:
        write.write_text(write.read_text() + "open_enrolment: true\n", encoding="utf-8")
        shown = (await api.call("GET", "/api/concepts")).json()
        assert ([item["id"] for item in shown["items"]], shown["open"]) == (["coffee"], False)
        assert (await api.call("GET", "/api/concepts/coffee")).status_code == 200
        assert (await api.call("GET", "/api/concepts/tea")).status_code == 404


@shared
async def test_slow_configuration_file_holds_up_no_other_call(api: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    gate, reading = threading.Event(), threading.Event()
    usual = Path.stat

    def slow(path: Path, **options: bool) -> os.stat_result:
        if path.name == "coffee.yaml":
            reading.set()
            assert gate.wait(PATIENCE_S)
        return usual(path, **options)

    session_id, headers = await api.begin()
    monkeypatch.setattr(Path, "stat", slow)
    try:
        async with asyncio.TaskGroup() as tasks:
            listing = tasks.create_task(api.call("GET", "/api/concepts"))
            assert await asyncio.to_thread(reading.wait, PATIENCE_S)
            begun = await api.call("POST", f"/api/sessions/{session_id}/start", headers=headers)
            assert begun.status_code == 200
            async with asyncio.timeout(PATIENCE_S / 2):
                # On a busy machine the writer may be behind for a moment.
                while (ready := await api.call("GET", "/readyz")).status_code != 200:
                    assert "could not be read" in ready.json()["checks"]["configuration"][0]
            assert not listing.done()
            assert "could not be read" in ready.json()["checks"]["configuration"][0]
            gate.set()
    finally:
        gate.set()
    assert listing.result().status_code == 200


async def test_readiness_tells_what_is_missing(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        assert (await api.call("GET", "/healthz")).text == "ok\n"
        ready = await api.call("GET", "/readyz")
        assert (ready.status_code, ready.json()["ready"]) == (200, True)
        api.parts.readiness.leaving = True
        left = await api.call("GET", "/readyz")
        assert (left.status_code, left.json()["checks"]["process"]) == (503, "leaving")
        api.parts.readiness.leaving = False
        assert api.storage.embedded is not None
        await api.storage.database.close()
        await api.parts.hot.close()
        assert (await api.call("GET", "/healthz")).status_code == 200


async def test_metrics_count_turns_stages_and_requests(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        await api.interview(2)
        page = (await api.call("GET", "/metrics")).text
        assert 'askwell_turns_total{outcome="completed"} 2.0' in page
        assert 'askwell_stage_ms_count{stage="strategy"} 2.0' in page
        assert 'askwell_requests_total{method="POST",route="/api/sessions",status="201"} 1.0' in page
        assert "askwell_sessions 1.0" in page
        assert "askwell_first_token_ms_count 2.0" in page


async def test_metrics_tell_readiness_and_dead_records_without_being_asked_before(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        async with api.storage.database.write() as connection:
            await connection.execute(
                text(
                    "INSERT INTO journal_dead (partition, id, session_id, kind, rev, turn_key, error, payload, "
                    "packed_state, packed_data, failed_at) "
                    "VALUES (0, '1-1', 's', 'commit', 1, '', 'x', '', '', '', '2026-01-01 00:00:00')"
                )
            )
        page = (await api.call("GET", "/metrics")).text
        assert "askwell_ready 1.0" in page
        assert "askwell_journal_dead 1.0" in page


async def test_metrics_count_errors_told_over_sockets(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        frames = iter(
            (
                {"type": "websocket.connect"},
                {"type": "websocket.receive", "text": "nonsense"},
                {"type": "websocket.disconnect", "code": 1000},
            )
        )
        sent: list[MutableMapping[str, Any]] = []

        async def receive() -> MutableMapping[str, Any]:
            return dict(next(frames))

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "websocket",
            "path": "/ws/respondent",
            "headers": [(b"host", b"127.0.0.1:8080")],
            "subprotocols": ["askwell.v1"],
            "query_string": b"",
        }
        await api.app(scope, receive, send)
        assert any("invalid_message" in message.get("text", "") for message in sent)
        page = (await api.call("GET", "/metrics")).text
        assert 'askwell_errors_total{code="invalid_message"} 1.0' in page


def test_every_wire_code_has_a_status_and_a_title() -> None:
    assert STATUS.keys() == TITLE.keys() == SENTENCES.keys()


def test_unknown_exception_becomes_internal_and_keeps_its_words_to_itself() -> None:
    error = wire_error(RuntimeError("password is hunter2"))
    assert (error.code, error.status) == ("internal", 500)
    assert "hunter2" not in error.message


def test_api_error_keeps_its_message_and_status() -> None:
    error = wire_error(ApiError("invalid_message", "Too long.", status=413))
    assert (error.code, error.status, error.message) == ("invalid_message", 413, "Too long.")


@pytest.mark.parametrize(
    ("settings", "host", "allowed"),
    [
        ({}, "127.0.0.1:8080", True),
        ({}, "localhost", True),
        ({}, "[::1]:80", True),
        ({}, "evil.example", False),
        ({}, "", False),
        ({}, "[", False),
        ({"allowed_hosts": ("box.local",)}, "BOX.local:80", True),
        ({"host": "0.0.0.0"}, "anything.example", True),
        ({"host": "0.0.0.0", "public_url": "https://ask.example"}, "other.example", False),
        ({"host": "0.0.0.0", "public_url": "https://ask.example"}, "ask.example", True),
        ({"allowed_hosts": ("*",)}, "evil.example", True),
    ],
)
def test_host_is_answered_only_where_it_is_ours(settings: dict[str, object], host: str, allowed: bool) -> None:
    assert Origins(ServerSettings.model_validate(settings)).host_allowed(host) is allowed


@pytest.mark.parametrize(
    ("settings", "origin", "allowed"),
    [
        ({}, "http://127.0.0.1:8080", True),
        ({}, "https://127.0.0.1:8080", True),
        ({}, "http://127.0.0.1:9090", False),
        ({}, "null", False),
        ({"allowed_origins": ("https://lab.example",)}, "https://lab.example", True),
        ({"allowed_origins": ("*",)}, "https://evil.example", True),
        ({"public_url": "https://ask.example/"}, "https://ask.example", True),
    ],
)
def test_origin_is_allowed_only_where_it_is_ours(settings: dict[str, object], origin: str, allowed: bool) -> None:
    assert Origins(ServerSettings.model_validate(settings)).origin_allowed(origin, "127.0.0.1:8080") is allowed


def test_bucket_allows_a_burst_then_a_rate() -> None:
    now = [0.0]
    bucket = TokenBucket(2.0, 3, lambda: now[0])
    assert [bucket.take() for _ in range(3)] == [0.0, 0.0, 0.0]
    assert bucket.take() == pytest.approx(0.5)
    now[0] = 0.5
    assert bucket.take() == 0.0
    assert bucket.take() > 0.0


def test_keyed_buckets_are_independent_and_bounded() -> None:
    buckets = KeyedBuckets(1.0, 1, lambda: 0.0, capacity=2)
    assert [buckets.take("a"), buckets.take("a"), buckets.take("b")] == [0, 1, 0]
    assert buckets.take("c") == 0
    assert buckets.take("a") == 0, "the key seen longest ago was forgotten"


async def test_readiness_and_calls_tell_when_redis_is_gone(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        session_id, headers = await api.interview(0)
        assert api.storage.embedded is not None
        api.storage.embedded.stop()
        ready = await api.call("GET", "/readyz")
        assert (ready.status_code, ready.json()["checks"]["redis"]) == (503, "unreachable")
        assert (await api.call("GET", "/healthz")).status_code == 200
        api.storage.embedded.start()
        turn = await api.turn(session_id, headers)
        assert turn.status_code == 200, "what was acknowledged is on disk"


async def test_locked_database_refuses_a_new_interview_and_keeps_running_ones(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        session_id, headers = await api.interview(0)
        with closing(sqlite3.connect(tmp_path / "data" / DATABASE_NAME, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert (await api.turn(session_id, headers)).status_code == 200
            refused = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"})
            assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
            assert "answer" not in refused.json()["detail"]
            assert refused.headers["retry-after"] == "2"
            other.execute("ROLLBACK")
        await api.begin()
        assert await api.storage.writer.drain(PATIENCE_S)
        said = (await all_rows(api.storage.database))["utterances"]
        assert [row["session_id"] for row in said] == [session_id] * 3


async def test_crowd_beyond_the_limit_is_turned_away(tmp_path: Path) -> None:
    async with process(tmp_path, max_connections="2") as api:
        answers = await asyncio.gather(*(api.call("GET", "/readyz") for _ in range(6)))
        codes = sorted(answer.status_code for answer in answers)
        assert codes == [200, 200, 503, 503, 503, 503]
        refused = next(answer for answer in answers if answer.status_code == 503)
        assert refused.json()["code"] == "too_many_sessions"
        assert (await api.call("GET", "/readyz")).status_code == 200


async def test_body_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        body = f'{{"token": "x", "token": "{api.storage.moderator_token}"}}'
        headers = {"content-type": "application/json"}
        refused = await api.call("POST", "/api/login", content=body, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_message")
