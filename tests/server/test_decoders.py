"""Recordings are decoded by processes of their own, which are limited, reused, and gone when nobody waits."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import pytest

from audio.errors import AudioFormat, AudioTooLong
from server.speech.decoders import BROKEN, OUT_OF_TIME, WORKER, Decoders
from tests.audio.sound_files import KINDS, compressed_index, sound_file
from tests.support.process import decoding_processes, peak_bytes

MOST_BYTES = 268_435_456


def file_of(data: bytes) -> IO[bytes]:
    file = tempfile.SpooledTemporaryFile(1 << 20)  # noqa: SIM115 -- closed with the process
    file.write(data)
    return file


@asynccontextmanager
async def decoders(deadline_s: float = 30.0, command: Sequence[str] = WORKER) -> AsyncIterator[Decoders]:
    found = Decoders(at_once=2, max_bytes=MOST_BYTES, deadline_s=deadline_s, command=command)
    try:
        yield found
    finally:
        await found.aclose()
        assert decoding_processes() == []


def environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


async def test_every_kind_is_decoded_by_one_process_as_it_is_here() -> None:
    async with decoders() as found:
        for kind in KINDS:
            decoded = await found.decode(file_of(sound_file(kind)), max_s=10)
            assert decoded.complete
            assert len(decoded.pcm) == pytest.approx(64_000, abs=2_000)
            [only] = decoding_processes()
        with pytest.raises(AudioTooLong, match="longer than 1 s"):
            await found.decode(file_of(sound_file("wav")), max_s=1)
        with pytest.raises(AudioFormat, match="empty"):
            await found.decode(file_of(b""), max_s=1)
        assert decoding_processes() == [only]
        environment = environment_of(only)
        assert b"ASKWELL_" not in environment
        assert b"PYTEST_" not in environment


async def test_recording_that_takes_gigabytes_is_refused_and_its_process_ends_within_the_limit() -> None:
    async with decoders() as found:
        await found.decode(file_of(sound_file("wav")), max_s=10)
        [first] = decoding_processes()
        used = peak_bytes(first)
        with pytest.raises(AudioFormat, match="more memory"):
            await found.decode(file_of(compressed_index(1_800_000_000)), max_s=10)
        await until(lambda: decoding_processes() == [])
        large = file_of(compressed_index(200_000_000))
        with pytest.raises(AudioFormat):
            await found.decode(large, max_s=10)
        [second] = decoding_processes()
        assert peak_bytes(second) < used + MOST_BYTES
        assert (await found.decode(file_of(sound_file("wav")), max_s=10)).complete


async def test_process_watches_its_memory_where_the_system_does_not_limit_it() -> None:
    unlimited = "import audio.decode_worker as w; w._address_space = lambda: None; w.main()"
    held = bytearray(b"x") * 1_000_000_000  # what the server itself holds must not count as its decoder's
    async with decoders(command=("-c", unlimited)) as found:
        with pytest.raises(AudioFormat, match="more memory"):
            await found.decode(file_of(compressed_index(800_000_000)), max_s=10)
        await until(lambda: decoding_processes() == [])
    del held


async def test_process_that_is_killed_while_idle_is_replaced() -> None:
    async with decoders() as found:
        await found.decode(file_of(sound_file("wav")), max_s=10)
        [only] = decoding_processes()
        os.kill(only, signal.SIGKILL)
        await until(lambda: decoding_processes() == [])
        assert (await found.decode(file_of(sound_file("wav")), max_s=10)).complete


async def halted(found: Decoders) -> int:
    """The process that decodes next, which stands still."""
    await found.decode(file_of(sound_file("wav")), max_s=10)
    [only] = decoding_processes()
    os.kill(only, signal.SIGSTOP)
    await until(lambda: state_of(only) == "T")
    return only


def state_of(process: int) -> str:
    """The letter by which Linux calls the state of a process."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


async def test_recording_that_takes_too_long_is_refused_and_its_process_killed() -> None:
    async with decoders(deadline_s=3.0) as found:
        await halted(found)
        with pytest.raises(AudioFormat, match=OUT_OF_TIME):
            await found.decode(file_of(sound_file("wav")), max_s=10)
        await until(lambda: decoding_processes() == [])


async def test_process_is_killed_when_nobody_waits_any_more() -> None:
    async with decoders() as found, asyncio.TaskGroup() as tasks:
        await halted(found)
        waiting = tasks.create_task(found.decode(file_of(sound_file("wav")), max_s=10))
        await asyncio.sleep(0)
        waiting.cancel()
        await until(lambda: decoding_processes() == [])
        assert (await found.decode(file_of(sound_file("wav")), max_s=10)).complete


async def test_process_that_crashes_is_the_recordings_fault() -> None:
    async with decoders() as found:
        process = await halted(found)
        os.kill(process, signal.SIGSEGV)
        asyncio.get_running_loop().call_later(0.2, os.kill, process, signal.SIGCONT)
        with pytest.raises(AudioFormat, match=BROKEN):
            await found.decode(file_of(sound_file("wav")), max_s=10)
