"""Makes the weights of what is said back: `python -m pipeline.language.training.echoes`.

A ridge regression on ratings: moderators read interviews and gave each clause that could be said back after an answer 0
(ashamed of it) to 3 (exactly this), with the plain probe that fits behind it. What is printed is cross-validated over
interviews: nobody is scored by weights that have seen their interview.
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

from pipeline.language.offline import echo_worth
from pipeline.language.offline.echo_worth import PROBES, Told, features, vector
from pipeline.language.offline.linear import LinearModel
from pipeline.language.offline.phrasings import phrasing
from pipeline.language.offline.sayable import sayable
from pipeline.language.offline.telling import telling_of
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.network import ReaderNetwork
from pipeline.language.srl import DocCache, load_model
from pipeline.language.training.ridge import fitted, names_of
from pipeline.question.request import LINES

NAMED_STRENGTH, VECTOR_STRENGTH = 40.0, 600.0
"""How small the weights of features are held, and those of the reader's vectors."""
FOLDS = 8
ANSWERS = LINES // 2 + 1
"""Latest answers that a question is written from."""
GOOD, USABLE = 3, 2
PARTS = (3, 2)
"""Figures are printed for the third and the half of the moments whose best clause promises most."""


@dataclass(frozen=True)
class Rated:
    """A clause as it was judged.

    Attributes:
        interview: number of its interview.
        moment: the interview, and the number of the answer in it.
        named, seen: its features, and its vector.
        rating: 0 to 3.
        probe: the one that fits best; nothing where none does.
    """

    interview: int
    moment: tuple[int, int]
    named: dict[str, float]
    seen: NDArray[np.float32]
    rating: int
    probe: str


def read(path: Path, network: ReaderNetwork, docs: DocCache) -> Iterator[Rated]:
    """The judged clauses of a file of interviews, one per line; those that are not said back any more are left out."""
    speaking = phrasing("en")
    for line in path.read_text("utf-8").splitlines():
        interview = json.loads(line)
        answers: list[str] = []
        for number, turn in enumerate(interview["turns"]):
            answers.append(turn["answer"])
            judged = {text: (rating, probe) for text, rating, probe in turn.get("echoes", ())}
            found = sayable(turn["answer"], docs.doc(turn["answer"]))
            if not judged or not found:
                continue
            told = Told(
                answer=turn["answer"],
                mean_words=float(np.mean([len(answer.split()) for answer in answers[-ANSWERS:]])),
                asked=len(answers),
                method=interview["method"],
                telling=telling_of(answers[-ANSWERS:], speaking),
            )
            reading = network.read(turn["question"], "", turn["answer"])
            for at, echo in enumerate(found):
                if echo.text in judged:
                    rating, probe = judged[echo.text]
                    named = features(echo, at, len(found), told)
                    yield Rated(interview["id"], (interview["id"], number), named, vector(echo, reading), rating, probe)


def fit(rated: Sequence[Rated], encoder: str) -> LinearModel:
    """Weights that predict ratings, and the probe of clauses that are usable."""
    names = names_of([each.named for each in rated])
    rows = np.array([[*(each.named.get(name, 0.0) for name in names), *each.seen] for each in rated], dtype=np.float64)
    ratings = np.array([[each.rating] for each in rated], dtype=np.float64)
    usable = np.array([each.rating >= USABLE and each.probe in PROBES for each in rated])
    probes = np.array([[float(each.probe == probe) for probe in PROBES] for each in rated])
    wanted = [(ratings, np.ones(len(rated), dtype=np.bool_)), (probes, usable)]
    return fitted(names, rows, wanted, (NAMED_STRENGTH, VECTOR_STRENGTH), encoder)


def main(arguments: Sequence[str]) -> int:
    """Fit, print what comes of it on interviews that were not seen, and write."""
    options = _options(arguments)
    reader = load_reader()
    docs = DocCache(load_model())
    rated = [each for path in sorted(options.corpus.glob("*.jsonl")) for each in read(path, reader.network, docs)]
    moments, interviews = {each.moment for each in rated}, {each.interview for each in rated}
    _tell(f"{len(rated)} clauses in {len(moments)} moments of {len(interviews)} interviews")
    _tell(_figures(rated))
    model = fit(rated, reader.settings.encoder_sha256)
    options.to.write_bytes(model.saved())
    _tell(f"{len(model.names)} features and {len(rated[0].seen)} numbers of the reader written to {options.to}")
    return 0


def _figures(rated: Sequence[Rated]) -> str:
    """What is chosen in interviews that the weights have not seen."""
    fold = {interview: at % FOLDS for at, interview in enumerate(sorted({each.interview for each in rated}))}
    best: dict[tuple[int, int], tuple[float, int, bool]] = {}
    expected, given = [], []
    for number in range(FOLDS):
        model = fit([each for each in rated if fold[each.interview] != number], "")
        for each in rated:
            if fold[each.interview] != number:
                continue
            row = model.expected([model.row(each.named, each.seen)])[0]
            expected.append(float(row[0]))
            given.append(each.rating)
            probe = PROBES[int(np.argmax(row[1:]))]
            if each.moment not in best or row[0] > best[each.moment][0]:
                best[each.moment] = (float(row[0]), each.rating, probe == each.probe)
    lines = [f"correlation of what is expected and what was given: {np.corrcoef(expected, given)[0, 1]:.3f}"]
    ordered = sorted(best.values(), reverse=True)
    for part in (*PARTS, 1):
        chosen = ordered[: len(ordered) // part]
        ratings = np.array([rating for _, rating, _ in chosen])
        fits = np.mean([fits for _, rating, fits in chosen if rating >= USABLE])
        lines.append(
            f"best clause of each moment, the 1/{part} that promises most (from {chosen[-1][0]:.2f}): "
            f"mean {ratings.mean():.2f}, exactly this {np.mean(ratings == GOOD):.2f}, "
            f"ashamed {np.mean(ratings == 0):.2f}; with the judge's probe {fits:.2f}"
        )
    return "\n".join(lines)


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.echoes", description=__doc__)
    root = Path(__file__).parents[3]
    parser.add_argument(
        "--corpus", type=Path, default=root / "tests" / "corpus" / "echoes", help="folder of interviews"
    )
    parser.add_argument("--to", type=Path, default=Path(echo_worth.__file__).with_name("echo_worth.npz"))
    options = parser.parse_args(arguments)
    if not options.corpus.is_dir():
        parser.error(f"there is no corpus in {options.corpus}; it is part of the source repository")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
