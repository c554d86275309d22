"""Recordings of spoken answers: kept as they are, and erased completely."""

from __future__ import annotations

import errno
from pathlib import Path
from uuid import uuid4

import av
import numpy as np
import pytest

from audio.containers import read_recording
from audio.recording import Recordings
from audio.types import RATE_HZ
from tests.audio.sound_files import tone


def test_flac_keeps_every_sample(tmp_path: Path) -> None:
    samples = np.random.default_rng(2).integers(-32768, 32767, int(2.34 * RATE_HZ), dtype=np.int16)
    path = Recordings(tmp_path).keep("s1", 3, str(uuid4()), samples)
    assert path.parent == tmp_path / "s1"
    assert path.name.startswith("0003-")
    assert np.array_equal(read_recording(path, max_s=10).samples, samples)


def test_one_sample_is_kept(tmp_path: Path) -> None:
    path = Recordings(tmp_path).keep("s1", 1, "k", np.ones(1, np.int16))
    with av.open(str(path)) as container:
        assert container.streams.audio


def test_same_turn_again_replaces_and_turns_are_in_order(tmp_path: Path) -> None:
    kept = Recordings(tmp_path)
    second = kept.keep("s1", 2, "b", tone(1.0, RATE_HZ))
    first = kept.keep("s1", 1, "a", tone(1.0, RATE_HZ))
    again = kept.keep("s1", 2, "b", tone(0.5, RATE_HZ))
    assert again == second
    assert kept.of("s1") == [first, second]
    assert len(read_recording(second, max_s=10).samples) == RATE_HZ // 2


def test_erase_removes_everything_of_that_session_and_of_no_other(tmp_path: Path) -> None:
    kept = Recordings(tmp_path)
    for session in ("s1", "s10"):
        kept.keep(session, 1, "a", tone(0.2, RATE_HZ))
        kept.keep(session, 2, "b", tone(0.2, RATE_HZ))
    (tmp_path / "s1" / ".draft-left").write_bytes(b"by a process that was killed")
    assert kept.erase("s1") == 2
    assert not (tmp_path / "s1").exists()
    assert kept.sessions() == ["s10"]
    assert len(kept.of("s10")) == 2
    assert kept.erase("s1") == 0


def test_failure_leaves_the_old_recording_and_no_draft(tmp_path: Path) -> None:
    kept = Recordings(tmp_path)
    path = kept.keep("s1", 1, "a", tone(1.0, RATE_HZ))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="dtype"):
        kept.keep("s1", 1, "a", np.zeros(100, np.float32))
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_nothing_to_keep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no samples"):
        Recordings(tmp_path).keep("s1", 1, "a", np.zeros(0, np.int16))
    assert Recordings(tmp_path / "absent").sessions() == []
    assert Recordings(tmp_path).of("s1") == []


@pytest.mark.parametrize("name", ["../other", "a/b", "", ".", "..", ".draft", "a" * 81, "a\0b", "é"])
def test_ids_that_are_no_file_names_are_refused(tmp_path: Path, name: str) -> None:
    kept = Recordings(tmp_path / "in")
    for call in (
        lambda: kept.keep(name, 1, "a", tone(0.1, RATE_HZ)),
        lambda: kept.keep("s1", 1, name, tone(0.1, RATE_HZ)),
        lambda: kept.erase(name),
        lambda: kept.of(name),
    ):
        with pytest.raises(ValueError, match="no id"):
            call()
    assert not (tmp_path / "in").exists()


def test_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "s1").write_text("a file where the session's folder should be")
    with pytest.raises(OSError) as caught:
        Recordings(tmp_path).keep("s1", 1, "a", tone(0.1, RATE_HZ))
    assert caught.value.errno in (errno.EEXIST, errno.ENOTDIR)


def test_recordings_are_for_their_owner_only(tmp_path: Path) -> None:
    path = Recordings(tmp_path).keep("s1", 1, "a", tone(0.1, RATE_HZ))
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0
