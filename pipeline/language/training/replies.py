"""Makes the model of what somebody means who was asked back: `python -m pipeline.language.training.replies`.

It learns from messages that were written for it (tests/corpus/talk/replies.jsonl). What is printed is of each writer in
turn whom it has not seen; the one that is written has learned from all. A minute.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.acts import AskedBack
from pipeline.language.reader import files
from pipeline.language.reader.network import Floats, ReaderNetwork
from pipeline.language.reader.phrases import Phrases, numbers
from pipeline.language.reader.replies import MEANINGS, MEANT, ReplyModel, open_to, seen
from pipeline.language.training.clause_file import digest_of, tell
from pipeline.language.training.message import CORPUS

WRITTEN = Path("talk") / "replies.jsonl"
QUESTIONS = {
    "ways": "I'm sorry. Thank you for telling me. We don't have to go on with this. Would you like to go on talking"
    " about it, talk about something else, take a break, or stop?",
    "ways_in_short": "That sounds like a lot. Would you like to go on, or rather do something else?",
    "stop": "Would you like to stop here, or shall we go on?",
    "pause": "Would you like a break, or shall we go on?",
    "risk": "I'd like to be sure that I understand you: are you, or is somebody else, in danger?",
    "withdrawal": "Do you want everything you told me to be deleted? That can't be undone. If you mean only a part, say"
    " no: your wish is noted, and whoever runs this study sees it.",
}
"""What had been asked, by its name in the corpus."""
PLACES = 2**11
"""Of the table of phrases."""
SURE = (0.0, 0.6, 0.9)
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
    """All messages: what is seen of each, [messages, 3 · width], which phrases it has, [messages, places], what may be
    meant, [messages, meanings], what is, as a number, and who wrote it.
    """

    vectors: Floats
    phrases: Floats
    may: Floats
    means: np.ndarray
    writers: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]], network: ReaderNetwork) -> Told:
        """Read what was written."""
        phrases = np.zeros((len(rows), PLACES), dtype=np.float32)
        for at, row in enumerate(rows):
            phrases[at, numbers(_plain(row), PLACES)] = 1.0
        return cls(
            np.array([seen(network.read(QUESTIONS[row["asked"]], "", _plain(row))) for row in rows], dtype=np.float32),
            phrases,
            np.array([open_to(kind_of(row)) for row in rows]),
            np.array([MEANINGS.index(row["means"]) for row in rows]),
            np.array([row["writer"] for row in rows]),
        )


def kind_of(row: dict[str, Any]) -> AskedBack:
    """What was asked."""
    asked = "ways" if row["asked"] == "ways_in_short" else row["asked"]
    return next(kind for kind in MEANT if kind == asked)


def _plain(row: dict[str, Any]) -> str:
    text: str = row["message"]
    return text.replace("’", "'")


def fitted(told: Told, learned: np.ndarray, encoder_sha256: str) -> ReplyModel:
    """A model that has learned from some messages, [messages] of whether it may."""
    mean, scale = told.vectors[learned].mean(axis=0), told.vectors[learned].std(axis=0) + 1e-3
    means, may = told.means[learned], told.may[learned]
    weights, bias = _linear((told.vectors[learned] - mean) / scale, means, may, BY_VECTORS)
    weights = weights / scale[:, None]
    table, beside = _linear(told.phrases[learned], means, may, BY_WORDS)
    return ReplyModel(weights, bias - mean @ weights, Phrases(table), beside, encoder_sha256)


def _linear(rows: Floats, means: np.ndarray, may: Floats, steps: Steps) -> tuple[Floats, Floats]:
    """Weights, [columns, meanings], and bias, [meanings], by softmax regression among what may be meant."""
    wanted = np.eye(len(MEANINGS), dtype=np.float64)[means]
    weights = np.zeros((rows.shape[1] + 1, len(MEANINGS)))
    own = np.concatenate([rows, np.ones((len(rows), 1))], axis=1).astype(np.float64)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps.rounds + 1):
        odds = own @ weights + may
        chances = np.exp(odds - odds.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        slope = own.T @ (chances - wanted) / len(rows)
        slope[:-1] += 2 * steps.decay * weights[:-1]
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        weights -= steps.rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights[:-1].astype(np.float32), weights[-1].astype(np.float32)


def figures(rows: Sequence[dict[str, Any]], told: Told, network: ReaderNetwork, encoder_sha256: str) -> Iterator[str]:
    """How often each meaning is understood of a writer whom the model has not seen, by question and probability."""
    taken, chance = np.full(len(rows), -1), np.zeros(len(rows))
    for writer in sorted(set(told.writers)):
        model = fitted(told, told.writers != writer, encoder_sha256)
        for at in np.flatnonzero(told.writers == writer).tolist():
            text = _plain(rows[at])
            most = model.most(text, network.read(QUESTIONS[rows[at]["asked"]], "", text), kind_of(rows[at]))
            if most is not None:
                taken[at], chance[at] = MEANINGS.index(most[0]), most[1]
    kinds = np.array([kind_of(row) for row in rows])
    for kind, meanings in MEANT.items():
        for least in SURE:
            own = kinds == kind
            found = own & (chance >= least)
            each = ", ".join(
                f"{meaning} {(found & (taken == at) & (told.means == at)).sum()} of {(own & (told.means == at)).sum()}"
                f" and {(found & (taken == at) & (told.means != at)).sum()}"
                for meaning in meanings
                for at in (MEANINGS.index(meaning),)
            )
            right = (found & (taken == told.means)).sum()
            yield f"{kind}, from {least:.1f}: {right} of {own.sum()} right, {found.sum() - right} wrong ({each} others)"


def main(arguments: Sequence[str]) -> int:
    """Print what comes of it on what was not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.replies", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--to", type=Path, default=files.FOLDER / files.REPLIES)
    options = parser.parse_args(arguments)
    path = options.corpus / WRITTEN
    if not path.is_file():
        parser.error(f"there is no {WRITTEN} in {options.corpus}; it is part of the source repository")
    digest = digest_of((files.FOLDER / files.ENCODER).read_bytes())
    network = ReaderNetwork.load(files.FOLDER)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    told = Told.of(rows, network)
    for line in figures(rows, told, network, digest):
        tell(line)
    model = fitted(told, np.ones(len(rows), dtype=bool), digest)
    np.savez_compressed(options.to, **model.arrays())  # type: ignore[arg-type]
    tell(f"written to {options.to}, SHA-256 {digest_of(options.to.read_bytes())}, which belongs into artefacts.toml")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
