"""Makes the weights of the ranker of questions: `python -m pipeline.language.training.ranker`.

A ridge regression on judged questions: moderators gave each candidate of a moment 0 (ashamed of it) to 3 (exactly
this). How strongly weights are held small is found by cross-validation over moments. `--blind` scores moments that
were kept apart.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.language.offline import ranking
from pipeline.language.offline.ranking import Moment, Ranker, features
from pipeline.language.offline.wording import Wording
from pipeline.methodology import Form
from pipeline.ports import Rendering
from pipeline.question.phrases import phrase

STRENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0)
FOLDS = 5
SEEN = 3
"""A feature that fewer candidates have gets no weight."""
DIGITS = 3
GOOD, OK = 3, 2


@dataclass(frozen=True)
class Judged:
    """A moment, its wordings, and what each was found worth: 0 to 3."""

    moment: Moment
    wordings: tuple[Wording, ...]
    ratings: tuple[int, ...]


@dataclass(frozen=True)
class Figures:
    """How well a ranker agrees with a judge.

    Attributes:
        pairs: of two wordings that were judged unlike, the share in the same order.
        mean: rating of the wordings chosen, 0 to 3.
        usable, good, bad: shares of them rated at least 2, 3, and 0.
        by_chance, at_best: the mean had chance chosen, or the judge.
    """

    pairs: float
    mean: float
    usable: float
    good: float
    bad: float
    by_chance: float
    at_best: float


def read(path: Path) -> Iterator[Judged]:
    """The moments of a file, one JSON object per line."""
    for line in path.read_text("utf-8").splitlines():
        moment = json.loads(line)
        label, kind = moment["about"], moment["type"]
        answer = moment["answer"]
        said = [*(earlier for _, earlier in moment["before"]), answer]
        yield Judged(
            Moment(
                type=kind,
                stance=moment["stance"],
                feels=moment["feels"],
                last_said=moment["last_said"],
                about=phrase(label, node_type=kind or "", said=said, rendering=Rendering(**moment.get("rendering", {})))
                if label
                else None,
                time=moment["time"],
                answer=answer,
                recent=(*(question for question, _ in moment["before"]), moment["question"]),
            ),
            tuple(Wording(each["text"], Form(**each["form"]), each["naming"]) for each in moment["candidates"]),
            tuple(each["rating"] for each in moment["candidates"]),
        )


def fit(judged: Sequence[Judged], strength: float) -> Ranker:
    """Weights that predict the ratings, held small by `strength`."""
    rows = [features(wording, each.moment) for each in judged for wording in each.wordings]
    ratings = np.array([rating for each in judged for rating in each.ratings], dtype=np.float64)
    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= SEEN)
    place = {name: index for index, name in enumerate(names)}
    matrix: NDArray[np.float64] = np.zeros((len(rows), len(names)))
    for index, row in enumerate(rows):
        for name, value in row.items():
            if name in place:
                matrix[index, place[name]] = value
    base = float(ratings.mean())
    solved = np.linalg.solve(matrix.T @ matrix + strength * np.eye(len(names)), matrix.T @ (ratings - base))
    weights = {name: round(float(weight), DIGITS) for name, weight in zip(names, solved, strict=True)}
    return Ranker({name: weight for name, weight in weights.items() if weight}, round(base, DIGITS))


def figures(ranker: Ranker, judged: Sequence[Judged]) -> Figures:
    """How well the ranker does on some moments."""
    agreed = unlike = 0
    chosen: list[int] = []
    for each in judged:
        scores = [ranker.score(wording, each.moment) for wording in each.wordings]
        for first, second in combinations(range(len(scores)), 2):
            apart = each.ratings[first] - each.ratings[second]
            unlike += apart != 0
            agreed += apart * (scores[first] - scores[second]) > 0
        chosen.append(each.ratings[int(np.argmax(scores))])
    picked = np.array(chosen)
    return Figures(
        pairs=agreed / max(unlike, 1),
        mean=float(picked.mean()),
        usable=float((picked >= OK).mean()),
        good=float((picked == GOOD).mean()),
        bad=float((picked == 0).mean()),
        by_chance=float(np.mean([np.mean(each.ratings) for each in judged])),
        at_best=float(np.mean([max(each.ratings) for each in judged])),
    )


def cross_validated(judged: Sequence[Judged], strength: float) -> Figures:
    """Figures where each moment is scored by a ranker that did not see it, nor others of its fold."""
    parts = []
    for fold in range(FOLDS):
        ranker = fit([each for index, each in enumerate(judged) if index % FOLDS != fold], strength)
        parts.append(figures(ranker, judged[fold::FOLDS]))
    return Figures(*(float(np.mean([getattr(part, name) for part in parts])) for name in Figures.__dataclass_fields__))


def main(arguments: Sequence[str]) -> int:
    """Train and write, or score blind moments."""
    options = _options(arguments)
    if options.blind:
        shipped = ranking.shipped()
        if shipped is None:
            sys.stderr.write("The ranker's file is missing or damaged.\n")
            return 1
        for path in options.blind:
            _tell(f"{path.name}: {_said(figures(shipped, list(read(path))))}")
        return 0
    judged = [each for path in sorted(options.corpus.glob("*.jsonl")) for each in read(path)]
    pairs = sum(len(list(combinations(each.ratings, 2))) for each in judged)
    _tell(f"{len(judged)} moments, {sum(len(each.ratings) for each in judged)} questions, {pairs} pairs")
    tried = {strength: cross_validated(judged, strength) for strength in STRENGTHS}
    for strength, found in tried.items():
        _tell(f"strength {strength:g}: {_said(found)}")
    best = max(tried, key=lambda strength: tried[strength].pairs)
    ranker = fit(judged, best)
    document = {"strength": best, "base": ranker.base, "weights": dict(sorted(ranker.weights.items()))}
    options.to.write_text(json.dumps(document, indent=0, ensure_ascii=False) + "\n", "utf-8")
    _tell(f"{len(ranker.weights)} weights written to {options.to}")
    return 0


def _said(found: Figures) -> str:
    return (
        f"pairs {found.pairs:.3f}; chosen: mean {found.mean:.2f} (chance {found.by_chance:.2f}, "
        f"best {found.at_best:.2f}), usable {found.usable:.2f}, good {found.good:.2f}, bad {found.bad:.2f}"
    )


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.ranker", description=__doc__)
    root = Path(__file__).parents[3]
    parser.add_argument("--corpus", type=Path, default=root / "tests" / "corpus" / "judged", help="folder of moments")
    parser.add_argument("--to", type=Path, default=Path(ranking.__file__).with_name("ranker.json"))
    parser.add_argument("--blind", type=Path, nargs="+", help="score these files, train nothing")
    options = parser.parse_args(arguments)
    if not options.corpus.is_dir():
        parser.error(f"there is no corpus in {options.corpus}; it is part of the source repository")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
