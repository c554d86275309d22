"""Keeps the workers of a server: takes what they share, forks them, starts those again that end, ends them all.

The process that does this serves nobody. It holds the data directory, the listening socket, and the embedded Valkey;
it has loaded what can be shared, and forks while it has no event loop. Each worker is a node of its own: sessions,
journal and commands go between workers as between machines.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog
import uvloop

from config.loader import Library
from config.settings import Settings
from server import node
from server.hot.embedded import runtime_dir
from server.hot.errors import HotError
from server.installation import Installation, Say, installed
from server.language import load_shared_models
from server.peers import Peers, socket_path
from server.serving import bind, url_of
from server.store.errors import StoreError
from server.wiring import open_storage, read_library
from server.workers import Board, KeeperLink, WorkerFailed, WorkerLink, share_of

if TYPE_CHECKING:
    from pipeline.language.offline import SharedModels

log = structlog.get_logger()

TICK_S = 0.05
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
SETTLED_S = 10.0
"""A worker that lived this long is started again at once."""
END_S = node.END_S + 1.0
LAST_WRITES_S = 3.0
ENDING = (signal.SIGINT, signal.SIGTERM)

Explain = Callable[[BaseException], str | None]
"""What to tell about an error that the user can correct; None for others."""


def serve(settings: Settings, *, say: Say, show: Say, version: str, explain: Explain) -> int:
    """Serve with several workers until SIGINT or SIGTERM; the exit code. Must run on the main thread, without a loop.

    Args:
        settings: of the server.
        say: told what is being done.
        show: told where it listens and what it is made of, once.
        version: of askwell.
        explain: words for errors of workers.
    Raises:
        WorkerFailed: a worker ended before all were up.
        KeyboardInterrupt: it was told to end before there were workers.
    """
    settings = share_of(node.within_files(settings, say))
    # Its threads would be those of the process that loads; a worker has a core of its own at the most.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    host = settings.server.host
    with _told() as told, installed(settings, say=say, claim=lambda: bind(host, settings.server.port)) as installation:
        library = read_library(settings)
        asyncio.run(_write_out(settings, installation))
        say("loading the language models")
        shared = load_shared_models(settings)
        asyncio.run(_warm(settings, library, shared))
        # Pages of what the collector never looks at stay shared.
        gc.freeze()
        told.interrupts = False
        keeper = Keeper(settings, installation, library, shared, explain)
        try:
            code = keeper.run(told, say=say, show=show, version=version)
        finally:
            keeper.end(told)
            if installation.has_embedded:
                _write_what_is_left(settings, installation)
    return code


async def _write_out(settings: Settings, installation: Installation) -> None:
    """Migrate the store, and write into it what waits."""
    async with open_storage(settings, installation=installation):
        pass


def _write_what_is_left(settings: Settings, installation: Installation) -> None:
    async def write() -> None:
        async with asyncio.timeout(LAST_WRITES_S):
            await _write_out(settings, installation)

    try:
        asyncio.run(write())
    except (HotError, StoreError, TimeoutError) as exc:
        log.warning("writer.drain_incomplete", reason=f"the journal keeps what is left: {exc}")


async def _warm(settings: Settings, library: Library, shared: SharedModels) -> None:
    """Have kept what the models make of methodologies, so that only the first start computes it, and only once."""
    from concurrent.futures import ThreadPoolExecutor

    from server.language import load_providers

    with ThreadPoolExecutor(1) as executor:
        await load_providers(settings, executor, tuple(library.methodologies().values()), shared)


class _Told:
    """How often the process was told to end; while it `interrupts`, the first time raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.times = 0
        self.interrupts = True
        self._last_at = 0.0

    def tell(self, *_: object) -> None:
        """A signal came. One that comes again within a second is the same one: a terminal and make both pass it on."""
        now = time.monotonic()
        if self.times and now - self._last_at < node.SAME_SIGNAL_S:
            return
        self.times, self._last_at = self.times + 1, now
        if self.interrupts:
            raise KeyboardInterrupt


