"""Clauses and connectors on the kinds of sentences people really say."""

from __future__ import annotations

import pytest
from spacy.language import Language

from pipeline.language.clauses import split
from pipeline.language.srl import load_model


@pytest.fixture(scope="module")
def nlp() -> Language:
    return load_model()


def parts(nlp: Language, text: str) -> list[str]:
    doc = nlp(text)
    return [doc[clause.start : clause.end].text for clause in split(doc)]


def joins(nlp: Language, text: str) -> list[tuple[str, str | None, str]]:
    doc = nlp(text)
    clauses = split(doc)
    texts = [doc[clause.start : clause.end].text for clause in clauses]
    return [
        (clause.connector.marker, None if clause.joined_to is None else texts[clause.joined_to], texts[i])
        for i, clause in enumerate(clauses)
        if clause.connector is not None
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It is creamy so my coffee tastes better and I enjoy the break",
            ["It is creamy", "my coffee tastes better", "I enjoy the break"],
        ),
        ("bright colours, a soft fabric and deep pockets", ["bright colours", "a soft fabric", "deep pockets"]),
        ("it is ready when I need it", ["it is ready when I need it"]),
        ("a big, red box", ["a big, red box"]),
        ("I was so angry that I left", ["I was so angry that I left"]),
        ("once a week I clean it", ["once a week I clean it"]),
        ("Waiting outside makes me cold", ["Waiting outside", "makes me cold"]),
        ("it tastes of nothing, which annoys me", ["it tastes of nothing", "annoys me"]),
        ("I go and see my mother", ["I go and see my mother"]),
        ("", []),
        ("!!! ...", []),
    ],
)
def test_split_sentence_gives_one_idea_per_clause(nlp: Language, text: str, expected: list[str]) -> None:
    assert parts(nlp, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I buy it because it is cheap", [("because", "I buy it", "it is cheap")]),
        ("Because it is cheap, I buy two", [("because", "I buy two", "it is cheap")]),
        ("since I switched to oat milk I don't feel bloated", [("since", "I don't feel bloated", "since")]),
        ("It is light, which means I can carry it", [("which means", "It is light", "I can carry it")]),
        ("It is light. That way I can carry it", [("that way", "It is light", "I can carry it")]),
        ("When I feel rested I work better", [("when", "I work better", "I feel rested")]),
        ("I like it but it is expensive", [("but", "I like it", "it is expensive")]),
        ("it broke and then I cried", [("then", "it broke", "I cried")]),
        ("the lid leaks and that's annoying", [("which", "the lid leaks", "that's annoying")]),
    ],
)
def test_split_connector_joins_the_right_clauses(
    nlp: Language, text: str, expected: list[tuple[str, str, str]]
) -> None:
    found = joins(nlp, text)
    assert [(marker, other) for marker, other, _ in found] == [(marker, other) for marker, other, _ in expected]
    if expected[0][2] != "since":
        assert [own for _, _, own in found] == [own for _, _, own in expected]
