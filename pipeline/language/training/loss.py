"""Makes the model that hears a death told of: `python -m pipeline.language.training.loss`.

It learns from messages that were written for it (tests/corpus/talk/loss.jsonl), and from interviews in which readers
marked that somebody is bereaved (tests/corpus/talk/coded.jsonl); of the clauses that only tell, one in two. What is
printed is of writers, and of interviews, that it has not seen; the one that is written has learned from all. Four
minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.language.offline.loss import LossModel, judged, named
from pipeline.language.offline.worth_model import FOLDER, UPPER, Upper
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.network import Floats
from pipeline.language.training.clause_file import digest_of, tell, write
from pipeline.language.training.perceptron import Fitting, perceptron
from pipeline.language.training.talk import shares
from pipeline.language.training.talk_corpus import told_in_interviews

CORPUS = Path(__file__).parents[3] / "tests" / "corpus"
WRITTEN = Path("talk") / "loss.jsonl"
BEREAVED = "bereaved"
SURE = 2
"""How a death is marked for which one is sorry; 1 where that would be doubtful."""
FITTING = Fitting(hidden=24, decay=0.3, rounds=6, together=64, seeds=(0, 1), positive=3.0)
FOLDS = 6
"""Parts of the writers and interviews, each of which is left out once for the figures."""
EVERY = 2
"""Of clauses of interviews that tell of nothing like it, one in so many is learned from."""
BESIDE, DOUBTFUL = 0.5, 0.4
"""What a clause counts that nobody marked, in a message of which another is marked; and one that is doubtful."""
WRONGLY = (0.002, 0.005, 0.01, 0.02, 0.05)
"""Shares of the messages, or answers, without a death in which one may be heard."""
NAMES = tuple(named("", ""))
"""Of the features."""


@dataclass(frozen=True)
class Clause:
    """A clause of a message.

    Attributes:
        message: number of its message.
        source: who wrote it, or the interview that it is from.
        written: whether it was written for this.
        seen, named: what is seen of it.
        loss: how sure it tells of a death, 0 to 2.
        marked: the most that any clause of its message does.
    """

    message: int
    source: str
    written: bool
    seen: Floats
    named: tuple[float, ...]
    loss: int
    marked: int

    @property
    def counts(self) -> float:
        """What it counts when something is learned from it."""
        if self.loss:
            return 1.0 if self.loss == SURE else DOUBTFUL
        return BESIDE if self.marked else 1.0


@dataclass(frozen=True)
class Message:
    """A message: whose, what it answers, and the words that tell of a death with how sure that is."""

    source: str
    written: bool
    question: str
    answer: str
    marked: tuple[tuple[str, int], ...]


def messages(corpus: Path) -> Iterator[Message]:
    """All of them."""
    for line in (corpus / WRITTEN).read_text("utf-8").splitlines():
        one = json.loads(line)
        own = ((one["words"], one["loss"]),) if one["loss"] else ()
        yield Message(f"writer {one['writer']}", True, one["question"], one["answer"], own)
    for name, told in told_in_interviews(corpus):
        marked = tuple((words, SURE if sure else 1) for act, words, sure in told.done if act == BEREAVED)
        yield Message(name, False, told.question, told.text, marked)


def clauses(corpus: Path, model: Upper) -> Iterator[Clause]:
    """Those of all messages."""
    for number, message in enumerate(messages(corpus)):
        most = max((sure for _, sure in message.marked), default=0)
        for clause, seen in judged(message.answer, model.read(message.question, message.answer)):
            loss = max(
                (sure for words, sure in message.marked if shares(clause.start, clause.end, message.answer, words)),
                default=0,
            )
            features = tuple(named(clause.text, message.answer).values())
            yield Clause(number, message.source, message.written, seen, features, loss, most)


def fitted(learned: Sequence[Clause], upper_sha256: str) -> LossModel:
    """A model that has learned from some clauses; the digest is that of the layers that its vectors are from."""
    telling = (NAMES.index("loss"), NAMES.index("death"))
    kept = [
        each
        for number, each in enumerate(learned)
        if each.loss or each.written or number % EVERY == 0 or any(each.named[at] for at in telling)
    ]
    network = perceptron(
        [each.seen for each in kept],
        [each.named for each in kept],
        [(each.loss / SURE,) for each in kept],
        [(each.counts,) for each in kept],
        FITTING,
        NAMES,
    )
    return LossModel(network, upper_sha256)


def figures(read: Sequence[Clause]) -> Iterator[str]:
    """How often it is heard in messages of writers, and answers of interviews, that were not seen."""
    sources = sorted({each.source for each in read})
    most: dict[int, float] = defaultdict(float)
    for fold in range(FOLDS):
        out = set(sources[fold::FOLDS])
        model = fitted([each for each in read if each.source not in out], "")
        apart = [each for each in read if each.source in out]
        chances = model.probabilities((each.seen, dict(zip(NAMES, each.named, strict=True))) for each in apart)
        for each, chance in zip(apart, chances, strict=True):
            most[each.message] = max(most[each.message], float(chance))
    for written, name in ((True, "messages that were written for it"), (False, "answers of interviews")):
        marks = {each.message: each.marked for each in read if each.written == written}
        does = np.array([most[at] for at, marked in marks.items() if marked == SURE])
        does_not = np.sort([most[at] for at, marked in marks.items() if not marked])[::-1]
        yield f"{name}: {len(does)} tell of a death, {len(does_not)} do not"
        for share in WRONGLY:
            least = float(does_not[int(share * len(does_not))])
            yield f"  heard in {share:.1%} of those that do not: in {np.mean(does > least):.2f} (from {least:.2f})"


def main(arguments: Sequence[str]) -> int:
    """Print what comes of it on what was not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.loss", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--only-all", action="store_true", help="write the model, without figures")
    parser.add_argument("--to", type=Path, default=FOLDER / LossModel.file)
    options = parser.parse_args(arguments)
    if not (options.corpus / WRITTEN).is_file():
        parser.error(f"there is no {WRITTEN} in {options.corpus}; it is part of the source repository")
    upper = (FOLDER / UPPER).read_bytes()
    read = list(clauses(options.corpus, Upper(load_reader(), upper)))
    for line in () if options.only_all else figures(read):
        tell(line)
    write(fitted(read, digest_of(upper)), options.to)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
