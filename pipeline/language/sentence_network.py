"""The sentence encoder all-MiniLM-L6-v2 with its int8 weights as they are stored, in products of whole numbers.

A vector that meets weights is written as two numbers of seven bits per element, h · step + l · step / 126, and both
are multiplied with the int8 weights in whole numbers: exact in the weights, and in the vector to 1/16000 of its largest
possible element. The steps are fixed: a normalised vector of 384 elements has the length √384, so that by the
inequality of Cauchy and Schwarz nothing that meets weights is larger than what is computed here from the weights. So
nothing is cut, and a text's vector does not depend on the texts beside it. Seven bits, since sums of two products of
eight overflow on processors without VNNI, and vectors would differ between machines.

Needs of the file: the int8 matrices (`…_q`) with a scale per column (`…_scale`) in the order of the layers, each with
query, key, value, output, and the two of the feed-forward part; tables of words and positions before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.language.onnx_files import CONTRIBUTED, GraphWriter, MalformedModel, tensors

LAYERS = 6
HEADS = 12
WIDTH = 384
WIDE = 4 * WIDTH
EPSILON = 1e-12
"""Added to the variance when a vector is normalised."""
HALF = 63
"""Largest half of a number, of either sign."""
LEAST_GELU = -0.17
"""Below what the Gaussian error linear unit gives for anything."""
ARITHMETIC = "7+7 bits"
"""What vectors depend on besides weights and text; another name with every change of the arithmetic."""
DISABLED = ("SkipLayerNormFusion",)
"""Optimisations of onnxruntime to be left out: its fused addition and normalisation takes ten times as long."""

INPUTS = ("ids", "mask")
OUTPUT = "hidden"

Tensors = Mapping[str, NDArray[Any]]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class _Product:
    """Matrices of a layer that meet the same vector: int8 [in, out], a scale and a bias per column, [out]."""

    quantised: NDArray[np.int8]
    scales: NDArray[np.float32]
    bias: NDArray[np.float32]

    @property
    def weights(self) -> Reals:
        return self.quantised.astype(np.float64) * self.scales

    def after(self, norm: _Norm) -> tuple[Reals, Reals]:
        """Centre and largest distance from it of each column's result on a normalised vector, [out] each."""
        weights = self.weights
        centre = norm.shift.astype(np.float64) @ weights + self.bias
        return centre, np.linalg.norm(weights * norm.gain[:, None], axis=0) * np.sqrt(WIDTH)


@dataclass(frozen=True)
class _Norm:
    """A normalisation: gain and shift per element, [width]."""

    gain: NDArray[np.float32]
    shift: NDArray[np.float32]

    @property
    def most(self) -> float:
        """No element of what it gives is larger."""
        return float((np.abs(self.gain) * np.sqrt(WIDTH) + np.abs(self.shift)).max())


def integer_network(model: bytes) -> bytes:
    """The encoder as an ONNX model with the inputs INPUTS, int64 [batch, length], and OUTPUT, [batch, length, 384].

    Args:
        model: content of the file with the weights.
    Raises:
        MalformedModel: it has not the tensors of this encoder.
    """
    stored = tensors(model)
    graph = GraphWriter(INPUTS)
    try:
        x, norm = _embedded(graph, stored)
        matrices = [name.removesuffix("_q") for name in stored if name.endswith("_q")][2:]
        if len(matrices) != 6 * LAYERS:
            raise MalformedModel(f"the model has {len(matrices)} int8 matrices instead of {6 * LAYERS}")
        for layer in range(LAYERS):
            x, norm = _layer(graph, stored, layer, matrices[6 * layer : 6 * layer + 6], x, norm)
    except KeyError as exc:
        raise MalformedModel(f"the model has no tensor {exc}") from exc
    return graph.model(graph.node("Identity", [x], OUTPUT))


