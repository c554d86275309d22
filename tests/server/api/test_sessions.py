"""Interviews over HTTP, against real storage: the whole life of a session, and everything that is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import text, update

from pipeline.ports import Extraction, ExtractionRequest
from server.bounds import connection_limits
from server.serving import bind, serving
from server.session.outbox import Outbox
from server.store.tables import SESSIONS
from server.usage import SessionUsage
from tests.support.client import RespondentClient
from tests.support.patience import PATIENCE_S
from tests.support.raw_socket import RawSocket
from tests.support.redis_rows import all_rows
from tests.support.whole import ANSWER, Process, bearer, eventually, process

KEY = "11111111-2222-4333-8444-555555555555"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def untouched(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Process]:
    """A process for the tests that nothing is to come of."""
    async with process(tmp_path_factory.mktemp("untouched")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Process]:
    """A process for the tests that look at nothing but their own session."""
    async with process(tmp_path_factory.mktemp("sessions")) as running:
        yield running


async def test_interview_over_http_gives_questions_graph_scores_and_transcript(api: Process) -> None:
    session_id, headers = await api.begin(respondent_ref="R 7")
    started = (await api.call("POST", f"/api/sessions/{session_id}/start", headers=headers)).json()
    assert started["state"] == "active"
    assert started["question"]["turn_number"] == 0
    again = (await api.call("POST", f"/api/sessions/{session_id}/start", headers=headers)).json()
    assert again["question"] == started["question"]

    turn = (await api.turn(session_id, headers, key=KEY)).json()
    assert turn["turn_key"] == KEY
    assert turn["result"]["turn_number"] == turn["turn_number"] == turn["question"]["turn_number"] == 1
    assert turn["result"]["should_continue"]
    assert turn["question"]["text"].endswith("?")
    assert await api.storage.writer.drain(PATIENCE_S)

    async def get(path: str) -> dict[str, object]:
        response = await api.call("GET", f"/api/sessions/{session_id}{path}", headers=api.moderator)
        assert response.status_code == 200, response.text
        found: dict[str, object] = response.json()
        return found

    graph = await get("/graph")
    assert [node["label"] for node in graph["nodes"]] == ["noise cancelling", "work in peace"]  # type: ignore[attr-defined]
    assert graph["nodes"][0]["quotes"][0]["quote"] == "noise cancelling"  # type: ignore[index]
    assert len(graph["edges"]) == 1  # type: ignore[arg-type]
    canonical = await get("/canonical-graph")
    assert {slot["slot_name"] for slot in canonical["slots"]} == {"noise_cancelling", "work_in_peace"}  # type: ignore[attr-defined]
    scores = await get("/scores")
    assert scores["items"][0]["candidates"][0]["terms"]  # type: ignore[index]
    assert scores["items"][0]["signals"]["phase"] == "early"  # type: ignore[index]
    lines = (await get("/transcript"))["items"]
    assert [line["speaker"] for line in lines] == ["interviewer", "respondent", "interviewer"]  # type: ignore[attr-defined]
    detail = await get("")
    assert detail["respondent_ref"] == "R 7"
    assert detail["focus_history"][0]["turn"] == 1  # type: ignore[index]
    assert detail["usage"] == SessionUsage().model_dump()


async def test_turn_with_the_same_key_gives_the_first_result_and_changes_nothing(api: Process) -> None:
    session_id, headers = await api.interview(1)
    first = (await api.turn(session_id, headers, "It is quiet", KEY)).json()
    await api.turn(session_id, headers, "And warm")
    again = (await api.turn(session_id, headers, "It is quiet", KEY)).json()
    assert again["result"] == first["result"]
    assert again["question"] == first["question"]
    other = await api.turn(session_id, headers, "It is loud", KEY)
    assert (other.status_code, other.json()["code"]) == (422, "invalid_input")
    state = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
    assert state["turn_number"] == 3


async def test_two_turns_at_once_one_wins(api: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id, headers = await api.interview(0)
    begun, go = asyncio.Event(), asyncio.Event()
    extract = api.extractor.extract

    async def held(request: ExtractionRequest) -> Extraction:
        begun.set()
        await go.wait()
        return await extract(request)

    monkeypatch.setattr(api.extractor, "extract", held)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        first = tasks.create_task(api.turn(session_id, headers, "One"))
        await begun.wait()
        refused = await api.turn(session_id, headers, "Two")
        go.set()
    assert first.result().status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_in_progress")
    lines = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()["transcript"]
    assert [line["text"] for line in lines if line["speaker"] == "respondent"] == ["One"]


async def test_interview_ends_and_refuses_further_answers(api: Process) -> None:
    session_id, headers = await api.interview(3, max_turns=3)
    detail = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
    assert (detail["state"], detail["progress"], detail["question"]) == ("completed", 1.0, None)
    assert detail["transcript"][-1]["text"] == "Thank you very much."
    late = await api.turn(session_id, headers, "One more thing")
    assert (late.status_code, late.json()["code"]) == (409, "session_completed")


async def test_start_without_consent_is_refused_until_it_is_given(api: Process) -> None:
    session_id, headers = await api.begin("tea")
    start = f"/api/sessions/{session_id}/start"
    refused = await api.call("POST", start, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "consent_required")
    early = await api.turn(session_id, headers)
    assert (early.status_code, early.json()["code"]) == (403, "consent_required")
    given = {"consent": {"version": "3", "choices": {"quotes": True}}}
    accepted = await api.call("POST", start, headers=headers, json=given)
    assert accepted.json()["question"]["turn_number"] == 0
    detail = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
    assert detail["consent"] == {"text": "Do you agree?", "version": "3", "required": True, "given": True}


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("", 422, "invalid_input"),
        (" \n\t\u200b", 422, "invalid_input"),
        ("a" * 8001, 413, "answer_too_long"),
    ],
)
async def test_turn_with_unusable_text_is_refused_and_consumes_no_turn(
    api: Process, text: str, status: int, code: str
) -> None:
    session_id, headers = await api.interview(0)
    refused = await api.turn(session_id, headers, text)
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    detail = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
    assert (detail["turn_number"], len(detail["transcript"])) == (0, 1)


async def test_turn_with_unusual_text_is_kept_as_it_is(api: Process) -> None:
    session_id, headers = await api.interview(0)
    for unusual in ("שלום, זה שקט 👩‍👩‍👧", "I don't know", "x" * 8000):
        assert (await api.turn(session_id, headers, unusual)).status_code == 200
    lines = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()["transcript"]
    assert lines[1]["text"] == "שלום, זה שקט 👩‍👩‍👧"


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "invalid_message"),
        (b"[]", "application/json", 400, "invalid_message"),
        (b'{"text": NaN, "turn_key": "x"}', "application/json", 400, "invalid_message"),
        (b"\xff\xfe", "application/json", 400, "invalid_message"),
        (b"[" * 100_000, "application/json", 400, "invalid_message"),
        (b"{}", "text/plain", 415, "invalid_message"),
        (b'{"text": "a"}', "application/json", 422, "invalid_input"),
        (b'{"text": 1, "turn_key": "11111111-2222-4333-8444-555555555555"}', "application/json", 422, "invalid_input"),
        (b'{"text": "a", "turn_key": "k"}', "application/json", 422, "invalid_input"),
        (
            b'{"text": "\\ud800", "turn_key": "11111111-2222-4333-8444-555555555555"}',
            "application/json",
            422,
            "invalid_input",
        ),
        (
            b'{"text": "a\\u0000b", "turn_key": "11111111-2222-4333-8444-555555555555"}',
            "application/json",
            422,
            "invalid_input",
        ),
        (
            b'{"text": "a", "turn_key": "11111111-2222-4333-8444-555555555555", "x": 1}',
            "application/json",
            422,
            "invalid_input",
        ),
        (b" " * 300_000, "application/json", 413, "invalid_message"),
    ],
)
async def test_turn_with_unusable_body_is_a_problem(
    api: Process, content: bytes, kind: str, status: int, code: str
) -> None:
    session_id, headers = await api.interview(0)
    path = f"/api/sessions/{session_id}/turns"
    refused = await api.call("POST", path, content=content, headers={**headers, "content-type": kind})
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (status, code)
    assert refused.headers["content-type"] == "application/problem+json"
    assert problem.keys() == {"type", "title", "status", "detail", "code"}
    assert problem["status"] == status
    detail = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
    assert detail["turn_number"] == 0


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ({"concept_id": "cofee"}, "invalid_input", "did you mean `coffee`"),
        ({"concept_id": "coffee", "methodology": "nope"}, "invalid_input", "no methodology `nope`"),
        ({"concept_id": "coffee", "engine": "two_tiers"}, "invalid_input", "no decision engine `two_tiers`"),
        ({"concept_id": "coffee", "language": "fr"}, "language_unsupported", "it is in: en, de"),
        ({"concept_id": "coffee", "max_turns": 2}, "invalid_input", "max_turns"),
        ({"concept_id": "coffee", "max_turn": 5}, "invalid_input", "max_turn: there is no such field"),
        ({}, "invalid_input", "concept_id: is missing"),
        ({"concept_id": "coffee", "respondent_ref": "a\u0000b"}, "invalid_input", "respondent_ref"),
    ],
)
async def test_create_with_something_unknown_is_refused_before_anything_is_written(
    untouched: Process, body: dict[str, object], code: str, words: str
) -> None:
    refused = await untouched.call("POST", "/api/sessions", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert words in refused.json()["detail"]
    assert await untouched.storage.writer.drain(PATIENCE_S)
    assert (await untouched.storage.store.sessions()).items == ()
    assert [key async for key in untouched.storage.hot.connection.client.scan_iter("askwell:*:state")] == []


async def test_session_of_somebody_else_is_forbidden(api: Process) -> None:
    mine, headers = await api.begin()
    other, _ = await api.begin()
    for method, path in (("GET", ""), ("POST", "/start"), ("DELETE", "")):
        refused = await api.call(method, f"/api/sessions/{other}{path}", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), path
    assert (await api.turn(other, headers)).status_code == 403
    for path in ("/graph", "/canonical-graph", "/scores", "/transcript", "/export"):
        refused = await api.call("GET", f"/api/sessions/{mine}{path}", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), path


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic eDp5"}])
async def test_call_without_a_valid_token_is_unauthorised(api: Process, headers: dict[str, str]) -> None:
    session_id, _ = await api.begin()
    for path in ("", "/graph", "/scores", "/transcript", "/export"):
        refused = await api.call("GET", f"/api/sessions/{session_id}{path}", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthorised"), path
        assert refused.headers["www-authenticate"] == "Bearer"
    assert (await api.call("GET", "/api/sessions", headers=headers)).status_code == 401
    assert (await api.turn(session_id, headers)).status_code == 401


@pytest.mark.parametrize("session_id", ["unknown", "a b", "x" * 65, "..%2Fx"])
async def test_session_that_does_not_exist_is_not_found(api: Process, session_id: str) -> None:
    refused = await api.call("GET", f"/api/sessions/{session_id}", headers=api.moderator)
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    erased = await api.call("DELETE", f"/api/sessions/{session_id}", headers=api.moderator)
    assert erased.status_code == 404


async def test_audio_is_told_that_nobody_can_transcribe(api: Process) -> None:
    session_id, headers = await api.begin()
    path = f"/api/sessions/{session_id}/audio?turn_key={uuid4()}"
    refused = await api.call("POST", path, content=b"RIFF", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (503, "transcriber_unavailable")


async def test_erase_answers_202_then_everything_is_gone(api: Process) -> None:
    session_id, headers = await api.interview(2)
    erased = await api.call("DELETE", f"/api/sessions/{session_id}", headers=headers)
    assert erased.status_code == 202

    async def gone() -> bool:
        return session_id not in json.dumps(await all_rows(api.storage.database), default=str)

    await eventually(gone)
    assert (await api.call("GET", f"/api/sessions/{session_id}", headers=api.moderator)).status_code == 404
    assert (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).status_code == 401

    async def refused() -> bool:
        response = await api.call("DELETE", f"/api/sessions/{session_id}", headers=api.moderator)
        return response.status_code == 404

    await eventually(refused)


async def test_list_pages_from_newest_to_oldest_and_filters(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        made = [(await api.begin())[0] for _ in range(3)]
        tea, _ = await api.begin("tea")
        assert await api.storage.writer.drain(PATIENCE_S)
        first = (await api.call("GET", "/api/sessions?limit=2", headers=api.moderator)).json()
        assert [item["id"] for item in first["items"]] == [tea, made[2]]
        path = f"/api/sessions?limit=2&cursor={first['next_cursor']}"
        second = (await api.call("GET", path, headers=api.moderator)).json()
        assert [item["id"] for item in second["items"]] == [made[1], made[0]]
        assert second["next_cursor"] is None
        only = (await api.call("GET", "/api/sessions?concept_id=tea&state=created", headers=api.moderator)).json()
        assert [item["id"] for item in only["items"]] == [tea]
        for query in ("cursor=!!", "limit=0", "limit=x", f"limit={'9' * 5000}", "state=busy"):
            refused = await api.call("GET", f"/api/sessions?{query}", headers=api.moderator)
            assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input"), query


async def test_closed_enrolment_needs_a_token_within_scope(tmp_path: Path) -> None:
    async with process(tmp_path, open_enrolment="false") as api:
        refused = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"})
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthorised")
        made = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"}, headers=api.moderator)
        assert made.status_code == 201
        respondent = bearer(made.json()["respondent_token"])
        refused = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"}, headers=respondent)
        assert refused.status_code == 403
        body = {"kind": "device", "name": "kiosk", "concepts": ["tea"]}
        device = bearer((await api.call("POST", "/api/tokens", json=body, headers=api.moderator)).json()["token"])
        refused = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"}, headers=device)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        made = await api.call("POST", "/api/sessions", json={"concept_id": "tea"}, headers=device)
        assert made.status_code == 201


async def test_join_link_keeps_the_token_in_the_fragment(tmp_path: Path) -> None:
    async with process(tmp_path, public_url="https://ask.example.org/") as api:
        made = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"})
        created = made.json()
        page, _, fragment = created["join_url"].partition("#")
        assert page == f"https://ask.example.org/interview/{created['session_id']}"
        assert fragment == created["respondent_token"]
        assert created["state"] == "created"


@pytest.mark.parametrize("name", ["json", "md", "csv", "graphml", "vtt", "docx", "qdpx"])
async def test_export_is_a_download(api: Process, name: str) -> None:
    session_id, _ = await api.interview(1)
    path = f"/api/sessions/{session_id}/export?format={name}"
    response = await api.call("GET", path, headers=api.moderator)
    assert response.status_code == 200
    assert len(response.content) > 300
    assert response.headers["content-disposition"].startswith('attachment; filename="askwell-coffee-')


async def test_export_in_an_unknown_format_is_refused(api: Process) -> None:
    session_id, _ = await api.interview(1)
    refused = await api.call("GET", f"/api/sessions/{session_id}/export?format=pdf", headers=api.moderator)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")


async def test_session_continues_in_another_process(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        session_id, headers = await api.interview(2)
    async with process(tmp_path) as api:
        turn = (await api.turn(session_id, headers, ANSWER)).json()
        assert turn["turn_number"] == 3
        lines = (await api.call("GET", f"/api/sessions/{session_id}/transcript", headers=api.moderator)).json()["items"]
        assert len([line for line in lines if line["speaker"] == "respondent"]) == 3


@pytest.mark.parametrize(
    "consent",
    [
        {"version": "3", "choices": {"quotes": 1}},
        {"version": "3", "choices": {"quotes": 0.5}},
        {"version": "3", "choices": {"": True}},
        {"version": "3", "choices": {"a\0b": True}},
        {"version": "3", "choices": {"quotes": "a\0b"}},
        {"version": "3", "choices": {"quotes": "\ud83d"}},
        {"version": "3\0"},
    ],
)
async def test_consent_that_the_socket_would_refuse_is_refused(api: Process, consent: dict[str, object]) -> None:
    session_id, headers = await api.begin("tea")
    path = f"/api/sessions/{session_id}/start"
    content = json.dumps({"consent": consent})
    refused = await api.call("POST", path, content=content, headers={**headers, "content-type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    detail = (await api.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
    assert not detail["consent"]["given"]


async def test_create_when_the_server_is_full_leaves_no_token_behind(tmp_path: Path) -> None:
    async with process(tmp_path, max_sessions="1") as api:
        first, _ = await api.begin()
        owner = await api.parts.hub.attach(first)
        await owner.subscribe(Outbox(), last_event_id=0, epoch=None)
        refused = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"})
        assert (refused.status_code, refused.json()["code"]) == (503, "too_many_sessions")
        async with api.storage.database.read() as connection:
            assert (await connection.execute(text("SELECT count(*) FROM tokens"))).scalar_one() == 1


async def test_session_that_never_began_is_erased_after_its_time(tmp_path: Path) -> None:
    async with process(tmp_path, unstarted_until_s="60") as api:
        never, _ = await api.begin()
        connected, _ = await api.begin()
        begun, _ = await api.interview(turns=1)
        owner = await api.parts.hub.attach(connected)
        await owner.subscribe(Outbox(), last_event_id=0, epoch=None)
        await api.parts.hub.sweep()
        assert (await api.call("GET", f"/api/sessions/{never}", headers=api.moderator)).status_code == 200
        async with api.storage.database.write() as connection:
            await connection.execute(update(SESSIONS).values(updated_at=datetime.now(UTC) - timedelta(seconds=61)))
        await api.parts.hub.sweep()
        assert await api.storage.writer.drain(PATIENCE_S)
        found = [
            (await api.call("GET", f"/api/sessions/{one}", headers=api.moderator)).status_code
            for one in (never, connected, begun)
        ]
        assert found == [404, 200, 200]


async def test_classroom_behind_one_address_is_let_in_and_a_crowd_is_not(tmp_path: Path) -> None:
    async with process(
        tmp_path, open_enrolment="true", connections_per_address="215", sessions_per_address="31"
    ) as api:
        sock, limits = bind("127.0.0.1", 0), connection_limits(api.parts.settings)
        url = f"127.0.0.1:{sock.getsockname()[1]}"
        async with AsyncExitStack() as room, serving(api.app, sock, limits=limits, proxies=""):
            pupils = []
            for _ in range(33):
                _, headers = await api.begin()
                pupils.append(RespondentClient(f"ws://{url}", headers["authorization"].removeprefix("Bearer ")))
            for pupil in pupils[:30]:
                await (await room.enter_async_context(pupil)).hello()
            async with httpx.AsyncClient(base_url=f"http://{url}", trust_env=False, timeout=30) as browser:
                pages = await asyncio.gather(*(browser.get("/static/theme.css") for _ in range(90)))
            assert {page.status_code for page in pages} == {200}
            await (await room.enter_async_context(pupils[30])).hello()
            await room.enter_async_context(pupils[31])
            await pupils[31].send("hello", token=pupils[31]._token, last_event_id=0)
            await pupils[31].refused("too_many_sessions", retryable=True)
            silent = [await asyncio.open_connection("127.0.0.1", sock.getsockname()[1]) for _ in range(190)]
            refused = [await reader.read(12) for reader, _ in silent[-5:]]
            assert refused == [b"HTTP/1.1 429"] * 5
            for _, writer in silent:
                writer.transport.abort()
            await pupils[0].until("question.completed")


async def test_connections_through_a_trusted_proxy_count_for_the_address_that_it_names(tmp_path: Path) -> None:
    async with process(tmp_path, connections_per_address="1") as api:
        sock = bind("127.0.0.1", 0)
        url = f"ws://127.0.0.1:{sock.getsockname()[1]}"

        async def status(room: AsyncExitStack, client: str) -> bytes:
            fields = f"X-Forwarded-For: {client}\r\n"
            return (await room.enter_async_context(RawSocket(url, fields=fields))).head[9:12]

        limits = connection_limits(api.parts.settings)
        async with AsyncExitStack() as room, serving(api.app, sock, limits=limits, proxies="127.0.0.1"):
            clients = ("192.0.2.1", "192.0.2.2", "192.0.2.1", "2001:db8::1", "2001:db8::2")
            assert [await status(room, client) for client in clients] == [b"101", b"101", b"429", b"101", b"429"]


async def test_create_that_fails_ends_the_token(tmp_path: Path) -> None:
    async with process(tmp_path) as api:
        taken = api.parts.new_id()
        await api.storage.hot.create(taken, state=b"{}")
        parts = replace(api.parts, new_id=lambda: taken)
        api.app.state.parts = parts
        refused = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"})
        assert refused.status_code >= 400
        async with api.storage.database.read() as connection:
            left = await connection.execute(text("SELECT count(*) FROM tokens WHERE revoked_at IS NULL"))
            assert left.scalar_one() == 0


async def test_turn_key_of_another_form_is_told_in_plain_words(api: Process) -> None:
    session_id, headers = await api.begin()
    refused = await api.turn(session_id, headers, key="x")
    assert refused.json()["detail"] == "turn_key: is not in the expected form."


@pytest.mark.parametrize("number", [-1, 2**31, 2**63, 10**30])
async def test_note_about_a_turn_that_can_not_be_is_refused_and_the_writer_goes_on(api: Process, number: int) -> None:
    session_id, headers = await api.interview(0)
    note = {"type": "note", "text": "Look here.", "turn_number": number, "command_id": str(uuid4())}
    refused = await api.call("POST", f"/api/sessions/{session_id}/commands", json=note, headers=api.moderator)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert (await api.turn(session_id, headers)).status_code == 200
    assert await api.storage.writer.drain(10.0)
