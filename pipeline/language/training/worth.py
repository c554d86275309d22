"""Makes the model of what is worth saying next: `python -m pipeline.language.training.worth`.

The reader's encoder is trained on, with one small network over its vectors for clauses that could be said back and one
for moments. What is printed is of interviews that were left out (one in eight); the model that is written has learned
from all of them. Some forty minutes on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from pipeline.language.offline.probe_worth import KINDS, MOVES
from pipeline.language.offline.worth_model import FOLDER, HEADS, READER_DIGEST, UPPER, UPPER_DIGEST
from pipeline.language.reader import files
from pipeline.language.srl import DocCache, load_model
from pipeline.language.training.export import export_upper
from pipeline.language.training.ratings import read
from pipeline.language.training.resuming import encoder_weights
from pipeline.language.training.worth_network import (
    BATCH,
    MIDDLE,
    USABLE,
    Example,
    Features,
    WorthNetwork,
    examples,
    fit,
)

FOLDS = 8
GOOD = 3
PARTS = (3, 2, 1)
"""Figures are printed for the third, the half and all of the moments by what their best clause promises."""


def figures(network: WorthNetwork, unseen: Sequence[Example]) -> Iterator[str]:
    """How well judgements are foretold of interviews that the network has not seen."""
    of_clauses, of_moments = [], []
    with torch.no_grad():
        for start in range(0, len(unseen), BATCH):
            clauses, moments = network(unseen[start : start + BATCH])
            of_clauses.append(clauses.numpy())
            of_moments.append(moments.numpy() + MIDDLE)
    expected = np.concatenate(of_clauses)
    owner = [at for at, each in enumerate(unseen) for _ in each.moment.clauses]
    judged = [clause for each in unseen for clause in each.moment.clauses]
    given = np.array([clause.rating for clause in judged], dtype=np.float64)
    for label, tested in (("all", (True, False)), ("concept tests", (True,)), ("others", (False,))):
        own = np.array([at for at in range(len(judged)) if unseen[owner[at]].moment.tested in tested])
        if not len(own):
            continue
        seen = np.corrcoef(expected[own, 0], given[own])[0, 1]
        yield f"clauses, {label}: {len(own)}, correlation of what is expected and what was given {seen:.3f}"
        best: dict[int, int] = {}
        for at in own:
            if owner[at] not in best or expected[at, 0] > expected[best[owner[at]], 0]:
                best[owner[at]] = int(at)
        ordered = sorted(best.values(), key=lambda at: -float(expected[at, 0]))
        for part in PARTS:
            chosen = ordered[: len(ordered) // part]
            fits = [int(expected[at, 1:].argmax()) == judged[at].probe for at in chosen if given[at] >= USABLE]
            yield (
                f"  best clause of each moment, the 1/{part} that promises most (from "
                f"{expected[chosen[-1], 0] + MIDDLE:.2f}): mean {given[chosen].mean():.2f}, exactly this "
                f"{np.mean(given[chosen] == GOOD):.2f}, ashamed {np.mean(given[chosen] == 0):.2f}; with the judge's "
                f"probe {np.mean(fits):.2f}"
            )
    found = np.concatenate(of_moments)
    yield from _of_moves("probes", KINDS, found[:, : len(KINDS)], [each.moment.probes for each in unseen])
    yield from _of_moves("moves", MOVES, found[:, len(KINDS) :], [each.moment.moves for each in unseen])


def _of_moves(
    label: str, kinds: Sequence[str], expected: NDArray[np.float32], judged: Sequence[tuple[int, ...]]
) -> Iterator[str]:
    known = [at for at, ratings in enumerate(judged) if ratings]
    if not known:
        return
    given = np.array([judged[at] for at in known], dtype=np.float64)
    mine = expected[known]
    explained = 1 - ((mine - given) ** 2).sum(axis=0) / ((given - given.mean(axis=0)) ** 2).sum(axis=0)
    chosen = given[np.arange(len(given)), mine.argmax(axis=1)]
    shares = ", ".join(f"{kind} {share:.2f}" for kind, share in zip(kinds, explained, strict=True))
    yield f"{label} after {len(known)} answers; explained of the ratings: {shares}"
    yield (
        f"  the one that promises most: mean {chosen.mean():.2f} (the judge's best {given.max(axis=1).mean():.2f}), "
        f"exactly this {np.mean(chosen == GOOD):.2f}, ashamed {np.mean(chosen == 0):.2f}"
    )


def main(arguments: Sequence[str]) -> int:
    """Fit, print what comes of it on interviews that were not seen, fit to all, and write."""
    options = _options(arguments)
    torch.set_num_threads(os.cpu_count() or 1)
    docs = DocCache(load_model())
    moments = [each for path in sorted(options.corpus.glob("*.jsonl")) for each in read(path, docs)]
    all_of_them = examples(moments)
    interviews = sorted({each.moment.interview for each in all_of_them})
    clauses = sum(len(each.moment.clauses) for each in all_of_them)
    _tell(f"{clauses} clauses in {len(all_of_them)} moments of {len(interviews)} interviews")
    if not options.only_all:
        out = set(interviews[::FOLDS])
        tried = _network(all_of_them)
        fit(tried, [each for each in all_of_them if each.moment.interview not in out])
        for line in figures(tried, [each for each in all_of_them if each.moment.interview in out]):
            _tell(line)
    network = _network(all_of_them)
    fit(network, all_of_them)
    write(network, options.to)
    _tell(f"written to {options.to}; its digests belong into artefacts/artefacts.toml")
    return 0


def _network(learned: Sequence[Example]) -> WorthNetwork:
    clauses = [clause.named for each in learned for clause in each.moment.clauses]
    network = WorthNetwork(Features.of(clauses), Features.of([each.moment.named for each in learned]))
    weights = encoder_weights(files.FOLDER / files.ENCODER)
    network.encoder.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
    return network


def write(network: WorthNetwork, folder: Path) -> None:
    """Write the model's files to a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    network.eval()
    export_upper(network.encoder, folder / UPPER)
    arrays = {name: array for prefix, head in network.heads().items() for name, array in head.arrays(prefix).items()}
    for name, path in ((UPPER_DIGEST, folder / UPPER), (READER_DIGEST, files.FOLDER / files.ENCODER)):
        arrays[name] = np.array(hashlib.sha256(path.read_bytes()).hexdigest())
    np.savez(folder / HEADS, **arrays)  # type: ignore[arg-type]


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.worth", description=__doc__)
    root = Path(__file__).parents[3]
    corpus = root / "tests" / "corpus" / "echoes"
    parser.add_argument("--corpus", type=Path, default=corpus, help="folder of interviews")
    parser.add_argument("--only-all", action="store_true", help="write the model, without figures")
    parser.add_argument("--to", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    if not options.corpus.is_dir():
        parser.error(f"there is no corpus in {options.corpus}; it is part of the source repository")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
