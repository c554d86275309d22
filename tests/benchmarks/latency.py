"""First-token latency over real sockets, from a process of its own, and what an idle session costs in memory."""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.benchmarks.turns import ANSWERS
from tests.support.client import RespondentClient, key
from tests.support.process import ServerProcess

CROWDS = (1, 50, 200)
TURN_EVERY_S = 30.0
TURNS = {1: 12, 50: 3, 200: 2}
IDLE = 300


@asynccontextmanager
async def server() -> AsyncIterator[tuple[str, int]]:
    """`askwell serve` with the offline provider in a fresh data directory: URL and pid."""
    environment = {
        "ASKWELL_MAX_SESSIONS": "5000",
        "ASKWELL_SESSIONS_PER_ADDRESS": "5000",
        "ASKWELL_CONNECTIONS_PER_ADDRESS": "5000",
        "ASKWELL_REQUESTS_PER_S": "1000",
        "ASKWELL_REQUEST_BURST": "5000",
        "ASKWELL_LOG_LEVEL": "warning",
    }
    with tempfile.TemporaryDirectory(prefix="askwell-bench-") as folder:
        async with ServerProcess(Path(folder) / "data", environment) as process:
            yield process.url, process.pid


async def begin(url: str, http: httpx.AsyncClient) -> RespondentClient:
    """A session with its opening question asked."""
    made = (await http.post("/api/sessions", json={"concept_id": "coffee_mec", "max_turns": 30})).json()
    client = RespondentClient(url.replace("http", "ws", 1), made["respondent_token"])
    await client.__aenter__()
    await client.hello()
    await client.send("consent", version="1", choices={"agree": True})
    await client.until("question.completed")
    return client


VOCABULARY = sorted({word for line in ANSWERS for word in line.split() if len(word) > 4})


def fresh_answer() -> str:
    """An answer that nobody gave before: parser and embedder must not find it among what they remember."""
    words = random.choice(ANSWERS).split()
    for position in random.sample(range(len(words)), 8):
        if len(words[position]) > 4:
            words[position] = random.choice(VOCABULARY)
    return " ".join(words)


async def first_tokens(client: RespondentClient, turns: int, start_s: float, every_s: float) -> list[float]:
    """Milliseconds from sending an answer to the first piece of the next question, per turn."""
    took: list[float] = []
    await asyncio.sleep(start_s)
    for number in range(turns):
        due = time.perf_counter() + every_s
        turn_key = key()
        started = time.perf_counter()
        await client.answer(fresh_answer(), turn_key)
        await client.until("question.delta")
        took.append((time.perf_counter() - started) * 1000)
        last = await client.until("turn.completed", turn_key=turn_key)
        if not last["result"]["should_continue"]:
            break
        if number + 1 < turns:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
    return took


def rss_mb(pid: int) -> float:
    """Resident memory of a process, MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


async def run() -> None:
    """Print latency per crowd and memory per idle session."""
    random.seed(11)
    rows: list[tuple[int, list[float]]] = []
    async with server() as (url, pid), httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:
        warm = await begin(url, http)
        await first_tokens(warm, 3, 0, 0)
        for crowd in CROWDS:
            clients = [await begin(url, http) for _ in range(crowd)]
            every = 2.0 if crowd == 1 else TURN_EVERY_S
            gathered = await asyncio.gather(
                *(first_tokens(c, TURNS[crowd], random.random() * every, every) for c in clients)
            )
            rows.append((crowd, [ms for one in gathered for ms in one]))
            for client in clients:
                await client.__aexit__(None, None, None)
        before = rss_mb(pid)
        idle = [await begin(url, http) for _ in range(IDLE)]
        await asyncio.sleep(2)
        attached = rss_mb(pid)
        for client in idle:
            await client.__aexit__(None, None, None)
    print("\n## First token over real sockets, offline provider, one turn per 30 s and session, ms\n")
    print("| sessions | turns | median | p95 | worst | median over that of one session |")
    print("|---|---|---|---|---|---|")
    alone = statistics.median(rows[0][1])
    for crowd, took in rows:
        took.sort()
        median, p95 = statistics.median(took), took[min(len(took) - 1, int(len(took) * 0.95))]
        print(f"| {crowd} | {len(took)} | {median:.0f} | {p95:.0f} | {took[-1]:.0f} | {median / alone:.2f} |")
    print(
        f"\nMemory: {before:.0f} MB before, {attached:.0f} MB with {IDLE} idle connected sessions more: "
        f"{(attached - before) * 1024 / IDLE:.0f} kB each"
    )
