"""What a turn costs the server: CPU until it is completed and after that, statements, commands; and what idling costs.

With another checkout to compare with, both servers run beside one another and are asked in turn: what else the machine
does meanwhile meets both. Needs Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import redis

from tests.benchmarks.latency import begin, fresh_answer
from tests.support.client import RespondentClient, key
from tests.support.process import ServerProcess

ROUNDS = 24
WARM = 3
AFTER_S = 1.5
"""Time after a turn in which what it left to do is done."""
IDLE_S = 8.0
INTERVIEW = 12
"""Turns of one interview, then the next one begins."""
COUNTED = Path(__file__).with_name("counted.py")


def cpu_ms(pid: int) -> float:
    """CPU time of all threads of a process so far."""
    spent = 0
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            spent += int(task.read_text().split()[0])
        except OSError:
            continue
    return spent / 1e6


def valkey_of(pid: int) -> int:
    """The process of the embedded Valkey."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            if int(rest.split()[1]) == pid and "valkey" in name:
                return int(path.parent.name)
        except OSError:
            continue
    raise RuntimeError("the server has no embedded Valkey")


def socket_of(pid: int) -> str:
    """The Unix socket that a process listens on."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(link)
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if len(fields) > 7 and fields[6] in inodes and fields[7].startswith("/"):
            return fields[7]
    raise RuntimeError("the embedded Valkey listens nowhere")


@dataclass
class Side:
    """One server that is measured, and what was measured."""

    name: str
    process: ServerProcess
    hot: redis.Redis
    told: Path
    http: httpx.AsyncClient
    client: RespondentClient | None = None
    turns: int = 0
    until_ms: list[float] = field(default_factory=list)
    after_ms: list[float] = field(default_factory=list)
    commands: list[int] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)
    idle_commands: float = 0.0
    idle_ms: float = 0.0

    def counts(self) -> tuple[int, int]:
        """Commands and statements so far; commands of scripts count, each asking for this counts as one."""
        stats = self.hot.info("commandstats")
        assert isinstance(stats, dict)
        own = sum(value["calls"] for name, value in stats.items() if name not in ("cmdstat_info", "cmdstat_ping"))
        return own, self.told.stat().st_size

    async def idle(self) -> None:
        """Measure it while nobody does anything."""
        cpu, (commands, _) = cpu_ms(self.process.pid), self.counts()
        await asyncio.sleep(IDLE_S)
        self.idle_ms = (cpu_ms(self.process.pid) - cpu) / IDLE_S
        self.idle_commands = (self.counts()[0] - commands) / IDLE_S

    async def turn(self, *, keep: bool) -> None:
        """One turn, and what follows it."""
        if self.client is None or self.turns % INTERVIEW == 0:
            if self.client is not None:
                await self.client.__aexit__(None, None, None)
            self.client = await begin(self.process.url, self.http)
            await asyncio.sleep(AFTER_S)
        self.turns += 1
        turn_key = key()
        commands, statements = self.counts()
        cpu = cpu_ms(self.process.pid)
        await self.client.answer(fresh_answer(), turn_key)
        last = await self.client.until("turn.completed", turn_key=turn_key)
        until = cpu_ms(self.process.pid)
        await asyncio.sleep(AFTER_S)
        after = cpu_ms(self.process.pid)
        now = self.counts()
        if not last["result"]["should_continue"]:
            self.turns = 0
        if keep:
            self.until_ms.append(until - cpu)
            self.after_ms.append(after - until - self.idle_ms * AFTER_S)
            self.commands.append(now[0] - commands)
            self.statements.append(now[1] - statements)


@asynccontextmanager
async def side(name: str, checkout: Path, folder: Path) -> AsyncIterator[Side]:
    """A server of that checkout."""
    told = folder / f"{name}.told"
    told.touch()
    environment = {"ASKWELL_LOG_LEVEL": "warning", "PYTHONPATH": str(checkout)}
    command = (sys.executable, str(COUNTED), str(told), "serve")
    async with ServerProcess(folder / name, environment, command=command) as process:
        path = socket_of(valkey_of(process.pid))
        async with httpx.AsyncClient(base_url=process.url, trust_env=False, timeout=60) as http:
            yield Side(name, process, redis.Redis(unix_socket_path=path), told, http)


async def run(arguments: Sequence[str]) -> None:
    """Print what a turn costs, beside what it costs another checkout where one is given."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks costs")
    parser.add_argument("--against", type=Path, help="another checkout of askwell to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns that are measured")
    given = parser.parse_args(arguments)
    random.seed(7)
    # What this process was told of numpy's threads is not for servers of other checkouts.
    os.environ.pop("OPENBLAS_NUM_THREADS", None)
    own = {"this": Path(__file__).parents[2]}
    checkouts = own if given.against is None else {"before": given.against.resolve(), **own}
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="askwell-bench-")))
        sides = [await stack.enter_async_context(side(name, path, folder)) for name, path in checkouts.items()]
        for one in sides:
            await one.turn(keep=False)
            await one.idle()
        for number in range(-WARM, given.rounds):
            for one in sides:
                await one.turn(keep=number >= 0)
        for one in sides:
            assert one.client is not None
            await one.client.__aexit__(None, None, None)
    report(sides)


def report(sides: Sequence[Side]) -> None:
    """Print the table, with the ratio of the last column to the first where there are two."""
    print("\n## What a turn costs, offline provider, one session at a time; medians per turn\n")
    both = len(sides) > 1
    print("| | " + " | ".join(one.name for one in sides) + (" | ratio |" if both else " |"))
    print("|---" * (len(sides) + 1 + both) + "|")
    rows = {
        "CPU until it is completed, ms": [statistics.median(one.until_ms) for one in sides],
        f"CPU in {AFTER_S} s after that, ms": [statistics.median(one.after_ms) for one in sides],
        "the same, worst of ten": [sorted(one.after_ms)[int(len(one.after_ms) * 0.9)] for one in sides],
        "statements": [statistics.median(one.statements) for one in sides],
        f"commands until {AFTER_S} s after it": [statistics.median(one.commands) for one in sides],
        "commands per second when idle": [one.idle_commands for one in sides],
        "CPU per second when idle, ms": [one.idle_ms for one in sides],
    }
    for name, values in rows.items():
        cells = [f"{value:.1f}" for value in values] + ([f"{values[-1] / values[0]:.2f}×"] if both else [])
        print(f"| {name} | " + " | ".join(cells) + " |")
