"""Watchers on live interviews: how soon they see a turn, and what they cost the respondents.

Respondents and watchers are real sockets in processes of their own. Rounds with and without watchers take turns, so
that whatever else the machine does falls on both.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from server.protocol.codes import SUBPROTOCOL
from tests.benchmarks.latency import begin, fresh_answer
from tests.support.client import RespondentClient, key
from tests.support.process import ServerProcess

TURN_EVERY_S = 20.0
LIMIT_MS = 150.0
SETTLE_S = 2.0
MODERATOR_TOKEN = "watchers" * 4


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    interviews: int
    watchers: int
    rounds: int
    turns_per_round: int
    turn_every_s: float


FULL = Size(interviews=100, watchers=50, rounds=3, turns_per_round=2, turn_every_s=TURN_EVERY_S)
SHORT = Size(interviews=6, watchers=4, rounds=1, turns_per_round=1, turn_every_s=4.0)


@dataclass
class Figures:
    """What was measured, in milliseconds."""

    receipts: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    watched: list[float] = field(default_factory=list)
    snapshots: int = 0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values lies; NaN without values."""
    if not values:
        return float("nan")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


# Watchers, in a process of their own


@dataclass
class Seen:
    """What the watchers of one process have seen: milliseconds from commit to receipt, and snapshots."""

    receipts: list[float] = field(default_factory=list)
    snapshots: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)


async def _watch(url: str, session_id: str, seen: Seen) -> None:
    """One watcher, with the overview and one interview."""
    address = "ws" + url.removeprefix("http") + "/ws/moderator"
    async with connect(address, subprotocols=[Subprotocol(SUBPROTOCOL)], max_size=None, proxy=None) as socket:
        for message in (
            {"type": "hello", "token": MODERATOR_TOKEN},
            {"type": "overview"},
            {"type": "subscribe", "session_id": session_id},
        ):
            await socket.send(json.dumps(message))
        live = False
        while True:
            frame: dict[str, Any] = json.loads(await socket.recv())
            now = time.time()
            match frame["type"]:
                case "snapshot":
                    seen.snapshots += 1
                    seen.changed.set()
                    live = False
                case "turn.started":
                    live = True
                case "latency" if live:
                    seen.receipts.append((now - datetime.fromisoformat(frame["committed_at"]).timestamp()) * 1000)


async def _watch_all(url: str, watched: list[str], line: Connection) -> None:
    seen = Seen()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_watch(url, session_id, seen)) for session_id in watched]
        while seen.snapshots < len(watched):
            seen.changed.clear()
            await seen.changed.wait()
        line.send("ready")
        await asyncio.to_thread(line.recv)
        for task in tasks:
            task.cancel()
    line.send((seen.receipts, seen.snapshots))


def _watching(url: str, watched: list[str], line: Connection) -> None:
    asyncio.run(_watch_all(url, watched, line))


# Respondents


async def _turn(client: RespondentClient) -> float | None:
    """One turn; milliseconds to the first piece of the question, None once the interview is over."""
    turn_key = key()
    started = time.perf_counter()
    await client.answer(fresh_answer(), turn_key)
    first: float | None = None
    while True:
        frame = await client.next(60.0)
        if frame["type"] == "question.delta" and first is None:
            first = (time.perf_counter() - started) * 1000
        if frame["type"] == "error":
            return None
        if frame["type"] == "turn.completed" and frame["turn_key"] == turn_key:
            return first


async def _round(clients: Sequence[RespondentClient], size: Size) -> list[float]:
    """So many turns of every interview, spread evenly over the time between two turns."""

    async def one(number: int, client: RespondentClient) -> list[float]:
        took: list[float] = []
        await asyncio.sleep(size.turn_every_s * number / len(clients))
        for _ in range(size.turns_per_round):
            due = time.perf_counter() + size.turn_every_s
            ms = await _turn(client)
            if ms is None:
                break
            took.append(ms)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        return took

    found = await asyncio.gather(*(one(number, client) for number, client in enumerate(clients)))
    return [ms for took in found for ms in took]


async def _interviews(url: str, http: httpx.AsyncClient, count: int) -> tuple[list[RespondentClient], list[str]]:
    clients = [await begin(url, http) for _ in range(count)]
    return clients, [next(f["session_id"] for f in client.seen if f["type"] == "ready") for client in clients]


async def measure(size: Size, data: Path) -> Figures:
    """Rounds without and with watchers, in turns."""
    figures = Figures()
    environment = {
        "ASKWELL_MODERATOR_TOKEN": MODERATOR_TOKEN,
        "ASKWELL_MAX_SESSIONS": "5000",
        "ASKWELL_SESSIONS_PER_ADDRESS": "5000",
        "ASKWELL_CONNECTIONS_PER_ADDRESS": "5000",
        "ASKWELL_REQUESTS_PER_S": "1000",
        "ASKWELL_REQUEST_BURST": "5000",
        "ASKWELL_LOG_LEVEL": "warning",
    }
    context = multiprocessing.get_context("spawn")
    async with (
        ServerProcess(data, environment) as process,
        httpx.AsyncClient(base_url=process.url, trust_env=False, timeout=60) as http,
    ):
        clients, ids = await _interviews(process.url, http, size.interviews)
        await asyncio.gather(*(_turn(client) for client in clients[: size.watchers]))
        for number in range(size.rounds * 2):
            with_watchers = number % 2 == 1
            if not with_watchers:
                figures.alone += await _round(clients, size)
                continue
            here, there = context.Pipe()
            watched = [ids[place % len(ids)] for place in range(size.watchers)]
            watching = context.Process(target=_watching, args=(process.url, watched, there), daemon=True)
            watching.start()
            await asyncio.to_thread(here.recv)
            figures.watched += await _round(clients, size)
            await asyncio.sleep(SETTLE_S)
            here.send("enough")
            receipts, snapshots = await asyncio.to_thread(here.recv)
            figures.receipts += receipts
            figures.snapshots += snapshots
            await asyncio.to_thread(watching.join, 10.0)
        for client in clients:
            await client.__aexit__(None, None, None)
    return figures


async def run(*, short: bool = False) -> None:
    """Print how soon watchers see a commit, and first tokens with and without them."""
    random.seed(13)
    size = SHORT if short else FULL
    with tempfile.TemporaryDirectory(prefix="askwell-bench-") as folder:
        figures = await measure(size, Path(folder) / "data")
    print(
        f"\n## {size.watchers} watchers on {size.interviews} interviews, one turn per {size.turn_every_s:g} s each, "
        "every watcher with the overview and one interview\n"
    )
    print("| | count | median | p95 | worst |")
    print("|---|---|---|---|---|")
    lines = {
        "commit to receipt at the watcher, ms": figures.receipts,
        "first token without watchers, ms": figures.alone,
        "first token with watchers, ms": figures.watched,
    }
    for name, values in lines.items():
        if values:
            median, p95 = statistics.median(values), percentile(values, 0.95)
            print(f"| {name} | {len(values)} | {median:.0f} | {p95:.0f} | {max(values):.0f} |")
    print(f"\nSnapshots: {figures.snapshots}; more than watchers and rounds mean that some were too slow.")
    met = percentile(figures.receipts, 0.95) <= LIMIT_MS
    print(f"p95 from commit to receipt ≤ {LIMIT_MS:g} ms: {'yes' if met else 'NO'}")
    sys.stdout.flush()
