"""Clocks of nodes and of the hot server are set by an hour and a day while people are interviewed.

The processes run with libfaketime: their wall clock is the one that a file says; their monotonic clock stays.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from tests.chaos.crowd import Crowd, asked
from tests.chaos.machines import Cluster, cluster
from tests.chaos.test_nodes import caught_up, talking
from tests.support.needs import faketime_library

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.needs("postgresql"),
    pytest.mark.needs("faketime"),
    pytest.mark.timeout(900),
]

SIZE = 4
READY_S = 20.0
HOUR_S, DAY_S = 3600, 86_400
JUMPS_S = (HOUR_S, 0, -HOUR_S, 0, DAY_S, 0, -DAY_S, 0)
MODERATOR = {"Authorization": "Bearer a-moderator-of-the-test-0123456789"}


class Clock:
    """The wall clock of a process.

    Args:
        path: the file that says how far it is off.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.set(0)

    def set(self, offset_s: int) -> None:
        """Be so far off from now on."""
        fresh = self._path.with_suffix(".new")
        fresh.write_text(f"{offset_s:+d}\n")
        fresh.replace(self._path)

    @property
    def environment(self) -> dict[str, str]:
        """Of the process."""
        return {
            "LD_PRELOAD": str(faketime_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._path),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }


async def process_time_s(servers: Cluster) -> tuple[float, float]:
    """How far the clocks of the first node and of the hot server are off from this process's, in seconds."""
    async with httpx.AsyncClient(base_url=servers.urls[0], trust_env=False) as http:
        answer = await http.post("/api/sessions", json={"concept_id": "coffee_mec"})
        made = answer.json()
        path = f"/api/sessions/{made['session_id']}"
        detail = (await http.get(path, headers=MODERATOR)).json()
        await http.delete(path, headers=MODERATOR)
    begun = datetime.fromisoformat(detail["created_at"])
    theirs = await servers.valkey.ask("TIME")
    assert isinstance(theirs, tuple)
    now = datetime.now(UTC)
    return (begun - now).total_seconds(), float(theirs[0]) - now.timestamp()


async def check_stored(servers: Cluster) -> None:
    """Nobody is abandoned, and what is stored is in order."""
    url = servers.postgres.url
    assert ("abandoned",) not in await asked(url, "select distinct state from sessions")
    rows = await asked(url, "select session_id, turn_number from utterances order by session_id, position")
    assert rows
    for (one, first), (other, second) in pairwise(rows):
        assert one != other or first <= second


async def ready(url: str) -> None:
    """Wait until a node says that it can be used. Raises TimeoutError."""
    async with asyncio.timeout(READY_S), httpx.AsyncClient(base_url=url, trust_env=False) as http:
        while True:
            answer = await http.get("/readyz")
            if answer.status_code == 200:
                return
            print(f"  not ready: {answer.json()['checks']}")
            await asyncio.sleep(1.0)


async def jump(servers: Cluster, crowd: Crowd, clock: Clock, index: int) -> None:
    """Set the clock again and again; after each time the interviews go on."""
    for offset_s in JUMPS_S:
        clock.set(offset_s)
        await asyncio.sleep(2.5)
        found = (await process_time_s(servers))[index]
        assert abs(found - offset_s) < 60, "the clock is the one that the test set"
        await crowd.progress(SIZE, 120)
        for url in servers.urls:
            await ready(url)


@pytest.mark.parametrize("whose", ["node", "valkey"])
async def test_clock_set_while_people_are_interviewed_changes_nothing_for_them(tmp_path: Path, whose: str) -> None:
    clock = Clock(tmp_path / "clock")
    node = {0: clock.environment} if whose == "node" else {}
    valkey = clock.environment if whose == "valkey" else None
    async with cluster(tmp_path, valkey_environment=valkey, node_environments=node) as servers:
        crowd = Crowd(servers.urls, SIZE)
        async with talking(crowd):
            await crowd.progress(SIZE)
            await jump(servers, crowd, clock, 0 if whose == "node" else 1)
        await caught_up(servers)
        report = await crowd.report(servers.postgres.url)
        report.print(f"The clock of the {whose} set by {', '.join(f'{s:+d} s' for s in JUMPS_S)}")
        await check_stored(servers)
    assert report.lost == []
    assert report.doubled == []
    assert report.dead_letters == 0
    assert report.problems == {}


async def test_clock_set_back_while_valkey_is_restarted_empty_loses_nothing(tmp_path: Path) -> None:
    """The store remembers positions of a time that Valkey has not reached again."""
    clock = Clock(tmp_path / "clock")
    clock.set(DAY_S)
    async with cluster(tmp_path, valkey_environment=clock.environment) as servers:
        crowd = Crowd(servers.urls, SIZE)
        async with talking(crowd):
            await crowd.progress(2 * SIZE)
        await caught_up(servers)
        clock.set(0)
        await servers.valkey.kill()
        await servers.valkey.start()
        for one in crowd.members:
            one.leaving = False
        async with talking(crowd):
            await crowd.progress(3 * SIZE, 120)
        await caught_up(servers)
        report = await crowd.report(servers.postgres.url)
        report.print("Valkey restarted empty, its clock a day back")
        await check_stored(servers)
    assert report.lost == []
    assert report.doubled == []
    assert report.dead_letters == 0
