"""Writes a fitted network as the files that the reader runs: int8 encoder (ONNX) and heads (npz)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.utils
import torch
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from pipeline.language.training.network import EARLY, HIDDEN, ReaderNetwork, TextEncoder

AFTER_EARLY = f"/encoder/layers.{EARLY - 1}/last_norm/LayerNormalization_output_0"
"""The vectors after the first layers, as the exported graph names them."""


class _Exported(nn.Module):
    def __init__(self, encoder: TextEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        hidden: Tensor = self.encoder(ids, segments, mask)
        return hidden


def export(network: ReaderNetwork, folder: Path, *, quantised: bool = True) -> None:
    """Write `encoder.onnx` and `heads.npz` to the folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    network.eval()
    export_encoder(network.encoder, folder / "encoder.onnx", quantised=quantised)
    arrays: dict[str, Any] = {"known_types": np.asarray(network.known), **_packed(network.heads)}
    np.savez_compressed(folder / "heads.npz", **arrays)


def export_encoder(encoder: TextEncoder, target: Path, *, quantised: bool = True) -> None:
    """Write an encoder, which must not be training, as ONNX: all layers, with the vectors after the first ones."""
    sample = tuple(torch.ones(2, 9, dtype=torch.long) for _ in range(3))
    axes = {name: {0: "batch", 1: "length"} for name in ("ids", "segments", "mask", "hidden")}
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "plain.onnx"
        torch.onnx.export(
            _Exported(encoder),
            sample,
            str(plain),
            input_names=["ids", "segments", "mask"],
            output_names=["hidden"],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
        if quantised:
            # Seven bits: eight overflow on processors without VNNI, and the readings would differ between machines.
            quantize_dynamic(
                plain,
                target,
                per_channel=True,
                reduce_range=True,
                weight_type=QuantType.QInt8,
                op_types_to_quantize=["MatMul", "Gather"],
            )
        else:
            target.write_bytes(plain.read_bytes())
    model = onnx.load(str(target))
    model.graph.node.append(onnx.helper.make_node("Identity", [AFTER_EARLY], ["early"]))
    shape: list[str | int | None] = ["batch", "length", HIDDEN]
    model.graph.output.append(onnx.helper.make_tensor_value_info("early", onnx.TensorProto.FLOAT, shape))
    onnx.save(model, str(target))


def export_upper(encoder: TextEncoder, target: Path) -> None:
    """Write what follows the first layers, as ONNX: it takes their vectors (`early`) and the mask."""
    with tempfile.TemporaryDirectory() as scratch:
        whole, part = Path(scratch) / "whole.onnx", Path(scratch) / "part.onnx"
        export_encoder(encoder, whole)
        onnx.utils.extract_model(str(whole), str(part), [AFTER_EARLY, "mask"], ["hidden"])
        model = onnx.load(str(part))
        for node in model.graph.node:
            for at, name in enumerate(node.input):
                if name == AFTER_EARLY:
                    node.input[at] = "early"
        for given in model.graph.input:
            if given.name == AFTER_EARLY:
                given.name = "early"
        onnx.save(model, str(target))


def _packed(heads: nn.Module) -> dict[str, NDArray[Any]]:
    """Weights of the heads: matrices as int8 with a scale per row (`.scale`), the rest in half precision."""
    packed: dict[str, NDArray[Any]] = {}
    for name, value in heads.state_dict().items():
        if name.startswith("act_message"):  # it only helps the training
            continue
        array = value.detach().numpy()
        if array.ndim == 2 and array.shape[1] > 1:
            scale = np.maximum(np.abs(array).max(axis=1, keepdims=True), 1e-8) / 127.0
            packed[name] = np.round(array / scale).astype(np.int8)
            packed[f"{name}.scale"] = scale.astype(np.float32)
        else:
            packed[name] = array.astype(np.float16)
    return packed
