"""Names of slots that come after an interview has ended reach whoever watches it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.support.fakes_session import Providing, StagedSlots
from tests.support.interview import concepts
from tests.support.moderator import place


async def test_names_that_come_after_finish_change_the_graph_that_a_moderator_sees(tmp_path: Path) -> None:
    slots = StagedSlots({"fast car": "speed", "quick vehicle": "speed"})
    slots.gate = asyncio.Event()
    providing = Providing(slots=slots)
    providing.extractor.script["one"] = concepts(("fast car", "attribute"))
    providing.extractor.script["two"] = concepts(("quick vehicle", "attribute"))
    async with place(tmp_path, providing) as here:
        session_id, token = await here.begin()
        async with here.moderator() as watcher, here.respondent(token) as respondent:
            await respondent.hello()
            await respondent.until("question.completed", turn_number=0)
            await respondent.turn("one")
            await respondent.turn("two")
            await watcher.hello()
            snapshot = await watcher.watch(session_id)
            named = sorted(slot["slot_name"] for slot in snapshot["state"]["canonical"]["slots"])
            assert named == ["fast_car", "quick_vehicle"], "provisional names"
            await respondent.send("finish")
            await watcher.until("session.state", state="completed")
            slots.gate.set()
            delta = await watcher.until("graph.delta")
            assert [slot["slot_name"] for slot in delta["slots"]] == ["speed"]
            assert len(delta["slots_removed"]) >= 1
