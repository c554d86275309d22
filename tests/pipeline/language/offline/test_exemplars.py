"""What the models make of exemplars is kept for the next start, and made again where that can't be used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pipeline.language.offline.exemplars import ExemplarFiles
from pipeline.language.offline.kinds import TypeModel, TypeModels
from pipeline.ports import Vectors
from tests.support.interview import small_methodology

ONTOLOGY = small_methodology().ontology


class Counted:
    """An embedder that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.asked += 1
        return np.asarray([[len(text), sum(map(ord, text)) % 97] for text in texts], dtype=np.float32)


def shapes(texts: Sequence[str]) -> list[frozenset[str]]:
    return [frozenset({text[:1], "same"}) for text in texts]


def model(folder: Path, counted: Counted, version: str = "1") -> TypeModel:
    return TypeModels(counted.encode, shapes, files=ExemplarFiles(folder, version)).model(ONTOLOGY)


def test_second_start_gets_the_same_model_without_asking_the_embedder(tmp_path: Path) -> None:
    counted = Counted()
    first, second = model(tmp_path, counted), model(tmp_path, counted)
    assert counted.asked == 1
    assert (first.exemplars == second.exemplars).all() and (first.linear == second.linear).all()
    assert first.shapes.keys() == second.shapes.keys()
    assert all((first.shapes[name] == second.shapes[name]).all() for name in first.shapes)


def test_other_version_of_a_model_is_asked_anew(tmp_path: Path) -> None:
    counted = Counted()
    model(tmp_path, counted)
    model(tmp_path, counted, version="2")
    assert counted.asked == 2


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"PK\x03\x04 cut"], ids=["empty", "other", "cut"])
def test_damaged_file_is_made_again(tmp_path: Path, damage: bytes) -> None:
    counted = Counted()
    model(tmp_path, counted)
    [kept] = tmp_path.iterdir()
    kept.write_bytes(damage)
    model(tmp_path, counted)
    assert counted.asked == 2
    model(tmp_path, counted)
    assert counted.asked == 2, "the file was mended"


def test_folder_that_can_not_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    counted = Counted()
    assert model(tmp_path / "file" / "below", counted).names
    assert counted.asked == 1
