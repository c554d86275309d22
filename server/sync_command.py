"""`askwell sync`: sends the interviews that wait here, or those of a file, and prints how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TextIO

from config.settings import Settings
from server.auth import moderator_token
from server.hot.datadir import running_server
from server.store.copies import Copies
from server.sync import SyncError
from server.sync.client import central, pushed
from server.sync.plan import TransferPlan
from server.sync.send import Progress, Report, send_all
from server.sync.sources import FileSource, Source, StoreSource
from server.wiring import open_storage

DRAIN_S = 30.0
LONGEST_PAUSE_S = 900.0


class ProgressPrinter:
    """Prints progress: on a terminal in one line that changes, else one line for each interview.

    Args:
        out: where to.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._live = out.isatty()
        self._open = False

    def tell(self, progress: Progress) -> None:
        """Print how far it is."""
        if progress.size <= 0:
            return
        share = 100 * progress.sent // progress.size
        line = f"[{progress.number}/{progress.total}] {progress.session_id}  {share:3d} %  of {_size(progress.size)}"
        if self._live:
            self._out.write(f"\r\x1b[2K{line}")
            self._out.flush()
            self._open = True
        elif progress.sent == progress.size:
            self.line(line)

    def line(self, text: str) -> None:
        """Print a line that stays."""
        self._out.write(("\n" if self._open else "") + text + "\n")
        self._out.flush()
        self._open = False


async def sync(settings: Settings, plan: TransferPlan, printer: ProgressPrinter) -> int:
    """Send; the exit code, 1 when something was not taken.

    Raises:
        SyncError: nothing (more) can be sent, and waiting would not help or was not asked for.
    """
    pause_s = settings.kiosk.sync_every_s
    while True:
        try:
            report = await _once(settings, plan, printer)
        except SyncError as exc:
            if not (plan.watch and exc.retryable):
                raise
            printer.line(f"{exc}; trying again in {pause_s:.0f} s")
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, max(LONGEST_PAUSE_S, settings.kiosk.sync_every_s))
            continue
        pause_s = settings.kiosk.sync_every_s
        if report.sent or report.not_taken or not plan.watch:
            for line in summary(report):
                printer.line(line)
        if not plan.watch:
            return 1 if report.not_taken else 0
        await asyncio.sleep(pause_s)


def summary(report: Report) -> list[str]:
    """What was sent and what was not, as lines to print."""
    lines = [f"{_interviews(report.sent)} sent" + (f", {report.erased} of them erased here" if report.erased else "")]
    lines += [f"{session_id} was not taken: {reason}" for session_id, reason in report.not_taken.items()]
    if report.clock_off_s is not None:
        ahead = "ahead of" if report.clock_off_s > 0 else "behind"
        off_s = abs(report.clock_off_s)
        off = f"{off_s / 86_400:.0f} days" if off_s > 2 * 86_400 else f"{off_s / 60:.0f} minutes"
        lines.append(
            f"this machine's clock is {off} {ahead} the server's: set it, the times of interviews come from it"
        )
    return lines


async def _once(settings: Settings, plan: TransferPlan, printer: ProgressPrinter) -> Report:
    if plan.file is not None:
        return await _send(await asyncio.to_thread(FileSource, plan.file), settings, plan, printer.tell)
    found = running_server(settings.storage.data)
    if found is None:
        async with _stored(settings, plan) as source:
            return await _send(source, settings, plan, printer.tell)
    pid, url = found
    if url is None:
        raise SyncError(f"process {pid} works in {settings.storage.data} and can't be talked to yet", retryable=True)
    return await _let_server_send(url, settings, plan, printer)


@asynccontextmanager
async def _stored(settings: Settings, plan: TransferPlan) -> AsyncIterator[StoreSource]:
    async with open_storage(settings) as storage:
        await storage.writer.drain(DRAIN_S)
        erase = storage.hot.erase if settings.kiosk.delete_after_sync else None
        copies = Copies(storage.database)
        yield StoreSource(copies, storage.recorder, storage.data_dir.path, target=plan.to, erase=erase)
        # What was erased is gone from the files when this ends.
        await storage.writer.drain(DRAIN_S)


async def _send(source: Source, settings: Settings, plan: TransferPlan, tell: Callable[[Progress], None]) -> Report:
    async with central(plan.to, plan.token) as there:
        return await send_all(source, there, chunk_bytes=settings.kiosk.sync_chunk_bytes, tell=tell)


async def _let_server_send(url: str, settings: Settings, plan: TransferPlan, printer: ProgressPrinter) -> Report:
    """Have the server that runs on this data directory send its interviews."""
    secret = settings.server.moderator_token
    mine, _ = moderator_token(settings.storage.data, secret.get_secret_value() if secret is not None else None)
    async for line in pushed(url, mine, to=plan.to, token=plan.token):
        if "error" in line:
            raise SyncError(str(line["error"]), retryable=bool(line.get("retryable")))
        if "report" in line:
            return Report(**line["report"])
        printer.tell(Progress(**line["progress"]))
    raise SyncError(f"the server at {url} ended meanwhile", retryable=True)


def _interviews(count: int) -> str:
    return "1 interview" if count == 1 else f"{count} interviews"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1_000_000 else f"{max(1, size // 1000)} kB"
