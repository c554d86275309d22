"""What a turn costs with one worker and with several, and how many people that makes per core.

Respondents in a process of their own answer as fast as they are asked. CPU time is that of the server with all its
processes, the embedded Valkey included, so that it says something also where others use the machine; turns per second
do not, unless nobody does.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.benchmarks.language_models import MODEL, double_process
from tests.benchmarks.latency import begin, fresh_answer
from tests.support.client import RespondentClient, key
from tests.support.process import ServerProcess

WORKERS = (1, 2)
SPEAKERS = 12
WARM_TURNS = 3
MEASURED_S = 25.0
TURN_EVERY_S = 30.0
USED = 0.7
"""Share of a core above which people begin to wait for one another."""


@dataclass(frozen=True)
class Cost:
    """Of one run: turns, their CPU time in ms each, seconds, and the memory of all processes in MB."""

    turns: int
    cpu_ms: float
    took_s: float
    memory_mb: float

    @property
    def people_per_core(self) -> float:
        """How many people with an answer every TURN_EVERY_S keep a core as busy as USED."""
        return USED * TURN_EVERY_S * 1000 / self.cpu_ms


def family(pid: int) -> list[int]:
    """A process and all that descend from it (Linux)."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
    found = [pid]
    for member in found:
        found += [child for child, parent in parents.items() if parent == member]
    return found


def cpu_s(pids: Sequence[int]) -> float:
    """CPU time that these processes have used, in seconds."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def memory_mb(pids: Sequence[int]) -> float:
    """Memory of these processes, what they share counted once, in MB."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


@asynccontextmanager
async def server(workers: int, double_url: str | None) -> AsyncIterator[ServerProcess]:
    """`askwell serve --workers`, offline or with the double as every language model."""
    environment = {
        "ASKWELL_WORKERS": str(workers), "ASKWELL_MAX_SESSIONS": "5000", "ASKWELL_SESSIONS_PER_ADDRESS": "5000",
        "ASKWELL_CONNECTIONS_PER_ADDRESS": "5000", "ASKWELL_REQUESTS_PER_S": "1000", "ASKWELL_REQUEST_BURST": "5000",
        "ASKWELL_LOG_LEVEL": "warning", "ASKWELL_WHISPER_MODEL": "none",
    }  # fmt: skip
    for role in ("EXTRACTION", "SCORING", "GENERATION") if double_url is not None else ():
        environment |= {
            f"ASKWELL_{role}_PROVIDER": "openai_compatible",
            f"ASKWELL_{role}_MODEL": MODEL,
            f"ASKWELL_{role}_BASE_URL": f"{double_url}/v1",
        }
    with tempfile.TemporaryDirectory(prefix="askwell-bench-") as folder:
        async with ServerProcess(Path(folder) / "data", environment) as process:
            yield process


async def talk(url: str, http: httpx.AsyncClient, until: float) -> int:
    """Answer until that moment, in one interview after another; how many turns that were."""
    turns = 0
    client = await begin(url, http)
    while time.monotonic() < until:
        if not await turn(client):
            await client.__aexit__(None, None, None)
            client = await begin(url, http)
        turns += 1
    await client.__aexit__(None, None, None)
    return turns


async def turn(client: RespondentClient) -> bool:
    """One turn; whether the interview goes on."""
    turn_key = await client.answer(fresh_answer(), key())
    client.deadline_s = 300.0
    last = await client.until("turn.completed", turn_key=turn_key)
    client.seen.clear()
    return bool(last["result"]["should_continue"])


async def load(url: str, speakers: int, seconds: float) -> None:
    """The process of the respondents: prints how many turns they had."""
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=300) as http:
        until = time.monotonic() + seconds
        turns = await asyncio.gather(*(talk(url, http, until) for _ in range(speakers)))
    print(json.dumps(sum(turns)))


async def loaded(url: str, speakers: int, seconds: float) -> int:
    """The turns of respondents in a process of their own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.benchmarks.workers", url, str(speakers), str(seconds),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"the load ended with {process.returncode}")
    return int(json.loads(out))


async def measured(workers: int, speakers: int, double_url: str | None) -> Cost:
    """One run."""
    async with server(workers, double_url) as process:
        await loaded(process.url, speakers, WARM_TURNS)
        members = family(process.pid)
        before, began = cpu_s(members), time.monotonic()
        turns = await loaded(process.url, speakers, MEASURED_S)
        took_s = time.monotonic() - began
        return Cost(turns, (cpu_s(members) - before) * 1000 / turns, took_s, memory_mb(members))


async def run() -> None:
    """Print what turns cost."""
    print("\n## Workers: CPU time per turn, all processes of the server, respondents who answer at once\n")
    print("| language | workers | turns | turns per s | CPU per turn, ms | people per core | memory, MB |")
    print("|---|---|---|---|---|---|---|")
    async with double_process() as (double_url, _):
        for name, url, speakers in (("offline", None, SPEAKERS), ("models", double_url, 8 * SPEAKERS)):
            for workers in WORKERS:
                cost = await measured(workers, speakers, url)
                print(
                    f"| {name} | {workers} | {cost.turns} | {cost.turns / cost.took_s:.1f} | {cost.cpu_ms:.0f} "
                    f"| {cost.people_per_core:.0f} | {cost.memory_mb:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    asyncio.run(load(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
