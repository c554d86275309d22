"""What workers share: the board, their links, the page of metrics."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from config.settings import Settings, load
from server.metrics import Metrics, joint_page
from server.peers import Peers, socket_path
from server.workers import Board, KeeperLink, WorkerLink, share_of


def _values(page: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def test_board_written_before_a_fork_is_read_by_the_child() -> None:
    board = Board()
    assert (board.restarts, board.outage()) == (0, None)
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.read(readable, 1)
        os._exit(0 if (board.restarts, board.outage()) == (7, "the disk is full – çà et là") else 1)
    board.write(restarts=7, outage="the disk is full – çà et là")
    os.write(writable, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    for end in (readable, writable):
        os.close(end)


@pytest.mark.parametrize("outage", ["", "é" * 5_000])
def test_board_takes_any_reason_and_forgets_it(outage: str) -> None:
    board = Board()
    board.write(restarts=0, outage=outage)
    shown = board.outage() or ""
    assert outage.startswith(shown.rstrip("\ufffd"))
    board.write(restarts=1, outage=None)
    assert board.outage() is None


async def test_link_tells_both_ways_and_in_pieces() -> None:
    ours, theirs = socket.socketpair()
    keeper, worker = KeeperLink(ours), WorkerLink(theirs)
    assert keeper.told() == []
    with worker.held():
        worker.tell(ready="a banner\nof two lines")
        theirs.send(b'{"up": tr')
        assert keeper.told() == [{"ready": "a banner\nof two lines"}]
        theirs.send(b"ue}\n")
        assert keeper.told() == [{"up": True}]
        keeper.go()
        async with asyncio.timeout(10):
            await worker.may_begin()
    keeper.close()
    worker.tell(up=True)
    theirs.close()


async def test_worker_whose_keeper_is_gone_ends_as_by_sigterm() -> None:
    ours, theirs = socket.socketpair()
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, told.set)
    try:
        with WorkerLink(theirs).held():
            KeeperLink(ours).close()
            async with asyncio.timeout(10):
                await told.wait()
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        theirs.close()


def test_joint_page_has_each_family_once_and_each_worker_by_its_label() -> None:
    first, second = Metrics(), Metrics()
    first.turn("completed", 12.0, {"graph": 2.0}, fallback=False)
    second.turn("completed", 30.0, {"graph": 4.0}, fallback=True)
    second.turn("failed", 1.0, {}, fallback=False)
    page = joint_page({1: first.families(), 3: second.families()}, restarts=2)
    values = _values(page)
    assert values["askwell_turns_total", (("outcome", "completed"), ("worker", "1"))] == 1
    assert values["askwell_turns_total", (("outcome", "completed"), ("worker", "3"))] == 1
    assert values["askwell_turns_total", (("outcome", "failed"), ("worker", "3"))] == 1
    assert values["askwell_turn_ms_bucket", (("le", "20.0"), ("worker", "1"))] == 1
    assert values["askwell_turn_ms_bucket", (("le", "20.0"), ("worker", "3"))] == 1
    assert values["askwell_turn_ms_sum", (("worker", "3"),)] == 31
    assert values["askwell_workers", ()] == 2
    assert values["askwell_worker_restarts_total", ()] == 2
    assert page.count(b"# TYPE askwell_turn_ms histogram") == 1
    alone = {(name, labels) for name, labels in _values(first.page())}
    of_first = {
        (name, tuple(label for label in labels if label[0] != "worker"))
        for name, labels in values
        if ("worker", "1") in labels
    }
    assert alone == of_first


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path leaves room for the name of a socket."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


async def test_peers_give_the_metrics_of_those_that_answer(short: Path) -> None:
    folder = short
    mine, other = Metrics(), Metrics()
    other.sessions.set(5)
    asked = 0

    async def measure() -> Metrics:
        nonlocal asked
        asked += 1
        return other

    first = Peers(folder, 1, 4, lambda: 1)
    async with Peers(folder, 2, 4, lambda: 1).answering(measure):
        # One is not there, and what one says is no JSON.
        async def nonsense(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"[{")
            writer.close()

        server = await asyncio.start_unix_server(nonsense, socket_path(folder, 4))
        values = _values(await first.page(mine))
        server.close()
    assert asked == 1
    assert values["askwell_sessions", (("worker", "2"),)] == 5
    assert values["askwell_sessions", (("worker", "1"),)] == 0
    assert values["askwell_workers", ()] == 2
    assert not socket_path(folder, 2).exists()
    assert _values(await first.page(mine))["askwell_workers", ()] == 1


@pytest.mark.parametrize(
    ("cores", "workers", "wanted", "each"), [(8, 2, None, 2), (8, 3, None, 1), (1, 2, None, 1), (2, 2, "3", 3)]
)
def test_transcriptions_at_the_same_time_are_shared_out(
    cores: int, workers: int, wanted: str | None, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    given = {"ASKWELL_WORKERS": str(workers)} | ({"ASKWELL_WHISPER_WORKERS": wanted} if wanted else {})
    settings: Settings = share_of(load(given).settings)
    assert settings.speech.whisper_workers == each
