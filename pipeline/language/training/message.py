"""Makes the model of what messages do as a whole: `python -m pipeline.language.training.message`.

It learns from the messages of tests/corpus/acts and from the answers of interviews in tests/corpus/echoes and
tests/corpus/conversations, with what readers marked in them (tests/corpus/talk); an answer of which they were not sure
is left out. What is printed is of a model that has seen neither the files in
the folder `spent`, which other people wrote, nor a third of the interviews; the one that is written has learned from
all of them. Some ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.acts import FAINT
from pipeline.language.acts.hearing import ActHearing
from pipeline.language.reader import files
from pipeline.language.reader.message import ACTS_OF, BIAS, JUDGED, READER_DIGEST, WEIGHTS, MessageModel, seen
from pipeline.language.reader.network import ReaderNetwork
from pipeline.language.reader.settings import ReaderSettings
from pipeline.language.reader.understanding import Reader

Numbers = NDArray[np.float64]
ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests" / "corpus"
WRITTEN = ("en.jsonl", "later.jsonl", "tuning.jsonl")
INTERVIEWS = (
    "echoes/conversations.jsonl",
    "echoes/later.jsonl",
    "echoes/concept_tests.jsonl",
    "conversations/judged.jsonl",
    "conversations/later.jsonl",
)
CODED = Path("talk") / "coded.jsonl"
CLEAR = "clear"
KEPT_APART = 3
"""One interview of so many is kept apart for the figures."""
PENALTY, OF_INTERVIEWS = 1e-3, 3.0
"""What the square of a weight costs; how much an answer of an interview counts beside a message."""
STEPS, STEP_ENDS = 60, 1e-6


@dataclass(frozen=True)
class Message:
    """A message with the question before it.

    Attributes:
        text, question: its words.
        acts: what it does.
        interview: whether it is an answer of an interview.
        apart: whether it is kept apart for the figures.
    """

    text: str
    question: str
    acts: frozenset[str]
    interview: bool
    apart: bool


def messages(corpus: Path) -> Iterator[Message]:
    """All of the corpus that is no blind part."""
    spent = sorted((corpus / "acts" / "spent").glob("*_en*.jsonl"))
    for path in [*(corpus / "acts" / name for name in WRITTEN), *spent]:
        for line in path.read_text("utf-8").splitlines():
            told = json.loads(line)
            acts = frozenset(span[1] for span in told.get("spans", ()))
            yield Message(told["message"], told.get("question", ""), acts, interview=False, apart=path in spent)
    marked = dict(_marked(corpus / CODED))
    number = 0
    for name in INTERVIEWS:
        for at, line in enumerate((corpus / name).read_text("utf-8").splitlines()):
            number += 1
            apart = number % KEPT_APART == 0
            for count, turn in enumerate(json.loads(line)["turns"]):
                found = marked.get((name, at, count), {})
                if turn["answer"] and not any(found.get(act, CLEAR) != CLEAR for act in JUDGED):
                    acts = frozenset(found)
                    yield Message(turn["answer"], turn["question"], acts, interview=True, apart=apart)


def _marked(path: Path) -> Iterator[tuple[tuple[str, int, int], dict[str, str]]]:
    """What readers marked in answers of interviews, by file, line and turn: each act, and how sure they were."""
    for line in path.read_text("utf-8").splitlines():
        coded = json.loads(line)
        for turn in coded["turns"]:
            yield (coded["file"], coded["line"], turn["turn"]), {one["act"]: one["sure"] for one in turn["acts"]}


def fitted(rows: Numbers, done: Numbers, counts: Numbers) -> Numbers:
    """Weights with the bias behind them: logistic regression by Newton's method.

    Args:
        rows: of mean 0 and deviation 1, [messages, width].
        done: 1 where the act is done, [messages].
        counts: how much each message counts, [messages].
    """
    known = np.hstack([rows, np.ones((len(rows), 1))])
    found = np.zeros(known.shape[1])
    penalty = np.full(len(found), 2 * PENALTY)
    penalty[-1] = 0.0
    share = counts / len(rows)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-(known @ found)))
        slope = known.T @ (share * (chance - done)) + penalty * found
        curve = (known * (share * chance * (1 - chance))[:, None]).T @ known + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < STEP_ENDS:
            break
    return found


def model_of(rows: Numbers, told: Sequence[Message], encoder_sha256: str) -> MessageModel:
    """A model that has learned from some messages.

    Args:
        rows: what is seen of each message.
        told: the messages.
        encoder_sha256: of the encoder that saw them.
    """
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    counts = np.array([OF_INTERVIEWS if each.interview else 1.0 for each in told])
    weights, biases = [], []
    for act in JUDGED:
        done = np.array([float(act in each.acts) for each in told])
        *own, bias = fitted((rows - mean) / deviation, done, counts)
        weights.append(np.array(own) / deviation)
        biases.append(bias - weights[-1] @ mean)
    return MessageModel(np.array(weights, dtype=np.float32), np.array(biases, dtype=np.float32), encoder_sha256)


def figures(reader: Reader, model: MessageModel, apart: Sequence[Message]) -> Iterator[str]:
    """What is heard of messages that the model has not seen, without it and with it."""
    heard = []
    for own in (None, model):
        hearing = ActHearing(reader.network, reader.settings, own)
        acts = [hearing.read_sync(each.text, each.question, "en") for each in apart]
        heard.append([{one.act for one in found if one.about != FAINT} for found in acts])
    for act in JUDGED:
        groups = (
            ("that do it", [at for at, each in enumerate(apart) if act in each.acts]),
            ("that do not", [at for at, each in enumerate(apart) if act not in each.acts and not each.interview]),
            ("of interviews", [at for at, each in enumerate(apart) if act not in each.acts and each.interview]),
        )
        told = (
            f"{len(own)} {label}: {_count(act, heard[0], own)}, {_count(act, heard[1], own)}" for label, own in groups
        )
        yield f"{act}, heard without and with the model, of messages {'; of '.join(told)}"


def _count(act: str, heard: Sequence[AbstractSet[str]], own: Sequence[int]) -> int:
    return sum(act in heard[at] for at in own)


def main(arguments: Sequence[str]) -> int:
    """Fit, print what comes of it on messages that were not seen, fit to all, and write."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.language.training.message", description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the corpus")
    parser.add_argument("--only-all", action="store_true", help="write the model, without figures")
    parser.add_argument("--to", type=Path, default=files.FOLDER / files.MESSAGE)
    options = parser.parse_args(arguments)
    if not options.corpus.is_dir():
        parser.error(f"there is no corpus in {options.corpus}; it is part of the source repository")
    settings = ReaderSettings.model_validate_json((files.FOLDER / files.SETTINGS).read_bytes())
    reader = Reader(ReaderNetwork.load(files.FOLDER), settings)
    told = list(messages(options.corpus))
    _tell(f"{len(told)} messages, {sum(each.interview for each in told)} of them answers of interviews")
    digest = settings.encoder_sha256
    rows = []
    for number, each in enumerate(told, 1):
        words = reader.network.read(each.question, "", each.text).mean
        rows.append(seen(words) if len(words) else np.zeros(words.shape[1], dtype=np.float32))
        if number % 2000 == 0:
            _tell(f"{number} read")
    seen_rows = np.array(rows, dtype=np.float64)
    if not options.only_all:
        learned = [at for at, each in enumerate(told) if not each.apart]
        tried = model_of(seen_rows[learned], [told[at] for at in learned], digest)
        for line in figures(reader, tried, [each for each in told if each.apart]):
            _tell(line)
    write(model_of(seen_rows, told, digest), options.to)
    _tell(f"written to {options.to}; its digest belongs into artefacts/artefacts.toml")
    return 0


def write(model: MessageModel, path: Path) -> None:
    """Write a model."""
    content = {
        WEIGHTS: model.weights,
        BIAS: model.bias,
        ACTS_OF: np.array(JUDGED),
        READER_DIGEST: np.array(model.encoder_sha256),
    }
    np.savez_compressed(path, **content)  # type: ignore[arg-type]
    _tell(f"SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}")


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