@contextlib.contextmanager
def _told() -> Iterator[_Told]:
    told = _Told()
    before = {number: signal.signal(number, told.tell) for number in ENDING}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass
class _Worker:
    """One worker that runs."""

    number: int
    pid: int
    link: KeeperLink
    born_at: float
    banner: str | None = None
    is_up: bool = False
    failed: str | None = None


class Keeper:
    """The workers of a server.

    Args:
        settings: of a worker.
        installation: what they share.
        library: what new sessions begin with.
        shared: loaded models.
        explain: words for errors.
    """

    def __init__(
        self, settings: Settings, installation: Installation, library: Library, shared: SharedModels, explain: Explain
    ) -> None:
        self._settings = settings
        self._installation = installation
        self._library = library
        self._shared = shared
        self._explain = explain
        self._count = settings.server.workers
        self._board = Board()
        self._folder = runtime_dir(installation.data_dir.path)
        self._workers: dict[int, _Worker] = {}
        self._due = dict.fromkeys(range(1, self._count + 1), 0.0)
        """When each worker that does not run is to be started, by the monotonic clock."""
        self._pauses: dict[int, float] = {}
        self._restarts = 0
        self._began = False

    # Its life

    def run(self, told: _Told, *, say: Say, show: Say, version: str) -> int:
        """Keep the workers until told to end. Raises WorkerFailed."""
        say(f"starting {self._count} workers")
        while not told.times:
            self._start_due(version)
            asyncio.run(self._watch(told, show))
        say("finishing running turns")
        return 0

    def end(self, told: _Told) -> None:
        """End every worker; those that don't end in time, or when told again, are killed."""
        claimed = self._installation.claimed
        if claimed is not None:
            claimed.close()
        for worker in self._workers.values():
            _signal(worker.pid, signal.SIGTERM)
        end, times = time.monotonic() + END_S, told.times
        while self._workers:
            if time.monotonic() > end or told.times > max(times, 1):
                for worker in self._workers.values():
                    _signal(worker.pid, signal.SIGKILL)
            for number in self._ended():
                self._workers.pop(number).link.close()
            time.sleep(TICK_S / 5)
        for number in range(1, self._count + 1):
            socket_path(self._folder, number).unlink(missing_ok=True)
        if not self._installation.has_embedded:
            with contextlib.suppress(OSError):
                self._folder.rmdir()

    async def _watch(self, told: _Told, show: Say) -> None:
        """Look after the workers, and the embedded Valkey, until a worker is to be started, or the end."""
        async with asyncio.TaskGroup() as tasks:
            embedded = self._installation.embedded
            beside = [tasks.create_task(embedded.supervise(), name="valkey")] if embedded is not None else []
            try:
                while not told.times:
                    await asyncio.sleep(TICK_S)
                    self._board.write(restarts=self._restarts, outage=self._installation.outage())
                    self._look(show)
                    is_due = any(at <= time.monotonic() for at in self._due.values())
                    # Without hot storage a worker can't start.
                    if is_due and self._installation.outage() is None:
                        return
            finally:
                for task in beside:
                    task.cancel()

    def _look(self, show: Say) -> None:
        """Take note of what workers tell, and of those that ended. Raises WorkerFailed."""
        for worker in self._workers.values():
            self._listen(worker)
        for number, status in self._ended().items():
            worker = self._workers.pop(number)
            self._listen(worker)
            worker.link.close()
            self._lost(worker, status)
        if not self._began and len(self._workers) == self._count:
            running = self._workers.values()
            if all(worker.is_up for worker in running):
                self._begin(show)

    def _begin(self, show: Say) -> None:
        self._began = True
        sock = self._installation.claimed_socket()
        self._installation.data_dir.publish(url_of(sock, self._settings.server.host))
        show(self._workers[1].banner or "")

    def _listen(self, worker: _Worker) -> None:
        for facts in worker.link.told():
            if "ready" in facts:
                worker.banner = facts["ready"]
                self._let_begin(worker)
            if "up" in facts:
                worker.is_up = True
                log.info("worker.up", worker=worker.number, pid=worker.pid)
            worker.failed = facts.get("failed", worker.failed)

    def _let_begin(self, ready: _Worker) -> None:
        """Let a worker begin; at the start of the server, all of them once the last one is ready."""
        if self._began:
            ready.link.go()
        elif len(self._workers) == self._count and all(w.banner is not None for w in self._workers.values()):
            for worker in self._workers.values():
                worker.link.go()

    def _lost(self, worker: _Worker, status: int) -> None:
        """Have a worker that ended started again; raises WorkerFailed where the server has not begun yet."""
        reason = worker.failed or _described(status)
        if not self._began:
            raise WorkerFailed(worker.failed or f"worker {worker.number} ended while it was starting: {reason}")
        now = time.monotonic()
        pause_s = 0.0
        if now - worker.born_at < SETTLED_S:
            pause_s = min(max(FIRST_PAUSE_S, self._pauses.get(worker.number, 0.0) * 2), LONGEST_PAUSE_S)
        self._pauses[worker.number] = pause_s
        self._due[worker.number] = now + pause_s
        self._restarts += 1
        log.error("worker.died", worker=worker.number, pid=worker.pid, reason=reason, again_in_s=pause_s)

    def _ended(self) -> dict[int, int]:
        """The workers that ended since this was asked last, each with what `os.waitstatus_to_exitcode` says of it."""
        found: dict[int, int] = {}
        for worker in self._workers.values():
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                found[worker.number] = os.waitstatus_to_exitcode(status)
        return found

    # Birth

    def _start_due(self, version: str) -> None:
        now = time.monotonic()
        for number in [number for number, at in self._due.items() if at <= now]:
            del self._due[number]
            self._fork(number, version)

    def _fork(self, number: int, version: str) -> None:
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        # A signal that comes while the child still has these handlers would be lost to it.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        pid = os.fork()
        if pid == 0:
            self._be_worker(number, theirs, ours, version)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        theirs.close()
        self._workers[number] = _Worker(number, pid, KeeperLink(ours), time.monotonic())

    def _be_worker(self, number: int, sock: socket.socket, not_ours: socket.socket, version: str) -> None:
        """Live as that worker; this never returns."""
        code: int | None = None
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # A terminal sends it to all processes; the one that keeps this one decides.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
            not_ours.close()
            for worker in self._workers.values():
                worker.link.close()
            structlog.contextvars.bind_contextvars(worker=number)
            code = self._work(number, sock, version)
        finally:
            # Nothing of what the forked process would do at its end is to be done here.
            if code is None:
                traceback.print_exc()
            with contextlib.suppress(Exception):
                logging.shutdown()
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(1 if code is None else code)

    def _work(self, number: int, sock: socket.socket, version: str) -> int:
        """The worker's exit code."""
        try:
            uvloop.run(self._serve(number, sock, version))
        except asyncio.CancelledError:
            return 0
        except BaseException as exc:
            reason = self._explain(exc)
            if reason is None:
                raise
            sock.setblocking(True)
            with contextlib.suppress(OSError):
                WorkerLink.tell_failed(sock, reason)
            return 1
        return 0

    async def _serve(self, number: int, sock: socket.socket, version: str) -> None:
        installation = replace(self._installation, embedded=None, outage=self._board.outage, is_alone=False)
        peers = Peers(self._folder, number, self._count, lambda: self._board.restarts)
        place = node.Place(WorkerLink(sock), peers, version)
        await node.work(self._settings, installation, self._library, self._shared, place)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _described(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"it ended with status {status}"
    try:
        return f"it was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"it was ended by signal {-status}"