def _embedded(graph: GraphWriter, stored: Tensors) -> tuple[str, _Norm]:
    """Words and positions, added and normalised; words stay int8 until they are looked up."""
    of = "inner.embeddings."
    words, scales = stored[f"{of}word_embeddings.weight_q"], stored[f"{of}word_embeddings.weight_scale"]
    positions = stored[f"{of}position_embeddings.weight_q"] * stored[f"{of}position_embeddings.weight_scale"]
    graph.node("Gather", [graph.weight("words", words), "ids"], "word_q")
    graph.node("Gather", [graph.weight("word_scales", scales), "ids"], "word_scale")
    graph.node("Cast", ["word_q"], "word_f", to=1)
    graph.node("Mul", ["word_f", "word_scale"], "word")
    first_type = stored[f"{of}token_type_embeddings.weight"][0]
    graph.weight("positions", np.asarray(positions + first_type, dtype=np.float32))
    graph.weight("zero", np.zeros(1, dtype=np.int64))
    graph.node("Shape", ["ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "zero", "length", "zero"], "position")
    graph.node("Add", ["word", "position"], "placed")
    graph.node("Cast", ["mask"], "mask_int", to=6)
    norm = _norm(stored, f"{of}LayerNorm")
    return _normalised(graph, "placed", norm, "embedded"), norm


def _layer(
    graph: GraphWriter, stored: Tensors, layer: int, matrices: Sequence[str], x: str, norm: _Norm
) -> tuple[str, _Norm]:
    """One layer on a vector that `norm` normalised. Returns its result, and what normalised that."""
    of, own = f"inner.encoder.layer.{layer}.", f"layer{layer}_"
    attention = f"{of}attention."
    biases = [f"{attention}self.{name}.bias" for name in ("query", "key", "value")]
    triple = _product(stored, matrices[:3], biases)
    value = _product(stored, matrices[2:3], biases[2:])
    output = _product(stored, matrices[3:4], [f"{attention}output.dense.bias"])
    widening = _product(stored, matrices[4:5], [f"{of}intermediate.dense.bias"])
    narrowing = _product(stored, matrices[5:6], [f"{of}output.dense.bias"], rows=WIDE)

    projected = _multiplied(graph, x, triple, f"{own}triple", -norm.most, norm.most)
    graph.weight("thirds", np.full(3, WIDTH, dtype=np.int64))
    parts = [f"{own}{name}" for name in ("query", "key", "value")]
    graph.node("Split", [projected, "thirds"], *parts, axis=-1)
    seen = graph.node("MultiHeadAttention", [*parts, "", "mask_int"], f"{own}seen", domain=CONTRIBUTED, num_heads=HEADS)
    centre, distance = value.after(norm)  # what is seen is a mean of values
    most = float((np.abs(centre) + distance).max())
    seen = _multiplied(graph, seen, output, f"{own}output", -most, most)
    norm = _norm(stored, f"{attention}output.LayerNorm")
    x = _normalised(graph, graph.node("Add", [seen, x], f"{own}attended"), norm, f"{own}between")

    wide = _multiplied(graph, x, widening, f"{own}widening", -norm.most, norm.most)
    centre, distance = widening.after(norm)
    wide = graph.node("Gelu", [wide], f"{own}gelu", domain=CONTRIBUTED)
    narrow = _multiplied(graph, wide, narrowing, f"{own}narrowing", LEAST_GELU, float((centre + distance).max()))
    norm = _norm(stored, f"{of}output.LayerNorm")
    return _normalised(graph, graph.node("Add", [narrow, x], f"{own}added"), norm, f"{own}result"), norm


def _multiplied(graph: GraphWriter, x: str, product: _Product, name: str, least: float, most: float) -> str:
    """A vector whose elements lie within [least, most], times a product's matrices, plus its bias."""
    most = max(most, 1e-6)
    if -least < most / HALF:
        zero = 4  # three steps below zero at the least, rounding included
        step = max(most / (2 * HALF + 1 - zero), -least / (zero - 1))
    else:
        zero = HALF + 1
        step = max(most, -least) / HALF
    graph.weight(f"{name}_zero", zero, np.uint8)
    graph.weight("middle", HALF + 1, np.uint8)
    graph.weight(f"{name}_step", step, np.float32)
    graph.weight(f"{name}_fine", step / (2 * HALF), np.float32)
    graph.weight(f"{name}_matrix", product.quantised)
    graph.weight(f"{name}_scales", product.scales)
    graph.weight(f"{name}_zeros", np.zeros(len(product.scales), dtype=np.int8))
    graph.weight(f"{name}_bias", product.bias)
    high = graph.node("QuantizeLinear", [x, f"{name}_step", f"{name}_zero"], f"{name}_high")
    graph.node("DequantizeLinear", [high, f"{name}_step", f"{name}_zero"], f"{name}_rounded")
    graph.node("Sub", [x, f"{name}_rounded"], f"{name}_rest")
    low = graph.node("QuantizeLinear", [f"{name}_rest", f"{name}_fine", "middle"], f"{name}_low")
    weights = [f"{name}_matrix", f"{name}_scales", f"{name}_zeros"]
    both = []
    for part, scale, offset, bias in (
        (high, f"{name}_step", f"{name}_zero", [f"{name}_bias"]),
        (low, f"{name}_fine", "middle", []),
    ):
        inputs = [part, weights[0], scale, weights[1], offset, weights[2], *bias]
        both.append(graph.node("MatMulIntegerToFloat", inputs, f"{part}_product", domain=CONTRIBUTED))
    return graph.node("Add", both, f"{name}_result")


def _normalised(graph: GraphWriter, x: str, norm: _Norm, name: str) -> str:
    gain, shift = graph.weight(f"{name}_gain", norm.gain), graph.weight(f"{name}_shift", norm.shift)
    return graph.node("LayerNormalization", [x, gain, shift], name, axis=-1, epsilon=EPSILON)


def _norm(stored: Tensors, name: str) -> _Norm:
    return _Norm(_shaped(stored, f"{name}.weight", (WIDTH,)), _shaped(stored, f"{name}.bias", (WIDTH,)))


def _product(stored: Tensors, matrices: Sequence[str], biases: Sequence[str], rows: int = WIDTH) -> _Product:
    columns = [len(stored[name]) for name in biases]
    quantised = [_shaped(stored, f"{name}_q", (rows, n)) for name, n in zip(matrices, columns, strict=True)]
    scales = [_shaped(stored, f"{name}_scale", (1, n))[0] for name, n in zip(matrices, columns, strict=True)]
    return _Product(
        np.concatenate(quantised, axis=1),
        np.concatenate(scales),
        np.concatenate([stored[name] for name in biases]),
    )


def _shaped(stored: Tensors, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    array = stored[name]
    if array.shape != shape:
        raise MalformedModel(f"the tensor {name} has the shape {list(array.shape)} instead of {list(shape)}")
    return array
