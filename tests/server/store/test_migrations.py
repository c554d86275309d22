"""Steps between schemas, with rows in the tables."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, inspect, text

from server.store.engine import Database
from server.store.errors import StoreUnavailable
from server.store.migrations.run import configuration
from server.store.rows import changes
from server.store.tables import METADATA, SESSIONS
from server.store.upserting import upsert
from tests.support.interview import new_state

TURN = {
    "session_id": "s1",
    "turn_number": 1,
    "turn_key": "k1",
    "recorded_at": "2026-01-01 10:00:00+00:00",
    "has_methodology_signals": True,
    "should_continue": True,
    "reason": "so",
    "candidates": '[{"rank": 1}]',
    "candidate_count": 1,
    "saturation": "{}",
    "stages_ms": '{"graph": 1.5}',
    "fallback": False,
}


@pytest.fixture
async def first(tmp_path: Path) -> AsyncIterator[Database]:
    """A database with the first schema, a session and a turn."""
    url = os.environ.get("ASKWELL_TEST_DATABASE_URL")
    store = Database(url) if url else Database.file(tmp_path / "askwell.db")
    async with store.write() as connection:
        await connection.run_sync(METADATA.drop_all)
        await connection.execute(text("DROP TABLE IF EXISTS alembic_version"))
        await connection.run_sync(_forth_to("0001"))
        columns = await connection.run_sync(lambda c: {one["name"] for one in inspect(c).get_columns("sessions")})
        [[row]] = [change.upserts for change in changes(None, new_state(session_id="s1"))]
        await upsert(connection, SESSIONS, [{name: value for name, value in row.items() if name in columns}])
        await connection.execute(text(_turn()))
    yield store
    await store.close()


def _forth_to(revision: str) -> Callable[[Connection], None]:
    return lambda connection: command.upgrade(configuration(connection), revision)


def _back_to(revision: str) -> Callable[[Connection], None]:
    return lambda connection: command.downgrade(configuration(connection), revision)


def _turn() -> str:
    def literal(value: object) -> str:
        return str(value).lower() if isinstance(value, bool | int) else f"'{value}'"

    return f"INSERT INTO scoring_history ({', '.join(TURN)}) VALUES ({', '.join(map(literal, TURN.values()))})"


async def _turns(store: Database) -> list[dict[str, object]]:
    async with store.read() as connection:
        return [dict(row) for row in (await connection.execute(text("SELECT * FROM scoring_history"))).mappings()]


def _plain(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


async def test_turns_of_the_first_schema_have_no_fallbacks_in_the_second(first: Database) -> None:
    [before] = await _turns(first)
    await first.migrate()
    [after] = await _turns(first)
    assert _plain(after.pop("fallbacks")) == []
    assert after.pop("directive") is None
    assert (after.pop("target"), after.pop("tactic")) == (None, "")
    assert [_plain(after.pop(name)) for name in ("scores", "inputs", "question")] == [{}, {}, {}]
    assert after == before


async def test_way_back_and_forth_again_keeps_turns(first: Database) -> None:
    before = await _turns(first)
    assert before
    await first.migrate()
    async with first.write() as connection:
        await connection.run_sync(_back_to("0001"))
    assert await _turns(first) == before
    async with first.read() as connection:
        columns = await connection.run_sync(
            lambda c: {column["name"] for column in inspect(c).get_columns("llm_calls")}
        )
    assert "ordinal" in columns
    assert "task" not in columns
    await first.migrate()
    assert len(await _turns(first)) == 1


async def test_node_that_runs_while_another_migrates_tries_again(first: Database) -> None:
    await _turns(first)
    other = Database(first.url)
    await other.migrate()
    await other.close()
    with suppress(StoreUnavailable):
        await _turns(first)
    [turn] = await _turns(first)
    assert "directive" in turn


async def test_migrated_turns_still_go_with_their_session(first: Database) -> None:
    """The table is made anew where a column can't be changed in place; its foreign key comes along."""
    await first.migrate()
    async with first.write() as connection:
        await connection.execute(text("DELETE FROM sessions"))
    assert await _turns(first) == []


async def test_what_was_said_before_there_was_speech_was_typed(first: Database) -> None:
    async with first.write() as connection:
        await connection.execute(
            text(
                "INSERT INTO utterances (session_id, id, position, turn_number, speaker, kind, text, fallback, "
                "recorded_at) VALUES ('s1', 'u1', 0, 1, 'respondent', 'answer', 'warm', false, '2026-01-01 10:00:00')"
            )
        )
    await first.migrate()
    async with first.read() as connection:
        [row] = (await connection.execute(text("SELECT * FROM utterances"))).mappings()
    assert (bool(row["spoken"]), row["confidence"], row["speech_ms"]) == (False, None, None)
    assert row["second_reading"] is None
    async with first.write() as connection:
        await connection.run_sync(_back_to("0002"))
    async with first.read() as connection:
        columns = await connection.run_sync(
            lambda c: {column["name"] for column in inspect(c).get_columns("utterances")}
        )
    assert "spoken" not in columns
    assert "corrects" in columns


async def test_sessions_and_what_belongs_to_them_survive_the_columns_of_the_overview(first: Database) -> None:
    await first.migrate()
    async with first.read() as connection:
        [row] = (await connection.execute(text("SELECT engagements, phase, device FROM sessions"))).mappings()
    assert (_plain(row["engagements"]), row["phase"], row["device"]) == ([], None, None)
    assert (await _turns(first))[0]["directive"] is None
    async with first.write() as connection:
        await connection.run_sync(_back_to("0003"))
    async with first.read() as connection:
        columns = await connection.run_sync(lambda c: {column["name"] for column in inspect(c).get_columns("sessions")})
    assert not columns & {"engagements", "phase", "saturation_score", "device"}
    assert len(await _turns(first)) == 1


async def test_way_back_to_nothing_leaves_nothing(first: Database) -> None:
    await first.migrate()
    async with first.write() as connection:
        await connection.run_sync(_back_to("base"))
    async with first.read() as connection:
        assert await connection.run_sync(lambda c: inspect(c).get_table_names()) == ["alembic_version"]
