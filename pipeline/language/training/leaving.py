"""Makes the model of who leaves a subject: `python -m pipeline.language.training.leaving`.

It learns from messages that were written for it (tests/corpus/talk/leaving.jsonl) and from the answers of interviews in
which readers marked what people do besides telling (coded.jsonl there). What is printed is of a model that has not seen
the interviews of the file that other readers marked, nor the messages of two of the writers. Some ten minutes on two
cores.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
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
from pipeline.language.reader.leaving import LeavingModel
from pipeline.language.reader.network import ReaderNetwork
from pipeline.language.reader.settings import ReaderSettings
from pipeline.language.training.perceptron import Fitting, perceptron, shares, write

CORPUS = Path(__file__).parents[3] / "tests" / "corpus"
CODED, WRITTEN = Path("talk") / "coded.jsonl", Path("talk") / "leaving.jsonl"
APART = frozenset({"conversations/later.jsonl", "4", "7"})
"""The interviews, and writers of messages, on which figures are made."""
MARKED: Mapping[str, str] = {"nothing_more": "spent", "declines": "declines", "wants_topic": "elsewhere"}
"""What readers of interviews call what the model hears."""
CLEAR, UNCLEAR = "clear", 0.3
"""What counts less of which a reader was not sure."""
FITTING = Fitting(decay=0.1, rounds=12, positive=2.0)
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


@dataclass(frozen=True)
class Clause:
    """A clause: where it is from, what is seen of it, what it does and what that counts, in the model's order."""

    source: str
    answer: tuple[str, int, int]
    seen: NDArray[np.float32]
    named: tuple[float, ...]
    wanted: tuple[float, ...]
    counts: tuple[float, ...]


def clauses(corpus: Path, network: ReaderNetwork) -> Iterator[Clause]:
    """All clauses of the interviews that were marked, and of the messages."""
    interviews: dict[str, list[dict[str, Any]]] = {}
    for line in (corpus / CODED).read_text("utf-8").splitlines():
        coded = json.loads(line)
        name, number = coded["file"], coded["line"]
        if name not in interviews:
            interviews[name] = [json.loads(each) for each in (corpus / name).read_text("utf-8").splitlines()]
        marked = {turn["turn"]: turn["acts"] for turn in coded["turns"]}
        for turn, told in enumerate(interviews[name][number]["turns"]):
            if text := told.get("answer"):
                found = [
                    (MARKED[one["act"]], one["words"], one["sure"] == CLEAR)
                    for one in marked.get(turn, ())
                    if one["act"] in MARKED
                ]
                yield from _of_answer(name, (name, number, turn), text, told["question"], found, network)
    for number, line in enumerate((corpus / WRITTEN).read_text("utf-8").splitlines()):
        one = json.loads(line)
        found = [(one["act"], one["words"], True)] if one["act"] in LeavingModel.acts else []
        yield from _of_answer(one["writer"], (str(WRITTEN), number, 0), one["answer"], one["question"], found, network)


def _of_answer(
    source: str,
    answer: tuple[str, int, int],
    text: str,
    question: str,
    marked: Sequence[tuple[str, str, bool]],
    network: ReaderNetwork,
) -> Iterator[Clause]:
    rules = rules_for(LANGUAGE)
    assert rules is not None
    found, _ = heard_clauses(text, question, rules)
    acts = clause_chances(network, text, question, found)
    vectors = seen(network.read(question, "", text), [(clause.start, clause.end) for clause in found], acts)
    for at, (clause, vector) in enumerate(zip(found, vectors, strict=True)):
        if vector is None:
            continue
        hits = {act: sure for act, words, sure in marked if shares(clause.start, clause.end, text, words)}
        yield Clause(
            source=source,
            answer=answer,
            seen=vector,
            named=tuple(named(at, len(found), clause.text, question).values()),
            wanted=tuple(float(act in hits) for act in LeavingModel.acts),
            counts=tuple(1.0 if hits.get(act, True) else UNCLEAR for act in LeavingModel.acts),
        )


def fitted(told: Sequence[Clause], digest: str) -> LeavingModel:
    """A model that has learned from some clauses."""
    rows = [each.seen for each in told], [each.named for each in told]
    facts = [each.wanted for each in told], [each.counts for each in told]
    return LeavingModel(perceptron(*rows, *facts, FITTING), digest)


def figures(model: LeavingModel, apart: Sequence[Clause]) -> Iterator[str]:
    """In how many answers something is heard that the model has not seen, rightly and wrongly."""
    names = model.network.names
    rows = [model.network.row(each.seen, dict(zip(names, each.named, strict=True))) for each in apart]
    chances = 1.0 / (1.0 + np.exp(-model.network.outputs(rows)))
    for source in ("interviews", "messages"):
        of = [at for at, each in enumerate(apart) if (each.answer[0] == str(WRITTEN)) == (source == "messages")]
        answers = {apart[at].answer for at in of}
        yield f"{len(answers)} answers of {source}"
        for number, act in enumerate(LeavingModel.acts):
            do_it = {apart[at].answer for at in of if apart[at].wanted[number] and apart[at].counts[number] == 1.0}
            may = {apart[at].answer for at in of if apart[at].wanted[number]}
            for least in THRESHOLDS:
                heard = {apart[at].answer for at in of if chances[at, number] >= least}
                yield f"{act} from {least}: {len(heard & do_it)} of {len(do_it)} sure ones, {len(heard - may)} wrongly"


def main(arguments: Sequence[str]) -> int:
    """Fit, print what comes of it on what was not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.leaving", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--only-all", action="store_true", help="write the model, without figures")
    parser.add_argument("--to", type=Path, default=files.FOLDER / files.LEAVING)
    options = parser.parse_args(arguments)
    if not (options.corpus / WRITTEN).is_file():
        parser.error(f"there is no {WRITTEN} in {options.corpus}; it is part of the source repository")
    settings = ReaderSettings.model_validate_json((files.FOLDER / files.SETTINGS).read_bytes())
    told = list(clauses(options.corpus, ReaderNetwork.load(files.FOLDER)))
    often = [int(sum(each.wanted[number] for each in told)) for number in range(len(LeavingModel.acts))]
    _tell(f"{len(told)} clauses; of each act {often}")
    if not options.only_all:
        tried = fitted([each for each in told if each.source not in APART], settings.encoder_sha256)
        for line in figures(tried, [each for each in told if each.source in APART]):
            _tell(line)
    digest = write(fitted(told, settings.encoder_sha256), options.to)
    _tell(f"written to {options.to}, SHA-256 {digest}, which belongs into artefacts/artefacts.toml")
    return 0


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
