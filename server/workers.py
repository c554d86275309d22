"""What a server's workers share with the process that keeps them: a board to read, and a link to each.

Errors: `WorkerFailed`, a worker ended before the server was up.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from config.settings import PREFIX, Settings, SettingsError

MOST_CORES: Final = 4
"""Transcriptions at the same time of a whole server, where the settings don't say."""
_HEAD = struct.Struct("<II")
_ROOM = 1024
_GO = b"go\n"


class WorkerFailed(Exception):
    """A worker ended before the server was up; the message says why."""


def check_workers(settings: Settings) -> None:
    """Refuse several workers where they can't be. Raises SettingsError."""
    count = settings.server.workers
    if count == 1:
        return
    if not sys.platform.startswith("linux"):
        raise SettingsError(
            f"{PREFIX}WORKERS is {count}: only on Linux can models be loaded once for several workers. "
            "Leave it at 1, and run several nodes behind a proxy instead"
        )
    for value, name in ((settings.kiosk.kiosk_pin, "KIOSK_PIN"), (settings.kiosk.sync_to, "SYNC_TO")):
        if value is not None:
            raise SettingsError(
                f"{PREFIX}WORKERS is {count}, but {PREFIX}{name} is set: a kiosk's server has one worker, which alone "
                "counts wrong PINs and sends interviews. Take one of the two settings away"
            )


def share_of(settings: Settings) -> Settings:
    """The settings of one worker of several: transcriptions at the same time are shared out."""
    if settings.speech.whisper_workers:
        return settings
    each = max(1, min(MOST_CORES, os.cpu_count() or 1) // settings.server.workers)
    return settings.model_copy(update={"speech": settings.speech.model_copy(update={"whisper_workers": each})})


class Board:
    """Memory that the keeping process writes and its workers read; made before they are forked."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _HEAD.size + _ROOM)
        self._written = (0, b"")

    def write(self, *, restarts: int, outage: str | None) -> None:
        """Show how many workers were started again, and why hot storage is down."""
        text = (outage or "").encode()[:_ROOM]
        if (restarts, text) != self._written:
            self._memory[: _HEAD.size + len(text)] = _HEAD.pack(restarts, len(text)) + text
            self._written = (restarts, text)

    def outage(self) -> str | None:
        """Why hot storage is known to be down, None where it is not."""
        length = _HEAD.unpack_from(self._memory)[1]
        return self._memory[_HEAD.size : _HEAD.size + length].decode("utf-8", "replace") or None

    @property
    def restarts(self) -> int:
        """How many workers were started again."""
        return int(_HEAD.unpack_from(self._memory)[0])


class WorkerLink:
    """A worker's end of the link: it tells how far it is, and is told when to begin.

    Args:
        sock: connected to the process that keeps the worker.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._go = asyncio.Event()

    def tell(self, **facts: Any) -> None:
        """Tell the keeping process; nothing happens when that is gone."""
        try:
            self._sock.sendall(json.dumps(facts).encode() + b"\n")
        except OSError:
            return

    @staticmethod
    def tell_failed(sock: socket.socket, reason: str) -> None:
        """Tell, at the end of a worker, why it ended. Raises OSError."""
        sock.sendall(json.dumps({"failed": reason}).encode() + b"\n")

    async def may_begin(self) -> None:
        """Wait until every worker is ready."""
        await self._go.wait()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Listen to the keeping process while the block runs; when that is gone, this process ends as by SIGTERM."""
        loop = asyncio.get_running_loop()

        def told() -> None:
            try:
                data = self._sock.recv(64)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                loop.remove_reader(self._sock)
                os.kill(os.getpid(), signal.SIGTERM)
            elif data.startswith(_GO):
                self._go.set()

        self._sock.setblocking(False)
        loop.add_reader(self._sock, told)
        try:
            yield
        finally:
            loop.remove_reader(self._sock)


class KeeperLink:
    """The keeping process's end of the link to one worker.

    Args:
        sock: connected to the worker.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._partial = b""

    def go(self) -> None:
        """Let the worker begin."""
        try:
            self._sock.send(_GO)
        except OSError:
            return

    def told(self) -> list[dict[str, Any]]:
        """What the worker has told since this was asked last."""
        while True:
            try:
                data = self._sock.recv(65_536)
            except OSError:
                break
            if not data:
                break
            self._partial += data
        *lines, self._partial = self._partial.split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Let go of the link; a worker that still runs ends."""
        self._sock.close()
