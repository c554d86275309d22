"""What sessions leave behind in a process, and what they take while their respondents are connected."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.client import RespondentClient, key
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.soak, pytest.mark.timeout(7200)]

SESSIONS = int(os.environ.get("SOAK_SESSIONS", "3000"))
"""10 000 in a day's rehearsal."""
WARM = SESSIONS // 3
MEASURED = max(1, SESSIONS // 12)
AT_ONCE = 10
MOST_KB_PER_SESSION = 1.0
CONNECTED = int(os.environ.get("SOAK_CONNECTED", "120"))
TURNS = 30
MOST_KB_CONNECTED = 60.0
DEADLINE_S = 120.0


def rss_kb(pid: int) -> float:
    """Resident memory of a process, kB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS"))


class Soaked:
    """A server with quick providers that lets go of sessions soon."""

    def __init__(self, server: ServerProcess, http: httpx.AsyncClient) -> None:
        self.server = server
        self.http = http

    async def respondent(self) -> RespondentClient:
        """Somebody who was just asked the opening question."""
        wish = {"concept_id": "coffee_mec", "max_turns": TURNS + 2}
        async with asyncio.timeout(DEADLINE_S):
            # A machine that does much else may be told to wait.
            while (answer := await self.http.post("/api/sessions", json=wish)).status_code == 503:
                await asyncio.sleep(1.0)
        assert answer.status_code == 201, answer.text
        client = RespondentClient(self.server.url.replace("http", "ws", 1), answer.json()["respondent_token"])
        client.deadline_s = DEADLINE_S
        await client.__aenter__()
        await client.hello()
        await client.send("consent", version="1", choices={"agree": True})
        await client.until("question.completed")
        return client

    async def one(self, number: int) -> None:
        """One respondent, who answers once to four times; every third one finishes, the others just leave."""
        client = await self.respondent()
        for turn in range(1 + number % 4):
            await client.turn(f"taste number {number} makes morning {turn} bright", key())
        if number % 3 == 0:
            await client.send("finish")
            await client.until("session.state", state="completed")
        await client.__aexit__(None, None, None)

    async def left(self) -> None:
        """Wait until the server has let go of every session, as it must within a minute by itself."""
        async with asyncio.timeout(DEADLINE_S):
            while True:
                page = (await self.http.get("/metrics")).text
                found = re.search(r"^askwell_sessions (\S+)$", page, re.MULTILINE)
                assert found is not None
                if float(found[1]) == 0:
                    return
                await asyncio.sleep(0.5)


@asynccontextmanager
async def soaked(tmp_path: Path) -> AsyncIterator[Soaked]:
    """The server of one test."""
    many = str(10 * SESSIONS)
    quick = ServerProcess(
        tmp_path / "data",
        {
            "ASKWELL_IDLE_RELEASE_S": "1",
            "ASKWELL_REST_AFTER_S": "2",
            "ASKWELL_ALERT_DISCONNECTED_S": "5",
            "ASKWELL_MAX_SESSIONS": "5000",
            "ASKWELL_SESSIONS_PER_ADDRESS": "5000",
            "ASKWELL_CONNECTIONS_PER_ADDRESS": "5000",
            "ASKWELL_REQUESTS_PER_S": many,
            "ASKWELL_REQUEST_BURST": many,
            "ASKWELL_LOG_LEVEL": "warning",
        },
        command=(sys.executable, "-m", "tests.chaos.server"),
        end_s=180.0,
    )
    async with quick as server, httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=DEADLINE_S) as http:
        yield Soaked(server, http)


async def test_sessions_that_finish_and_sessions_that_are_left_leave_memory_flat(tmp_path: Path) -> None:
    sizes: dict[int, float] = {}
    async with soaked(tmp_path) as soak:
        for start in range(0, SESSIONS, AT_ONCE):
            async with asyncio.TaskGroup() as group:
                for number in range(start, start + AT_ONCE):
                    group.create_task(soak.one(number))
            done = start + AT_ONCE
            if done % MEASURED < AT_ONCE:
                await soak.left()
                sizes[done] = rss_kb(soak.server.pid)
                print(f"{done} sessions: {sizes[done] / 1024:.1f} MB", flush=True)
    counted = {number: size for number, size in sizes.items() if number >= WARM}
    growth = slope(counted)
    print(f"growth per session after the first {WARM}: {growth:.2f} kB")
    assert growth <= MOST_KB_PER_SESSION


def slope(sizes: dict[int, float]) -> float:
    """By how much the size grows with each session, by least squares."""
    mean_x, mean_y = sum(sizes) / len(sizes), sum(sizes.values()) / len(sizes)
    spread = sum((x - mean_x) ** 2 for x in sizes)
    return sum((x - mean_x) * (y - mean_y) for x, y in sizes.items()) / spread


async def test_connected_sessions_of_thirty_turns_take_little_while_nobody_answers(tmp_path: Path) -> None:
    sizes: dict[int, float] = {}
    clients: list[RespondentClient] = []
    async with soaked(tmp_path) as soak:

        async def talk(client: RespondentClient, number: int) -> None:
            for turn in range(TURNS):
                done = await client.turn(f"taste number {number} makes morning {turn} bright", key())
                client.seen.clear()
                assert done["result"]["should_continue"], "the interview was to go on"

        for start in range(0, CONNECTED, AT_ONCE):
            fresh = [await soak.respondent() for _ in range(AT_ONCE)]
            async with asyncio.TaskGroup() as group:
                for offset, client in enumerate(fresh):
                    group.create_task(talk(client, start + offset))
            clients += fresh
            await asyncio.sleep(10)
            sizes[len(clients)] = rss_kb(soak.server.pid)
            print(f"{len(clients)} connected after {TURNS} turns: {sizes[len(clients)] / 1024:.1f} MB", flush=True)
        for client in clients:
            await client.__aexit__(None, None, None)
        await soak.left()
        print(f"all left: {rss_kb(soak.server.pid) / 1024:.1f} MB", flush=True)
    each = slope({number: size for number, size in sizes.items() if number > AT_ONCE})
    print(f"each connected session takes {each:.1f} kB")
    assert each <= MOST_KB_CONNECTED
