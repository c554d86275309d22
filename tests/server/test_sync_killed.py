"""Two real servers and a real command, all killed in the middle; what was finished arrives once, and the same."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import text

from server.auth import TOKEN_FILE
from server.store.engine import Database
from tests.support.patience import PATIENCE_S
from tests.support.process import ServerProcess
from tests.support.whole import bearer

pytestmark = pytest.mark.thorough

KILLS = 2
INTERVIEWS = 2
SCRIPTED = (sys.executable, "-m", "tests.server.sync_server")


@dataclass
class Side:
    """A server and its data."""

    server: ServerProcess

    @property
    def moderator(self) -> dict[str, str]:
        """Headers of its moderator."""
        return bearer((self.server.data / TOKEN_FILE).read_text().strip())

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One call."""
        async with httpx.AsyncClient(base_url=self.server.url, trust_env=False, timeout=PATIENCE_S) as http:
            return await http.request(method, path, **options)

    async def interview(self, turns: int) -> str:
        """A finished interview; its id."""
        made = (await self.call("POST", "/api/sessions", json={"concept_id": "coffee_mec", "max_turns": turns})).json()
        session_id, mine = made["session_id"], bearer(made["respondent_token"])
        consent = {"consent": {"version": "1", "choices": {"agreed": True}}}
        await self.call("POST", f"/api/sessions/{session_id}/start", json=consent, headers=mine)
        for number in range(turns):
            body = {"text": f"The taste number {number} helps me to wake up slowly {number}", "turn_key": str(uuid4())}
            answer = await self.call("POST", f"/api/sessions/{session_id}/turns", json=body, headers=mine)
            assert answer.status_code == 200, answer.text
        async with asyncio.timeout(PATIENCE_S):
            while session_id not in await self.finished():
                await asyncio.sleep(0.02)
        return str(session_id)

    async def finished(self) -> list[str]:
        """Ids of the interviews that are stored as completed."""
        found = await self.call("GET", "/api/sessions?state=completed", headers=self.moderator)
        return [item["id"] for item in found.json()["items"]]

    async def export(self, session_id: str) -> bytes:
        """Its JSON export."""
        path = f"/api/sessions/{session_id}/export?format=json"
        found = await self.call("GET", path, headers=self.moderator)
        assert found.status_code == 200, found.text
        return found.content


def sides(tmp_path: Path) -> tuple[Side, Side]:
    """Kiosk and centre; small pieces, so that there is a middle to be killed in."""
    small = {"ASKWELL_SYNC_CHUNK_BYTES": "8192", "ASKWELL_REQUESTS_PER_S": "10000"}
    made = [Side(ServerProcess(tmp_path / name, small, command=SCRIPTED)) for name in ("kiosk", "centre")]
    return made[0], made[1]


@asynccontextmanager
async def running(side: Side) -> AsyncIterator[None]:
    """The server, ended at the end."""
    await side.server.start()
    try:
        yield
    finally:
        await side.server.stop()


async def command(kiosk: Path, url: str, token: Path) -> asyncio.subprocess.Process:
    """`askwell sync`, begun."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("ASKWELL_")}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "server.cli", "sync", "--to", url, "--token-file", str(token), "--data", str(kiosk),
        env={**plain, "ASKWELL_SYNC_CHUNK_BYTES": "8192"}, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def has_received(data: Path, least: int) -> None:
    """Wait until a server holds so many bytes of interviews that are on their way."""
    database = Database.file(data / "askwell.db")
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                async with database.read() as connection:
                    query = text("SELECT coalesce(sum(received), 0) + 1000000 * (SELECT count(*) FROM sync_received)")
                    if (await connection.execute(text(f"{query.text} FROM sync_uploads"))).scalar_one() >= least:
                        return
                await asyncio.sleep(0.01)
    finally:
        await database.close()


@pytest.mark.timeout(170)
async def test_killed_on_both_sides_again_and_again_everything_arrives_once(tmp_path: Path) -> None:
    luck = random.Random(11)
    kiosk, centre = sides(tmp_path)
    async with running(kiosk):
        ids = [await kiosk.interview(3) for _ in range(INTERVIEWS)]
        theirs = {session_id: await kiosk.export(session_id) for session_id in ids}
    async with running(centre):
        centre.server.port = int(centre.server.url.rpartition(":")[2])
        body = {"kind": "device", "name": "Kiosk 1"}
        made = (await centre.call("POST", "/api/tokens", json=body, headers=centre.moderator)).json()
        token = tmp_path / "token"
        token.write_text(made["token"])
        for number in range(KILLS):
            sending = await command(kiosk.server.data, centre.server.url, token)
            await has_received(centre.server.data, luck.randint(1, 20) * 4096 + number * 500_000)
            if number % 2:
                await centre.server.kill()
                await centre.server.start()
            if sending.returncode is None:
                sending.send_signal(signal.SIGKILL)
            await sending.wait()
        sending = await command(kiosk.server.data, centre.server.url, token)
        _, said = await sending.communicate()
        assert sending.returncode == 0, said.decode()
        assert sorted(await centre.finished()) == sorted(ids)
        for session_id in ids:
            assert await centre.export(session_id) == theirs[session_id]
    database = Database.file(centre.server.data / "askwell.db")
    async with database.read() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM sync_chunks"))).scalar_one() == 0
    await database.close()


async def test_running_kiosk_is_asked_to_send_and_erases_what_is_confirmed(tmp_path: Path) -> None:
    kiosk, centre = sides(tmp_path)
    kiosk.server.environment["ASKWELL_DELETE_AFTER_SYNC"] = "true"
    async with running(kiosk), running(centre):
        session_id = await kiosk.interview(3)
        theirs = await kiosk.export(session_id)
        made = await centre.call(
            "POST", "/api/tokens", json={"kind": "device", "name": "Kiosk 1"}, headers=centre.moderator
        )
        token = tmp_path / "token"
        token.write_text(made.json()["token"])
        sending = await command(kiosk.server.data, centre.server.url, token)
        _, said = await sending.communicate()
        assert sending.returncode == 0, said.decode()
        assert f"[1/1] {session_id}  100 %" in said.decode()
        assert "1 interview sent, 1 of them erased here" in said.decode()
        assert await centre.export(session_id) == theirs
        async with asyncio.timeout(PATIENCE_S):
            while (await kiosk.call("GET", f"/api/sessions/{session_id}", headers=kiosk.moderator)).status_code != 404:
                await asyncio.sleep(0.05)
        refused = await command(kiosk.server.data, kiosk.server.url, token)
        _, said = await refused.communicate()
        assert refused.returncode == 2
        assert "does not know the token: it is wrong, or it was revoked." in said.decode()
