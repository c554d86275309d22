"""What a stranger's connection costs somebody who is being interviewed, and the server's memory."""

from __future__ import annotations

import asyncio
import contextlib
import math
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from websockets.exceptions import ConnectionClosed

from tests.benchmarks.latency import begin, fresh_answer, rss_mb
from tests.support.client import key
from tests.support.process import ServerProcess
from tests.support.raw_socket import CONT, PING, PONG, TEXT, RawSocket, frame

ATTACK_S = 10.0
BYTES_PER_S = 1_250_000
"""Ten megabits."""
PIECE = 12_500
SILENT = 1500
PATIENCE_S = 60.0
"""How long the bystander waits for anything."""

Attack = Callable[[str, float], Coroutine[Any, Any, None]]


async def flood(url: str, until: float, small: bytes, first: bytes = b"") -> None:
    """Small frames at ten megabits per second, on a new socket whenever the server ends one."""
    piece = small * (PIECE // len(small))
    while time.monotonic() < until:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            async with RawSocket(url) as socket:
                await socket.send(first)
                while time.monotonic() < until:
                    await socket.send(piece)
                    await asyncio.sleep(PIECE / BYTES_PER_S)
        await asyncio.sleep(0.01)


async def continuations(url: str, until: float) -> None:
    """Empty continuations."""
    await flood(url, until, frame(CONT, fin=False), frame(TEXT, b"{", fin=False))


async def pings(url: str, until: float) -> None:
    """Empty pings."""
    await flood(url, until, frame(PING))


async def pongs(url: str, until: float) -> None:
    """Empty pongs."""
    await flood(url, until, frame(PONG))


async def unread(url: str, until: float) -> None:
    """Long pings whose pongs are never read."""
    while time.monotonic() < until:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            async with RawSocket(url, receive_buffer=1024) as socket:
                while time.monotonic() < until:
                    async with asyncio.timeout(max(0.1, until - time.monotonic())):
                        await socket.send(frame(PING, bytes(125)) * 500)
        await asyncio.sleep(0.01)


async def long_messages(url: str, until: float) -> None:
    """Messages that are too long, as fast as they are taken."""
    message = frame(TEXT, b'{"type": "answer", "text": "' + b"x" * 200_000 + b'"}')
    while time.monotonic() < until:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            async with RawSocket(url) as socket:
                while time.monotonic() < until:
                    await socket.send(message)
        await asyncio.sleep(0.01)


async def endless_heads(url: str, until: float) -> None:
    """Four requests whose heads never end."""
    place = urlsplit(url)

    async def one() -> None:
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(place.hostname, place.port)
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
                while time.monotonic() < until:
                    writer.write(b"".join(b"x%d: %s\r\n" % (n, b"y" * 200) for n in range(400)))
                    await writer.drain()
                    await asyncio.sleep(0.02)
            await asyncio.sleep(0.01)

    await asyncio.gather(*(one() for _ in range(4)))


async def silent_sockets(url: str, until: float) -> None:
    """Connections that say nothing."""
    place = urlsplit(url)
    held: list[asyncio.StreamWriter] = []
    with contextlib.suppress(OSError):
        for number in range(SILENT):
            source = (f"127.0.0.{2 + number // 500}", 0)
            held.append((await asyncio.open_connection(place.hostname, place.port, local_addr=source))[1])
    await asyncio.sleep(max(0.0, until - time.monotonic()))
    for writer in held:
        writer.transport.abort()


async def slow_bodies(url: str, until: float) -> None:
    """Two hundred requests whose bodies come a byte a second."""
    place = urlsplit(url)

    async def one() -> None:
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(place.hostname, place.port)
                writer.write(
                    b"POST /api/sessions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
                    b"Content-Length: 200000\r\n\r\n" % place.netloc.encode()
                )
                while time.monotonic() < until:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(1)

    await asyncio.gather(*(one() for _ in range(200)))


async def nobody(url: str, until: float) -> None:
    """No attack."""
    await asyncio.sleep(max(0.0, until - time.monotonic()))


ATTACKS: tuple[Attack, ...] = (
    nobody,
    continuations,
    pings,
    pongs,
    unread,
    long_messages,
    endless_heads,
    slow_bodies,
    silent_sockets,
)


def strike(name: str, url: str, seconds: float) -> None:
    """Run one attack, in a process of its own."""
    attack = next(one for one in ATTACKS if one.__name__ == name)
    asyncio.run(attack(url, time.monotonic() + seconds))


async def watched(pid: int, over: asyncio.Event) -> float:
    """The most memory that the server had, MB."""
    most = 0.0
    while not over.is_set():
        most = max(most, rss_mb(pid))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                await over.wait()
    return most


async def bystander(url: str, until: float) -> list[float]:
    """Milliseconds to the first piece of each question of somebody who answers all the time; a stall counts whole."""
    took: list[float] = []
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:
        client = await begin(url, http)
        client.deadline_s = PATIENCE_S
        while time.monotonic() < until:
            began, turn_key = time.perf_counter(), key()
            try:
                await client.answer(fresh_answer(), turn_key)
                await client.until("question.delta")
                took.append((time.perf_counter() - began) * 1000)
                last = await client.until("turn.completed", turn_key=turn_key)
            except (TimeoutError, ConnectionClosed):
                took.append(math.inf)
                return took
            if not last["result"]["should_continue"]:
                await client.__aexit__(None, None, None)
                client = await begin(url, http)
                client.deadline_s = PATIENCE_S
            await asyncio.sleep(0.05)
        await client.__aexit__(None, None, None)
    return took


async def newcomer(url: str) -> str:
    """What somebody is told who opens the page now."""
    try:
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=5) as http:
            return str((await http.get("/")).status_code)
    except httpx.HTTPError as exc:
        return type(exc).__name__


async def run() -> None:
    """Print the table."""
    random.seed(11)
    print("\n## Attacks by somebody unknown, a bystander's first token in ms, the server's memory in MB\n")
    print("| attack | turns | median | p99 | worst | memory before | most | a new client meanwhile |")
    print("|---|---|---|---|---|---|---|---|")
    spawn = multiprocessing.get_context("spawn")
    for attack in ATTACKS:
        with tempfile.TemporaryDirectory(prefix="askwell-attack-") as folder:
            environment = {"ASKWELL_LOG_LEVEL": "error", "ASKWELL_FORWARDED_ALLOW_IPS": "192.0.2.1"}
            async with ServerProcess(Path(folder) / "data", environment) as process:
                await bystander(process.url, time.monotonic() + 2)
                before, over = rss_mb(process.pid), asyncio.Event()
                attacker = spawn.Process(
                    target=strike, args=(attack.__name__, process.url.replace("http", "ws", 1), ATTACK_S + 2)
                )
                attacker.start()
                await asyncio.sleep(2)
                async with asyncio.TaskGroup() as tasks:
                    memory = tasks.create_task(watched(process.pid, over))
                    asked = tasks.create_task(newcomer(process.url))
                    took = sorted(await bystander(process.url, time.monotonic() + ATTACK_S))
                    over.set()
                most, told = memory.result(), asked.result()
                await asyncio.to_thread(attacker.join)
        took = took or [math.inf]
        p99 = took[min(len(took) - 1, int(len(took) * 0.99))]
        name = (attack.__doc__ or "").rstrip(".")
        print(
            f"| {name} | {sum(map(math.isfinite, took))} | {statistics.median(took):.0f} | {p99:.0f} | {took[-1]:.0f} "
            f"| {before:.0f} | {most:.0f} | {told} |",
            flush=True,
        )
