"""A model that was written is trained on as what it was."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.needs("torch")
STEPS = 63
"""Steps of a weight of seven bits from nothing to the largest of its row or column."""


@pytest.fixture(scope="module")
def network() -> Any:
    """One in which no two parts are the same, as after a training; those would be written once."""
    torch = importlib.import_module("torch")
    torch.manual_seed(3)
    made = importlib.import_module("pipeline.language.training.network").ReaderNetwork(["price (x)", "peace (y)"])
    for part in made.parameters():
        torch.nn.init.normal_(part, std=0.05)
    return made


@pytest.fixture(scope="module")
def written(network: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    importlib.import_module("pipeline.language.training.export").export(network, folder)
    return folder


def taken_up(known: list[str], folder: Path) -> Any:
    made = importlib.import_module("pipeline.language.training.network").ReaderNetwork(known)
    importlib.import_module("pipeline.language.training.resuming").resume(made, folder)
    return made


def test_weights_are_those_that_were_written(network: Any, written: Path) -> None:
    again = taken_up(["price (x)", "peace (y)"], written).state_dict()
    for name, value in network.state_dict().items():
        if not name.startswith("heads.act_message"):
            assert float((again[name] - value).abs().max()) <= float(value.abs().max()) / STEPS + 1e-3, name


def test_model_of_other_types_is_refused(written: Path) -> None:
    with pytest.raises(ValueError, match="other types"):
        taken_up(["price (x)"], written)


def test_model_that_lacks_a_part_is_refused(written: Path, tmp_path: Path) -> None:
    numpy = importlib.import_module("numpy")
    with numpy.load(written / "heads.npz") as kept:
        numpy.savez(tmp_path / "heads.npz", **{name: kept[name] for name in kept.files if name != "link.weight"})
    (tmp_path / "encoder.onnx").write_bytes((written / "encoder.onnx").read_bytes())
    with pytest.raises(ValueError, match=r"link\.weight"):
        taken_up(["price (x)", "peace (y)"], tmp_path)
