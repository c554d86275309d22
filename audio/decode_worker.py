"""Decodes recordings in a process of its own: `python -m audio.decode_worker`, started by `server.speech.decoders`.

A crafted file can make FFmpeg take gigabytes of memory, run for long, or crash. Here that ends this process only. It is
given recordings one after the other over the socket that is its standard input (`audio.decode_job` has what is said),
and ends when that is closed, when nothing came for IDLE_S, or after a recording that takes more than the limits.

The address space of the process is limited (Linux), and its memory is watched by a thread (anywhere: macOS accepts the
limit without keeping to it, so that there a file may take more for some milliseconds).
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from audio.containers import RecordingReader
from audio.decode_job import LENGTH_BYTES, OUT_OF_MEMORY, TOO_MUCH_STATUS, DecodeJob, DecodeOutcome
from audio.errors import AudioError, AudioFormat, AudioTooLong

IDLE_S = 300.0
MOST_JOB_BYTES = 1024
PIECE_BYTES = 256 * 1024
WATCH_EVERY_S = 0.02


class _Limits:
    """What the process may take, counted from what it takes now."""

    def __init__(self) -> None:
        self._most_bytes: int | None = None
        threading.Thread(target=self._watch, name="memory", daemon=True).start()
        self._first_bytes = _peak_bytes()
        self._first_space = _address_space()

    def set(self, job: DecodeJob) -> None:
        """Limit what the process may take until the end of this job."""
        self._most_bytes = self._first_bytes + job.max_bytes
        if self._first_space is not None:
            _lower(resource.RLIMIT_AS, self._first_space + job.max_bytes)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        _lower(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime + job.max_cpu_s) + 1)

    def enforce(self) -> None:
        """End the process if it has taken more than it may."""
        if self._most_bytes is not None and _peak_bytes() > self._most_bytes:
            os._exit(TOO_MUCH_STATUS)

    def _watch(self) -> None:
        while True:
            time.sleep(WATCH_EVERY_S)
            self.enforce()


def _lower(which: int, limit: int) -> None:
    """Set a limit of the process that it may raise again."""
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _peak_bytes() -> int:
    """The most memory this process has held at once.

    On Linux `ru_maxrss` begins with what the process that started this one held, gigabytes in a server; the account
    in `/proc` does not.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _address_space() -> int | None:
    """Bytes of the address space that are in use; None where it is not known."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return pages * resource.getpagesize()


def _decode(file: BinaryIO, job: DecodeJob, ours: socket.socket) -> DecodeOutcome:
    try:
        reader = RecordingReader(file, max_s=job.max_s)
        piece = bytearray()
        for block in reader.blocks():
            piece += block.astype("<i2", copy=False).tobytes()
            if len(piece) >= PIECE_BYTES:
                _send(ours, piece)
                piece = bytearray()
        _send(ours, piece)
        return DecodeOutcome("done", reader.complete)
    except MemoryError:
        return DecodeOutcome("too_much", message=OUT_OF_MEMORY)
    except AudioTooLong as exc:
        return DecodeOutcome("audio_too_long", message=str(exc))
    except AudioFormat as exc:
        return DecodeOutcome("audio_format", message=str(exc))


def _send(ours: socket.socket, piece: bytes | bytearray) -> None:
    """Send a piece, unless it is empty: an empty one ends the samples."""
    if piece:
        ours.sendall(len(piece).to_bytes(LENGTH_BYTES, "big"))
        ours.sendall(piece)


def _serve(ours: socket.socket) -> None:
    limits = _Limits()
    while True:
        ours.settimeout(IDLE_S)
        said, descriptors, _, _ = socket.recv_fds(ours, MOST_JOB_BYTES, 1)
        if not descriptors:
            return
        ours.settimeout(None)
        job = DecodeJob(**json.loads(said))
        with os.fdopen(descriptors[0], "rb") as file:
            limits.set(job)
            outcome = _decode(file, job, ours)
        limits.enforce()  # on a busy machine a recording may be over before the watching thread had its turn
        ours.sendall(bytes(LENGTH_BYTES))
        _send(ours, json.dumps(asdict(outcome)).encode())
        if outcome.kind == "too_much":
            return


def main() -> None:
    """Decode what is sent, until that ends."""
    with socket.socket(fileno=os.dup(0)) as ours, contextlib.suppress(OSError, AudioError):
        _serve(ours)


if __name__ == "__main__":
    main()
