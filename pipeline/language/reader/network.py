"""Runs the reader's network: the encoder by onnxruntime, the heads in numpy.

ModelUnavailable    a file of the model is missing, or it is not the pinned one
"""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from pipeline.language.embedder import build_tokenizer, session_options
from pipeline.language.reader.encoding import Encoder, Encoding, Window, Word

Floats = NDArray[np.float32]

REMEMBERED = 16
"""Readings kept: of an answer without a focus, acts and concepts are judged on the same one."""
LONGEST_REMEMBERED = 400
"""Words of a reading that is kept; each takes 6 kB."""
BATCH = 8
"""Windows or short texts in one run of the encoder."""


@dataclass(frozen=True, eq=False)
class Reading:
    """An answer as an encoder sees it.

    `first` and `last` are the vectors of each word's first and last piece, `mean` of both, [words, width]; `whole` is
    that of the whole, [width]; `focus` has those of the focus: first, last, mean, [3, width], None without a focus.
    `sums` are running totals of `mean`, [words + 1, width]. `early` has for each window of the encoding the vectors of
    its pieces after the first layers, [pieces, width].
    """

    encoding: Encoding
    first: Floats
    last: Floats
    mean: Floats
    sums: Floats
    whole: Floats
    focus: Floats | None
    early: Sequence[Floats]

    @property
    def words(self) -> tuple[Word, ...]:
        """The answer's words."""
        return self.encoding.words

    @classmethod
    def of(cls, encoding: Encoding, hidden: Sequence[Floats], early: Sequence[Floats], width: int) -> Reading:
        """From the vectors of each window's pieces, [pieces, width]."""
        words = encoding.words
        first = np.zeros((len(words), width), dtype=np.float32)
        last = np.zeros_like(first)
        focus: Floats | None = None
        for number, (window, seen) in enumerate(zip(encoding.windows, hidden, strict=True)):
            own = owned(encoding.windows, number)
            for i, word in enumerate(words):
                if own[0] <= word.first < own[1]:
                    first[i] = seen[word.first + window.shift]
                    last[i] = seen[min(word.last, window.pieces[1] - 1) + window.shift]
            if focus is None and window.focus[1]:
                about = seen[window.focus[0] : window.focus[1]]
                focus = np.stack([about[0], about[-1], about.mean(axis=0)])
        mean = np.asarray((first + last) / 2, dtype=np.float32)
        sums = np.zeros((len(words) + 1, width), dtype=np.float32)
        np.cumsum(mean, axis=0, out=sums[1:])
        whole = hidden[0][0] if hidden else np.zeros(width, dtype=np.float32)
        return cls(encoding, first, last, mean, sums, whole, focus, early)


class ReaderNetwork:
    """Encoder and heads, ready to read; safe to use from several threads.

    Args:
        encoder: the content of the ONNX file.
        heads: the content of the file with the heads' weights (npz).
    """

    def __init__(self, encoder: bytes, heads: bytes) -> None:
        self._session = onnxruntime.InferenceSession(encoder, session_options(), providers=["CPUExecutionProvider"])
        with np.load(io.BytesIO(heads), allow_pickle=False) as kept:
            self.known_types: dict[str, int] = {str(text): i for i, text in enumerate(kept["known_types"])}
            self.weights = _unpacked({name: kept[name] for name in kept.files if name != "known_types"})
        self.encoder = Encoder(build_tokenizer())
        self._width = self.weights["concept.weight"].shape[1] // 4
        self._readings: OrderedDict[tuple[str, str, str], Reading] = OrderedDict()
        self._lock = Lock()

    @classmethod
    def load(cls, folder: Path) -> ReaderNetwork:
        """From `encoder.onnx` and `heads.npz`. Raises OSError."""
        return cls((folder / "encoder.onnx").read_bytes(), (folder / "heads.npz").read_bytes())

    def read(self, question: str, focus: str, answer: str) -> Reading:
        """The reading of an answer; the same one again without work."""
        key = (question, focus, answer)
        with self._lock:
            known = self._readings.get(key)
            if known is not None:
                self._readings.move_to_end(key)
                return known
        fresh = self._reading(self.encoder.answer(question, focus, answer))
        if len(fresh.words) > LONGEST_REMEMBERED:
            return fresh
        with self._lock:
            self._readings[key] = fresh
            while len(self._readings) > REMEMBERED:
                self._readings.popitem(last=False)
        return fresh

    def pooled(self, texts: Sequence[str]) -> Floats:
        """Mean vectors of short texts, [texts, width]."""
        phrases = [self.encoder.phrase(text) for text in texts]
        rows = np.zeros((len(phrases), self._width), dtype=np.float32)
        order = sorted(range(len(phrases)), key=lambda i: len(phrases[i]))
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            hidden, _, mask = self._run([(phrases[i], [0] * len(phrases[i])) for i in part])
            kept = mask[..., None].astype(np.float32)
            rows[part] = (hidden * kept).sum(axis=1) / kept.sum(axis=1)
        return rows

    def linear(self, name: str, x: Floats) -> Floats:
        """The layer of that name."""
        return np.asarray(x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"], dtype=np.float32)

    def _reading(self, encoding: Encoding) -> Reading:
        hidden: list[Floats] = []
        early: list[Floats] = []
        for start in range(0, len(encoding.windows), BATCH):
            part = encoding.windows[start : start + BATCH]
            late, first, _ = self._run([(window.ids, window.segments) for window in part])
            hidden += [rows[: len(window.ids)] for rows, window in zip(late, part, strict=True)]
            early += [rows[: len(window.ids)] for rows, window in zip(first, part, strict=True)]
        return Reading.of(encoding, hidden, early, self._width)

    def _run(self, rows: Sequence[tuple[list[int], list[int]]]) -> tuple[Floats, Floats, NDArray[np.int64]]:
        longest = max(len(ids) for ids, _ in rows)
        ids, segments, mask = (np.zeros((len(rows), longest), dtype=np.int64) for _ in range(3))
        for number, (own, kinds) in enumerate(rows):
            ids[number, : len(own)] = own
            segments[number, : len(own)] = kinds
            mask[number, : len(own)] = 1
        hidden, early = self._session.run(["hidden", "early"], {"ids": ids, "segments": segments, "mask": mask})
        return np.asarray(hidden, dtype=np.float32), np.asarray(early, dtype=np.float32), mask


def _unpacked(kept: Mapping[str, NDArray[Any]]) -> dict[str, Floats]:
    """Weights in full precision; those that are kept as int8 have a scale per row."""
    found: dict[str, Floats] = {}
    for name, value in kept.items():
        if not name.endswith(".scale"):
            scale = kept.get(f"{name}.scale")
            found[name] = value.astype(np.float32) if scale is None else value.astype(np.float32) * scale
    return found


def owned(windows: Sequence[Window], number: int) -> tuple[int, int]:
    """The word pieces that a window decides, half open: half of what it shares with each neighbour."""
    start, end = windows[number].pieces
    if number:
        start = (start + windows[number - 1].pieces[1]) // 2
    if number + 1 < len(windows):
        end = (end + windows[number + 1].pieces[0]) // 2
    return start, end
