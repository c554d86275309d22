"""The oracle makes the stored choices of every engine again, and tells where one does not come out."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from pipeline.engines.registry import ENGINES
from server.hot.packing import pack
from server.store.rows import changes, turn_rows
from server.store.tables import CONFIGURATIONS, METADATA, SNAPSHOTS
from tests.chaos.oracle import complaints, decisions
from tests.support.eventful import held
from tests.support.interview import NOW, Interview


async def kept(folder: Path, name: str) -> Path:
    """A database with a whole interview by an engine in it."""
    interview = await held(name)
    state = interview.state
    path = folder / "askwell.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        METADATA.create_all(connection)
        content = interview.configuration.model_dump_json(by_alias=True)
        configuration = {"hash": state.config_hash, "content": content, "created_at": NOW}
        connection.execute(CONFIGURATIONS.insert(), [configuration])
        for change in [*changes(None, state), *turns(interview)]:
            connection.execute(change.table.insert(), change.upserts)
        packed = pack(state.dump(), compress_above=1000)
        snapshot = {"session_id": state.session_id, "rev": state.rev, "state": packed}
        connection.execute(SNAPSHOTS.insert(), [snapshot])
    engine.dispose()
    return path


def turns(interview: Interview) -> list[Any]:
    found = [outcome.record for outcome in interview.outcomes if outcome.record is not None]
    rows = [turn_rows(interview.state.session_id, json.loads(record.model_dump_json())) for record in found]
    return [change for changed in rows for change in changed]


def altered(path: Path, column: str, change: Any) -> None:
    """Change what was stored in a column of the turns that have candidates."""
    with sqlite3.connect(path) as store:
        rows = store.execute(f"select rowid, {column} from scoring_history where candidates != '[]'").fetchall()
        for number, stored in rows:
            data = json.loads(stored) if column != "strategy" else stored
            new = change(data)
            text = new if column == "strategy" else json.dumps(new)
            store.execute(f"update scoring_history set {column} = ? where rowid = ?", (text, number))


@pytest.mark.parametrize("name", ENGINES)
async def test_choices_of_an_engine_come_out_again_from_the_store(tmp_path: Path, name: str) -> None:
    path = await kept(tmp_path, name)
    assert decisions(path) >= 6
    assert complaints(path, []) == []


@pytest.mark.parametrize("name", ENGINES)
async def test_choice_that_was_altered_is_told(tmp_path: Path, name: str) -> None:
    path = await kept(tmp_path, name)
    altered(path, "candidates", lambda stored: [{**stored[0], "final_score": 0.125}, *stored[1:]])
    assert len([text for text in complaints(path, []) if "decomposition" in text]) == decisions(path)


@pytest.mark.parametrize(
    ("name", "part", "value"),
    [
        ("two_tier", "momentum", {"consecutive_low": 3}),
        ("two_tier", "coverage", []),
        ("two_tier", "weights", []),
        ("arbitration", "coverage", []),
        ("arbitration", "edges", []),
        ("arbitration", "closeness", {}),
        ("two_tier", "engine_state", {}),
    ],
)
async def test_engine_is_given_all_that_was_stored(tmp_path: Path, name: str, part: str, value: Any) -> None:
    path = await kept(tmp_path, name)
    altered(path, "inputs", lambda stored: {**stored, part: value})
    assert any("can't be recomputed" in text for text in complaints(path, []))
