"""Makes the model of what somebody wants who was asked whether to go on: `python -m pipeline.language.training.wishes`.

It learns from messages that were written for it (tests/corpus/talk/wishes.jsonl). What is printed is of each writer in
turn whom it has not seen; the one that is written has learned from all. A minute.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.language.reader import files
from pipeline.language.reader.network import Floats, ReaderNetwork
from pipeline.language.reader.phrases import Phrases, numbers
from pipeline.language.reader.wishes import WISHES, WishModel, seen
from pipeline.language.training.clause_file import digest_of, tell
from pipeline.language.training.message import CORPUS

WRITTEN = Path("talk") / "wishes.jsonl"
ASKED = {
    "A": "I'm sorry. Thank you for telling me. We don't have to go on with this. Would you like to go on talking about"
    " it, talk about something else, take a break, or stop?",
    "B": "That sounds like a lot. Would you like to go on, or rather do something else?",
}
"""What had been asked, by the letter that stands for it in the corpus."""
PLACES = 2**13
"""Of the table of phrases."""
SURE = (0.0, 0.6, 0.8)
"""Probabilities from which figures are printed."""


@dataclass(frozen=True)
class Steps:
    """How a linear model is fitted to all messages at once, by Adam.

    Attributes:
        rounds, rate: of its steps.
        decay: what the squares of all weights cost.
    """

    rounds: int
    rate: float
    decay: float


BY_VECTORS = Steps(rounds=150, rate=0.01, decay=0.003)
BY_WORDS = Steps(rounds=150, rate=0.01, decay=0.0005)


@dataclass(frozen=True)
class Told:
    """All messages: what is seen of each, [messages, 3 · width], which phrases it has, [messages, places], what it
    wants, as a number, and who wrote it.
    """

    vectors: Floats
    phrases: Floats
    wants: np.ndarray
    writers: np.ndarray

    @classmethod
    def of(cls, path: Path, network: ReaderNetwork) -> Told:
        """Read what was written."""
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        said = [row["message"].replace("’", "'") for row in rows]
        phrases = np.zeros((len(rows), PLACES), dtype=np.float32)
        for at, text in enumerate(said):
            phrases[at, numbers(text, PLACES)] = 1.0
        read = [network.read(ASKED[row["offer"]], "", text) for row, text in zip(rows, said, strict=True)]
        return cls(
            np.array([seen(one) for one in read], dtype=np.float32),
            phrases,
            np.array([WISHES.index(row["wants"]) for row in rows]),
            np.array([row["writer"] for row in rows]),
        )


def fitted(told: Told, learned: np.ndarray, encoder_sha256: str) -> WishModel:
    """A model that has learned from some messages, [messages] of whether it may."""
    mean, scale = told.vectors[learned].mean(axis=0), told.vectors[learned].std(axis=0) + 1e-3
    wants = told.wants[learned]
    weights, bias = _linear((told.vectors[learned] - mean) / scale, wants, BY_VECTORS)
    weights = weights / scale[:, None]
    table, beside = _linear(told.phrases[learned], wants, BY_WORDS)
    return WishModel(weights, bias - mean @ weights, Phrases(table), beside, encoder_sha256)


def _linear(rows: Floats, wants: np.ndarray, steps: Steps) -> tuple[Floats, Floats]:
    """Weights, [columns, wishes], and bias, [wishes], by softmax regression."""
    wanted = np.eye(len(WISHES), dtype=np.float64)[wants]
    weights = np.zeros((rows.shape[1] + 1, len(WISHES)))
    own = np.concatenate([rows, np.ones((len(rows), 1))], axis=1).astype(np.float64)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps.rounds + 1):
        odds = own @ weights
        chances = np.exp(odds - odds.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        slope = own.T @ (chances - wanted) / len(rows)
        slope[:-1] += 2 * steps.decay * weights[:-1]
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        weights -= steps.rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights[:-1].astype(np.float32), weights[-1].astype(np.float32)


def figures(path: Path, told: Told, network: ReaderNetwork, encoder_sha256: str) -> Iterator[str]:
    """How often each wish of a writer is understood whom the model has not seen, from what probability."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    taken, chance = np.zeros(len(rows), dtype=int), np.zeros(len(rows))
    for writer in sorted(set(told.writers)):
        model = fitted(told, told.writers != writer, encoder_sha256)
        for at in np.flatnonzero(told.writers == writer):
            text = rows[at]["message"].replace("’", "'")
            chances = model.chances(text, network.read(ASKED[rows[at]["offer"]], "", text))
            if chances is not None:
                taken[at], chance[at] = int(chances.argmax()), float(chances.max())
    for least in SURE:
        sure = chance >= least
        right = sure & (taken == told.wants)
        each = ", ".join(
            f"{wish} {(right & (told.wants == at)).sum()} of {(told.wants == at).sum()}"
            f" (and {(sure & (taken == at) & (told.wants != at)).sum()} others)"
            for at, wish in enumerate(WISHES)
        )
        yield f"from {least:.1f}: {right.sum()} of {len(rows)} right, {(sure & ~right).sum()} wrong: {each}"


def main(arguments: Sequence[str]) -> int:
    """Print what comes of it on what was not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.wishes", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--to", type=Path, default=files.FOLDER / files.WISHES)
    options = parser.parse_args(arguments)
    path = options.corpus / WRITTEN
    if not path.is_file():
        parser.error(f"there is no {WRITTEN} in {options.corpus}; it is part of the source repository")
    digest = digest_of((files.FOLDER / files.ENCODER).read_bytes())
    network = ReaderNetwork.load(files.FOLDER)
    told = Told.of(path, network)
    for line in figures(path, told, network, digest):
        tell(line)
    model = fitted(told, np.ones(len(told.wants), dtype=bool), digest)
    np.savez_compressed(options.to, **model.arrays())  # type: ignore[arg-type]
    tell(f"written to {options.to}, SHA-256 {digest_of(options.to.read_bytes())}, which belongs into artefacts.toml")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
