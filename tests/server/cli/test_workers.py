"""`askwell serve --workers`: one port, several processes, and nobody notices which one answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from server.cli import run
from server.hot.datadir import running_server
from tests.support.client import RespondentClient, key
from tests.support.patience import PATIENCE_S
from tests.support.process import ServerProcess

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="several workers need Linux"),
    pytest.mark.thorough,
]

CONSENT = {"consent": {"version": "1", "choices": {"agree": True}}}


class Workers:
    """A server with two workers, and who they are."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self.http = httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE_S)
        token = (server.data / "moderator-token").read_text().strip()
        self.moderator = {"authorization": f"Bearer {token}"}

    def events(self, name: str) -> list[dict[str, Any]]:
        """The log's lines of that name, oldest first."""
        lines = [line for line in self.server.log().splitlines() if line.startswith("{")]
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def pid(self, number: int) -> int:
        """The process that is that worker now."""
        found: int = [event["pid"] for event in self.events("worker.up") if event["worker"] == number][-1]
        return found

    @contextlib.contextmanager
    def only(self, number: int) -> Iterator[None]:
        """Connections that are made in the block are that worker's."""
        other = self.pid(3 - number)
        os.kill(other, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(other, signal.SIGCONT)

    async def sessions(self) -> dict[str, float]:
        """How many sessions each worker owns."""
        page = (await self.http.get("/metrics")).text
        (family,) = [f for f in text_string_to_metric_families(page) if f.name == "askwell_sessions"]
        return {sample.labels["worker"]: sample.value for sample in family.samples}

    async def begin(self) -> tuple[str, dict[str, str], str]:
        """A new interview: its id, its respondent's header and token."""
        made = (await self.http.post("/api/sessions", json={"concept_id": "coffee_mec"})).json()
        return (
            made["session_id"],
            {"authorization": f"Bearer {made['respondent_token']}"},
            made["respondent_token"],
        )

    @contextlib.asynccontextmanager
    async def respondent(self, token: str, number: int) -> AsyncIterator[RespondentClient]:
        """A respondent's socket at that worker, greeted."""
        client = RespondentClient(self.server.url.replace("http", "ws"), token)
        with self.only(number):
            await client.__aenter__()
            await client.hello()
        try:
            yield client
        finally:
            await client.__aexit__(None, None, None)

    async def until(self, true: Any) -> None:
        """Wait for what must happen."""
        async with asyncio.timeout(PATIENCE_S):
            while not true():
                await asyncio.sleep(0.05)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workers]:
    """One server for all that leaves it running."""
    place = tmp_path_factory.mktemp("workers")
    async with ServerProcess(place / "data", {"ASKWELL_WORKERS": "2", "ASKWELL_WHISPER_MODEL": "none"}) as server:
        found = Workers(server)
        yield found
        await found.http.aclose()


async def _said(workers: Workers, session_id: str, token: str) -> list[str]:
    """What the respondent said, by the transcript."""
    headers = {"authorization": f"Bearer {token}"}
    detail = (await workers.http.get(f"/api/sessions/{session_id}", headers=headers)).json()
    return [line["text"] for line in detail["transcript"] if line["speaker"] == "respondent"]


async def test_start_is_told_once_when_all_workers_are_up(workers: Workers) -> None:
    told = workers.server.log()
    assert told.count("is listening on") == 1
    assert told.count("shown once; kept in") == 1
    assert "  workers    2," in told
    before = told[: told.index("is listening on")]
    assert before.count('"worker.up"') == 2
    assert running_server(workers.server.data) == (workers.server.pid, workers.server.url)


async def test_metrics_are_those_of_all_workers(workers: Workers) -> None:
    page = (await workers.http.get("/metrics")).text
    families = {family.name: family for family in text_string_to_metric_families(page)}
    ready = {sample.labels["worker"]: sample.value for sample in families["askwell_ready"].samples}
    assert ready == {"1": 1.0, "2": 1.0}
    assert families["askwell_workers"].samples[0].value == 2
    assert page.count("# TYPE askwell_turns_total counter") == 1


