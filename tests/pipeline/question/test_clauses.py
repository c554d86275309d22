"""What can be said back."""

from __future__ import annotations

import pytest

from pipeline.question.clauses import LONGEST_SAID, said_back


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("I won't take that away from him", "You won't take that away from him."),
        ("And if they come late, I don't pay that month.", "If they come late, you don't pay that month."),
        ("If it said so on the lid, I'd take it, simple as that", "If it said so on the lid, you'd take it."),
        ("That bothered me a bit, I have to say.", "That bothered you a bit."),
        ("because I needed her machine", "You needed her machine."),
    ],
)
def test_whole_clause_is_said_back_in_the_second_person(said: str, back: str) -> None:
    assert said_back(said) == back


@pytest.mark.parametrize(
    "piece",
    [
        "",
        "?",
        "Not in the small print where I need my reading glasses",
        "belong to the gang",
        "be something you can pass around",
        "there's nothing nagging at you",
        "If there was a small one",
        "I felt stupid, you know?",
        "Better than feeling stupid?",
        "As I said, it is heavy",
        "I hate it",
        "I'm sat down and nobody wants me",
        "That somebody does something for me, I suppose",
        "That nobody asked me",
        "It comes " + "and comes " * LONGEST_SAID,
    ],
)
def test_piece_question_or_loaded_word_is_not(piece: str) -> None:
    assert said_back(piece) == ""
