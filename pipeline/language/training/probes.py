"""Makes the weights of bare probes: `python -m pipeline.language.training.probes`.

A ridge regression on ratings: moderators read interviews and rated the same plain probes after every answer, from 0
(ashamed of it) to 3 (exactly this). What is printed is cross-validated over interviews.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.language.offline import probe_worth
from pipeline.language.offline.linear import LinearModel
from pipeline.language.offline.phrasings import phrasing
from pipeline.language.offline.probe_worth import KINDS, Before, features, vector
from pipeline.language.offline.telling import telling_of
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.network import ReaderNetwork
from pipeline.language.training.ridge import fitted, names_of
from pipeline.question.request import LINES

FOLDS = 8
ANSWERS = LINES // 2 + 1
"""Latest answers that a question is written from."""
GOOD = 3


@dataclass(frozen=True)
class Learned:
    """What is learned.

    Attributes:
        key: of the ratings of an answer.
        kinds: what was rated, in the order of the outputs.
        strengths: how small the weights of features are held, and those of the reader's vectors.
    """

    key: str
    kinds: Sequence[str]
    strengths: tuple[float, float]


PROBES = Learned(key="probes", kinds=KINDS, strengths=(30.0, 3000.0))


@dataclass(frozen=True)
class Rated:
    """An answer with what each kind of probe was found worth after it; `named` and `seen` as in `probe_worth`."""

    interview: int
    named: dict[str, float]
    seen: NDArray[np.float32]
    ratings: tuple[int, ...]


def read(path: Path, network: ReaderNetwork, learned: Learned = PROBES) -> Iterator[Rated]:
    """The judged answers of a file of interviews, one per line."""
    speaking = phrasing("en")
    for line in path.read_text("utf-8").splitlines():
        interview = json.loads(line)
        turns = interview["turns"]
        for at, turn in enumerate(turns):
            judged = turn.get(learned.key, {})
            if any(kind not in judged for kind in learned.kinds):
                continue
            answers = tuple(each["answer"] for each in turns[: at + 1])[-ANSWERS:]
            questions = tuple(each["question"] for each in turns[: at + 1])
            before = Before(answers, questions, interview["method"], telling_of(answers, speaking))
            reading = network.read(turn["question"], "", turn["answer"])
            ratings = tuple(judged[kind] for kind in learned.kinds)
            yield Rated(interview["id"], features(before), vector(turn["answer"], reading), ratings)


def fit(rated: Sequence[Rated], encoder: str, learned: Learned = PROBES) -> LinearModel:
    """Weights that predict the ratings."""
    names = names_of([each.named for each in rated])
    rows = np.array([[*(each.named.get(name, 0.0) for name in names), *each.seen] for each in rated], dtype=np.float64)
    ratings = np.array([each.ratings for each in rated], dtype=np.float64)
    known = np.ones(len(rated), dtype=np.bool_)
    return fitted(names, rows, [(ratings, known)], learned.strengths, encoder)


def main(arguments: Sequence[str]) -> int:
    """Fit, print what comes of it on interviews that were not seen, and write."""
    return learn(arguments, PROBES, Path(probe_worth.__file__).with_name("probe_worth.npz"), __doc__)


def learn(arguments: Sequence[str], learned: Learned, to: Path, description: str | None) -> int:
    """Fit weights, print what comes of them on interviews that were not seen, and write them.

    Args:
        arguments: of the command line.
        learned: what is learned.
        to: the file that is written where the command line names no other.
        description: of the program.
    """
    options = _options(arguments, to, description)
    reader = load_reader()
    paths = sorted(options.corpus.glob("*.jsonl"))
    rated = [each for path in paths for each in read(path, reader.network, learned)]
    _tell(f"{len(rated)} answers of {len({each.interview for each in rated})} interviews")
    _tell(_figures(rated, learned))
    model = fit(rated, reader.settings.encoder_sha256, learned)
    options.to.write_bytes(model.saved())
    _tell(f"{len(model.names)} features and {len(rated[0].seen)} numbers of the reader written to {options.to}")
    return 0


def _figures(rated: Sequence[Rated], learned: Learned) -> str:
    """How well ratings are foretold in interviews that the weights have not seen, and what would be chosen."""
    fold = {interview: at % FOLDS for at, interview in enumerate(sorted({each.interview for each in rated}))}
    given = np.array([each.ratings for each in rated], dtype=np.float64)
    expected = np.zeros_like(given)
    for number in range(FOLDS):
        model = fit([each for each in rated if fold[each.interview] != number], "", learned)
        mine = [at for at, each in enumerate(rated) if fold[each.interview] == number]
        expected[mine] = model.expected([model.row(rated[at].named, rated[at].seen) for at in mine])
    explained = 1 - ((expected - given) ** 2).sum(axis=0) / ((given - given.mean(axis=0)) ** 2).sum(axis=0)
    chosen = given[np.arange(len(given)), expected.argmax(axis=1)]
    shares = ", ".join(f"{kind} {share:.2f}" for kind, share in zip(learned.kinds, explained, strict=True))
    return (
        f"explained of the ratings: {shares}\n"
        f"the probe that promises most: mean {chosen.mean():.2f} (the judge's best {given.max(axis=1).mean():.2f}), "
        f"exactly this {np.mean(chosen == GOOD):.2f}, ashamed {np.mean(chosen == 0):.2f}"
    )


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")


def _options(arguments: Sequence[str], to: Path, description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    root = Path(__file__).parents[3]
    corpus = root / "tests" / "corpus" / "echoes"
    parser.add_argument("--corpus", type=Path, default=corpus, help="folder of interviews")
    parser.add_argument("--to", type=Path, default=to)
    options = parser.parse_args(arguments)
    if not options.corpus.is_dir():
        parser.error(f"there is no corpus in {options.corpus}; it is part of the source repository")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
