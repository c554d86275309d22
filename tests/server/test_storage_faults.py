"""A whole process whose disk is full, or whose store is deleted, moved or replaced while it runs."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from server.database import DATABASE_NAME
from tests.support.redis_rows import all_rows
from tests.support.small_disk import small_disk
from tests.support.whole import ANSWER, Process, eventually, process


async def is_ready(api: Process) -> bool:
    return (await api.call("GET", "/readyz")).status_code == 200


@pytest.mark.needs("tmpfs")
async def test_full_disk_refuses_answers_in_words_and_goes_on_by_itself_when_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "data", 16) as disk:
        async with process(tmp_path) as api:
            session_id, headers = await api.interview(1)
            key = str(uuid4())
            disk.fill()

            async def says_why() -> bool:
                return bool((await api.call("GET", "/readyz")).json()["checks"]["redis"] == "the disk is full")

            await eventually(says_why)
            async with asyncio.timeout(5):
                refused = await api.turn(session_id, headers, "While it is full", key=key)
            assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
            started = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"})
            assert (started.status_code, started.json()["code"]) == (503, "storage_unavailable")
            disk.empty()
            await eventually(lambda: is_ready(api), 20.0)
            taken = await api.turn(session_id, headers, "While it is full", key=key)
            assert taken.status_code == 200, taken.text
            await api.begin()
            assert await api.storage.writer.drain(10.0)
            said = [row["text"] for row in (await all_rows(api.storage.database))["utterances"]]
            assert said.count("While it is full") == 1


def delete_store(data: Path) -> None:
    for file in data.glob(f"{DATABASE_NAME}*"):
        file.unlink()


def said_in(data: Path) -> list[str]:
    """What respondents said, as the file at the path has it."""
    with closing(sqlite3.connect(f"file:{data / DATABASE_NAME}?mode=ro", uri=True)) as store:
        return [text for (text,) in store.execute("select text from utterances where speaker = 'respondent'")]


async def database_check(api: Process) -> str:
    return str((await api.call("GET", "/readyz")).json()["checks"]["database"])


async def test_store_deleted_while_running_is_told_and_comes_back_with_all_that_it_had(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with process(tmp_path) as api:
        session_id, headers = await api.interview(2)
        made = await api.call("POST", "/api/tokens", json={"kind": "moderator", "name": "Ann"}, headers=api.moderator)
        delete_store(data)
        assert (await api.turn(session_id, headers, "After it was deleted")).status_code == 200
        ready = await api.call("GET", "/readyz")
        assert ready.status_code == 503
        assert "was deleted or moved" in ready.json()["checks"]["database"]
        refused = await api.call("POST", "/api/sessions", json={"concept_id": "coffee"})
        assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
        assert not (data / DATABASE_NAME).exists()
        partition = api.storage.hot.keys.partition_of(session_id)
        assert await api.storage.writer._journal.length(partition) > 0, "nothing is trimmed that is not at the path"
        await eventually(lambda: is_ready(api), 20.0)
        assert (await api.turn(session_id, headers, "After it came back")).status_code == 200
        assert await api.storage.writer.drain(10.0)
        assert sorted(said_in(data)) == sorted([ANSWER, "Answer 2", "After it was deleted", "After it came back"])
        token = {"authorization": f"Bearer {made.json()['token']}"}
        scores = await api.call("GET", f"/api/sessions/{session_id}/scores", headers=token)
        assert len(scores.json()["items"]) == 4
    assert len(said_in(data)) == 4


async def test_store_moved_away_and_back_at_once_is_used_again(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with process(tmp_path) as api:
        session_id, headers = await api.interview(1)
        (data / DATABASE_NAME).rename(data / "away")
        assert (await api.turn(session_id, headers, "While it was away")).status_code == 200
        assert "was deleted or moved" in await database_check(api)
        (data / "away").rename(data / DATABASE_NAME)
        assert await database_check(api) == "ok"
        assert await api.storage.writer.drain(10.0)
    assert said_in(data) == [ANSWER, "While it was away"]


async def test_older_store_put_back_while_running_gets_what_it_lacks_from_hot_storage(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with process(tmp_path) as api:
        erased_id, erased_headers = await api.interview(1)
        session_id, headers = await api.interview(1)
        with closing(sqlite3.connect(data / DATABASE_NAME)) as store, closing(sqlite3.connect(tmp_path / "old")) as old:
            store.backup(old)
        assert (await api.turn(session_id, headers, "After the backup")).status_code == 200
        later_id, later_headers = await api.interview(1)
        gone = await api.call("DELETE", f"/api/sessions/{erased_id}", headers=erased_headers)
        assert gone.status_code == 202
        assert await api.storage.writer.drain(10.0)
        shutil.move(tmp_path / "old", data / DATABASE_NAME)
        assert "was replaced" in await database_check(api)
        await eventually(lambda: is_ready(api), 20.0)
        assert (await api.turn(session_id, headers, "With the old file")).status_code == 200
        assert (await api.turn(later_id, later_headers, "In the later one")).status_code == 200

        async def complete() -> bool:
            return sorted(said_in(data)) == sorted(
                [ANSWER, ANSWER, "After the backup", "With the old file", "In the later one"]
            )

        await eventually(complete)


async def test_start_without_the_store_restores_what_hot_storage_has_and_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with process(tmp_path) as api:
        session_id, headers = await api.interview(2)
        kept = await api.call("GET", f"/api/sessions/{session_id}/transcript", headers=api.moderator)
    delete_store(data)
    said: list[str] = []
    async with process(tmp_path, said.append) as api:
        again = await api.call("GET", f"/api/sessions/{session_id}/transcript", headers=api.moderator)
        assert again.json() == kept.json()
        assert len(said_in(data)) == 2, "in the store before anything else happens"
        assert (await api.turn(session_id, headers, "After the new start")).status_code == 200
    assert said_in(data) == [ANSWER, "Answer 2", "After the new start"]
    line = next(line for line in said if "restored" in line)
    assert "1 interviews with 2 answers" in line
    assert "2 decisions" in line and "tokens of moderators" in line
