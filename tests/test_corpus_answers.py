"""The corpus of coded answers keeps its form, and its blind part is what it was."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ledgers import listed_digests

FOLDER = Path(__file__).parent / "corpus" / "answers"
BLIND = FOLDER / "blind"
FILES = sorted([*FOLDER.glob("*.jsonl"), *BLIND.glob("*.jsonl")])


def answers(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_concepts_are_words_of_the_answer_and_links_join_them(path: Path) -> None:
    for one in answers(path):
        ends = range(-1, len(one["concepts"]))
        for concept in one["concepts"]:
            assert concept["words"] in one["answer"], one["answer"]
            assert concept.get("salience", 0) in range(4), one["answer"]
            assert concept.get("stance", "0") in {"+", "-", "0"}, one["answer"]
        for link in one["links"]:
            assert link["source"] != link["target"], one["answer"]
            assert {link["source"], link["target"]} <= set(ends), one["answer"]
            assert link.get("basis", "stated") in {"stated", "answered"}, one["answer"]


@pytest.mark.parametrize("path", sorted((FOLDER / "ontologies").glob("*.jsonl")), ids=lambda path: path.stem)
def test_small_ontologies_type_every_concept_of_their_answers_or_none(path: Path) -> None:
    listed = {one["name"]: one for one in json.loads((FOLDER / "ontologies.json").read_text(encoding="utf-8"))}
    types = {kind["name"] for kind in listed[path.stem]["types"]}
    known = {
        (file.stem, one["answer"]): len(one["concepts"])
        for file in FILES
        if file.parent == FOLDER and file.stem != "second_coding"
        for one in answers(file)
    }
    for one in answers(path):
        assert len(one["types"]) == known[one["methodology"], one["answer"]]
        assert set(one["types"]) - {None} <= types


def test_blind_files_are_those_of_the_ledger() -> None:
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in BLIND.iterdir() if path.suffix != ".md"
    }
    assert found == listed_digests(BLIND / "LEDGER.md")


def test_no_answer_is_both_blind_and_for_training() -> None:
    def plain(path: Path) -> set[str]:
        return {re.sub(r"\W+", " ", one["answer"].lower()) for one in answers(path)}

    blind = set().union(*(plain(path) for path in FILES if path.parent == BLIND))
    seen = set().union(*(plain(path) for path in FILES if path.parent != BLIND))
    assert {text for text in blind & seen if len(text.split()) > 3} == set()
