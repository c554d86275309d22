"""Ten thousand idle connections and a thousand enrolments a minute against a real server: what people notice of it.

All traffic stays on the loopback interface, from many addresses of it, and is bounded in number and time. Settings in
the environment (`ASKWELL_…`) are the server's.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import itertools
import multiprocessing
import os
import re
import resource
import secrets
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from server.protocol.codes import SUBPROTOCOL
from tests.benchmarks.latency import begin, fresh_answer, rss_mb
from tests.support.client import RespondentClient, key
from tests.support.process import ServerProcess

TURN_EVERY_S = 5.0
BEFORE_S = 60.0
OPENED_PER_S = 400
SAMPLE_EVERY_S = 2.0
MODERATOR_TOKEN = "connections-of-a-benchmark-0123456789"
_WORDS = re.compile(rb'"(?:message|detail)":\s*"([^"]*)"')
_CLOSE = 0x88


def addresses(prefix: str, count: int) -> Iterator[str]:
    """Loopback addresses, again and again."""
    return itertools.cycle(f"{prefix}.{number // 250}.{number % 250 + 1}" for number in range(count))


@dataclass
class Idle:
    """Connections that say nothing: every other one is a socket that does not greet.

    Args:
        host, port: of the server.
        count: connections at the same time.
        sources: how many addresses they come from.
    """

    host: str
    port: int
    count: int
    sources: int
    opened: int = 0
    alive: int = 0
    most: int = 0
    ends: Counter[str] = field(default_factory=Counter)

    async def run(self, told: Connection) -> None:
        """Keep so many open until told to end; what was closed is opened again, at a bounded rate."""
        loop, ended, sources = asyncio.get_running_loop(), asyncio.Event(), addresses("127.1", self.sources)
        loop.add_reader(told.fileno(), ended.set)
        async with asyncio.TaskGroup() as tasks:
            while not ended.is_set():
                wanted = min(self.count - self.alive, OPENED_PER_S // 10)
                for _ in range(wanted):
                    self.opened += 1
                    self.alive += 1
                    tasks.create_task(self._one(next(sources), ended, greets=self.opened % 2 == 0))
                self.most = max(self.most, self.alive)
                await asyncio.sleep(0.1)
        loop.remove_reader(told.fileno())

    async def _one(self, source: str, ended: asyncio.Event, *, greets: bool) -> None:
        kind, began = "socket" if greets else "plain connection", time.monotonic()
        try:
            reader, writer = await asyncio.open_connection(self.host, self.port, local_addr=(source, 0))
        except OSError as exc:
            self.ends[f"{kind}: not opened, {exc.strerror or exc}"] += 1
            self.alive -= 1
            return
        try:
            if greets:
                writer.write(self._upgrade())
            async with asyncio.TaskGroup() as tasks:
                reading = tasks.create_task(self._read(reader))
                ending = tasks.create_task(ended.wait())
                await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
                reading.cancel()
                ending.cancel()
            if not reading.cancelled():
                took_s = 5 * round((time.monotonic() - began) / 5)
                self.ends[f"{kind}: {reading.result()} (after about {took_s} s)"] += 1
        finally:
            self.alive -= 1
            writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> str:
        """What the server said before it closed the connection."""
        said = b""
        try:
            while piece := await reader.read(4096):
                said = (said + piece)[-8192:]
        except OSError as exc:
            return f"broken, {exc.strerror or exc}"
        status = said.split(b"\r\n", 1)[0].decode(errors="replace") if said.startswith(b"HTTP/") else "nothing said"
        words = _WORDS.findall(said)
        told = f", “{words[-1].decode(errors='replace')}”" if words else ""
        close = said.rfind(bytes([_CLOSE]))
        if " 101 " in status and close >= 0 and len(said) >= close + 4:
            return f"closed with {int.from_bytes(said[close + 2 : close + 4])}{told}"
        return f"{status}{told}"

    def _upgrade(self) -> bytes:
        number = base64.b64encode(secrets.token_bytes(16)).decode()
        head = (
            f"GET /ws/respondent HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {number}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
        )
        return head.encode()


def hold_idle(url: str, count: int, sources: int, told: Connection) -> None:
    """In a process of its own: hold connections until something comes through `told`; the figures go back."""
    parts = urlsplit(url)
    idle = Idle(parts.hostname or "127.0.0.1", parts.port or 80, count, sources)
    asyncio.run(idle.run(told))
    told.send((idle.opened, idle.most, dict(idle.ends)))


async def enrol(url: str, per_minute: int, seconds: float, sources: int) -> Counter[str]:
    """Begin sessions at a steady rate that nobody ever goes on with; what was answered, by status and words."""
    found: Counter[str] = Counter()
    doors = [
        httpx.AsyncClient(
            base_url=url, trust_env=False, timeout=30, transport=httpx.AsyncHTTPTransport(local_address=source)
        )
        for source in itertools.islice(addresses("127.2", sources), min(sources, 50))
    ]

    async def one(http: httpx.AsyncClient) -> None:
        began = time.monotonic()
        try:
            answer = await http.post("/api/sessions", json={"concept_id": "coffee_mec"})
        except httpx.HTTPError as exc:
            found[type(exc).__name__] += 1
            return
        words = "" if answer.status_code == 201 else f" “{answer.json().get('detail', '')}”"
        slow = " after more than 1 s" if time.monotonic() - began > 1 else ""
        found[f"{answer.status_code}{words}{slow}"] += 1

    end, every_s = time.monotonic() + seconds, 60.0 / per_minute
    async with asyncio.TaskGroup() as tasks:
        for number in itertools.count():
            if time.monotonic() >= end:
                break
            tasks.create_task(one(doors[number % len(doors)]))
            await asyncio.sleep(every_s)
    for http in doors:
        await http.aclose()
    return found


@dataclass
class Figures:
    """What people in conversation noticed, and what the server needed."""

    before_ms: list[float] = field(default_factory=list)
    during_ms: list[float] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    rss_mb: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)


async def talk(
    url: str, client: RespondentClient, figures: Figures, loaded: asyncio.Event, ended: asyncio.Event
) -> None:
    """Answer at a steady pace, one interview after the other; note how long the first piece of each question took."""
    while not ended.is_set():
        due, during = time.perf_counter() + TURN_EVERY_S, loaded.is_set()
        began, turn_key = time.perf_counter(), key()
        try:
            await client.answer(fresh_answer(), turn_key)
            await client.until("question.delta")
            took_ms = (time.perf_counter() - began) * 1000
            last = await client.until("turn.completed", turn_key=turn_key)
            if not last["result"]["should_continue"]:
                async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:
                    client = await begin(url, http)
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is a figure of the report
            figures.problems[type(exc).__name__] += 1
            return
        (figures.during_ms if during else figures.before_ms).append(took_ms)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))


async def sample(pid: int, figures: Figures) -> None:
    """Look at the server's memory and file descriptors again and again."""
    while True:
        figures.rss_mb.append(rss_mb(pid))
        figures.descriptors.append(len(os.listdir(f"/proc/{pid}/fd")))
        await asyncio.sleep(SAMPLE_EVERY_S)


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """How much of everything."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks connections", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    parser.add_argument("--idle", type=int, default=10_000, help="idle connections (10000)")
    parser.add_argument("--enrolments", type=int, default=1000, help="enrolments a minute (1000)")
    parser.add_argument("--sources", type=int, default=500, help="addresses that idle connections come from (500)")
    parser.add_argument("--talkers", type=int, default=5, help="respondents in conversation (5)")
    return parser.parse_args(list(arguments))


async def run(arguments: Sequence[str]) -> None:
    """Print what was refused, what people noticed, and what the server needed."""
    chosen = options(arguments)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    given = {name: value for name, value in os.environ.items() if name.startswith("ASKWELL_")}
    environment = {"ASKWELL_LOG_LEVEL": "warning", "ASKWELL_MODERATOR_TOKEN": MODERATOR_TOKEN, **given}
    print(f"\n## {chosen.idle} idle connections, {chosen.enrolments} enrolments a minute, {chosen.minutes:g} min\n")
    print(f"Settings besides the usual ones: {', '.join(f'{k}={v}' for k, v in sorted(given.items())) or 'none'}")
    print(f"File descriptors allowed to each process: {most}\n")
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="askwell-bench-") as folder:
        async with ServerProcess(Path(folder) / "data", environment) as server:
            held, enrolled = await burden(server, chosen, figures)
    print_figures(figures, held, enrolled)


async def burden(
    server: ServerProcess, chosen: argparse.Namespace, figures: Figures
) -> tuple[tuple[int, int, dict[str, int]], Counter[str]]:
    """People talk, first alone, then while everything else goes on; what became of the rest."""
    loaded, ended = asyncio.Event(), asyncio.Event()
    here, there = multiprocessing.Pipe()
    arguments = (server.url, chosen.idle, chosen.sources, there)
    holder = multiprocessing.get_context("spawn").Process(target=hold_idle, args=arguments, daemon=True)
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=60) as http:
        clients = [await begin(server.url, http) for _ in range(chosen.talkers)]
    async with asyncio.TaskGroup() as tasks:
        sampling = tasks.create_task(sample(server.pid, figures))
        talking = [tasks.create_task(talk(server.url, client, figures, loaded, ended)) for client in clients]
        await asyncio.sleep(min(BEFORE_S, chosen.minutes * 60))
        quiet = len(figures.rss_mb)
        loaded.set()
        holder.start()
        enrolled = await enrol(server.url, chosen.enrolments, chosen.minutes * 60, chosen.sources)
        ended.set()
        await asyncio.wait(talking)
        sampling.cancel()
    here.send("end")
    held: tuple[int, int, dict[str, int]] = await asyncio.to_thread(here.recv)
    holder.join(10)
    print(f"Memory before {figures.rss_mb[quiet - 1]:.0f} MB, most {max(figures.rss_mb):.0f} MB, "
          f"at the end {figures.rss_mb[-1]:.0f} MB")  # fmt: skip
    print(f"File descriptors before {figures.descriptors[quiet - 1]}, most {max(figures.descriptors)}, "
          f"at the end {figures.descriptors[-1]}\n")  # fmt: skip
    for client in clients:
        await client.__aexit__(None, None, None)
    return held, enrolled


def print_figures(figures: Figures, held: tuple[int, int, dict[str, int]], enrolled: Counter[str]) -> None:
    """The tables of the report."""
    print("| first token, ms | turns | p50 | p99 | worst |\n|---|---|---|---|---|")
    for name, took in (("before", figures.before_ms), ("during", figures.during_ms)):
        took.sort()
        if took:
            p99 = took[min(len(took) - 1, int(len(took) * 0.99))]
            print(f"| {name} | {len(took)} | {statistics.median(took):.0f} | {p99:.0f} | {took[-1]:.0f} |")
    print(f"\nConversations that broke off: {sum(figures.problems.values())} {dict(figures.problems) or ''}")
    opened, most, ends = held
    print(f"\nIdle connections: {opened} opened, at most {most} at the same time; how they ended:\n")
    for words, count in Counter(ends).most_common():
        print(f"- {count} × {words}")
    print("\nEnrolments:\n")
    for words, count in enrolled.most_common():
        print(f"- {count} × {words}")
