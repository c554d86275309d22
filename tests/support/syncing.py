"""Two servers: one that interviews, and one that collects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from server.store.rows import call_rows
from server.store.tables import LLM_CALLS, MODERATOR_ACTIONS
from server.store.upserting import upsert
from server.sync.client import Central
from server.sync.send import Progress, Report, send_all
from tests.support.whole import BASE, Process, process

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


async def no_pause(seconds: float) -> None:
    """Waits for nothing."""


@dataclass
class Pair:
    """A kiosk and the server that collects from it, with a device token of that server."""

    kiosk: Process
    centre: Process
    token: str
    device_id: str
    told: list[Progress] = field(default_factory=list)

    def central(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        token: str | None = None,
        url: str = BASE,
        attempts: int = 2,
        now: Callable[[], datetime] | None = None,
        pause: Callable[[float], Awaitable[None]] = no_pause,
    ) -> Central:
        """The way from the kiosk to the collecting server."""
        straight = httpx.ASGITransport(self.centre.app, client=("127.0.0.1", 6000))
        http = httpx.AsyncClient(transport=transport or straight, base_url=url)
        more: dict[str, Any] = {} if now is None else {"now": now}
        return Central(url, http, token or self.token, pause=pause, attempts=attempts, **more)

    async def send(self, central: Central | None = None, *, chunk_bytes: int = 100_000, erases: bool = False) -> Report:
        """Send what waits on the kiosk."""
        source = self.kiosk.parts.sync.source(BASE, erases=erases)
        return await send_all(source, central or self.central(), chunk_bytes=chunk_bytes, tell=self.told.append)

    async def exports(self, session_id: str) -> tuple[httpx.Response, httpx.Response]:
        """The JSON export of a session on both sides."""
        path = f"/api/sessions/{session_id}/export?format=json"
        return (
            await self.kiosk.call("GET", path, headers=self.kiosk.moderator),
            await self.centre.call("GET", path, headers=self.centre.moderator),
        )


@asynccontextmanager
async def pair(tmp_path: Path, concepts: list[str] | None = None, **environment: str) -> AsyncIterator[Pair]:
    """Both, with empty data directories; settings are the kiosk's."""
    async with AsyncExitStack() as stack:
        kiosk = await stack.enter_async_context(process(tmp_path / "kiosk", **environment))
        centre = await stack.enter_async_context(process(tmp_path / "centre", requests_per_s="10000"))
        token, device_id = await device(centre, concepts)
        yield Pair(kiosk, centre, token, device_id)


async def device(server: Process, concepts: list[str] | None = None, name: str = "Kiosk 1") -> tuple[str, str]:
    """A device token of a server, and its id."""
    body = {"kind": "device", "name": name, "concepts": concepts}
    made = (await server.call("POST", "/api/tokens", json=body, headers=server.moderator)).json()
    return made["token"], made["id"]


async def full_interview(server: Process, **fields: Any) -> str:
    """A finished interview with something in every table, and two recordings; its id."""
    session_id, _ = await server.interview(turns=3, max_turns=3, **fields)
    calls = [
        {
            "id": f"call-{number}",
            "role": "generation",
            "task": "question",
            "provider": "openai",
            "model": "m",
            "attempt": 1,
            "outcome": "ok",
            "input_tokens": 10,
            "output_tokens": 2,
            "latency_ms": 12.5,
            "cost": 0.0001,
            "currency": "USD",
        }
        for number in range(2)
    ]
    action = {
        "session_id": session_id,
        "command_id": "c1",
        "action": "note",
        "moderator": "Ada",
        "turn_number": 1,
        "recorded_at": NOON,
        "details": {"text": "Listen: “ü”, \u0647\u0644."},
    }
    async with server.storage.database.write() as connection:
        await upsert(connection, LLM_CALLS, call_rows(session_id, calls, 1, NOON))
        await upsert(connection, MODERATOR_ACTIONS, [action])
    noise = np.random.default_rng(7).integers(-3000, 3000, 16_000).astype("<i2")
    for number in (1, 2):
        server.storage.recorder.keep(session_id, number, f"key-{number}", noise[: 8000 * number].tobytes())
    await server.storage.recorder.drain()
    return session_id
