"""What a moderator sees of interviews as they happen, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

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
        total = first["base_score"] * first["phase_multiplier"] + first["phase_bonus"]
        assert first["selected"] and abs(total - first["final_score"]) < 1e-9
        assert abs(sum(line["contribution"] for line in first["contributions"]) - first["base_score"]) < 1e-9
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
