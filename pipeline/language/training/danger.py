"""Makes the model of danger in single sentences: `python -m pipeline.language.training.danger`.

It learns from messages that were written for it, plain ones and plainly none (tests/corpus/talk/danger.jsonl), from
those of plain people who do anything (plainly.jsonl), from the messages of tests/corpus/acts, and from answers in which
nobody was in danger: everyday ones to the question why something matters (everyday.jsonl), those of interviews, and
what was written for other models. Of a message of several sentences only the one counts that tells of it most. What is
printed is of some writers, and of every other of those answers, that it has not seen; the one that is written has
learned from all. Some fifteen minutes on two cores.
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

from pipeline.language.reader import files
from pipeline.language.reader.danger import DangerModel, seen
from pipeline.language.reader.network import Floats, ReaderNetwork
from pipeline.language.reader.perceptron import Perceptron
from pipeline.language.reader.phrases import Phrases
from pipeline.language.training.clause_file import digest_of, tell
from pipeline.language.training.message import CORPUS, INTERVIEWS, WRITTEN
from pipeline.language.training.perceptron import Fitting, perceptron
from pipeline.language.training.phrases import PhraseFitting, fitted_phrases
from pipeline.question.text import sentences

PLAIN, PLAINLY = Path("talk") / "danger.jsonl", Path("talk") / "plainly.jsonl"
EVERYDAY = Path("talk") / "everyday.jsonl"
ANSWERS = ("means_end_chain.jsonl", "jobs_to_be_done.jsonl", "critical_incident.jsonl", "tuning.jsonl")
TELLING = (
    "loss",
    "leaving",
    "dangling",
    "beside",
    "plain",
    "plain_apart",
    "loss_apart",
    "leaving_apart",
    "beside_apart",
)
"""Messages that were written for other models; those of danger among them are left out."""
LATER = ("fifth", "sixth", "seventh", "eighth", "ninth")
"""Interviews that were held later."""
APART = ("danger 4", "danger 5", "danger 7", "plainly 4", "everyday 2", "everyday 4")
"""Writers whose messages are kept apart for the figures."""
FITTING = Fitting(hidden=12, decay=0.3, rounds=6, together=128, seeds=(0,))
PASSES, BESIDE = 2, 0.3
"""How often it is fitted, and what a sentence of a message with several counts the first time."""
WRONGLY = (0.001, 0.002, 0.004)
"""Shares of the answers in which nobody is in danger in which it may be found, for which figures are printed."""
BY_WORDS = 1.5
"""What the words count beside the network."""
SHORT = 40
"""Words of a message that is learned from as one."""
FITTING_WORDS = PhraseFitting(places=2**16)


@dataclass(frozen=True)
class Message:
    """What somebody wrote.

    Attributes:
        text, question: its words, and what it answers.
        danger: whether it tells of danger.
        writer: file and number of who wrote it for this; empty for what was not.
        interview: whether it is one of those answers in which nobody is in danger of which half are kept apart.
    """

    text: str
    question: str
    danger: bool
    writer: str = ""
    interview: bool = False


def messages(corpus: Path) -> Iterator[Message]:
    """All of them, none twice where interviews overlap."""
    spent = sorted((corpus / "acts" / "spent").glob("*_en*.jsonl"))
    for path in [*(corpus / "acts" / name for name in WRITTEN), *spent]:
        for one in _lines(path):
            acts = {span[1] for span in one.get("spans", ())}
            yield Message(one["message"], one.get("question", ""), "risk" in acts)
    known: set[str] = set()
    for question, answer in _harmless(corpus):
        if answer and answer not in known:
            known.add(answer)
            yield Message(answer, question, danger=False, interview=True)
    for one in _lines(corpus / EVERYDAY):
        yield Message(one["answer"], one["question"], danger=False, writer=f"{EVERYDAY.stem} {one['writer']}")
    for one in _lines(corpus / PLAIN):
        yield Message(one["message"], one["question"], one["act"] == "risk", f"{PLAIN.stem} {one['writer']}")
    for one in _lines(corpus / PLAINLY):
        yield Message(one["answer"], one["question"], one["act"] == "risk", f"{PLAINLY.stem} {one['writer']}")


def _harmless(corpus: Path) -> Iterator[tuple[str, str]]:
    """Questions and answers in which nobody is in danger; some twice."""
    for name in (*INTERVIEWS, *(f"conversations/{later}.jsonl" for later in LATER)):
        for one in _lines(corpus / name):
            yield from ((turn.get("question", ""), turn.get("answer", "")) for turn in one.get("turns", ()))
    for name in ANSWERS:
        yield from ((one.get("question") or "", one["answer"]) for one in _lines(corpus / "answers" / name))
    for path in sorted((corpus / "answers" / "ontologies").glob("*.jsonl")):
        yield from (("", one["answer"]) for one in _lines(path))
    for name in TELLING:
        for one in _lines(corpus / "talk" / f"{name}.jsonl"):
            if one.get("act") != "risk":
                yield one.get("question", ""), one.get("answer") or one["message"]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text("utf-8").splitlines())


@dataclass(frozen=True)
class Read:
    """The sentences of all messages: what is seen of each, the number of its message, and its words."""

    vectors: Floats
    owners: np.ndarray
    parts: Sequence[str]

    @classmethod
    def of(cls, told: Sequence[Message], network: ReaderNetwork) -> Read:
        """Read all messages."""
        vectors, owners, parts = [], [], []
        for number, each in enumerate(told):
            text = each.text.replace("’", "'")
            for start, end, vector in seen(text, network.read(each.question, "", text)):
                vectors.append(vector)
                owners.append(number)
                parts.append(text[start:end])
        return cls(np.array(vectors, dtype=np.float32), np.array(owners), parts)


def fitted(read: Read, told: Sequence[Message], learned: np.ndarray, encoder_sha256: str) -> DangerModel:
    """A model that has learned from some messages, [messages] of whether it may."""
    danger = np.array([each.danger for each in told])[read.owners]
    several = danger & (np.bincount(read.owners, minlength=len(told))[read.owners] > 1)
    counts = np.where(several, BESIDE, 1.0)
    for _ in range(PASSES):
        own = np.flatnonzero(learned[read.owners] & (counts > 0))
        network = perceptron(
            [read.vectors[at] for at in own],
            [() for _ in own],
            [(float(danger[at]),) for at in own],
            [(float(counts[at]),) for at in own],
            FITTING,
            (),
        )
        odds = _odds(network, read)
        counts = np.where(several, 0.0, 1.0)
        best = _best(odds, read.owners, len(told))
        counts[best[np.unique(read.owners[several])]] = 1.0
    phrases = _phrases([each for each, may in zip(told, learned, strict=True) if may])
    return DangerModel(network, encoder_sha256, phrases)


def _phrases(told: Sequence[Message]) -> Phrases:
    """What words speak for; of long answers in which nobody was in danger every sentence is one that is none."""
    texts = [(each.text, each.danger) for each in told if len(each.text.split()) <= SHORT]
    long = [each for each in told if not each.danger and len(each.text.split()) > SHORT]
    texts += [(part, False) for each in long for part in sentences(each.text)]
    danger = np.array([[one] for _, one in texts], dtype=np.float32)
    return fitted_phrases([text for text, _ in texts], danger, np.ones_like(danger), FITTING_WORDS, BY_WORDS)


def _odds(network: Perceptron, read: Read) -> Floats:
    return network.outputs([network.row(vector, {}) for vector in read.vectors])[:, 0]


def _best(odds: Floats, owners: np.ndarray, count: int) -> np.ndarray:
    """Of each message the number of the sentence that tells of danger most."""
    best = np.zeros(count, dtype=int)
    order = np.argsort(odds, kind="stable")
    best[owners[order]] = order
    return best


def figures(read: Read, told: Sequence[Message], encoder_sha256: str) -> Iterator[str]:
    """What is found of the writers, and of every other answer of interviews, that a model has not seen."""
    writers = np.array([each.writer for each in told])
    kept = np.flatnonzero([each.interview for each in told])[::2]
    learned = ~np.isin(writers, APART)
    learned[kept] = False
    model = fitted(read, told, learned, encoder_sha256)
    odds = _odds(model.network, read) + np.array([model.phrases.of(part)[0] for part in read.parts])
    most = np.full(len(told), -np.inf)
    np.maximum.at(most, read.owners, odds)
    danger = np.array([each.danger for each in told])
    for share in WRONGLY:
        least = float(np.sort(most[kept])[::-1][int(share * len(kept))])
        found = most > least
        yield f"from {least:.2f}: {found[kept].sum()} of {len(kept)} answers of interviews"
        for writer in APART:
            own = writers == writer
            yield (
                f"  {writer}: {found[own & danger].sum()} of {(own & danger).sum()} of danger,"
                f" {found[own & ~danger].sum()} of {(own & ~danger).sum()} others"
            )


def write(model: DangerModel, path: Path) -> None:
    """Write a model."""
    np.savez_compressed(path, **model.arrays())  # type: ignore[arg-type]
    tell(f"written to {path}, SHA-256 {digest_of(path.read_bytes())}, which belongs into artefacts/artefacts.toml")


def main(arguments: Sequence[str]) -> int:
    """Print what comes of it on what was not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.danger", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--only-all", action="store_true", help="write the model, without figures")
    parser.add_argument("--to", type=Path, default=files.FOLDER / files.DANGER)
    options = parser.parse_args(arguments)
    for path in (PLAIN, PLAINLY, EVERYDAY):
        if not (options.corpus / path).is_file():
            parser.error(f"there is no {path} in {options.corpus}; it is part of the source repository")
    digest = digest_of((files.FOLDER / files.ENCODER).read_bytes())
    told = list(messages(options.corpus))
    read = Read.of(told, ReaderNetwork.load(files.FOLDER))
    if not options.only_all:
        for line in figures(read, told, digest):
            tell(line)
    write(fitted(read, told, np.ones(len(told), dtype=bool), digest), options.to)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
