"""Files are compared with their digests, and read again only when they may have changed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from artefacts.checking import RECORD_FILE, check_files
from artefacts.errors import ArtefactDiffers, ArtefactMissing


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def pinned(tmp_path: Path) -> tuple[Path, str]:
    """A file and its digest."""
    path = tmp_path / "model.bin"
    path.write_bytes(b"pinned")
    return path, digest(b"pinned")


def test_other_file_is_refused_with_its_name_both_digests_and_the_remedy(
    pinned: tuple[Path, str], tmp_path: Path
) -> None:
    pinned[0].write_bytes(b"pinneD")
    with pytest.raises(ArtefactDiffers) as refused:
        check_files([pinned], store=tmp_path / "store", remedy="Install it again: pip install thing")
    for part in (str(pinned[0]), pinned[1], digest(b"pinneD"), "pip install thing"):
        assert part in str(refused.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtefactMissing, match=r"gone can't be read: No such file or directory\. Do this\."):
        check_files([(tmp_path / "gone", "0" * 64)], store=tmp_path / "store", remedy="Do this.")


def test_file_that_passed_is_not_read_again(pinned: tuple[Path, str], tmp_path: Path) -> None:
    record = tmp_path / "store" / RECORD_FILE
    check_files([pinned], store=record.parent)
    assert record.stat().st_mode & 0o077 == 0
    kept = json.loads(record.read_text())
    kept[str(pinned[0])][-1] = "f" * 64
    record.write_text(json.dumps(kept))
    check_files([(pinned[0], "f" * 64)], store=record.parent)  # believed, which shows that it was not read


def test_file_that_changed_is_read_again_although_size_and_modification_time_are_as_before(
    pinned: tuple[Path, str], tmp_path: Path
) -> None:
    check_files([pinned], store=tmp_path / "store")
    before = pinned[0].stat()
    pinned[0].write_bytes(b"pinneD")
    os.utime(pinned[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ArtefactDiffers):
        check_files([pinned], store=tmp_path / "store")


@pytest.mark.parametrize("damage", ["[nothing", "[]", "{}"])
def test_record_that_is_damaged_is_not_believed(pinned: tuple[Path, str], tmp_path: Path, damage: str) -> None:
    check_files([pinned], store=tmp_path / "store")
    (tmp_path / "store" / RECORD_FILE).write_text(damage)
    check_files([pinned], store=tmp_path / "store")
    with pytest.raises(ArtefactDiffers):
        check_files([(pinned[0], "0" * 64)], store=tmp_path / "store")


def test_record_that_others_may_write_is_not_believed(pinned: tuple[Path, str], tmp_path: Path) -> None:
    record = tmp_path / "store" / RECORD_FILE
    check_files([pinned], store=record.parent)
    record.write_text(record.read_text().replace(pinned[1], "f" * 64))
    record.chmod(0o666)
    with pytest.raises(ArtefactDiffers):
        check_files([(pinned[0], "f" * 64)], store=record.parent)


def test_files_are_compared_without_a_place_for_the_record(pinned: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the directory should be")
    check_files([pinned], store=tmp_path / "store")
    with pytest.raises(ArtefactDiffers):
        check_files([(pinned[0], "0" * 64)], store=tmp_path / "store")
