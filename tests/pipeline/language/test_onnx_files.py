"""Tensors of ONNX files are read as they were written, models run as put together, other bytes are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from pipeline.language.embedder import find_model
from pipeline.language.onnx_files import CONTRIBUTED, GraphWriter, MalformedModel, tensors


def small_model() -> bytes:
    """Each id times three numbers, bent and made chances of, [batch, length, 3]."""
    graph = GraphWriter(["ids"])
    graph.weight("shape", np.array([0, 0, 1], dtype=np.int64))
    graph.weight("row", np.array([[1.0, 2.0, -4.5]], dtype=np.float32))
    graph.node("Cast", ["ids"], "real", to=1)
    graph.node("Reshape", ["real", "shape"], "column")
    graph.node("MatMul", ["column", "row"], "wide")
    graph.node("Gelu", ["wide"], "bent", domain=CONTRIBUTED)
    graph.node("Softmax", ["bent"], "soft", axis=-1)
    return graph.model("soft")


def test_model_that_was_put_together_runs_and_gives_what_its_nodes_say() -> None:
    session = onnxruntime.InferenceSession(small_model(), providers=["CPUExecutionProvider"])
    (soft,) = session.run(["soft"], {"ids": np.array([[0, 1]], dtype=np.int64)})
    assert np.asarray(soft).shape == (1, 2, 3)
    np.testing.assert_allclose(np.asarray(soft)[0, 0], 1 / 3, atol=1e-6)
    assert list(np.argsort(np.asarray(soft)[0, 1])) == [2, 0, 1]


@pytest.mark.parametrize(
    "value",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4) - 5.5,
        np.arange(-3, 3, dtype=np.int8).reshape(2, 1, 3),
        np.array(200, dtype=np.uint8),
        np.array([-(2**40), 2**40], dtype=np.int64),
        np.zeros((0, 4), dtype=np.float32),
    ],
)
def test_tensor_written_and_read_again_is_the_same(value: NDArray[Any]) -> None:
    graph = GraphWriter(["ids"])
    graph.weight("kept", value)
    graph.weight("kept", np.zeros(1, dtype=np.float32))
    found = tensors(graph.model("ids"))
    assert list(found) == ["kept"]
    assert found["kept"].dtype == value.dtype
    np.testing.assert_array_equal(found["kept"], value)


def test_tensors_of_the_pinned_model_are_its_weights_in_their_order() -> None:
    found = tensors(find_model().read_bytes())
    quantised = [name for name in found if name.endswith("_q")]
    assert [found[name].shape for name in quantised[:2]] == [(30522, 384), (512, 384)]
    assert len(quantised) == 38
    assert all(found[name].dtype == np.int8 for name in quantised)


@pytest.mark.parametrize("data", [b"\xff", b"\x3a\x05abc", b"not a model at all", b"\xff" * 40, small_model()[:-40]])
def test_bytes_that_are_no_model_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedModel, match="no ONNX model"):
        tensors(data)


def test_no_bytes_have_no_tensors() -> None:
    assert tensors(b"") == {}
