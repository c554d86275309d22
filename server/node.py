"""Whole processes for the command line: serve until told to stop, serve for one interview, export without a server.

Apart from `server.cli`, so that commands that need no models start at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from config.loader import Library
from config.settings import Settings
from config.speech import NO_MODEL
from config.voice import VoiceSettings
from server.api.operations import measured
from server.app import build_app
from server.auth import TOKEN_FILE, Principal
from server.bounds import connection_limits
from server.errors import ApiError
from server.export import written
from server.installation import Installation, Say
from server.inventory import unverified
from server.language import cautions, load_providers, role_lines
from server.parts import Parts
from server.peers import Peers
from server.serving import Server, allow_files, bind, serving, url_of
from server.speech.engine import Speech
from server.voice.voices import Voices
from server.wiring import HUB_DRAIN_S, Overrides, Storage, open_storage, running
from server.workers import WorkerLink

if TYPE_CHECKING:
    from pipeline.language.offline import SharedModels

LOOPBACK = "127.0.0.1"
SAME_SIGNAL_S = 1.0
EXPORT_DRAIN_S = 30.0
END_S = 8.0
SWITCH_S = 0.0005
"""How long another thread may keep the event loop waiting once it has something to do; Python's own 5 ms are longer
than most of what it does, and cost those threads no less."""
AGAIN = 64
"""Exit code of `serve` when the process is to begin again."""


async def serve(settings: Settings, *, say: Say, show: Say, version: str, overrides: Overrides | None = None) -> int:
    """Serve until SIGINT or SIGTERM; the exit code, AGAIN when somebody asked that the process begin again.

    Args:
        settings: of the process.
        say: told what is being done.
        show: told where it listens and what it is made of.
        version: of askwell.
        overrides: what a test puts between the parts.
    """
    sys.setswitchinterval(SWITCH_S)
    leave = asyncio.Event()
    host, settings = settings.server.host, within_files(settings, say)
    with _signals(leave, (signal.SIGINT, signal.SIGTERM)) as is_up:
        claim = functools.partial(bind, host, settings.server.port)
        async with running(settings, overrides=overrides, say=say, claim=claim) as (parts, storage):
            sock = storage.claimed_socket()
            here_url = url_of(sock, host)
            async with _serving(parts, sock) as server:
                storage.data_dir.publish(here_url)
                parts.leaving.arm(leave.set)
                is_up()
                unchecked = [*await asyncio.to_thread(unverified, settings), *parts.speech.unverified]
                show(
                    banner(
                        storage, parts.speech, parts.voices, settings.server.public_url or here_url, version, unchecked
                    )
                )
                await leave.wait()
                say("finishing running turns")
                await _leave(parts, server)
    return AGAIN if parts.leaving.again else 0


async def _leave(parts: Parts, server: Server) -> None:
    """Take nobody any more, and let running turns finish."""
    _end_in(END_S)
    parts.readiness.leaving = True
    # Whoever comes now is refused at once, so that a proxy passes them to another node.
    server.close_door()
    await parts.hub.drain(HUB_DRAIN_S)


async def work(
    settings: Settings, installation: Installation, library: Library, shared: SharedModels, place: Place
) -> None:
    """Serve as one of several workers until SIGTERM, or until the process that keeps them is gone.

    Args:
        settings: of the worker.
        installation: of the process that keeps it.
        library: what new sessions begin with.
        shared: what was loaded before this process was forked.
        place: its place among the workers.
    """
    leave = asyncio.Event()
    link, host = place.link, settings.server.host
    load = functools.partial(load_providers, shared=shared)
    with link.held(), _signals(leave, (signal.SIGTERM,)) as is_up:
        async with running(
            settings,
            overrides=Overrides(load=load),
            installation=installation,
            library=library,
            peers=place.peers,
        ) as (parts, storage):
            sock = storage.claimed_socket()
            url = settings.server.public_url or url_of(sock, host)
            unchecked = [*await asyncio.to_thread(unverified, settings), *parts.speech.unverified]
            link.tell(ready=banner(storage, parts.speech, parts.voices, url, place.version, unchecked))
            await link.may_begin()
            async with _serving(parts, sock) as server, place.peers.answering(lambda: measured(parts)):
                is_up()
                link.tell(up=True)
                await leave.wait()
                await _leave(parts, server)


@dataclass(frozen=True)
class Place:
    """A worker's place among the workers: its link to who keeps it, its peers, and the version they all have."""

    link: WorkerLink
    peers: Peers
    version: str


def within_files(settings: Settings, say: Say) -> Settings:
    """The settings with no more connections than the process may have files."""
    wanted = settings.limits.max_connections
    room = allow_files(wanted)
    if room < wanted:
        say(f"room for {room} of {wanted} connections: the system allows this process too few open files (ulimit -n)")
    return settings.model_copy(update={"limits": settings.limits.model_copy(update={"max_connections": room})})


