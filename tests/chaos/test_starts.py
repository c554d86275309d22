"""How long it takes from a kill −9 until the server with its default models is ready again."""

from __future__ import annotations

import json
import os
import resource
import signal
import statistics
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.process import ServerProcess

STARTS = int(os.environ.get("ASKWELL_STARTS", "5"))
FAR_TOO_LONG_S = 90.0
"""Longer than any machine should take; what it takes is printed."""


def cpu_s() -> float:
    """Seconds that processes which have ended have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.chaos
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("victims", ["the server", "the server and its Valkey"])
async def test_killed_server_is_ready_again(tmp_path: Path, victims: str) -> None:
    server = ServerProcess(tmp_path / "data")
    await server.start()
    took_s: list[float] = []
    computed_s: list[float] = []
    for _ in range(STARTS):
        valkey = json.loads((tmp_path / "data" / "valkey" / "child.json").read_text(encoding="utf-8"))["pid"]
        began, before = time.monotonic(), cpu_s()
        await server.kill()
        computed_s.append(cpu_s() - before)
        if victims != "the server":
            with suppress(ProcessLookupError):
                os.kill(valkey, signal.SIGKILL)
        await server.start()
        took_s.append(time.monotonic() - began)
    await server.stop()
    print(f"\nkilled: {victims}; until ready: {', '.join(f'{s:.1f}' for s in took_s)} s, "
          f"median {statistics.median(took_s):.1f} s, computing {statistics.median(computed_s):.1f} s")  # fmt: skip
    assert max(took_s) < FAR_TOO_LONG_S
