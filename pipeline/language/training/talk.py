"""Makes the model of what people do besides telling: `python -m pipeline.language.training.talk`.

It learns from messages that were written for it (tests/corpus/talk), from those of tests/corpus/acts that the reader
has not learned from, and from the answers of interviews, and to single questions, in which readers marked such words;
of what only tells, one in two. What is printed is of a model that has not seen the interviews of one file, the single
answers of another, nor the messages of nine writers; the one that is written has learned from all. Some eight minutes
on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.language.acts.hearing import LANGUAGE, clause_chances
from pipeline.language.acts.reading import heard_clauses
from pipeline.language.acts.rules import rules_for
from pipeline.language.reader import files
from pipeline.language.reader.network import Floats, ReaderNetwork
from pipeline.language.reader.settings import ReaderSettings
from pipeline.language.reader.talk import DONE, DONE_OF, JUDGE, READER_DIGEST, TalkModel, named, seen
from pipeline.language.training.perceptron import Fitting, perceptron
from pipeline.language.training.talk_corpus import ANSWERS, INTERVIEW, WRITER, WRITTEN, Told, told

CORPUS = Path(__file__).parents[3] / "tests" / "corpus"
WRITERS_APART = (5, 6, 11, 15, 16, 18, 23)
APART = frozenset(
    {
        "conversations/later.jsonl",
        "answers/critical_incident.jsonl",
        "leaving 4",
        "leaving 7",
        *(f"beside {one}" for one in WRITERS_APART),
    }
)
"""The interviews, and the writers, on which figures are made."""
FITTING = Fitting(hidden=88, decay=0.1, rounds=12, together=128, positive=2.0, seeds=(0, 1))
UNSURE, SINGLE = 0.3, 0.5
"""What counts something of which whoever marked it was not sure, and what an answer to a single question counts, which
was marked because something had been heard in it."""
HALF = 0.5
"""Share of the shorter one that a clause and marked words have to have in common."""
WRONGLY = (0.002, 0.005, 0.01)
"""Shares of the answers without it in which something may be heard."""


@dataclass(frozen=True)
class Clause:
    """A clause: the answer that it is from, what is seen of it, what it does and what that counts, as `DONE` goes."""

    told: Told
    seen: Floats
    named: tuple[float, ...]
    wanted: tuple[float, ...]
    counts: tuple[float, ...]


def clauses(one: Told, network: ReaderNetwork) -> Iterator[Clause]:
    """Those of an answer that have words.

    Args:
        one: the answer.
        network: the reader's.
    """
    rules = rules_for(LANGUAGE)
    assert rules is not None
    found, _ = heard_clauses(one.text, one.question, rules)
    acts = clause_chances(network, one.text, one.question, found)
    reading = network.read(one.question, "", one.text)
    vectors = seen(reading, [(clause.start, clause.end) for clause in found], acts)
    for at, (clause, vector) in enumerate(zip(found, vectors, strict=True)):
        if vector is None:
            continue
        hits = {act: sure for act, words, sure in one.done if shares(clause.start, clause.end, one.text, words)}
        yield Clause(
            told=one,
            seen=vector,
            named=tuple(named(at, len(found), clause.text, one.question).values()),
            wanted=tuple(float(act in hits) for act in DONE),
            counts=tuple(
                (SINGLE if one.kind == ANSWERS else 1.0)
                * (act not in one.unknown)
                * (1.0 if hits.get(act, True) else UNSURE)
                for act in DONE
            ),
        )


def shares(start: int, end: int, text: str, words: str) -> bool:
    """Whether a clause and marked words have most of the shorter one in common."""
    at = text.find(words)
    common = min(end, at + len(words)) - max(start, at)
    return at >= 0 and common >= HALF * min(end - start, len(words))


def fitted(learned: Sequence[Clause], encoder_sha256: str) -> TalkModel:
    """A model that has learned from some clauses; the digest is that of the reader's encoder."""
    rows = [each.seen for each in learned], [each.named for each in learned]
    facts = [each.wanted for each in learned], [each.counts for each in learned]
    return TalkModel(perceptron(*rows, *facts, FITTING, tuple(named(0, 1, "", ""))), encoder_sha256)


def figures(model: TalkModel, apart: Sequence[Clause]) -> Iterator[str]:
    """In how many answers something is heard that the model has not seen."""
    names = model.network.names
    rows = [model.network.row(each.seen, dict(zip(names, each.named, strict=True))) for each in apart]
    chances = 1.0 / (1.0 + np.exp(-model.network.outputs(rows)))
    most: dict[Told, Floats] = {}
    for each, own in zip(apart, chances, strict=True):
        most[each.told] = np.maximum(most[each.told], own) if each.told in most else own
    for kinds, name in (
        ((WRITER,), "written for it"),
        ((INTERVIEW,), "of interviews"),
        ((ANSWERS,), "to single questions, in which an earlier model heard something"),
    ):
        answers = [one for one in most if one.kind in kinds]
        yield f"{len(answers)} answers {name}; heard of those that do it where so many of the others are heard wrongly:"
        for number, act in enumerate(DONE):
            groups = defaultdict(list)
            for one in answers:
                if act not in one.unknown:
                    groups[{done: sure for done, _, sure in one.done}.get(act)].append(float(most[one][number]))
            does, does_not = np.array(groups[True]), np.sort(groups[None])[::-1]
            if len(does) and len(does_not):
                least = [float(does_not[int(share * len(does_not))]) for share in WRONGLY]
                heard = ", ".join(f"{np.mean(does > one):.2f} (from {one:.2f})" for one in least)
                yield f"  {act}, {len(does)}: {heard}"


def write(model: TalkModel, path: Path) -> str:
    """Write a model; the digest of its file."""
    arrays = model.network.arrays(JUDGE)
    arrays |= {DONE_OF: np.array(DONE), READER_DIGEST: np.array(model.encoder_sha256)}
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(arguments: Sequence[str]) -> int:
    """Fit, print what comes of it on what was not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.talk", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--only-all", action="store_true", help="write the model, without figures")
    parser.add_argument("--only-apart", action="store_true", help="write a model that has not seen what is kept apart")
    parser.add_argument("--to", type=Path, default=files.FOLDER / files.TALK)
    options = parser.parse_args(arguments)
    if not (options.corpus / WRITTEN[0]).is_file():
        parser.error(f"there is no {WRITTEN[0]} in {options.corpus}; it is part of the source repository")
    settings = ReaderSettings.model_validate_json((files.FOLDER / files.SETTINGS).read_bytes())
    network = ReaderNetwork.load(files.FOLDER)
    read = [clause for one in told(options.corpus) for clause in clauses(one, network)]
    _tell(f"{len(read)} clauses of {len({each.told for each in read})} answers")
    model = None
    if not options.only_all:
        model = fitted([each for each in read if each.told.source not in APART], settings.encoder_sha256)
        for line in figures(model, [each for each in read if each.told.source in APART]):
            _tell(line)
    if model is None or not options.only_apart:
        model = fitted(read, settings.encoder_sha256)
    digest = write(model, options.to)
    _tell(f"written to {options.to}, SHA-256 {digest}, which belongs into artefacts/artefacts.toml")
    return 0


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
