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
from pipeline.language.reader.linear import seen
from pipeline.language.reader.network import Floats, ReaderNetwork
from pipeline.language.reader.replies import MEANINGS, MEANT, ReplyModel, open_to
from pipeline.language.training.clause_file import digest_of, tell
from pipeline.language.training.linear import Fitting, Steps, fitted
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
SURE = (0.0, 0.6, 0.9)
"""Probabilities from which figures are printed."""


FITTING = Fitting(
    by_vectors=Steps(rounds=150, rate=0.01, decay=0.003),
    by_words=Steps(rounds=150, rate=0.01, decay=0.0005),
    places=2**12,
)


@dataclass(frozen=True)
class Told:
    """All messages: what is seen of each, [messages, 3 · width], its words, what may be meant, [messages, meanings],
    what is, as a number, and who wrote it.
    """

    vectors: Floats
    texts: Sequence[str]
    may: Floats
    means: np.ndarray
    writers: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]], network: ReaderNetwork) -> Told:
        """Read what was written."""
        return cls(
            np.array([seen(network.read(QUESTIONS[row["asked"]], "", _plain(row))) for row in rows], dtype=np.float32),
            [_plain(row) for row in rows],
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


def learned_from(told: Told, may: np.ndarray, encoder_sha256: str) -> ReplyModel:
    """A model that has learned from some messages, [messages] of whether it may."""
    texts = [text for text, own in zip(told.texts, may, strict=True) if own]
    return ReplyModel(fitted(told.vectors[may], texts, told.means[may], told.may[may], FITTING), encoder_sha256)


def figures(rows: Sequence[dict[str, Any]], told: Told, network: ReaderNetwork, encoder_sha256: str) -> Iterator[str]:
    """How often each meaning is understood of a writer whom the model has not seen, by question and probability."""
    taken, chance = np.full(len(rows), -1), np.zeros(len(rows))
    for writer in sorted(set(told.writers)):
        model = learned_from(told, told.writers != writer, encoder_sha256)
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
    model = learned_from(told, np.ones(len(rows), dtype=bool), digest)
    np.savez_compressed(options.to, **model.arrays())  # type: ignore[arg-type]
    tell(f"written to {options.to}, SHA-256 {digest_of(options.to.read_bytes())}, which belongs into artefacts.toml")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
