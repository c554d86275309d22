"""Interviews that were begun with the version before, whose hot storage and store it left behind when it was killed."""

from __future__ import annotations

import json
import re
import tarfile
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipeline.engines.base import ScoredCandidate, total
from tests.support.client import RespondentClient
from tests.support.process import ServerProcess

STORED = Path(__file__).parent / "stored" / "state_v3.tar.xz"
"""A data directory of the version with states of version 3, killed while it worked on an answer of `pending`."""

ANSWERS = ("It saves me time.", "Then I can be with my family.", "It is quick.", "Cheap.", "Nice.", "Quick, too.")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    with tarfile.open(STORED) as archive:
        archive.extractall(folder, filter="data")
    folder.chmod(0o700)
    as_of_now(folder / "valkey" / "appendonlydir" / "appendonly.aof.1.incr.aof")
    return folder


def as_of_now(log: Path) -> None:
    """Let what was kept for a day in hot storage be kept for a day from now: the log has the moments of then."""
    tomorrow = str(int((time.time() + 86_400) * 1000)).encode()
    moment = re.compile(rb"(PEXPIREAT\r\n\$\d+\r\n[^\r]+\r\n\$13\r\n)\d{13}")
    log.write_bytes(moment.sub(rb"\g<1>" + tomorrow, log.read_bytes()))


def interviews(data: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((data / "interviews.json").read_text())
    return found


async def rows(http: httpx.AsyncClient, session_id: str, what: str = "") -> Any:
    return (await http.get(f"/api/sessions/{session_id}{what}")).raise_for_status().json()


async def finished(url: str, one: dict[str, Any]) -> int:
    """Answer until the interview is over; the number of turns."""
    async with RespondentClient(url, one["token"]) as respondent:
        ready = await respondent.hello(last_event_id=one["last_event_id"], epoch=one["epoch"])
        if ready["state"] == "paused":
            await respondent.send("resume")
            await respondent.until("session.state", state="active")
        if ready["pending"] is not None:
            await respondent.until("turn.completed", turn_key=ready["pending"]["turn_key"])
        for text in (*ANSWERS, *ANSWERS):
            result = (await respondent.turn(text))["result"]
            if not result["should_continue"]:
                return int(result["turn_number"])
    raise AssertionError("the interview did not end")


async def test_interviews_begun_before_the_update_are_finished_after_it(data: Path) -> None:
    known = interviews(data)
    async with ServerProcess(data) as server:
        socket = server.url.replace("http", "ws")
        token = (data / "moderator-token").read_text().strip()
        authority = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=server.url, headers=authority, trust_env=False) as http:
            repeated = known["begun"]["turn_keys"][0]
            async with RespondentClient(socket, known["begun"]["token"]) as respondent:
                await respondent.hello()
                first = "I buy oat milk because the taste is creamy, so my coffee feels like a treat."
                await respondent.answer(first, repeated)
                again = await respondent.until("turn.completed", turn_key=repeated)
                assert again["result"]["turn_number"] == 1
                await respondent.answer("Another text.", repeated)
                await respondent.refused("invalid_input")
            turns = {name: await finished(socket, known[name]) for name in ("begun", "pending", "paused")}
            for name, one in known.items():
                detail = await rows(http, one["session_id"])
                assert detail["state"] == "completed", name
                lines = (await rows(http, one["session_id"], "/transcript"))["items"]
                said = [line for line in lines if line["speaker"] == "respondent"]
                assert len(said) == detail["turn_count"] == turns.get(name, 3)
                scores = (await rows(http, one["session_id"], "/scores"))["items"]
                assert [row["turn_number"] for row in scores] == list(range(1, detail["turn_count"] + 1))
                for row in scores:
                    for stored in row["candidates"]:
                        candidate = ScoredCandidate.model_validate(stored)
                        assert total(candidate.terms) == pytest.approx(candidate.final_score)
            pending = await rows(http, known["pending"]["session_id"], "/transcript")
            third = [line for line in pending["items"] if (line["speaker"], line["turn_number"]) == ("respondent", 3)]
            assert third[0]["text"].startswith("I pay a bit more for it because the farm is near us")


async def test_exports_of_an_interview_from_before_the_update_have_all_of_it(data: Path) -> None:
    one = interviews(data)["completed"]
    async with ServerProcess(data) as server:
        token = (data / "moderator-token").read_text().strip()
        authority = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=server.url, headers=authority, trust_env=False) as http:
            markdown = (await http.get(f"/api/sessions/{one['session_id']}/export?format=md")).raise_for_status().text
            whole = (await http.get(f"/api/sessions/{one['session_id']}/export?format=json")).raise_for_status().json()
    assert "Being calm makes me a good mother" in markdown
    assert whole["nodes"] and whole["turns"][0]["candidates"][0]["terms"]
