"""The other workers of the same server, asked for what only all of them can tell together: the metrics."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import structlog

from server.metrics import Metrics, joint_page

log = structlog.get_logger()

ANSWER_S = 1.0


def socket_path(folder: Path, number: int) -> Path:
    """Where the worker of that number listens to its peers."""
    return folder / f"worker-{number}.sock"


class Peers:
    """One worker's view of the others.

    Args:
        folder: a private one, with a short path, the same for all workers.
        number: of this worker, from 1.
        count: of workers.
        restarts: how many workers were started again.
    """

    def __init__(self, folder: Path, number: int, count: int, restarts: Callable[[], int]) -> None:
        self._folder = folder
        self._number = number
        self._count = count
        self._restarts = restarts

    @asynccontextmanager
    async def answering(self, measure: Callable[[], Awaitable[Metrics]]) -> AsyncIterator[None]:
        """Give this worker's metrics to the others while the block runs; `measure` brings them up to date."""

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                async with asyncio.timeout(ANSWER_S):
                    writer.write(json.dumps((await measure()).families()).encode())
                    await writer.drain()
            except (OSError, TimeoutError) as exc:
                log.info("peers.not_answered", reason=repr(exc))
            finally:
                writer.close()

        path = socket_path(self._folder, self._number)
        path.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(answer, path)
        try:
            yield
        finally:
            server.close()
            path.unlink(missing_ok=True)

    async def page(self, own: Metrics) -> bytes:
        """The metrics of all workers that answer, with the label `worker`, in the Prometheus text format."""
        others = [number for number in range(1, self._count + 1) if number != self._number]
        found = dict(zip(others, await asyncio.gather(*map(self._ask, others)), strict=True))
        families = {self._number: own.families()} | {n: told for n, told in found.items() if told is not None}
        return joint_page(dict(sorted(families.items())), restarts=self._restarts())

    async def _ask(self, number: int) -> list[dict[str, Any]] | None:
        """The metrics of that worker, None where it does not answer: it is starting, or ending."""
        with suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(2 * ANSWER_S):
                reader, writer = await asyncio.open_unix_connection(socket_path(self._folder, number))
                try:
                    content = await reader.read(-1)
                finally:
                    writer.close()
                told: list[dict[str, Any]] = json.loads(content)
                return told
        return None