async def test_interview_goes_on_at_another_worker(workers: Workers) -> None:
    session_id, _, token = await workers.begin()
    said = ["I like the taste", "It wakes me up in the morning", "Then I get more work done"]
    for number, worker in ((0, 1), (1, 2), (2, 1)):
        async with workers.respondent(token, worker) as client:
            if number == 0:
                await client.send("consent", version="1", choices={"agree": True})
                await client.until("question.completed")
            await client.turn(said[number])
            owned = await workers.sessions()
            assert owned[str(worker)] >= 1
    assert await _said(workers, session_id, token) == said


async def test_command_given_at_one_worker_reaches_the_respondent_at_the_other(workers: Workers) -> None:
    session_id, _, token = await workers.begin()
    async with workers.respondent(token, 2) as client:
        await client.send("consent", version="1", choices={"agree": True})
        await client.until("question.completed")
        async with httpx.AsyncClient(base_url=workers.server.url, trust_env=False, timeout=PATIENCE_S) as moderator:
            with workers.only(1):
                # The connection is worker 1's from here on, and stays open.
                assert (await moderator.get("/healthz")).status_code == 200
            wish = {"type": "pause", "command_id": key()}
            answer = await moderator.post(f"/api/sessions/{session_id}/commands", json=wish, headers=workers.moderator)
        assert answer.status_code == 200, answer.text
        paused = await client.until("session.state")
        assert paused["state"] == "paused"


async def test_worker_killed_in_mid_interview_is_started_again_and_nothing_is_lost(workers: Workers) -> None:
    session_id, _, token = await workers.begin()
    async with workers.respondent(token, 2) as client:
        await client.send("consent", version="1", choices={"agree": True})
        await client.until("question.completed")
        await client.turn("Coffee wakes me up")
        turn_key = await client.answer("Then I can work well")
        await client.until("turn.started", turn_key=turn_key)
        killed = workers.pid(2)
        os.kill(killed, signal.SIGKILL)
    async with RespondentClient(workers.server.url.replace("http", "ws"), token) as client:
        await client.hello()
        await client.until("turn.completed", turn_key=turn_key)
        await client.turn("And that makes me proud")
    assert await _said(workers, session_id, token) == [
        "Coffee wakes me up",
        "Then I can work well",
        "And that makes me proud",
    ]
    await workers.until(lambda: workers.pid(2) != killed)
    (died,) = [event for event in workers.events("worker.died") if event["pid"] == killed]
    assert died["reason"] == "it was ended by SIGKILL"
    page = (await workers.http.get("/metrics")).text
    assert re.search(r"^askwell_worker_restarts_total [1-9]", page, re.MULTILINE)
    assert workers.server.log().count("is listening on") == 1


async def test_worker_told_to_end_closes_politely_and_another_takes_its_place(workers: Workers) -> None:
    session_id, _, token = await workers.begin()
    async with workers.respondent(token, 1) as client:
        await client.send("consent", version="1", choices={"agree": True})
        await client.until("question.completed")
        ended = workers.pid(1)
        os.kill(ended, signal.SIGTERM)
        assert await client.closed() == 1012
    async with RespondentClient(workers.server.url.replace("http", "ws"), token) as client:
        await client.hello()
        await client.turn("Coffee wakes me up")
    assert await _said(workers, session_id, token) == ["Coffee wakes me up"]
    await workers.until(lambda: workers.pid(1) != ended)
    assert [e["reason"] for e in workers.events("worker.died") if e["pid"] == ended] == ["it ended with status 0"]


async def test_store_deleted_under_two_workers_is_restored_once_with_all_that_was_said(workers: Workers) -> None:
    session_id, headers, _ = await workers.begin()
    base = f"/api/sessions/{session_id}"
    (await workers.http.post(f"{base}/start", json=CONSENT, headers=headers)).raise_for_status()
    body = {"text": "The smell is what I like", "turn_key": key()}
    (await workers.http.post(f"{base}/turns", json=body, headers=headers)).raise_for_status()
    path = workers.server.data / "askwell.db"
    await workers.until(lambda: _stored(path, session_id) == 3)
    path.unlink()
    await workers.until(lambda: len(workers.events("store.file_restored")) >= 2)
    assert {event["worker"] for event in workers.events("store.file_restored")} == {1, 2}
    assert [e["content"] for e in workers.events("store.file_restored")].count("of the lost file") == 1
    body = {"text": "It smells of mornings", "turn_key": key()}
    (await workers.http.post(f"{base}/turns", json=body, headers=headers)).raise_for_status()
    await workers.until(lambda: _stored(path, session_id) == 5)


