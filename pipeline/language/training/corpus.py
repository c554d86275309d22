"""The corpus as the training takes it: messages with acts, answers with their coding, ontologies in their own words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pipeline.acts import ACTS
from pipeline.language.reader.encoding import Encoder, Encoding, described, focus_text

METHODOLOGIES = ("means_end_chain", "jobs_to_be_done", "critical_incident")
PLAIN = ("wants_stop", "wants_pause", "wants_withdrawal", "minor", "risk")
"""Acts that no answer of the coded ones is."""
EMPTY = (
    "dont_know",
    "declines",
    "asks_back",
    "asks_interviewer",
    "complains",
    "wants_pause",
    "wants_stop",
    "wants_withdrawal",
    "aside",
    "thanks_greets",
    "minor",
)
"""Acts in whose words there is no concept."""


@dataclass(frozen=True)
class Kind:
    """A type of concept or relation in a methodology's words."""

    name: str
    text: str
    exemplars: tuple[str, ...] = ()
    permitted: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Words:
    """A methodology's words: types of concepts and of relations."""

    name: str
    types: tuple[Kind, ...]
    edges: tuple[Kind, ...]


@dataclass
class Message:
    """A message with the act of each of its words, an index in `ACTS`.

    `about` is its encoding with the topic as focus.
    """

    encoding: Encoding
    about: Encoding
    acts: list[int]
    hand: str
    source: dict[str, Any]


@dataclass
class Concept:
    """A coded concept: words `first` to `last`, both inclusive; None for what was not coded."""

    first: int
    last: int
    type: str
    salience: int | None = None
    stance: int | None = None
    emotion: int | None = None


@dataclass
class Answer:
    """A coded answer; `links` are (source, target, type, basis), −1 is the focus.

    `codings` are types of the same concepts in other methodologies, None for none. `bare` is the encoding without the
    focus, as messages are read for their acts.
    """

    encoding: Encoding
    bare: Encoding
    methodology: str
    concepts: list[Concept]
    links: list[tuple[int, int, str, str | None]]
    hand: str
    source: dict[str, Any]
    codings: dict[str, list[str | None]] = field(default_factory=dict)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file with one JSON object per line."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def messages(path: Path, encoder: Encoder) -> list[Message]:
    """The messages of a file with acts."""
    found = []
    for item in lines(path):
        encoding = encoder.answer(item["question"], "", item["message"])
        spans, at = [], 0
        for words, act in item["spans"]:
            start = item["message"].find(words, at)
            at = start + len(words)
            spans.append((start, at, ACTS.index(act)))
        acts = [next((act for s, e, act in spans if s <= word.start < e), 0) for word in encoding.words]
        if acts:
            about = encoder.answer(item["question"], item.get("topic") or "", item["message"])
            found.append(Message(encoding, about, acts, item.get("hand", ""), item))
    return found


def answers(folder: Path, encoder: Encoder) -> list[Answer]:
    """The coded answers of a folder with the codings in other ontologies that it has."""
    found = []
    for methodology in METHODOLOGIES:
        for number, item in enumerate(lines(folder / f"{methodology}.jsonl")):
            answer = coded(item, encoder)
            answer.source = {**item, "at": number}
            if answer.encoding.words:
                found.append(answer)
    by_answer = {(a.methodology, a.source["answer"]): a for a in found}
    for path in sorted((folder / "ontologies").glob("*.jsonl")):
        for item in lines(path):
            answer_of = by_answer.get((item["methodology"], item["answer"]))
            if answer_of is not None and len(item["types"]) == len(answer_of.concepts):
                answer_of.codings[path.stem] = item["types"]
    return found


def answers_in(path: Path, encoder: Encoder) -> list[Answer]:
    """The coded answers of one file, of any methodology."""
    return [answer for answer in (coded(item, encoder) for item in lines(path)) if answer.encoding.words]


def coded(item: dict[str, Any], encoder: Encoder) -> Answer:
    """One coded answer."""
    focus = focus_text(item["focus"], item.get("focus_type"))
    encoding = encoder.answer(item["question"], focus, item["answer"])
    concepts: list[Concept] = []
    kept: dict[int, int] = {}
    taken: list[tuple[int, int]] = []
    for number, concept in enumerate(item["concepts"]):
        place = _place(item["answer"], concept["words"], taken)
        inside = [i for i, word in enumerate(encoding.words) if word.spoken and place[0] <= word.start < place[1]]
        if not inside:
            continue
        taken.append(place)
        kept[number] = len(concepts)
        stance = concept.get("stance")
        concepts.append(
            Concept(
                inside[0],
                inside[-1],
                concept["type"],
                concept.get("salience"),
                None if stance is None else {"+": 2, "0": 1, "-": 0}[stance],
                concept.get("emotion"),
            )
        )
    kept[-1] = -1
    links = [
        (kept[k["source"]], kept[k["target"]], k["type"], k.get("basis"))
        for k in item["links"]
        if k["source"] in kept and k["target"] in kept and k["type"] != "revises"
    ]
    bare = encoder.answer(item["question"], "", item["answer"])
    return Answer(encoding, bare, item["methodology"], concepts, links, item.get("hand", ""), item)


def _place(text: str, words: str, taken: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Where the words stand; the first place that no other concept has."""
    at = text.find(words)
    first = at
    while at >= 0:
        if not any(s < at + len(words) and at < e for s, e in taken):
            return at, at + len(words)
        at = text.find(words, at + 1)
    return first, first + len(words)


def shipped(folder: Path) -> dict[str, Words]:
    """The words of the methodologies in a folder of YAML files."""
    found = {}
    for path in sorted(folder.glob("*.yaml")):
        ontology = yaml.safe_load(path.read_text(encoding="utf-8"))["ontology"]
        found[path.stem] = _words(path.stem, ontology["nodes"], ontology["edges"], "permitted_connections")
    return found


def invented(path: Path) -> dict[str, Words]:
    """The words of the small ontologies in a JSON file."""
    listed = json.loads(path.read_text(encoding="utf-8"))
    return {o["name"]: _words(o["name"], o["types"], o["edges"], "permitted") for o in listed}


def _words(name: str, types: Sequence[dict[str, Any]], edges: Sequence[dict[str, Any]], permitted: str) -> Words:
    return Words(
        name,
        tuple(Kind(t["name"], described(t["name"], t["description"]), tuple(t.get("exemplars", ()))) for t in types),
        tuple(
            Kind(
                e["name"],
                described(e["name"], e.get("description", "")),
                permitted=tuple((a, b) for a, b in e[permitted]),
            )
            for e in edges
            if e["name"] != "revises"
        ),
    )
