"""The model's files: whole and of this version, or a refusal that says what to do."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from artefacts.table import named
from pipeline.language.embedder import ModelUnavailable
from pipeline.language.reader.danger import DangerModel
from pipeline.language.reader.files import FOLDER, load_reader
from pipeline.language.reader.message import JUDGED, MessageModel
from pipeline.language.reader.replies import ReplyModel
from pipeline.language.reader.talk import DONE, TalkModel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "model"
    shutil.copytree(FOLDER, copy)
    return copy


@pytest.mark.parametrize("name", ["encoder.onnx", "heads.npz", "reader.json", "message.npz", "talk.npz", "danger.npz"])
def test_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=rf"{name} can't be read.*ASKWELL_READER=rules"):
        load_reader(folder)


@pytest.mark.parametrize("name", ["encoder.onnx", "heads.npz"])
def test_damaged_file_is_refused(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(ModelUnavailable, match=rf"{name} is not the file that belongs to this model"):
        load_reader(folder)


def test_model_of_messages_that_is_damaged_or_of_another_reader_is_refused(folder: Path) -> None:
    content = (folder / "message.npz").read_bytes()
    (folder / "message.npz").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelUnavailable, match=r"message\.npz is damaged"):
        load_reader(folder)
    model = MessageModel.read(content)
    acts = np.array(JUDGED)
    weights = {"weights": model.weights, "bias": model.bias, "encoder_sha256": np.array("0" * 64)}
    np.savez(folder / "message.npz", acts=acts[::-1], **weights)  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match="it judges other acts"):
        load_reader(folder)
    np.savez(folder / "message.npz", acts=acts, **weights)  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match=r"message\.npz is for another reader"):
        load_reader(folder)


def test_model_of_clauses_that_is_damaged_or_of_another_reader_is_refused(folder: Path) -> None:
    path = folder / "talk.npz"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelUnavailable, match=r"talk\.npz is damaged"):
        load_reader(folder)
    arrays = TalkModel.read(content).network.arrays("talk")
    np.savez(path, **arrays, done=np.array(DONE[::-1]), encoder_sha256=np.array("0" * 64))  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match="it judges other acts"):
        load_reader(folder)
    np.savez(path, **arrays, done=np.array(DONE), encoder_sha256=np.array("0" * 64))  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match=r"talk\.npz is for another reader"):
        load_reader(folder)


def test_model_of_danger_that_is_damaged_or_of_another_reader_is_refused(folder: Path) -> None:
    path = folder / "danger.npz"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelUnavailable, match=r"danger\.npz is damaged"):
        load_reader(folder)
    arrays = DangerModel.read(content).arrays()
    np.savez(path, **{**arrays, "phrases": arrays["phrases"][:-1]})  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match=r"danger\.npz is damaged: its phrases"):
        load_reader(folder)
    np.savez(path, **{**arrays, "encoder_sha256": np.array("0" * 64)})  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match=r"danger\.npz is for another reader"):
        load_reader(folder)


def test_model_of_replies_that_is_damaged_or_of_another_reader_is_refused(folder: Path) -> None:
    path = folder / "replies.npz"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelUnavailable, match=r"replies\.npz is damaged"):
        load_reader(folder)
    arrays = ReplyModel.read(content).arrays()
    np.savez(path, **{**arrays, "bias": arrays["bias"][:-1]})  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match=r"replies\.npz is damaged: its weights"):
        load_reader(folder)
    np.savez(path, **{**arrays, "encoder_sha256": np.array("0" * 64)})  # type: ignore[arg-type]
    with pytest.raises(ModelUnavailable, match=r"replies\.npz is for another reader"):
        load_reader(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 99}', '{"version": 1}'])
def test_settings_that_are_damaged_or_of_another_version_are_refused(folder: Path, content: str) -> None:
    (folder / "reader.json").write_text(content)
    with pytest.raises(ModelUnavailable, match=r"reader\.json is (damaged|of version)"):
        load_reader(folder)


def test_model_that_hears_other_acts_is_refused(folder: Path) -> None:
    settings = json.loads((folder / "reader.json").read_text())
    settings["acts"] = dict(reversed(settings["acts"].items()))
    (folder / "reader.json").write_text(json.dumps(settings))
    with pytest.raises(ModelUnavailable, match="hears other acts"):
        load_reader(folder)


def test_weights_that_fit_their_digest_but_are_no_model_are_refused(folder: Path) -> None:
    (folder / "encoder.onnx").write_bytes(b"no model")
    settings = json.loads((folder / "reader.json").read_text())
    settings["encoder_sha256"] = hashlib.sha256(b"no model").hexdigest()
    (folder / "reader.json").write_text(json.dumps(settings))
    with pytest.raises(ModelUnavailable, match="can't be loaded"):
        load_reader(folder)


def test_table_of_artefacts_has_the_digests_of_the_model() -> None:
    listed = {file.path: file.sha256 for file in named("askwell-reader").files}
    assert listed == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.iterdir()}


def test_model_is_small_enough_to_come_along() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 25_000_000
