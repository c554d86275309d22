"""What an amendment puts behind the answer that it amends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pipeline.state import Utterance
from pipeline.turn import Answer
from server.session.additions import added_words
from tests.support.interview import new_state

SAID = "I like the taste."


def utterance(identity: str, text: str, kind: str = "answer") -> Utterance:
    fields = {"turn_number": 1, "speaker": "respondent", "recorded_at": datetime(2026, 1, 1, tzinfo=UTC)}
    return Utterance.model_validate({"id": identity, "text": text, "kind": kind, **fields})


@pytest.mark.parametrize(
    ("corrects", "text", "added"),
    [
        ("u1", f"{SAID} And the smell.", "And the smell."),
        ("u1", f"{SAID}  \n ", ""),
        ("u1", SAID, ""),
        ("u1", "", ""),
        ("u1", "I like the smell. I want to stop.", ""),
        ("u1", f"No. {SAID}", ""),
        ("u1", SAID + "x" * 100_000, "x" * 100_000),
        ("u0", "I want to stop.", ""),
        ("nobody", f"{SAID} I want to stop.", ""),
        ("", f"{SAID} I want to stop.", ""),
    ],
)
def test_added_words_are_those_behind_the_amended_answer(corrects: str, text: str, added: str) -> None:
    interview = new_state(utterances=(utterance("u0", "", "skip"), utterance("u1", SAID)))
    assert added_words(interview, Answer("k", text, "correct", corrects)) == added
