"""The meter of resources finds each kind of leak, and nothing where there is none."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from server.hot.redis import HotStore
from tests.support import resources
from tests.support.redis_fixtures import embedded_url, hot
from tests.support.resources import PROC, Meter, nothing_lost, temporary_files_in

__all__ = ["embedded_url", "hot"]

LEAK_MB = 100
Leak = Callable[[ExitStack, Path], None]


def open_file(stack: ExitStack, folder: Path) -> None:
    stack.callback(os.close, os.open(__file__, os.O_RDONLY))


def open_socket(stack: ExitStack, folder: Path) -> None:
    stack.enter_context(socket.socket())


def running_thread(stack: ExitStack, folder: Path) -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait, name="left")
    thread.start()
    stack.callback(thread.join)
    stack.callback(over.set)


def running_task(stack: ExitStack, folder: Path) -> None:
    stack.callback(asyncio.get_running_loop().create_task(asyncio.sleep(60)).cancel)


def child_process(stack: ExitStack, folder: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    stack.callback(child.wait)
    stack.callback(child.kill)


def child_nobody_waits_for(stack: ExitStack, folder: Path) -> None:
    stack.callback(subprocess.Popen([sys.executable, "-c", ""]).wait)


def file_in_the_folder(stack: ExitStack, folder: Path) -> None:
    (folder / "left").write_text("x")


def temporary_file(stack: ExitStack, folder: Path) -> None:
    handle, _ = tempfile.mkstemp()
    stack.callback(os.close, handle)


def memory(stack: ExitStack, folder: Path) -> None:
    kept = [b"\1" * (LEAK_MB * 2**20)]
    stack.callback(kept.clear)


LEAKS: dict[str, list[Leak]] = {
    "descriptors": [open_file, open_socket],
    "threads": [running_thread],
    "tasks": [running_task],
    "children": [child_process, child_nobody_waits_for],
    "files": [file_in_the_folder, temporary_file],
    "memory_mb": [memory],
}


def emptied(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leak stays one however long it is waited for."""
    monkeypatch.setattr(resources, "SETTLE_S", 0.2)


@pytest.mark.parametrize(
    ("kind", "leak"), [(kind, leak) for kind, leaks in LEAKS.items() for leak in leaks], ids=lambda one: str(one)[:22]
)
async def test_leak_of_each_kind_is_found(tmp_path: Path, kind: str, leak: Leak) -> None:
    if kind in ("descriptors", "children", "memory_mb") and not PROC.is_dir():
        pytest.skip("needs /proc")
    with ExitStack() as stack, temporary_files_in(tmp_path), pytest.raises(AssertionError, match=f"{kind}: "):
        async with nothing_lost(Meter(folders=[tmp_path])):
            leak(stack, tmp_path)


async def test_key_that_nothing_will_remove_is_found(hot: HotStore) -> None:
    client = hot.connection.client
    with pytest.raises(AssertionError, match=r"keys: 1 more \(askwell:left"):
        async with nothing_lost(Meter(store=hot)):
            await client.execute_command("SET", "askwell:left", "1")
    async with nothing_lost(Meter(store=hot)):
        await client.execute_command("DEL", "askwell:left")
        await client.execute_command("SET", "askwell:short", "1", "EX", "5")


async def test_what_is_given_back_is_not_found(tmp_path: Path) -> None:
    for leaks in LEAKS.values():
        for leak in leaks:
            async with nothing_lost(Meter(folders=[tmp_path])):
                with temporary_files_in(tmp_path), ExitStack() as stack:
                    leak(stack, tmp_path)
                emptied(tmp_path)


HOLDS = """
import sys
print("up", flush=True)
sys.stdin.readline()
kept = open(sys.executable)
print("held", flush=True)
sys.stdin.readline()
"""


def told(other: subprocess.Popen[str]) -> str:
    assert other.stdout is not None
    return other.stdout.readline().strip()


def go_on(other: subprocess.Popen[str]) -> None:
    assert other.stdin is not None
    other.stdin.write("\n")
    other.stdin.flush()


@pytest.fixture
def holder() -> Iterator[subprocess.Popen[str]]:
    """A process that holds one more file once it may go on."""
    command = [sys.executable, "-c", HOLDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert told(other) == "up"
        yield other
        go_on(other)


async def test_leak_of_another_process_is_found(holder: subprocess.Popen[str]) -> None:
    if not PROC.is_dir():
        pytest.skip("needs /proc")
    meter = Meter(pid=holder.pid)
    before = await meter.read()
    go_on(holder)
    assert told(holder) == "held"
    [lost] = await meter.lost(before)
    assert lost.startswith("descriptors: 1 more (")


async def test_failure_of_the_block_itself_is_told_and_no_leak() -> None:
    with pytest.raises(ValueError, match="mine"):
        async with nothing_lost(Meter()):
            raise ValueError("mine")
