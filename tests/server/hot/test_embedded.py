"""The embedded server as a child process: kills, survivors, locks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path
from random import Random

import pytest
from redis import Redis
from redis.exceptions import RedisError

from server.hot.datadir import DataDir, running_server
from server.hot.embedded import EmbeddedValkey, runtime_dir
from server.hot.errors import DataDirInUse, DataDirUnusable, EmbeddedFailed, StorageUnavailable
from server.hot.redis import HotStore
from server.hot.values import HotSettings
from tests.support.patience import PATIENCE_S
from tests.support.redis_model import play, random_operations
from tests.support.redis_store import connect_store
from tests.support.small_disk import small_disk

PARENT = """
import sys, time
from pathlib import Path
from random import Random
from server.hot.datadir import DataDir
from server.hot.embedded import EmbeddedValkey
with DataDir(Path(sys.argv[1])) as data:
    server = EmbeddedValkey(data.path)
    server.start()
    data.publish("http://127.0.0.1:8080")
    print(server.pid, server.socket_path, flush=True)
    time.sleep(120)
"""


def wait_until(condition: Callable[[], bool], deadline_s: float = PATIENCE_S) -> None:
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, "the condition did not come true in time"
        time.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def answers(server: EmbeddedValkey) -> bool:
    """Whether the child serves clients."""
    with Redis(unix_socket_path=str(server.socket_path)) as client:
        try:
            return bool(client.ping())
        except RedisError:
            return False


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    embedded = EmbeddedValkey(tmp_path)
    embedded.start()
    yield embedded
    embedded.stop()


async def test_restart_keeps_what_was_written(tmp_path: Path) -> None:
    for expected in range(3):
        server = EmbeddedValkey(tmp_path)
        server.start()
        hot = connect_store(server.url)
        if expected:
            assert (await hot.read(f"s{expected - 1}")).state == b"kept"
        await hot.create(f"s{expected}", state=b"kept")
        await hot.close()
        server.stop()
        assert not server.socket_path.exists()


async def test_killed_child_is_started_again_and_loses_nothing(server: EmbeddedValkey) -> None:
    statuses: list[int] = []
    server._on_restart = statuses.append
    hot = connect_store(server.url)
    async with asyncio.TaskGroup() as group:
        supervisor = group.create_task(server.supervise(poll_s=0.01))
        for number in range(20):
            if number % 7 == 3:
                kill(server)
            await hot.create(f"s{number}", state=b"kept", events=[{"type": "x"}])
        for number in range(20):
            session = await hot.read(f"s{number}")
            assert (session.state, session.last_event_id) == (b"kept", 1)
        supervisor.cancel()
    assert len(statuses) >= 2
    assert set(statuses) == {-signal.SIGKILL}
    assert answers(server)
    await hot.close()


async def test_kills_in_the_middle_of_operations_change_no_outcome(tmp_path: Path) -> None:
    """Every operation has the outcome the model expects, whenever the server is killed under it."""
    statuses: list[int] = []
    server = EmbeddedValkey(tmp_path, longest_pause_s=0.1, on_restart=statuses.append)
    server.start()
    # On a busy machine a start may take longer than an operation is tried again otherwise.
    hot = connect_store(server.url, HotSettings(op_deadline_s=PATIENCE_S))
    kills = 0

    async def kill_often() -> None:
        nonlocal kills
        random = Random(5)
        while True:
            # A start takes long on a busy machine: it is killed when it serves again, so every operation has a try.
            while not await hot.checks.ping():
                await asyncio.sleep(0.005)
            await asyncio.sleep(random.uniform(0.0, 0.15))
            if answers(server):
                kill(server)
                kills += 1

    async with asyncio.timeout(2 * PATIENCE_S), asyncio.TaskGroup() as group:
        tasks = [group.create_task(server.supervise(poll_s=0.005)), group.create_task(kill_often())]
        seed = 0
        while kills < 8:
            await play(hot, f"s{seed}", random_operations(seed, 60))
            seed += 1
        for task in tasks:
            task.cancel()
    assert len(statuses) >= 7
    await hot.close()
    server.stop()


async def test_child_that_dies_again_and_again_is_started_every_time_after_longer_pauses(tmp_path: Path) -> None:
    starts: list[float] = []

    def kill_again(_: int) -> None:
        starts.append(time.monotonic())
        if len(starts) < 8:
            kill(doomed)

    doomed = EmbeddedValkey(tmp_path, first_pause_s=0.02, longest_pause_s=0.2, on_restart=kill_again)
    doomed.start()
    kill(doomed)
    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        supervisor = group.create_task(doomed.supervise(poll_s=0.01))
        while len(starts) < 8:
            await asyncio.sleep(0.01)
        supervisor.cancel()
    assert answers(doomed)
    assert all(later - earlier >= 0.2 for earlier, later in pairwise(starts[4:]))
    doomed.stop()


async def create_for_ever(hot: HotStore, names: Iterator[str], kept: list[str]) -> None:
    while True:
        name = next(names)
        await hot.create(name, state=os.urandom(3_000))
        kept.append(name)


@pytest.mark.needs("tmpfs")
async def test_full_disk_is_told_and_waited_for_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8) as disk:
        server = EmbeddedValkey(disk.path, longest_pause_s=0.2)
        server.start()
        hot = connect_store(server.url, outage=server.outage)
        kept: list[str] = []
        names = (f"s{number}" for number in count())
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            supervisor = group.create_task(server.supervise(poll_s=0.01))
            for _ in range(2):
                disk.fill()
                with pytest.raises(StorageUnavailable, match="the disk is full"):
                    await create_for_ever(hot, names, kept)
                assert server.outage() == "the disk is full"
                for _ in range(7):
                    await asyncio.sleep(0.05)
                    assert not supervisor.done()
                disk.empty()
                while server.outage() is not None:
                    await asyncio.sleep(0.02)
                for session_id in kept:
                    assert (await hot.read(session_id)).rev == 0
                await hot.create(next(names), state=b"x")
            supervisor.cancel()
        await hot.close()
        server.stop()


def kill(server: EmbeddedValkey) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)


def test_child_dies_with_its_killed_parent(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline().split()[0])
        assert runs(pid)
        with pytest.raises(DataDirInUse, match=rf"process {parent.pid} at http://127\.0\.0\.1:8080"):
            DataDir(tmp_path).acquire()
        assert running_server(tmp_path) == (parent.pid, "http://127.0.0.1:8080")
        parent.kill()
        parent.wait()
        if sys.platform.startswith("linux"):
            wait_until(lambda: not runs(pid))
    assert running_server(tmp_path) is None
    with DataDir(tmp_path) as data:
        server = EmbeddedValkey(data.path)
        server.start()
        assert answers(server)
        server.stop()


def test_surviving_child_is_shut_down_first(tmp_path: Path) -> None:
    first = EmbeddedValkey(tmp_path)
    first.start()
    survivor = first.pid
    second = EmbeddedValkey(tmp_path)
    second.start()
    assert survivor is not None
    assert first._child is not None
    wait_until(lambda: first._child is None or first._child.poll() is not None)
    assert answers(second)
    assert second.pid != survivor
    second.stop()


def test_stale_child_file_of_a_stranger_kills_nobody(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        home = tmp_path / "valkey"
        home.mkdir()
        (home / "child.json").write_text(json.dumps({"pid": stranger.pid, "socket": "/nonexistent"}))
        server = EmbeddedValkey(tmp_path)
        server.start()
        assert stranger.poll() is None
        server.stop()
        stranger.kill()


def test_damaged_child_file_is_ignored(tmp_path: Path) -> None:
    home = tmp_path / "valkey"
    home.mkdir()
    (home / "child.json").write_text("{")
    server = EmbeddedValkey(tmp_path)
    server.start()
    assert answers(server)
    server.stop()


def test_long_data_directory_has_a_short_socket(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    deep.mkdir(parents=True)
    assert len(str(runtime_dir(deep) / "valkey.sock")) <= 107
    assert runtime_dir(deep) == runtime_dir(deep)
    assert runtime_dir(deep) != runtime_dir(tmp_path)
    runtime_dir(deep).rmdir()
    runtime_dir(tmp_path).rmdir()


def test_server_that_ends_while_starting_shows_its_log(tmp_path: Path) -> None:
    script = tmp_path / "broken"
    script.write_text("#!/bin/sh\necho no luck today\nexit 3\n")
    script.chmod(0o755)
    with pytest.raises(EmbeddedFailed, match="no luck today"):
        EmbeddedValkey(tmp_path, binary=script).start()


def test_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    script = tmp_path / "silent"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    silent = EmbeddedValkey(tmp_path, binary=script, ready_deadline_s=0.2, stop_deadline_s=1.0)
    with pytest.raises(EmbeddedFailed, match="not ready"):
        silent.start()
    assert silent.pid is None


def test_directory_that_is_a_file_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(DataDirUnusable, match="can't be written"):
        DataDir(tmp_path / "data").acquire()


NOBODY = 65534


def said_as_ordinary_user(path: Path) -> str:
    """What a process without privileges is told that wants the directory; the superuser may write everywhere."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        said = "it was allowed"
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setuid(NOBODY)
            DataDir(path).acquire()
        except DataDirUnusable as error:
            said = str(error)
        finally:
            os.write(write_end, said.encode())
            os._exit(0)
    os.close(write_end)
    os.waitpid(child, 0)
    with os.fdopen(read_end) as answer:
        return answer.read()


def test_directory_without_write_permission_is_unusable() -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o555)
        assert "can't be written" in said_as_ordinary_user(Path(place))


def test_directory_is_free_again_after_release(tmp_path: Path) -> None:
    first = DataDir(tmp_path).acquire()
    with pytest.raises(DataDirInUse):
        DataDir(tmp_path).acquire()
    first.release()
    DataDir(tmp_path).acquire().release()


def test_what_others_could_read_in_a_data_directory_is_closed_to_them(tmp_path: Path) -> None:
    store, folder = tmp_path / "askwell.db", tmp_path / "valkey"
    store.write_bytes(b"")
    store.chmod(0o644)
    folder.mkdir(mode=0o755)
    with DataDir(tmp_path):
        assert (store.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