def _stored(path: Path, session_id: str) -> int:
    """How many utterances of a session the store has: one, and two with each turn."""
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as store:
        return int(store.execute("SELECT count(*) FROM utterances WHERE session_id = ?", (session_id,)).fetchone()[0])


async def test_sigterm_ends_all_and_the_store_has_everything(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "data", {"ASKWELL_WORKERS": "3", "ASKWELL_WHISPER_MODEL": "none"})
    await server.start()
    workers = Workers(server)
    pids = [workers.pid(number) for number in (1, 2, 3)]
    begun = [await workers.begin() for _ in range(6)]
    for session_id, headers, _ in begun:
        started = await workers.http.post(f"/api/sessions/{session_id}/start", json=CONSENT, headers=headers)
        started.raise_for_status()
    await workers.http.aclose()
    await server.stop()
    assert server.returncode == 0
    for pid in (*pids, server.pid):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert [_stored(tmp_path / "data" / "askwell.db", session_id) for session_id, _, _ in begun] == [1] * 6
    assert running_server(tmp_path / "data") is None


async def test_keeper_killed_takes_its_workers_along(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path / "data", {"ASKWELL_WORKERS": "2", "ASKWELL_WHISPER_MODEL": "none"})
    await server.start()
    workers = Workers(server)
    pids = [workers.pid(number) for number in (1, 2)]
    await workers.http.aclose()
    await server.kill()
    await workers.until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    await workers.until(lambda: running_server(tmp_path / "data") is None)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No settings but those of the test."""
    for name in [name for name in os.environ if name.startswith("ASKWELL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASKWELL_LOG_LEVEL", "error")
    return monkeypatch


@pytest.mark.parametrize(
    ("count", "words"),
    [
        ("0", "--workers: Input should be greater than or equal to 1 (got '0')"),
        ("-1", "--workers: Input should be greater than or equal to 1 (got '-1')"),
        ("65", "--workers: Input should be less than or equal to 64 (got '65')"),
        ("9" * 400, "--workers: "),
        ("two", "--workers: Input should be a valid integer"),
        ("", "--workers: Input should be a valid integer"),
        ("1.5", "--workers: Input should be a valid integer"),
    ],
)
async def test_number_of_workers_that_can_not_be_is_refused(
    count: str, words: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, plain: pytest.MonkeyPatch
) -> None:
    code, _ = run(["serve", f"--workers={count}", "--port", "0", "--data", str(tmp_path)])
    assert code == 2
    assert words in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"), [("ASKWELL_KIOSK_PIN", "123456"), ("ASKWELL_SYNC_TO", "https://ask.example.org")]
)
async def test_workers_of_a_kiosk_are_refused(
    name: str, value: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, plain: pytest.MonkeyPatch
) -> None:
    plain.setenv(name, value)
    plain.setenv("ASKWELL_WORKERS", "2")
    code, _ = run(["serve", "--port", "0", "--data", str(tmp_path)])
    assert code == 2
    said = capfd.readouterr().err
    assert f"ASKWELL_WORKERS is 2, but {name} is set: a kiosk's server has one worker" in said
    assert value not in said


async def test_workers_that_can_not_start_end_the_server_with_one_sentence(tmp_path: Path) -> None:
    server = ServerProcess(
        tmp_path / "data", {"ASKWELL_WORKERS": "2", "ASKWELL_EMBEDDER": "sentence-transformers",
                            "ASKWELL_EMBEDDER_MODEL": "no/such/model"}
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="ended at its start"):
        await server.start()
    assert server.returncode == 2
    assert server.lines[-1].startswith("askwell: ")
    assert server.log().count("askwell: This embedding model") + server.log().count("can't load 'no/such/model'") == 1
    assert running_server(tmp_path / "data") is None
