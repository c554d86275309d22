"""Measures what a process holds, before and after something, so that what it does not give back is found.

Counted are memory, file descriptors, threads, child processes, asyncio tasks, files, and keys of hot storage that
nothing will ever remove. Where there is no `/proc`, descriptors, memory and child processes are not.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.hot.redis import HotStore
from tests.support.patience import PATIENCE_S
from tests.support.redis_keys import leaked_keys

PROC: Final = Path("/proc")
WORKERS: Final = re.compile(r"asyncio_\d+|AnyIO worker thread|ThreadPoolExecutor-\d+_\d+|pytest_timeout.*")
"""Threads of pools, which stay for the next piece of work and end with their loop or process."""
SETTLE_S: Final = PATIENCE_S

Kind = str
Allowance = Mapping[Kind, int]
STRICT: Final[Allowance] = {"memory_mb": 64}
"""How much more of each kind may be there afterwards; nothing of what is not named."""


@dataclass(frozen=True)
class Reading:
    """What is held: by kind, how many of each name."""

    held: Mapping[Kind, Counter[str]]

    def growth(self, before: Reading, allowed: Allowance) -> list[str]:
        """What is held more than before and more than allowed, in words."""
        found = []
        for kind, names in self.held.items():
            more = names - before.held.get(kind, Counter())
            total = sum(names.values()) - sum(before.held.get(kind, Counter()).values())
            if total > allowed.get(kind, 0):
                shown = ", ".join(f"{name} ×{count}" for name, count in more.most_common(5))
                found.append(f"{kind}: {total} more ({shown})")
        return found


@dataclass(frozen=True)
class Meter:
    """Reads what a process holds.

    Args:
        pid: of another process; this one if not given. Tasks are read of this one only.
        folders: whose files are counted.
        store: whose keys are counted.
    """

    pid: int | None = None
    folders: Sequence[Path] = ()
    store: HotStore | None = None

    async def read(self) -> Reading:
        """What is held now."""
        held: dict[Kind, Counter[str]] = {"files": Counter(self._files())}
        if self.pid is None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            held["tasks"] = Counter(getattr(task.get_coro(), "__qualname__", task.get_name()) for task in tasks)
            names = (thread.name for thread in threading.enumerate())
            held["threads"] = Counter(name for name in names if not WORKERS.fullmatch(name))
        if PROC.is_dir():
            own = PROC / str(self.pid or os.getpid())
            held["memory_mb"] = Counter({"resident": _resident_mb(own)})
            held["descriptors"] = Counter(_descriptors(own))
            held["children"] = Counter(_children(self.pid or os.getpid()))
        if self.store is not None:
            held["keys"] = Counter(re.sub(r"[0-9a-f-]{36}", "ID", key) for key in await leaked_keys(self.store))
        return Reading(held)

    def _files(self) -> list[str]:
        return [path.name for folder in self.folders for path in folder.rglob("*") if path.is_file()]

    async def lost(self, before: Reading, allowed: Allowance = STRICT) -> list[str]:
        """What was not given back since a reading, after it had SETTLE_S to be."""
        found = (await self.read()).growth(before, allowed)
        try:
            async with asyncio.timeout(SETTLE_S):
                while found:
                    await asyncio.sleep(0.05)
                    found = (await self.read()).growth(before, allowed)
        except TimeoutError:
            pass
        return found


@asynccontextmanager
async def nothing_lost(meter: Meter, allowed: Allowance = STRICT) -> AsyncIterator[None]:
    """Fails if the block does not give back what it took; not if it fails by itself."""
    before = await meter.read()
    yield
    lost = await meter.lost(before, allowed)
    assert not lost, "not given back: " + "; ".join(lost)


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[Path]:
    """Let temporary files of this process be made in a folder of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    usual, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = usual


def _resident_mb(own: Path) -> int:
    lines = (own / "status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS"))


def _descriptors(own: Path) -> list[str]:
    """What each descriptor leads to; the number of a socket or pipe is left out."""
    found = []
    for entry in os.listdir(own / "fd"):
        try:
            found.append(re.sub(r":\[\d+\]", "", os.readlink(own / "fd" / entry)))
        except FileNotFoundError:
            continue  # closed meanwhile, as is the one that lists the folder
    return found


def _children(pid: int) -> list[str]:
    """Names of the processes whose parent it is, ended ones that nobody waited for too."""
    found = []
    for entry in PROC.iterdir():
        if entry.name.isdecimal():
            try:
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(rest.split()[1]) == pid:
                found.append(name)
    return found
