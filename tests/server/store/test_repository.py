"""Reads for the API, configurations and tokens."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from pipeline.state import InterviewState
from server.auth import TokenEntry
from server.store.apply import upsert
from server.store.engine import Database
from server.store.repository import Repository
from server.store.rows import project
from tests.support.interview import NOW, configuration, new_state


@pytest.fixture
def repository(database: Database) -> Repository:
    return Repository(database)


async def put(database: Database, *states: InterviewState) -> None:
    async with database.write() as connection:
        for state in states:
            for table, rows in project(state).items():
                if rows:
                    await upsert(connection, table, rows)


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
    assert await repository.session_counts() == {"active": 2, "completed": 1}


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


async def test_session_that_is_not_there_is_none(repository: Repository) -> None:
    assert await repository.session("nobody") is None
    assert await repository.stored_session("nobody") is None
    assert await repository.transcript("nobody") == []
    assert not await repository.exists("nobody")


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
    assert await repository.exists("s1")
