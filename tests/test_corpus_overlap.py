"""Hardly a phrase of the blind parts (four words in a row) stands in training data, rules or lexicons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CORPUS = Path(__file__).parent / "corpus"
BLIND = sorted(path for name in ("acts", "answers") for path in (CORPUS / name / "blind").glob("*.jsonl"))
WORDS = 4
MOST = 0.01


def runs(text: str) -> set[tuple[str, ...]]:
    """All runs of four words of a text, in lower case."""
    words = re.findall(r"[\w']+", text.lower().replace("’", "'"))
    return {tuple(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)}


def texts(path: Path) -> Iterator[str]:
    """The messages or answers of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        yield one.get("message") or one["answer"]


@pytest.fixture(scope="module")
def seen(root: Path) -> set[tuple[str, ...]]:
    """All runs of four words of the training files, of rules, exemplars and lexicons."""
    files = [path for name in ("acts", "answers") for path in (CORPUS / name).glob("*.jsonl")]
    found = set().union(*(runs(text) for path in files for text in texts(path)))
    lists = [path for path in (root / "pipeline/language").rglob("*.yaml") if path.parent.name != "phrasings"]
    lists += (root / "pipeline/language/offline").glob("*.py")
    ontologies = [*(root / "config/methodologies").glob("*.yaml")]
    assert len(lists) > 10 and len(ontologies) >= 3
    read = [path.read_text(encoding="utf-8") for path in lists]
    # Types are recognised by exemplars and cues; questions, here and in phrasings, recognise nothing.
    read += [path.read_text(encoding="utf-8").split("\nopenings:")[0] for path in ontologies]
    for text in read:
        for line in text.splitlines():
            found |= runs(line)
    return found


@pytest.mark.parametrize("path", BLIND, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_blind_part_shares_hardly_a_phrase_with_what_is_trained_on(path: Path, seen: set[tuple[str, ...]]) -> None:
    blind = set().union(*(runs(text) for text in texts(path)))
    assert len(blind) > 1000
    share = len(blind & seen) / len(blind)
    assert share <= MOST
