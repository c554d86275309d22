"""The files of the model of what is worth saying next."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import numpy as np
import pytest

from pipeline.language.embedder import ModelUnavailable
from pipeline.language.offline.clause_model import MADE_FOR
from pipeline.language.offline.dangling import DanglingModel
from pipeline.language.offline.loss import LossModel
from pipeline.language.offline.worth_model import FOLDER, HEADS, UPPER, WorthModel, load_worth
from pipeline.language.reader.perceptron import Perceptron
from pipeline.language.reader.understanding import Reader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of what is shipped."""
    return Path(shutil.copytree(FOLDER, tmp_path / "worth"))


@pytest.mark.parametrize("name", [UPPER, HEADS, DanglingModel.file, LossModel.file])
@pytest.mark.parametrize("content", [None, b"", b"PK", b"PK\x03\x04", b"{}"])
def test_file_missing_or_damaged_is_named(folder: Path, reader: Reader, name: str, content: bytes | None) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(ModelUnavailable, match=name):
        load_worth(reader, folder)


def test_heads_belong_to_what_was_fitted_with_them(folder: Path, reader: Reader) -> None:
    assert load_worth(reader, folder).echoes.names
    (folder / UPPER).write_bytes((folder / UPPER).read_bytes() + b"\0")
    with pytest.raises(ModelUnavailable, match="not the file that belongs"):
        load_worth(reader, folder)


@pytest.mark.parametrize("name", [DanglingModel.file, LossModel.file])
def test_what_judges_clauses_belongs_to_the_same_layers(folder: Path, reader: Reader, name: str) -> None:
    with np.load(folder / name) as kept:
        arrays = {each: kept[each] for each in kept.files}
    np.savez(folder / name, **(arrays | {MADE_FOR: np.array("0" * 64)}))
    with pytest.raises(ModelUnavailable, match=f"{name} is for another {UPPER}"):
        load_worth(reader, folder)


def test_model_belongs_to_one_reader(folder: Path, reader: Reader) -> None:
    settings = reader.settings.model_copy(update={"encoder_sha256": "0" * 64})
    with pytest.raises(ModelUnavailable, match="another reader"):
        load_worth(Reader(reader.network, settings), folder)


def test_long_answer_is_read_in_windows_as_by_the_reader(worth: WorthModel) -> None:
    answer = "I went home and told nobody, because nobody asked. " * 30
    read = worth.read("And then?", answer)
    assert len(read.encoding.windows) > 1
    assert read.mean.shape == (len(read.words), read.whole.shape[0])
    assert np.all(np.abs(read.mean).sum(axis=1) > 0)
    assert worth.read("And then?", answer) is read


def test_heads_cut_short_are_damaged(folder: Path, reader: Reader) -> None:
    whole = (folder / HEADS).read_bytes()
    (folder / HEADS).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelUnavailable, match="damaged"):
        load_worth(reader, folder)


def test_perceptron_is_the_same_after_it_was_written() -> None:
    rng = np.random.default_rng(1)
    shapes = ((2,), (2,), (5, 3), (3,), (3, 4), (4,))
    made = Perceptron(("b", "a"), *(rng.normal(size=shape).astype(np.float16).astype(np.float32) for shape in shapes))
    file = io.BytesIO()
    np.savez(file, **made.arrays("own"))  # type: ignore[arg-type]
    file.seek(0)
    with np.load(file, allow_pickle=False) as kept:
        again = Perceptron.read({name: kept[name] for name in kept.files}, "own")
    rows = [each.row(np.ones(3, dtype=np.float32), {"a": 2.0}) for each in (made, again)]
    assert np.allclose(rows[0][3:], (np.array([0.0, 2.0]) - made.mean) / made.deviation)
    assert np.array_equal(made.outputs(rows[:1]), again.outputs(rows[1:]))
    assert made.outputs(rows).shape == (2, 4)