def _serving(parts: Parts, sock: socket.socket) -> AbstractAsyncContextManager[Server]:
    """The application of these parts, served on that socket."""
    settings = parts.settings
    return serving(
        build_app(parts),
        sock,
        limits=connection_limits(settings),
        proxies=settings.server.forwarded_allow_ips,
        on_refused=lambda reason: parts.metrics.refused_connections.labels(reason).inc(),
    )


def _end_in(seconds: float) -> None:
    """End the process after that time, whatever still runs: what was acknowledged is on disk."""
    timer = threading.Timer(seconds, os._exit, (1,))
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def _signals(leave: asyncio.Event, numbers: Sequence[signal.Signals]) -> Iterator[Callable[[], None]]:
    """What SIGINT and SIGTERM do: cancel the start before the server is up, then set `leave`, then end the process.

    Ending it at once is safe: what was acknowledged is on disk. A signal that comes again within SAME_SIGNAL_S is the
    same one: a terminal and make both pass it on.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    up = False
    told_at: float | None = None

    def told() -> None:
        nonlocal told_at
        if told_at is not None and loop.time() - told_at < SAME_SIGNAL_S:
            return
        told_at = loop.time()
        if leave.is_set():
            os._exit(130)
        if up:
            leave.set()
        elif task is not None:
            task.cancel()

    def is_up() -> None:
        nonlocal up
        up = True

    for number in numbers:
        loop.add_signal_handler(number, told)
    try:
        yield is_up
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def banner(storage: Storage, speech: Speech, voices: Voices, url: str, version: str, unchecked: Sequence[str]) -> str:
    """Where the process listens, what it is made of, and what that does not guarantee.

    `unchecked` are models and libraries without a digest in the table of artefacts, a phrase each.
    """
    settings = storage.settings
    server, kept = settings.server, settings.storage
    workers = [f"  workers    {server.workers}, each as below"] if server.workers > 1 else []
    installation = storage.installation
    embedded = installation.has_embedded
    lines = [
        f"askwell {version} is listening on {url}",
        *workers,
        f"  data       {storage.data_dir.path}",
        f"  sessions   {'embedded Valkey' if embedded else 'external Redis or Valkey'} {storage.report.version}"
        + (", every write on disk before it is acknowledged" if embedded else ""),
        f"  store      {'SQLite, in the data directory' if kept.database_url is None else 'external database'}",
        *(f"  language   {line}" for line in role_lines(settings)),
        f"  speech     {speech.line}",
        *([f"  voice      {voices.line}"] if settings.voice.has_voice else []),
        f"  interviews {'open to whoever reaches this address' if server.enrolment_open else 'by invitation only'}",
    ]
    lines += [f"  careful    {caveat}" for caveat in (*storage.report.caveats, *cautions(settings))]
    lines += [f"  careful    unverified: {what}" for what in unchecked]
    if embedded or kept.database_url is None:
        lines.append("  careful    one machine: a broken disk loses what is not backed up")
    if not server.loopback and not (server.public_url or "").startswith("https://"):
        lines.append("  careful    no encryption here: put a proxy with HTTPS in front")
    if installation.token_is_new:
        lines.append(
            f"  moderator  {storage.moderator_token}  (shown once; kept in {storage.data_dir.path / TOKEN_FILE})"
        )
    else:
        lines.append("  moderator  token as before (askwell moderator-token prints it)")
    return "\n".join(lines)


@contextlib.asynccontextmanager
async def here(settings: Settings, *, say: Say) -> AsyncIterator[tuple[str, str]]:
    """A server of one's own on a free loopback port, for as long as the block runs; its URL and moderator token."""
    private = settings.model_copy(
        update={
            "server": settings.server.model_copy(update={"host": LOOPBACK}),
            "speech": settings.speech.model_copy(update={"whisper_model": NO_MODEL}),
            "voice": VoiceSettings(),
        }
    )
    async with running(private, say=say, claim=lambda: bind(LOOPBACK, 0)) as (parts, storage):
        sock = storage.claimed_socket()
        url = url_of(sock, LOOPBACK)
        async with _serving(parts, sock):
            storage.data_dir.publish(url)
            yield url, storage.moderator_token


async def export(settings: Settings, session_id: str, name: str, relations: str = "firm") -> bytes:
    """A session in one of the export formats, with these relations, where no server runs.

    Raises:
        ApiError: `not_found`, `forbidden` where it is held back.
    """
    async with open_storage(settings) as storage:
        await storage.writer.drain(EXPORT_DRAIN_S)
        material = await storage.reader.material(session_id, Principal("moderator"))
        if material.state.conduct.held_back:
            raise ApiError("forbidden", "This interview is held back: the respondent seems to be under age.")
        return written(name, material, relations)
