"""The corpus of dialogue acts keeps its form, and its blind part is what it was."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.ledgers import listed_digests

FOLDER = Path(__file__).parent / "corpus" / "acts"
FILES = sorted(FOLDER.rglob("*.jsonl"))
ACTS = set(re.findall(r"^\| `(\w+)` \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
LEDGER = FOLDER / "blind" / "LEDGER.md"


def messages(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def uncovered(message: str, spans: list[list[str]]) -> str:
    """What of a message is in none of its spans. Raises ValueError: a span is not there, or not in order."""
    at, left = 0, ""
    for words, _ in spans:
        found = message.index(words, at)
        left += message[at:found]
        at = found + len(words)
    return left + message[at:]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_spans_cover_each_message_with_known_acts(path: Path) -> None:
    for one in messages(path):
        for spans in (one["spans"], one.get("second", one["spans"])):
            assert {act for _, act in spans} <= ACTS, one["message"]
            assert not re.search(r"\w", uncovered(one["message"], spans)), one["message"]


def test_blind_files_and_those_that_once_were_are_those_of_the_ledger() -> None:
    kept = [path for path in FILES if path.parent.name in ("blind", "spent")]
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}
    assert found == listed_digests(LEDGER)


def test_no_message_is_both_blind_and_for_training() -> None:
    def plain(path: Path) -> set[str]:
        return {re.sub(r"\W+", " ", one["message"].lower()) for one in messages(path)}

    blind = set().union(*(plain(path) for path in FILES if path.parent.name == "blind"))
    seen = set().union(*(plain(path) for path in FILES if path.parent.name != "blind"))
    assert {text for text in blind & seen if len(text.split()) > 3} == set()
