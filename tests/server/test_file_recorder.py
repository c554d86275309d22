"""Keeping sound: off the session's way, never after the session is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from audio.recording import Recordings
from server.hot.errors import StorageUnavailable
from server.metrics import Metrics
from server.recordings import MOST_WAITING, FileRecorder
from tests.support.fakes_session import eventually
from tests.support.speech import speech

PCM = speech("keep this")


class Sessions:
    """Which sessions are gone."""

    def __init__(self) -> None:
        self.gone: set[str] = set()
        self.away = False

    async def is_gone(self, session_id: str) -> bool:
        if self.away:
            raise StorageUnavailable("nobody there")
        return session_id in self.gone


@asynccontextmanager
async def at_work(recorder: FileRecorder) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(recorder.run())
        try:
            yield
        finally:
            running.cancel()


def lost(metrics: Metrics) -> float:
    return metrics.registry.get_sample_value("askwell_recordings_lost_total") or 0.0


async def test_sound_is_kept_by_session_and_turn(tmp_path: Path) -> None:
    recorder = FileRecorder(Recordings(tmp_path), Sessions().is_gone, Metrics())
    async with at_work(recorder):
        recorder.keep("s1", 1, "k1", PCM)
        recorder.keep("s1", 2, "k2", PCM)
        recorder.keep("s1", 3, "k3", b"")
        await recorder.drain()
    assert [entry["file"] for entry in recorder.of("s1")] == ["0001-k1.flac", "0002-k2.flac"]
    assert recorder.of("s2") == []


async def test_sound_of_a_session_that_goes_while_it_is_written_goes_with_it(tmp_path: Path) -> None:
    sessions = Sessions()
    recorder = FileRecorder(Recordings(tmp_path), sessions.is_gone, Metrics())
    recorder.keep("s1", 1, "k1", PCM)
    sessions.gone.add("s1")
    async with at_work(recorder):
        await recorder.drain()
    assert recorder.of("s1") == []
    assert Recordings(tmp_path).sessions() == []


async def test_sound_of_sessions_that_are_gone_is_looked_for_at_the_start(tmp_path: Path) -> None:
    recordings, sessions = Recordings(tmp_path), Sessions()
    before = FileRecorder(recordings, sessions.is_gone, Metrics())
    async with at_work(before):
        before.keep("gone", 1, "k1", PCM)
        before.keep("here", 1, "k1", PCM)
        await before.drain()
    sessions.gone.add("gone")
    async with at_work(FileRecorder(recordings, sessions.is_gone, Metrics())):
        await eventually(lambda: recordings.sessions() == ["here"])


async def test_sound_is_kept_where_nobody_can_say_whether_the_session_is_gone(tmp_path: Path) -> None:
    sessions = Sessions()
    sessions.away = True
    recorder = FileRecorder(Recordings(tmp_path), sessions.is_gone, Metrics())
    async with at_work(recorder):
        recorder.keep("s1", 1, "k1", PCM)
        await recorder.drain()
    assert len(recorder.of("s1")) == 1


async def test_sound_that_can_not_be_kept_is_counted_and_stops_nothing(tmp_path: Path) -> None:
    metrics = Metrics()
    (tmp_path / "s1").write_text("a file where a folder should be")
    recorder = FileRecorder(Recordings(tmp_path), Sessions().is_gone, metrics)
    async with at_work(recorder):
        recorder.keep("s1", 1, "k1", PCM)
        recorder.keep("s2", 1, "k1", PCM)
        await recorder.drain()
    assert lost(metrics) == 1
    assert len(recorder.of("s2")) == 1


async def test_too_much_sound_at_once_is_counted(tmp_path: Path) -> None:
    metrics = Metrics()
    recorder = FileRecorder(Recordings(tmp_path), Sessions().is_gone, metrics)
    for number in range(MOST_WAITING + 2):
        recorder.keep("s1", number, f"k{number}", PCM)
    assert lost(metrics) == 2


async def test_erasing_again_changes_nothing(tmp_path: Path) -> None:
    recorder = FileRecorder(Recordings(tmp_path), Sessions().is_gone, Metrics())
    await recorder.erase("s1")
    with pytest.raises(ValueError, match="no id"):
        await recorder.erase("../s1")
