"""Runs a text-to-speech program: one process for each sentence, and one that is started ahead of the next.

A process gets a sentence on its standard input, which is closed then, and writes sound to its standard output until it
ends. So a program that loads a model for a second has done so before the sentence comes, what one sentence did to a
process can't harm the next, and killing it is always safe.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

from audio.errors import AudioFormat
from audio.voice_sound import FASTEST_HZ, voice_sound
from server.voice.errors import VoiceFailed

LONGEST_S: Final = 20.0
LONGEST_S_PER_CHAR: Final = 0.4
"""Most sound of a sentence: so much, and so much for each character; slow voices take a third of that."""
FRAME_BYTES: Final = 4
"""Of a stereo sample, of which a program may write FASTEST_HZ per second."""
TAIL_BYTES: Final = 500
"""What is kept of the standard error."""
IDLE_S: Final = 300.0
"""How long a process that was started ahead waits for a sentence, before it is ended."""
_PASSED_ON: Final = (
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
)
"""Variables that programs need; what else is in the environment, such as tokens, is none of the program's business."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments, and how its sound is read.

    Args:
        arguments: the program and its arguments.
        raw_hz: sample rate where it writes no WAV.
        deadline_s: longest time for a sentence.
    """

    arguments: tuple[str, ...]
    raw_hz: int | None
    deadline_s: float


class Program:
    """One text-to-speech program in one language.

    Args:
        command: how it is started.
    """

    def __init__(self, command: Command) -> None:
        self._command = command
        self._ahead: _Process | None = None
        self._forget: asyncio.TimerHandle | None = None
        self._starting = False
        self._closed = False

    async def say(self, text: str) -> bytes:
        """The sound of a sentence, 16-bit little-endian mono at VOICE_HZ. If this is cancelled, the process is killed.

        Raises:
            VoiceFailed: there is none.
        """
        process = self._taken() or _Process(self._command.arguments)
        try:
            async with asyncio.timeout(self._command.deadline_s):
                await process.start()
                data = await process.speak(text)
                sound = await asyncio.to_thread(_understood, data, self._command.raw_hz)
        except TimeoutError as exc:
            told = f"it took longer than {self._command.deadline_s:g} s for a sentence"
            raise VoiceFailed("deadline", told, process.said) from exc
        finally:
            process.kill()
        await self._start_ahead()
        return sound

    async def aclose(self) -> None:
        """End what was started ahead; nothing is started ahead any more."""
        self._closed = True
        process = self._taken()
        if process is not None:
            process.kill()
            await process.gone()

    def _taken(self) -> _Process | None:
        """The process that was started ahead, if it still runs."""
        if self._forget is not None:
            self._forget.cancel()
            self._forget = None
        process, self._ahead = self._ahead, None
        if process is None or process.runs:
            return process
        process.kill()
        return None

    async def _start_ahead(self) -> None:
        """Start the process of the next sentence; nobody has it before it was started whole."""
        if self._ahead is not None or self._starting or self._closed:
            return
        process, started = _Process(self._command.arguments), False
        self._starting = True
        try:
            await process.start()
            started = not self._closed
        except VoiceFailed:
            # The next sentence tells.
            return
        finally:
            self._starting = False
            if not started:
                process.kill()
        if started:
            self._ahead = process
            self._forget = asyncio.get_running_loop().call_later(IDLE_S, self._end_ahead)

    def _end_ahead(self) -> None:
        process = self._taken()
        if process is not None:
            process.kill()


def _understood(data: bytes, raw_hz: int | None) -> bytes:
    try:
        return voice_sound(data, raw_hz)
    except AudioFormat as exc:
        raise VoiceFailed("sound", str(exc)) from exc


def _same(written: _Written) -> _Written:
    return written


class _Written(asyncio.Protocol):
    """What a process writes to one of its pipes: its start up to a limit, or its end."""

    def __init__(self, most: int, *, last: bool = False) -> None:
        self.data = bytearray()
        self.most = most
        self.over = asyncio.Event()
        """Nothing more comes, or more came than may."""
        self.too_much = False
        self._last = last
        self._transport: asyncio.ReadTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The one of uvloop is no ReadTransport by its class.
        self._transport = cast(asyncio.ReadTransport, transport)

    def data_received(self, data: bytes) -> None:
        self.data += data
        if self._last:
            del self.data[: -self.most]
        elif len(self.data) > self.most:
            self.too_much = True
            self.over.set()
            if self._transport is not None:
                self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self.over.set()


class _Process:
    """One process that reads one sentence aloud."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._popen: subprocess.Popen[bytes] | None = None
        self._input = -1
        self._sound = _Written(FASTEST_HZ * FRAME_BYTES)
        self._errors = _Written(TAIL_BYTES, last=True)
        self._pipes: list[asyncio.ReadTransport] = []
        self._killed = False

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self._popen is not None and self._popen.poll() is None

    @property
    def said(self) -> str:
        """The end of what it wrote to its standard error."""
        return " ".join(self._errors.data.decode("utf-8", "replace").split())

    async def start(self) -> None:
        """Start it, unless it was. Raises VoiceFailed."""
        if self._popen is not None:
            return
        try:
            popen = await asyncio.to_thread(self._spawn)
        except (OSError, ValueError) as exc:
            reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
            raise VoiceFailed("start", f"{self._arguments[0]} can't be started: {reason}") from exc
        loop = asyncio.get_running_loop()
        for pipe, written in ((popen.stdout, self._sound), (popen.stderr, self._errors)):
            transport, _ = await loop.connect_read_pipe(partial(_same, written), pipe)
            self._pipes.append(transport)

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Start it; blocks."""
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        taken, self._input = os.pipe()
        os.set_blocking(self._input, False)
        try:
            popen = self._popen = subprocess.Popen(
                self._arguments,
                stdin=taken,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        finally:
            os.close(taken)
        if self._killed:
            # Nobody waited for it any more.
            self._end(popen)
        return popen

    async def speak(self, text: str) -> bytes:
        """What it writes for a sentence. Raises VoiceFailed."""
        popen = self._popen
        assert popen is not None
        line = "".join(letter for letter in text if letter.isprintable()) + "\n"
        most_s = LONGEST_S + LONGEST_S_PER_CHAR * len(line)
        self._sound.most = int(most_s * FASTEST_HZ * FRAME_BYTES)
        with contextlib.suppress(OSError):
            # What ends without reading is judged by what it wrote.
            os.write(self._input, line.encode())
        self._close_input()
        await self._sound.over.wait()
        if self._sound.too_much:
            raise VoiceFailed("too_much", f"it wrote more than {most_s:.0f} s of sound for a sentence", self.said)
        status = await asyncio.to_thread(popen.wait)
        if status != 0:
            ended = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            raise VoiceFailed("exit", f"it {ended}", self.said)
        return bytes(self._sound.data)

    def kill(self) -> None:
        """End it and what it started; nothing of it is left."""
        if self._killed:
            return
        self._killed = True
        self._close_input()
        for transport in self._pipes:
            transport.close()
        if self._popen is not None:
            # It is dead within microseconds, but must be waited for.
            asyncio.get_running_loop().run_in_executor(None, self._end, self._popen)

    def _end(self, popen: subprocess.Popen[bytes]) -> None:
        """Kill it and wait until it is gone; blocks."""
        self._close_input()
        if popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(popen.pid, signal.SIGKILL)
            popen.kill()
        popen.wait()
        for pipe in (popen.stdout, popen.stderr):
            if pipe is not None:
                pipe.close()

    async def gone(self) -> None:
        """Wait until it has ended, after `kill`."""
        if self._popen is not None:
            await asyncio.to_thread(self._popen.wait)

    def _close_input(self) -> None:
        if self._input >= 0:
            os.close(self._input)
            self._input = -1
