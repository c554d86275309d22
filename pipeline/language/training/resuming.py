"""Takes a written model up again, to train it further."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper

from pipeline.language.training.network import ReaderNetwork

LAYER = "/MatMul_output_0_output_quantized"
"""How the names of a layer's products end."""


def resume(network: ReaderNetwork, folder: Path) -> None:
    """Give the network the weights of a written model, as exactly as they were written.

    What only helps the training is not written, and begins anew.

    Args:
        network: with as many types of its own as the model's.
        folder: with `encoder.onnx` and `heads.npz`, made by `export` with int8 weights.
    Raises:
        ValueError: it is another network's model.
    """
    found = {f"encoder.{name}": value for name, value in encoder_weights(folder / "encoder.onnx").items()}
    found |= {f"heads.{name}": value for name, value in _heads(folder / "heads.npz", network.known).items()}
    own = network.state_dict()
    for name, value in found.items():
        if name not in own or tuple(own[name].shape) != value.shape:
            raise ValueError(f"{folder} is the model of another network: {name} does not fit")
    missing = [name for name in own if name not in found and not name.startswith("heads.act_message")]
    if missing:
        raise ValueError(f"{folder} has no {missing[0]}")
    network.load_state_dict({**own, **{name: torch.tensor(value) for name, value in found.items()}})


def encoder_weights(path: Path) -> dict[str, NDArray[np.float32]]:
    """The encoder's parameters by their names in torch."""
    graph = onnx.load(str(path)).graph
    kept = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    found: dict[str, NDArray[np.float32]] = {}
    for name, value in kept.items():
        if name.startswith("encoder.") and value.dtype == np.float32 and not name.endswith("_scale"):
            found[name.removeprefix("encoder.")] = value
        if name.startswith("encoder.") and name.endswith("_quantized"):
            plain = name.removesuffix("_quantized")
            found[plain.removeprefix("encoder.")] = _plain(kept, plain)
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.output[0].endswith(LAYER):
            layer = node.output[0].removesuffix(LAYER).removeprefix("/encoder/").replace("/", ".")
            weights = _plain(kept, node.input[1].removesuffix("_quantized"))
            found[f"{layer}.weight"] = np.ascontiguousarray(weights.T)
    return found


def _plain(kept: dict[str, NDArray[np.float32]], name: str) -> NDArray[np.float32]:
    """An int8 matrix as numbers; its scale is one, or one per column."""
    steps = kept[f"{name}_quantized"].astype(np.float32) - kept[f"{name}_zero_point"].astype(np.float32)
    return np.asarray(steps * kept[f"{name}_scale"], dtype=np.float32)


def _heads(path: Path, known: tuple[str, ...]) -> dict[str, NDArray[np.float32]]:
    """The heads' parameters. Raises ValueError where the types of their own are others."""
    with np.load(path, allow_pickle=False) as kept:
        if tuple(str(text) for text in kept["known_types"]) != known:
            raise ValueError(f"{path} was made for other types")
        found: dict[str, NDArray[np.float32]] = {}
        for name in kept.files:
            if name != "known_types" and not name.endswith(".scale"):
                scale = kept[f"{name}.scale"] if f"{name}.scale" in kept.files else np.float32(1)
                found[name] = np.asarray(kept[name].astype(np.float32) * scale, dtype=np.float32)
    return found
