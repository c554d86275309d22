"""Decodes recordings that were sent, in processes of their own (`audio.decode_worker`).

A process is kept for the recordings that follow: starting one takes about as long as decoding a minute of speech. One
that a recording brought to a limit, or that was still at work when nobody waited any more, is killed. What a recording
may do there is limited in memory and time; it can't take either from the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import structlog

import audio
from audio.decode_job import LENGTH_BYTES, OUT_OF_MEMORY, TOO_MUCH_STATUS, DecodeJob, DecodeOutcome
from audio.errors import AudioError, AudioFormat, AudioTooLong, TranscriberFailed

log = structlog.get_logger("askwell.speech")

WORKER = ("-m", "audio.decode_worker")
RECEIVED_BYTES = 256 * 1024
SAMPLE_BYTES_PER_S = 32_000
MARGIN_S = 60.0
"""How much longer than the longest recording what comes from a process may be."""
END_WAIT_S = 2.0
OUT_OF_TIME = "This recording takes longer to decode than a recording of speech needs."
BROKEN = "This recording is damaged: it can't be decoded."
_PASSED_ON = (
    "PATH",
    "HOME",
    "TMPDIR",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
)
"""Variables that programs need; what else is in the environment, such as tokens, is none of the process's business."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded recording: 16-bit little-endian mono at 16 kHz; `complete` is false if a part is missing."""

    pcm: bytes
    complete: bool


class _Ended(Exception):
    """The process is not there any more."""


class Decoders:
    """The processes that decode recordings; started when they are first needed.

    Args:
        at_once: recordings that are decoded at the same time.
        max_bytes: memory that one may take, in bytes.
        deadline_s: time that one may take.
        command: arguments of Python that start a process.
    """

    def __init__(self, *, at_once: int, max_bytes: int, deadline_s: float, command: Sequence[str] = WORKER) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._max_bytes = max_bytes
        self._deadline_s = deadline_s
        self._command = tuple(command)
        self._idle: list[_Process] = []
        self._started: list[_Process] = []

    async def decode(self, file: IO[bytes], *, max_s: float) -> Decoded:
        """Decode a recording. If this is cancelled, its process is killed.

        Args:
            file: with the recording; it is read from its beginning.
            max_s: length of the longest one that is accepted, in seconds.
        Raises:
            AudioFormat: it can't be decoded, or not within the limits.
            AudioTooLong: it is longer than `max_s`.
            TranscriberFailed: the processes can't be started.
        """
        async with self._slots:
            while self._idle:
                process = self._idle.pop()
                if process.status(0.0) is not None:
                    continue
                try:
                    return await self._decoded(process, file, max_s, was_idle=True)
                except _Ended:
                    continue  # it ended just now, or was killed, perhaps before it had the recording
            try:
                return await self._decoded(await self._start(), file, max_s)
            except _Ended as exc:
                raise TranscriberFailed("the decoder of recordings does not start") from exc

    async def aclose(self) -> None:
        """Kill every process, and wait until they are gone."""
        self._idle.clear()
        for process in self._started:
            process.kill()
        await asyncio.to_thread(self._reap, END_WAIT_S)

    async def _start(self) -> _Process:
        await asyncio.to_thread(self._reap, 0.0)
        process = _Process(self._command)
        self._started.append(process)
        try:
            await asyncio.to_thread(process.start)
        except OSError as exc:
            raise TranscriberFailed(f"the decoder of recordings can't be started: {exc}") from exc
        return process

    def _reap(self, wait_s: float) -> None:
        self._started = [process for process in self._started if not process.is_gone(wait_s)]

    async def _decoded(self, process: _Process, file: IO[bytes], max_s: float, *, was_idle: bool = False) -> Decoded:
        job = DecodeJob(max_s, self._max_bytes, self._deadline_s)
        keep = False
        try:
            async with asyncio.timeout(self._deadline_s):
                await asyncio.to_thread(process.give, file, json.dumps(asdict(job)).encode())
                pcm, outcome = await process.answer(int((max_s + MARGIN_S) * SAMPLE_BYTES_PER_S))
            keep = outcome.kind != "too_much"
        except TimeoutError as exc:
            raise AudioFormat(OUT_OF_TIME) from exc
        except _Ended as exc:
            status = await asyncio.to_thread(process.status, END_WAIT_S)
            problem = _problem_of(status)
            if problem is None or (was_idle and status == -signal.SIGKILL):
                raise
            log.warning("recording.decoder_ended", status=status)
            raise problem from exc
        finally:
            if keep:
                self._idle.append(process)
            else:
                process.kill()
        if outcome.kind != "done":
            raise (AudioTooLong if outcome.kind == "audio_too_long" else AudioFormat)(outcome.message)
        return Decoded(pcm, outcome.complete)


def _problem_of(status: int | None) -> AudioError | None:
    """What is wrong with a recording at which the process ended with that status; None where it is none's fault."""
    if status == TOO_MUCH_STATUS or status == -signal.SIGKILL:
        return AudioFormat(OUT_OF_MEMORY)
    if status == -signal.SIGXCPU:
        return AudioFormat(OUT_OF_TIME)
    return AudioFormat(BROKEN) if status is not None and status < 0 else None


class _Process:
    """One process that decodes."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._socket, self._theirs = socket.socketpair()
        self._socket.setblocking(False)
        self._popen: subprocess.Popen[bytes] | None = None
        self._unread = bytearray()

    def start(self) -> None:
        """Start it. Raises OSError."""
        package = str(Path(audio.__path__[0]).resolve().parent)
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        # Each thread of these libraries, and each arena of the allocator, takes address space, which is limited.
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        with self._theirs as theirs:
            self._popen = subprocess.Popen(
                [sys.executable, *self._command],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )

    def give(self, file: IO[bytes], job: bytes) -> None:
        """Send it a recording. Raises _Ended."""
        file.seek(0)
        try:
            socket.send_fds(self._socket, [job], [file.fileno()])
        except OSError as exc:
            raise _Ended from exc

    async def answer(self, most_bytes: int) -> tuple[bytes, DecodeOutcome]:
        """The samples of the recording, and what became of it. Raises _Ended."""
        samples = bytearray()
        while size := int.from_bytes(await self._read(LENGTH_BYTES), "big"):
            if len(samples) + size > most_bytes:
                raise _Ended
            samples += await self._read(size)
        outcome = json.loads(await self._read(int.from_bytes(await self._read(LENGTH_BYTES), "big")))
        return bytes(samples), DecodeOutcome(**outcome)

    async def _read(self, count: int) -> bytes:
        loop = asyncio.get_running_loop()
        while len(self._unread) < count:
            try:
                data = await loop.sock_recv(self._socket, RECEIVED_BYTES)
            except OSError as exc:
                raise _Ended from exc
            if not data:
                raise _Ended
            self._unread += data
        found = bytes(self._unread[:count])
        del self._unread[:count]
        return found

    def kill(self) -> None:
        """End it at once."""
        self._socket.close()
        self._theirs.close()
        if self._popen is not None:
            self._popen.kill()

    def is_gone(self, wait_s: float) -> bool:
        """Whether it ended, waiting so long for it; blocks."""
        return self._popen is None or self.status(wait_s) is not None

    def status(self, wait_s: float) -> int | None:
        """Its exit status, waiting so long for it; None while it runs; blocks."""
        if self._popen is None:
            return None
        try:
            return self._popen.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None
