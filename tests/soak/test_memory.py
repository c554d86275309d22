"""A thousand interviews in one process leave its memory flat."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.client import key
from tests.support.process import ServerProcess

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3000)]

SESSIONS = 1000
WARM = 300
AT_ONCE = 20
TURNS = 4
MOST_MB_PER_SESSION = 0.02
"""A session that left everything behind would cost some 100 kB; one that leaves nothing, nothing but noise."""


def rss_mb(pid: int) -> float:
    """Resident memory of a process, MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


async def interview(http: httpx.AsyncClient, number: int) -> None:
    """One interview over HTTP."""
    answer = await http.post("/api/sessions", json={"concept_id": "coffee_mec"})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    base, headers = f"/api/sessions/{made['session_id']}", {"authorization": f"Bearer {made['respondent_token']}"}
    consent = {"consent": {"version": "1", "choices": {"agree": True}}}
    (await http.post(f"{base}/start", json=consent, headers=headers)).raise_for_status()
    for turn in range(TURNS):
        body = {"text": f"taste number {number} makes morning {turn} bright", "turn_key": key()}
        (await http.post(f"{base}/turns", json=body, headers=headers)).raise_for_status()


async def test_a_thousand_sessions_leave_memory_flat(tmp_path: Path) -> None:
    quick = ServerProcess(
        tmp_path / "data",
        {
            "ASKWELL_IDLE_RELEASE_S": "1",
            "ASKWELL_MAX_SESSIONS": "5000",
            "ASKWELL_SESSIONS_PER_ADDRESS": "5000",
            "ASKWELL_CONNECTIONS_PER_ADDRESS": "5000",
            "ASKWELL_REQUESTS_PER_S": "10000",
            "ASKWELL_REQUEST_BURST": "10000",
            "ASKWELL_LOG_LEVEL": "warning",
        },
        command=(sys.executable, "-m", "tests.chaos.server"),
        end_s=180.0,
    )
    sizes: dict[int, float] = {}
    async with quick as server, httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as http:
        for start in range(0, SESSIONS, AT_ONCE):
            async with asyncio.TaskGroup() as group:
                for number in range(start, start + AT_ONCE):
                    group.create_task(interview(http, number))
            if (start + AT_ONCE) % 100 == 0:
                await asyncio.sleep(2.5)
                sizes[start + AT_ONCE] = rss_mb(server.pid)
                print(f"{start + AT_ONCE} sessions: {sizes[start + AT_ONCE]:.1f} MB")
    growth = (sizes[SESSIONS] - sizes[WARM]) / (SESSIONS - WARM)
    print(f"growth per session after the first {WARM}: {growth * 1024:.1f} kB")
    assert growth <= MOST_MB_PER_SESSION
