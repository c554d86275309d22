"""Makes the model that hears where there is more to tell: `python -m pipeline.language.training.dangling`.

It learns from messages that were written for it, and from clauses of interviews that readers judged (both in
tests/corpus/talk). What is printed is of writers, and of interviews, that it has not seen; the one that is written has
learned from all. A minute on two cores.
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

from pipeline.language.offline.dangling import DanglingModel, named
from pipeline.language.offline.echo_worth import vector
from pipeline.language.offline.echoes import Echo
from pipeline.language.offline.sayable import sayable
from pipeline.language.offline.worth_model import FOLDER, UPPER, Upper
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.network import Floats
from pipeline.language.srl import DocCache, load_model
from pipeline.language.training.clause_file import digest_of, tell, write
from pipeline.language.training.perceptron import Fitting, perceptron
from pipeline.language.training.talk import shares

CORPUS = Path(__file__).parents[3] / "tests" / "corpus"
WRITTEN, CODED = Path("talk") / "dangling.jsonl", Path("talk") / "dangling_coded.jsonl"
DANGLES, YES, MAYBE = "dangles", "yes", "maybe"
FITTING = Fitting(hidden=24, decay=0.3, rounds=10, together=32, seeds=(0, 1, 2))
FOLDS = 6
"""Parts of the writers and interviews, each of which is left out once for the figures."""
BESIDE, PERHAPS = 0.5, 0.3
"""What a clause counts that nobody marked, in a message of which another is marked; and one that may dangle."""
WRONGLY = (0.02, 0.05, 0.1)
"""Shares of the messages, or clauses, in which nothing dangles in which something may be heard."""
NAMES = tuple(named(Echo("", "", 0, 0, 0, False, ""), ""))
"""Of the features."""


@dataclass(frozen=True)
class Clause:
    """A clause that could be said back.

    Attributes:
        message: number of its message; each clause of an interview has one of its own.
        source: who wrote it, or the interview that it is from.
        written: whether it was written for this.
        seen, named: what is seen of it.
        dangles: whether there is more to it, from 0 to 1.
        marked: whether there is more to any clause of its message.
        counts: what that counts.
    """

    message: int
    source: str
    written: bool
    seen: Floats
    named: tuple[float, ...]
    dangles: float
    marked: bool
    counts: float


def clauses(corpus: Path, model: Upper, docs: DocCache) -> Iterator[Clause]:
    """All of them."""
    number = 0
    for number, line in enumerate((corpus / WRITTEN).read_text("utf-8").splitlines()):
        one = json.loads(line)
        answer = one["answer"]
        marked = one["words"] if one["act"] == DANGLES else ""
        reading = model.read(one["question"], answer)
        for echo in sayable(answer, docs.doc(answer)):
            dangles = bool(marked) and shares(echo.start, echo.end, answer, marked)
            yield Clause(
                message=number,
                source=f"writer {one['writer']}",
                written=True,
                seen=vector(echo, reading),
                named=tuple(named(echo, answer).values()),
                dangles=float(dangles),
                marked=bool(marked),
                counts=BESIDE if marked and not dangles else 1.0,
            )
    interviews: dict[str, list[dict[str, Any]]] = {}
    for line in (corpus / CODED).read_text("utf-8").splitlines():
        number += 1
        coded = json.loads(line)
        name = coded["file"]
        if name not in interviews:
            interviews[name] = [json.loads(each) for each in (corpus / name).read_text("utf-8").splitlines()]
        turn = interviews[name][coded["line"]]["turns"][coded["turn"]]
        answer, maybe = turn["answer"], coded[DANGLES] == MAYBE
        said = (each for each in sayable(answer, docs.doc(answer)) if answer[each.start : each.end] == coded["words"])
        if (own := next(said, None)) is None:
            continue
        yield Clause(
            message=number,
            source=f"{name} {coded['line']}",
            written=False,
            seen=vector(own, model.read(turn["question"], answer)),
            named=tuple(named(own, answer).values()),
            dangles=0.5 if maybe else float(coded[DANGLES] == YES),
            marked=coded[DANGLES] == YES,
            counts=PERHAPS if maybe else 1.0,
        )


def fitted(learned: Sequence[Clause], upper_sha256: str) -> DanglingModel:
    """A model that has learned from some clauses; the digest is that of the layers that its vectors are from."""
    network = perceptron(
        [each.seen for each in learned],
        [each.named for each in learned],
        [(each.dangles,) for each in learned],
        [(each.counts,) for each in learned],
        FITTING,
        NAMES,
    )
    return DanglingModel(network, upper_sha256)


def figures(read: Sequence[Clause]) -> Iterator[str]:
    """How often it is heard in messages of writers, and clauses of interviews, that were not seen."""
    sources = sorted({each.source for each in read})
    most: dict[int, float] = {}
    for fold in range(FOLDS):
        out = set(sources[fold::FOLDS])
        model = fitted([each for each in read if each.source not in out], "")
        apart = [each for each in read if each.source in out]
        chances = model.probabilities((each.seen, dict(zip(NAMES, each.named, strict=True))) for each in apart)
        for each, chance in zip(apart, chances, strict=True):
            most[each.message] = max(most.get(each.message, 0.0), float(chance))
    for written, name in ((True, "messages that were written for it"), (False, "clauses of interviews")):
        own = [each for each in read if each.written == written]
        does = {each.message for each in own if each.dangles == 1}
        telling = np.sort([most[at] for at in {each.message for each in own if not (each.marked or each.dangles)}])[
            ::-1
        ]
        dangling = np.array([most[at] for at in does])
        yield f"{name}: {len(dangling)} with a clause that dangles, {len(telling)} without"
        for share in WRONGLY:
            least = float(telling[int(share * len(telling))])
            heard = np.mean(dangling > least)
            yield f"  heard in {share:.0%} of those without: in {heard:.2f} of those with (from {least:.2f})"


def main(arguments: Sequence[str]) -> int:
    """Print what comes of it on what was not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.dangling", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--to", type=Path, default=FOLDER / DanglingModel.file)
    options = parser.parse_args(arguments)
    if not (options.corpus / WRITTEN).is_file():
        parser.error(f"there is no {WRITTEN} in {options.corpus}; it is part of the source repository")
    upper = (FOLDER / UPPER).read_bytes()
    read = list(clauses(options.corpus, Upper(load_reader(), upper), DocCache(load_model())))
    for line in figures(read):
        tell(line)
    write(fitted(read, digest_of(upper)), options.to)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
