"""A server process that is killed in the middle of a sentence: the client sends again, and every word arrives once."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.client import RespondentClient
from tests.support.speech import frames, silence, speech, teach

SENTENCE = "every word of this sentence arrives once although the server dies"
START_S = 60.0

pytestmark = [pytest.mark.timeout(180), pytest.mark.thorough]


@asynccontextmanager
async def server(data: Path, kill: str = "never") -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """A server process on that data; killed in the end if it still lives."""
    log = data.parent / "server.log"
    with log.open("ab") as out:
        before = out.tell()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.chaos.server", "--data", str(data), "--kill", kill, "--hear", SENTENCE),
            stdout=out,
            stderr=out,
        )
    try:
        async with asyncio.timeout(START_S):
            while (ready := re.search(rb"^READY (\S+)$", log.read_bytes()[before:], re.MULTILINE)) is None:
                assert process.returncode is None, log.read_text()
                await asyncio.sleep(0.05)
        yield ready[1].decode(), process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def begin(url: str) -> tuple[str, str]:
    """A new interview; its id and the respondent's token."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        created = (await http.post("/api/sessions", json={"concept_id": "coffee_mec"})).json()
        headers = {"authorization": f"Bearer {created['respondent_token']}"}
        path = f"/api/sessions/{created['session_id']}"
        consent = (await http.get(path, headers=headers)).json()["consent"]
        agreed = {"consent": {"version": consent["version"], "choices": {}}} if consent["version"] else {}
        await http.post(f"{path}/start", headers=headers, json=agreed)
    return created["session_id"], created["respondent_token"]


def client_of(url: str, token: str) -> RespondentClient:
    return RespondentClient(url.replace("http", "ws", 1), token)


async def test_server_killed_in_the_middle_of_a_sentence_loses_no_word(tmp_path: Path) -> None:
    teach(SENTENCE.split())
    cut = frames(speech(SENTENCE) + silence(2))
    data = tmp_path / "data"
    async with server(data) as (url, process):
        _, token = await begin(url)
        async with client_of(url, token) as client:
            await client.hello()
            await client.until("question.completed")
            key = await client.audio_start()
            for frame in cut[: len(cut) // 2]:
                await client.raw(frame)
            assert (await client.until("audio.ack"))["seq"] > 0
            process.kill()
            await process.wait()
            last, epoch = client.last_id, client.epoch
    async with server(data) as (url, _), client_of(url, token) as client:
        ready = await client.hello(last_event_id=last, epoch=epoch)
        await client.audio_start(key, first_seq=ready["first_unreceived_seq"])
        for frame in cut[ready["first_unreceived_seq"] :]:
            await client.raw(frame)
        final = await client.until("transcript.final", turn_key=key)
        assert final["text"] == SENTENCE
        await client.until("turn.completed", turn_key=key)
        assert len([frame for frame in client.seen if frame["type"] == "transcript.final"]) == 1


async def test_server_killed_after_the_answer_was_accepted_tells_its_transcript_at_the_next_start(
    tmp_path: Path,
) -> None:
    """Accepted is accepted: the words are in the events, the turn runs by itself, nothing is said twice."""
    teach(SENTENCE.split())
    data = tmp_path / "data"
    async with server(data, "after_accept") as (url, process):
        _, token = await begin(url)
        async with client_of(url, token) as client:
            await client.hello()
            await client.until("question.completed")
            key = await client.audio_start()
            await client.say(speech(SENTENCE) + silence(2))
            await process.wait()
            last, epoch = client.last_id, client.epoch
    async with server(data) as (url, _), client_of(url, token) as client:
        await client.hello(last_event_id=last, epoch=epoch)
        final = await client.until("transcript.final", turn_key=key)
        assert final["text"] == SENTENCE
        await client.expect("turn.started", turn_key=key, attempt=1)
        await client.until("turn.started", turn_key=key, attempt=2)
        await client.until("turn.completed", turn_key=key, turn_number=1)
