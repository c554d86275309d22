"""What a moderator sees of interviews as they happen, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from pipeline.engines.base import ScoredCandidate, total
from server.store.rows import changes
from server.store.upserting import upsert
from tests.support.interview import new_state
from tests.support.moderator import Place, place


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    """One process on a free port."""
    async with place(tmp_path) as running:
        yield running


async def test_watcher_sees_a_turn_as_it_happens(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        assert (await watcher.hello())["name"] == "moderator"
        await respondent.hello()
        await respondent.until("question.completed", turn_number=0)
        snapshot = await watcher.watch(session_id)
        assert snapshot["state"]["state"] == "active"
        assert [one["kind"] for one in snapshot["state"]["transcript"]] == ["opening"]
        key = await respondent.answer("I like the taste.")
        said = await watcher.until("transcript.final")
        assert (said["text"], said["turn_number"]) == ("I like the taste.", 1)
        await watcher.until("question.started", turn_number=1)
        pieces = [await watcher.until("question.delta") for _ in range(2)]
        asked = await watcher.until("question.completed", turn_number=1)
        assert asked["text"].startswith("".join(piece["text"] for piece in pieces))
        signals = await watcher.until("signals", turn_number=1)
        assert "llm.engagement" in signals["global"]
        scores = await watcher.until("scores", turn_number=1)
        first = scores["candidates"][0]
        read = ScoredCandidate.model_validate(first)
        made = total(read.terms)
        assert read.selected and made is not None and abs(made - first["final_score"]) < 1e-9
        await watcher.until("continuation", turn_number=1)
        latency = await watcher.until("latency", turn_number=1)
        assert "extraction" in latency["stages_ms"]
        await respondent.until("turn.completed", turn_key=key)


async def test_overview_has_a_row_per_session_and_follows_it(here: Place) -> None:
    first, token = await here.begin()
    second, _ = await here.begin()
    await here.stored()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await watcher.hello()
        rows = (await watcher.overview())["rows"]
        assert {row["session_id"] for row in rows} == {first, second}
        await respondent.hello()
        await watcher.until("overview.row", session_id=first, connected=True)
        await watcher.until("overview.row", session_id=first, activity="thinking", state="active")
        await respondent.turn("I like the taste.")
        row = await watcher.until("overview.row", session_id=first, turn_number=1, activity="thinking")
        assert row["last_answer"] == "I like the taste."
        assert row["engagement"] == [0.5]
        assert row["depth"] == [3]
    kinds = {frame["type"] for frame in watcher.seen}
    assert not kinds & {"question.delta", "question.started", "transcript.final"}


async def test_watcher_sees_that_the_respondent_writes_and_not_what(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await watcher.hello()
        await respondent.hello()
        await respondent.until("question.completed")
        await watcher.watch(session_id)
        await respondent.send("typing")
        await watcher.until("respondent", activity="typing", connected=True)
        await respondent.turn("I like the taste.")
        await watcher.until("respondent", activity="working")
        await watcher.until("respondent", activity="thinking")
        await respondent.send("typing", text="secret")
        await respondent.refused("invalid_message")
        await watcher.settle()
    assert "secret" not in str(watcher.seen)
    await here.stored()


async def test_interview_that_its_respondent_withdraws_leaves_the_overview(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await watcher.hello()
        assert (await watcher.overview())["total"] == 1
        await respondent.send("withdraw")
        await watcher.until("overview.gone", session_id=session_id)
    await here.stored()
    async with here.moderator() as later:
        await later.hello()
        assert (await later.overview())["total"] == 0


async def test_erased_session_leaves_the_overview(here: Place) -> None:
    session_id, _ = await here.begin()
    await here.stored()
    async with here.moderator() as watcher:
        await watcher.hello()
        assert (await watcher.overview())["total"] == 1
        headers = {"authorization": f"Bearer {here.token}"}
        assert (await here.http.delete(f"/api/sessions/{session_id}", headers=headers)).status_code == 202
        await watcher.until("overview.gone", session_id=session_id)
        await watcher.send("subscribe", session_id=session_id)
        await watcher.refused("not_found")


async def test_session_that_ends_is_shown_with_its_end_and_found_again(here: Place) -> None:
    session_id, token = await here.begin(respondent_ref="P-17")
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await watcher.hello()
        await respondent.hello()
        await respondent.until("question.completed")
        await here.stored()
        await watcher.overview()
        await respondent.turn("The aroma of 100 % Arabica.")
        await respondent.send("finish")
        row = await watcher.until("overview.row", session_id=session_id, state="completed")
        assert row["alerts"] == []
        await here.stored()
        assert (await watcher.overview())["rows"] == []
        assert [one["session_id"] for one in (await watcher.overview(state="completed"))["rows"]] == [session_id]
        snapshot = await watcher.watch(session_id)
        assert snapshot["state"]["state"] == "completed"
        assert [turn["turn_number"] for turn in snapshot["state"]["turns"]] == [1]
    for query in ("arabica", "100 %", "p-17", "coffee", session_id[:6]):
        [item] = (await here.call(f"/api/sessions?q={quote(query)}"))["items"]
        assert item["id"] == session_id
        assert (item["match"] is not None) is (query in ("arabica", "100 %", "coffee"))
    for query in ("100_", "tea", "%"):
        found = (await here.call(f"/api/sessions?q={quote(query)}"))["items"]
        assert len(found) == (1 if query == "%" else 0), query


async def test_five_hundred_sessions_come_as_one_overview(here: Place) -> None:
    ids = [f"s-{number:03}" for number in range(500)]
    async with here.storage.database.write() as connection:
        for session_id in ids:
            state = new_state(session_id=session_id, status="active", depths=("deep",) * 15, engagements=(0.5,) * 15)
            [change] = changes(None, state)
            await upsert(connection, change.table, change.upserts)
    async with here.moderator() as watcher:
        await watcher.hello()
        shown = await watcher.overview()
        assert {row["session_id"] for row in shown["rows"]} == set(ids)
        assert shown["total"] == 500
        await watcher.settle()
