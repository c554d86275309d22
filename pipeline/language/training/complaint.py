"""Makes the model of complaints beside an answer: `python -m pipeline.language.training.complaint`.

It learns from the answers of interviews in which readers marked what people do besides telling
(tests/corpus/talk/coded.jsonl). What is printed is of a model that has not seen the interviews of the file that other
readers marked, tests/corpus/conversations/later.jsonl; the one that is written has learned from all. Some five minutes
on two cores.
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
from numpy.typing import NDArray

from pipeline.language.acts.hearing import LANGUAGE, clause_chances
from pipeline.language.acts.reading import heard_clauses
from pipeline.language.acts.rules import rules_for
from pipeline.language.reader import files
from pipeline.language.reader.clauses import named, seen
from pipeline.language.reader.complaint import ComplaintModel
from pipeline.language.reader.network import ReaderNetwork
from pipeline.language.reader.settings import ReaderSettings
from pipeline.language.training.perceptron import Fitting, perceptron, shares, write

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "corpus"
CODED = Path("talk") / "coded.jsonl"
APART = "conversations/later.jsonl"
ACT, CLEAR = "complains", "clear"
UNCLEAR = 0.5
"""What a complaint counts of which its reader was not sure."""
FITTING = Fitting()
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6)


@dataclass(frozen=True)
class Clause:
    """A clause of an answer: where it is from, what is seen of it, and whether it complains, and surely."""

    file: str
    answer: tuple[str, int, int]
    seen: NDArray[np.float32]
    named: tuple[float, ...]
    complains: bool
    sure: bool


def clauses(corpus: Path, network: ReaderNetwork) -> Iterator[Clause]:
    """All clauses of the interviews that were marked."""
    interviews: dict[str, list[dict[str, Any]]] = {}
    for line in (corpus / CODED).read_text("utf-8").splitlines():
        coded = json.loads(line)
        name, number = coded["file"], coded["line"]
        if name not in interviews:
            interviews[name] = [json.loads(each) for each in (corpus / name).read_text("utf-8").splitlines()]
        marked = {turn["turn"]: turn["acts"] for turn in coded["turns"]}
        for turn, told in enumerate(interviews[name][number]["turns"]):
            if text := told.get("answer"):
                yield from _of_answer((name, number, turn), text, told["question"], marked.get(turn, ()), network)


def _of_answer(
    answer: tuple[str, int, int], text: str, question: str, marked: Sequence[dict[str, str]], network: ReaderNetwork
) -> Iterator[Clause]:
    rules = rules_for(LANGUAGE)
    assert rules is not None
    found, _ = heard_clauses(text, question, rules)
    reading = network.read(question, "", text)
    acts = clause_chances(network, text, question, found)
    vectors = seen(reading, [(clause.start, clause.end) for clause in found], acts)
    for at, (clause, vector) in enumerate(zip(found, vectors, strict=True)):
        if vector is None:
            continue
        hits = [one for one in marked if one["act"] == ACT and shares(clause.start, clause.end, text, one["words"])]
        yield Clause(
            file=answer[0],
            answer=answer,
            seen=vector,
            named=tuple(named(at, len(found), clause.text, question).values()),
            complains=bool(hits),
            sure=any(one["sure"] == CLEAR for one in hits),
        )


def fitted(told: Sequence[Clause], digest: str) -> ComplaintModel:
    """A model that has learned from some clauses."""
    counts = [[UNCLEAR if each.complains and not each.sure else 1.0] for each in told]
    wanted = [[float(each.complains)] for each in told]
    rows = [each.seen for each in told], [each.named for each in told]
    return ComplaintModel(perceptron(*rows, wanted, counts, FITTING), digest)


def figures(model: ComplaintModel, apart: Sequence[Clause]) -> Iterator[str]:
    """How many answers complain, and are heard to, of interviews that the model has not seen."""
    names = model.network.names
    rows = [model.network.row(each.seen, dict(zip(names, each.named, strict=True))) for each in apart]
    chances = 1.0 / (1.0 + np.exp(-model.network.outputs(rows)[:, 0]))
    answers = sorted({each.answer for each in apart})
    do_it = {each.answer for each in apart if each.complains}
    surely = {each.answer for each in apart if each.sure}
    yield f"{len(answers)} answers, {len(do_it)} of them complain, {len(surely)} surely"
    for least in THRESHOLDS:
        heard = {each.answer for each, chance in zip(apart, chances, strict=True) if chance >= least}
        yield (
            f"from {least}: heard in {len(heard)}, of them rightly {len(heard & do_it)}; "
            f"of the sure ones {len(heard & surely)}"
        )


def main(arguments: Sequence[str]) -> int:
    """Fit, print what comes of it on interviews that were not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.complaint", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--only-all", action="store_true", help="write the model, without figures")
    parser.add_argument("--to", type=Path, default=files.FOLDER / files.COMPLAINT)
    options = parser.parse_args(arguments)
    if not (options.corpus / CODED).is_file():
        parser.error(f"there is no {CODED} in {options.corpus}; it is part of the source repository")
    settings = ReaderSettings.model_validate_json((files.FOLDER / files.SETTINGS).read_bytes())
    told = list(clauses(options.corpus, ReaderNetwork.load(files.FOLDER)))
    _tell(f"{len(told)} clauses, {sum(each.complains for each in told)} of them complain")
    if not options.only_all:
        tried = fitted([each for each in told if each.file != APART], settings.encoder_sha256)
        for line in figures(tried, [each for each in told if each.file == APART]):
            _tell(line)
    digest = write(fitted(told, settings.encoder_sha256), options.to)
    _tell(f"written to {options.to}, SHA-256 {digest}, which belongs into artefacts/artefacts.toml")
    return 0


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
