"""Reads for the API, configurations and tokens."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from pipeline.calls import LLMCall, Role
from pipeline.state import InterviewState, QuestionAsked
from server.store.engine import Database
from server.store.repository import Repository
from server.store.rows import call_rows, changes, turn_rows
from server.store.tables import LLM_CALLS
from server.store.tokens import TokenEntry
from server.store.upserting import upsert
from server.usage import SessionUsage
from tests.support.interview import NOW, Interview, configuration, new_state


@pytest.fixture
def repository(database: Database) -> Repository:
    return Repository(database)


async def put(database: Database, *states: InterviewState) -> None:
    async with database.write() as connection:
        for state in states:
            for change in changes(None, state):
                await upsert(connection, change.table, change.upserts)


def numbered(number: int, **changes: object) -> InterviewState:
    at = NOW + timedelta(minutes=number // 2)  # pairs share a moment
    return new_state(session_id=f"s{number:02d}", created_at=at, updated_at=at, **changes)


async def test_sessions_page_by_page_are_all_sessions_once(database: Database, repository: Repository) -> None:
    await put(database, *(numbered(number) for number in range(11)))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await repository.sessions(cursor=cursor, limit=3)
        seen += [row["id"] for row in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == [f"s{number:02d}" for number in reversed(range(11))]


async def test_sessions_filtered_by_state_and_concept(database: Database, repository: Repository) -> None:
    await put(
        database,
        numbered(1, status="active", concept_id="tea"),
        numbered(2, status="completed", concept_id="tea"),
        numbered(3, status="active", concept_id="coffee"),
    )
    assert [row["id"] for row in (await repository.sessions(state="active")).items] == ["s03", "s01"]
    assert [row["id"] for row in (await repository.sessions(state="active", concept_id="tea")).items] == ["s01"]
    allowed = await repository.sessions(concepts=frozenset({"coffee"}))
    assert [row["id"] for row in allowed.items] == ["s03"]
    assert (await repository.sessions(concepts=frozenset())).items == ()


def packed(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", "!!", "bnVsbA", "WyJhIiwiYiJd", "é"),
        packed('["2026-01-01T00:00:00", "s1"]'),
        packed('["0001-01-01T00:00:00+23:59", "s1"]'),
        packed('["9999-12-31T23:59:59-23:59", "s1"]'),
        packed('["2026-01-01T00:00:00+00:00", 5]'),
        packed('["2026-01-01T00:00:00+00:00", "\\ud800"]'),
        packed("[" * 20_000),
    ],
)
async def test_sessions_with_a_made_up_cursor_are_refused(repository: Repository, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await repository.sessions(cursor=cursor)


async def test_quiet_sessions_are_those_that_could_go_on(database: Database, repository: Repository) -> None:
    await put(database, numbered(0), numbered(2, status="completed"), numbered(4, status="paused"), numbered(9))
    assert await repository.quiet_sessions(NOW + timedelta(minutes=3), 10) == ["s00", "s04"]
    assert await repository.quiet_sessions(NOW + timedelta(minutes=3), 1) == ["s00"]


async def test_unstarted_sessions_are_those_in_which_nothing_was_asked(
    database: Database, repository: Repository
) -> None:
    asked = QuestionAsked(utterance_id="u0", turn_number=0, text="Why?", kind="opening")
    await put(
        database,
        numbered(0, status="abandoned"),
        numbered(2, status="created"),
        numbered(4, status="abandoned", turn_count=1),
        numbered(6, status="abandoned", question=asked),
        numbered(8, status="active"),
        numbered(20, status="created"),
    )
    assert await repository.unstarted_sessions(NOW + timedelta(minutes=5), 10) == ["s00", "s02"]
    assert await repository.unstarted_sessions(NOW + timedelta(minutes=5), 1) == ["s00"]


async def test_session_that_is_not_there_is_none(repository: Repository) -> None:
    assert await repository.stored_session("nobody") is None
    assert await repository.scores("nobody") == []


async def test_configuration_is_found_by_its_hash(repository: Repository) -> None:
    kept = configuration()
    await repository.save_configuration("h1", kept)
    await repository.save_configuration("h1", kept)
    assert await repository.load_configuration("h1") == kept
    assert await repository.load_configuration("h2") is None


async def test_token_is_found_until_it_is_forgotten(repository: Repository) -> None:
    entry = TokenEntry("t1", "device", "a" * 64, "kiosk", None, ("tea",), NOW)
    await repository.put_token(entry)
    assert await repository.find_token("a" * 64) == entry
    assert await repository.token_by_id("t1") == entry
    assert await repository.tokens() == [entry]
    assert await repository.revoke_token("t1", NOW + timedelta(hours=1))
    assert await repository.revoke_token("t1", NOW + timedelta(hours=2))
    found = await repository.find_token("a" * 64)
    assert found is not None
    assert found.revoked_at == NOW + timedelta(hours=1)
    assert not await repository.revoke_token("t2", NOW)
    assert await repository.find_token("b" * 64) is None


async def test_respondents_tokens_are_not_listed(repository: Repository) -> None:
    await repository.put_token(TokenEntry("t1", "respondent", "c" * 64, "", "s1", None, NOW))
    assert await repository.tokens() == []
    assert await repository.token_by_id("t1") is not None


async def put_calls(database: Database, session_id: str, *calls: LLMCall) -> None:
    rows = call_rows(session_id, [call.model_dump(mode="json") for call in calls], 1, NOW)
    async with database.write() as connection:
        await upsert(connection, LLM_CALLS, rows)


def call(name: str, role: Role, **changes: object) -> LLMCall:
    values = {"id": name, "role": role, "task": "rating", "provider": "p", "model": "m", "latency_ms": 100.0}
    return LLMCall.model_validate(values | changes)


async def test_usage_sums_calls_by_role_and_currency(database: Database, repository: Repository) -> None:
    await put(database, numbered(1), numbered(2))
    known = {"input_tokens": 1000, "output_tokens": 10}
    await put_calls(
        database,
        "s01",
        call("a", "extraction", **known, cached_tokens=800, cost=0.1, currency="USD"),
        call("b", "extraction", **known, cost=0.2, currency="USD"),
        call("c", "generation", **known, cost=0.3, currency="CNY"),
        call("d", "generation", **known, outcome="discarded", cost=0.4, currency="USD"),
        call("e", "scoring", outcome="failed", error="LLMTimeout"),
        call("f", "scoring", outcome="failed", **known),
        call("g", "scoring", outcome="discarded"),
        call("h", "scoring", **known),
    )
    await put_calls(database, "s02", call("a", "extraction", **known, cost=9.0, currency="USD"))
    usage = await repository.usage("s01")
    assert usage.model_dump() == {
        "calls": 8,
        "failed": 2,
        "discarded": 2,
        "input_tokens": 6000,
        "output_tokens": 60,
        "cached_tokens": 800,
        "cost": {"CNY": 0.3, "USD": 0.7},
        "unpriced_calls": 3,
        "latency_ms": 800.0,
        "by_role": {
            "extraction": {"calls": 2, "input_tokens": 2000, "output_tokens": 20, "cost": {"USD": 0.3}},
            "generation": {"calls": 2, "input_tokens": 2000, "output_tokens": 20, "cost": {"CNY": 0.3, "USD": 0.4}},
            "scoring": {"calls": 4, "input_tokens": 2000, "output_tokens": 20, "cost": {}},
        },
        "fallback_questions": 0,
        "fallback_tasks": {},
    }
    assert [row["id"] for row in await repository.llm_calls("s01")] == list("abcdefgh")


async def test_usage_counts_what_other_providers_did(database: Database, repository: Repository) -> None:
    interview = Interview()
    await interview.open()
    for number in range(2):
        await interview.say(f"Answer {number}")
    said = [
        u.model_copy(update={"fallback": u.speaker == "interviewer" and u.turn_number != 1})
        for u in interview.state.utterances
    ]
    await put(database, interview.state.model_copy(update={"utterances": tuple(said)}))
    record = interview.last.record
    assert record is not None
    async with database.write() as connection:
        for number, tasks in ((1, ("rating",)), (2, ("extraction", "rating")), (3, ())):
            turn = record.model_copy(update={"turn_number": number, "fallbacks": tasks})
            [scoring, *_] = turn_rows(interview.state.session_id, turn.model_dump(mode="json"))
            await upsert(connection, scoring.table, scoring.upserts)
    usage = await repository.usage(interview.state.session_id)
    assert usage.fallback_questions == 2
    assert usage.fallback_tasks == {"extraction": 1, "rating": 2}
    assert usage.calls == 0


async def test_usage_of_a_session_without_calls_is_nothing(repository: Repository) -> None:
    assert await repository.usage("nobody") == SessionUsage()
