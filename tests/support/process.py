"""`askwell serve` as a process of its own, with a data directory of its own."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import httpx

from server.language import KEPT_NAME
from tests.support.patience import PATIENCE_S


def peak_bytes(pid: int | None = None) -> int:
    """The most memory that a process, this one if not given, has had at once (Linux)."""
    status = Path(f"/proc/{pid or 'self'}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


def decoding_processes() -> list[int]:
    """The processes of this one that decode recordings, and are not gone (Linux)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            state = path.with_name("stat").read_text().rpartition(")")[2].split()
            if int(state[1]) == os.getpid() and state[0] != "Z" and b"audio.decode_worker" in path.read_bytes():
                found.append(int(path.parent.name))
        except (OSError, IndexError):
            continue
    return found


START_S = 120.0
WARM = Path(tempfile.gettempdir()) / f"askwell-tests-{os.getuid()}"
"""What models made of methodologies at earlier starts, by the digest of what it was made of."""


def warm(data: Path) -> None:
    """Give a new data directory what earlier starts have computed, which takes three seconds each time."""
    found = list(WARM.glob("*.npz"))
    if found and not (data / KEPT_NAME).exists():
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        (data / KEPT_NAME).mkdir(mode=0o700)
        for kept in found:
            shutil.copy(kept, data / KEPT_NAME)


def keep_warm(data: Path) -> None:
    """Keep for later starts what this one has computed."""
    for made in (data / KEPT_NAME).glob("*.npz"):
        kept = WARM / made.name
        if not kept.exists():
            WARM.mkdir(mode=0o700, exist_ok=True)
            beside = kept.with_suffix(f".{os.getpid()}")
            shutil.copy(made, beside)
            beside.replace(kept)


@dataclass
class ServerProcess:
    """Started by `async with`, or by hand with `start`; can be killed and started again on the same data."""

    data: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = 0
    command: tuple[str, ...] = (sys.executable, "-m", "server.cli", "serve")
    end_s: float = PATIENCE_S
    url: str = ""
    lines: list[str] = field(default_factory=list)
    _process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start, and wait until it is ready."""
        warm(self.data)
        plain = {k: v for k, v in os.environ.items() if not k.startswith("ASKWELL_")}
        self._process = await asyncio.create_subprocess_exec(
            *self.command, "--data", str(self.data), "--port", str(self.port),
            stdout=self._log(), stderr=asyncio.subprocess.STDOUT,
            env={**plain, "PYTHONUNBUFFERED": "1", **self.environment},
        )  # fmt: skip
        self.url = ""
        async with asyncio.timeout(START_S), httpx.AsyncClient(trust_env=False) as http:
            while True:
                self._read()
                if self._process.returncode is not None:
                    raise RuntimeError("the server ended at its start:\n" + "\n".join(self.lines[-30:]))
                if self.url:
                    try:
                        if (await http.get(self.url + "/readyz")).status_code == 200:
                            keep_warm(self.data)
                            return
                    except httpx.HTTPError:
                        pass
                await asyncio.sleep(0.05)

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """How it ended, None while it runs."""
        assert self._process is not None
        return self._process.returncode

    def log(self) -> str:
        """All that it has printed so far."""
        return self._log_path.read_text(errors="replace")

    async def kill(self) -> None:
        """End it without a goodbye."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        """Ask it to end."""
        await self._end(signal.SIGTERM)

    async def _end(self, with_signal: signal.Signals) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(with_signal)
        async with asyncio.timeout(self.end_s):
            await self._process.wait()
        self._read()

    @property
    def _log_path(self) -> Path:
        return self.data.with_suffix(".log")

    def _log(self) -> BinaryIO:
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        return self._log_path.open("wb")

    def _read(self) -> None:
        """What the process has printed so far."""
        self.lines = self._log_path.read_text(errors="replace").splitlines()
        found = re.search(r"(?:is listening on|^READY) (http://[\w.\[\]:]+:\d+)", "\n".join(self.lines), re.MULTILINE)
        if found and not self.url:
            self.url = found[1]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
