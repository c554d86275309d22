"""The encoder in whole numbers gives the vectors that its weights give in full precision, whatever the text."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from pipeline.language.embedder import (
    MODEL,
    ModelUnavailable,
    OnnxEmbedder,
    build_tokenizer,
    clean,
    find_model,
    session_options,
)
from pipeline.language.onnx_files import GraphWriter, MalformedModel, tensors
from pipeline.language.sentence_network import HALF, integer_network
from pipeline.ports import Vectors

ANSWERS = Path(__file__).parents[2] / "corpus" / "answers" / "tuning.jsonl"
ODD = ["", " ", "עברית", "🙂🙂", "x" * 900, "0 1 2 3 4 5 6 7 8 9 " * 40, "THE the " * 200, "!?…;:,.", "Grüße aus Köln"]


def texts() -> list[str]:
    """Answers, their first words as labels are, and odd ones."""
    answers = [json.loads(line)["answer"] for line in ANSWERS.read_text().splitlines()[:25] if line]
    return [*answers, *(" ".join(answer.split()[:5]) for answer in answers), *ODD]


def in_full_precision(all_: list[str]) -> Vectors:
    """What the pinned file gives as it is, text by text."""
    session = onnxruntime.InferenceSession(find_model(), session_options(), providers=["CPUExecutionProvider"])
    tokenizer = build_tokenizer()
    rows = []
    for text in all_:
        ids = np.array([tokenizer.encode(clean(text)).ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        pooled = np.asarray(session.run(["last_hidden_state"], inputs)[0])[0].mean(axis=0)
        rows.append(pooled / np.linalg.norm(pooled))
    return np.asarray(rows, dtype=np.float32)


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


def test_integer_network_gives_nearly_the_vectors_of_full_precision(embedder: OnnxEmbedder) -> None:
    ours, full = embedder.embed_sync(texts()), in_full_precision(texts())
    assert float((ours * full).sum(axis=1).min()) > 0.9999
    assert float(np.abs(ours @ ours.T - full @ full.T).max()) < 0.004


def test_text_among_others_has_the_same_vector_to_the_bit(embedder: OnnxEmbedder) -> None:
    together = embedder.embed_sync(texts())
    for i, text in enumerate(texts()[::7]):
        alone = embedder._encode([text])
        np.testing.assert_array_equal(alone[0], together[i * 7])


def test_nothing_that_meets_weights_is_cut_or_could_overflow() -> None:
    network = integer_network(find_model().read_bytes())
    bounded = [name for name in tensors(network) if name.endswith("_zero")]
    assert len(bounded) == 24
    probe = onnxruntime.InferenceSession(
        with_outputs(network, [name.replace("_zero", "_high") for name in bounded]), providers=["CPUExecutionProvider"]
    )
    tokenizer = build_tokenizer()
    for text in texts():
        ids = np.array([tokenizer.encode(clean(text)).ids], dtype=np.int64)
        for part in probe.run(None, {"ids": ids, "mask": np.ones_like(ids)})[1:]:
            assert np.asarray(part).max() <= 2 * HALF + 1


def with_outputs(model: bytes, names: list[str]) -> bytes:
    """The model with further outputs of uint8."""

    def block(number: int, content: bytes) -> bytes:
        size, found = len(content), bytearray([number << 3 | 2])
        while size > 127:
            found.append(size & 127 | 128)
            size >>= 7
        return bytes([*found, size]) + content

    values = b"".join(block(12, block(1, name.encode()) + block(2, block(1, b"\x08\x02"))) for name in names)
    return model + block(7, values)


def test_model_with_other_tensors_is_refused_with_what_is_missing() -> None:
    graph = GraphWriter(["ids"])
    graph.weight("inner.embeddings.word_embeddings.weight_q", np.zeros((3, 384), dtype=np.int8))
    with pytest.raises(MalformedModel, match=r"word_embeddings\.weight_scale"):
        integer_network(graph.model("ids"))


def test_weights_of_another_model_are_refused_by_the_embedder(tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(GraphWriter(["ids"]).model("ids"))
    with pytest.raises(ModelUnavailable, match="can't be used: the model has no tensor"):
        OnnxEmbedder(model=other, sha256=hashlib.sha256(other.read_bytes()).hexdigest())


def test_version_names_the_arithmetic(embedder: OnnxEmbedder) -> None:
    assert "7+7 bits" in embedder.version
    assert embedder.version.startswith(MODEL.files[0].sha256)
