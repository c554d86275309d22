"""Reads what people do besides telling, as many hands have written and marked it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CODED = Path("talk") / "coded.jsonl"
CODED_ANSWERS = Path("talk") / "coded_answers.jsonl"
WRITTEN = (Path("talk") / "beside.jsonl", Path("talk") / "leaving.jsonl", Path("talk") / "plain.jsonl")
MARKED: Mapping[str, str] = {"nothing_more": "spent", "wants_topic": "elsewhere"}
"""What interviews and messages of acts call what is called otherwise here."""
TELLS, CLEAR = "tells", "clear"
SELF = "corrects_self"
INTERVIEW, WRITER, MESSAGES, ANSWERS = "interview", "writer", "messages", "answers"
"""Kinds of sources: an interview that was marked, somebody who wrote for this, a file of messages with acts, one of
answers to single questions."""
EVERY = 2
"""Of what only tells, in interviews and in files of messages, one in so many is learned from."""


@dataclass(frozen=True)
class Told:
    """An answer with what is done in it.

    Attributes:
        kind: of its source.
        source: name of the file, or of who wrote it.
        text, question: the answer, and what it answers.
        done: what is done, in which words, and whether that is sure.
        unknown: what nobody has looked for in it.
    """

    kind: str
    source: str
    text: str
    question: str
    done: tuple[tuple[str, str, bool], ...]
    unknown: frozenset[str] = frozenset()


def told(corpus: Path) -> Iterator[Told]:
    """All of it that is no blind part; of what only tells, a part.

    Args:
        corpus: its folder.
    """
    yield from _written(corpus)
    yield from _answers(corpus)
    for number, one in enumerate((*(one for _, one in told_in_interviews(corpus)), *_messages(corpus))):
        if one.done or number % EVERY == 0:
            yield one


def _written(corpus: Path) -> Iterator[Told]:
    for path in WRITTEN:
        for line in (corpus / path).read_text("utf-8").splitlines():
            one = json.loads(line)
            done = [] if one["act"] == TELLS else [(one["act"], one["words"], True)]
            if one["act"] == "corrects" and one.get("about") == "self":
                done.append((SELF, one["words"], True))
            yield Told(WRITER, f"{path.stem} {one['writer']}", one["answer"], one["question"], tuple(done))


def told_in_interviews(corpus: Path) -> Iterator[tuple[str, Told]]:
    """Every answer of the interviews that readers marked, each with the name of its interview."""
    interviews: dict[str, list[dict[str, Any]]] = {}
    for line in (corpus / CODED).read_text("utf-8").splitlines():
        coded = json.loads(line)
        name = coded["file"]
        if name not in interviews:
            interviews[name] = [json.loads(each) for each in (corpus / name).read_text("utf-8").splitlines()]
        marked = {turn["turn"]: turn["acts"] for turn in coded["turns"]}
        for turn, said in enumerate(interviews[name][coded["line"]]["turns"]):
            if text := said.get("answer"):
                done = tuple(
                    (MARKED.get(one["act"], one["act"]), one["words"], one["sure"] == CLEAR)
                    for one in marked.get(turn, ())
                )
                yield f"{name} {coded['line']}", Told(INTERVIEW, name, text, said["question"], done, _unknown(done))


def _answers(corpus: Path) -> Iterator[Told]:
    """The answers to single questions in which this model once heard something, most of which only tell."""
    files: dict[str, list[str]] = {}
    for line in (corpus / CODED_ANSWERS).read_text("utf-8").splitlines():
        coded = json.loads(line)
        name = coded["file"]
        if name not in files:
            files[name] = (corpus / name).read_text("utf-8").splitlines()
        said = json.loads(files[name][coded["line"]])
        done = tuple((MARKED.get(one["act"], one["act"]), one["words"], one["sure"] == CLEAR) for one in coded["acts"])
        yield Told(ANSWERS, name, said["answer"], said["question"], done)


def _messages(corpus: Path) -> Iterator[Told]:
    for path in (*sorted((corpus / "acts" / "spent").glob("*_en*.jsonl")), corpus / "acts" / "later.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            one = json.loads(line)
            spans = ((span[1], span[0]) for span in one.get("spans", ()) if span[1] != TELLS)
            done = tuple((MARKED.get(act, act), words, True) for act, words in spans)
            unknown = _unknown(done) | {"spent"}
            yield Told(MESSAGES, path.name, one["message"], one.get("question", ""), done, unknown)


def _unknown(done: tuple[tuple[str, str, bool], ...]) -> frozenset[str]:
    """Nobody has said of these corrections what they correct."""
    return frozenset({SELF}) if any(act == "corrects" for act, _, _ in done) else frozenset()
