"""What the reader finds ends where a phrase ends, so that it can be said back."""

from __future__ import annotations

import pytest

from pipeline.language.clauses import split
from pipeline.language.offline.ends import whole_phrase
from pipeline.language.offline.spans import candidate_at
from pipeline.language.srl import SpacyParser


@pytest.mark.parametrize(
    ("answer", "found", "meant"),
    [
        ("My colleague was louder about it.", "My colleague was louder about", "My colleague was louder about it"),
        ("He goes low and I don't hear him.", "I don't hear", "I don't hear him"),
        ("And the cat comes and winds round my legs.", "and winds round my legs", "winds round my legs"),
        ("It made me cautious; I sent it back.", "It made me cautious; I", "It made me cautious"),
        ("I'm sick of it. With him I pay less.", "I'm sick of it. With him", "I'm sick of it"),
        ("There. I'm back with a cup.", "There. I'm back with a cup", "I'm back with a cup"),
        ("I laugh at the officer with his little clipboard.", "laugh at the officer with his", None),
        ("I used the blue one in the end.", "used the blue one in the", "used the blue one in the end"),
        ("They look at him and I'm sick of it.", "look at him and I'm", "look at him"),
        ("She paid it back while I was still on the line.", "paid it back while I was still", None),
        ("No pressure.", "No pressure", "No pressure"),
        ("Sound is what matters to me.", "Sound is what matters", "Sound"),
        ("The battery is what I look at first.", "is what I look at first", "The battery"),
        ("What matters is what it costs.", "what it costs", "what it costs"),
        ("and", "and", "and"),
    ],
)
def test_phrase_is_whole(parser: SpacyParser, answer: str, found: str, meant: str | None) -> None:
    doc = parser.docs.doc(answer)
    at = answer.index(found)
    span = doc.char_span(at, at + len(found), alignment_mode="expand")
    assert span is not None
    first, last = whole_phrase(doc, span.start, span.end)
    said = doc[first:last].text
    if meant is None:
        assert said.endswith(("clipboard", "on the line"))
    else:
        assert said == meant


def test_label_and_quote_of_what_the_reader_finds_are_whole(parser: SpacyParser) -> None:
    answer = "And my colleague was louder about it."
    doc = parser.docs.doc(answer)
    found = candidate_at(doc, answer, split(doc), 0, answer.index(" it"))
    assert found is not None
    assert (found.label, found.quote) == ("my colleague was louder about it", "my colleague was louder about it")


@pytest.mark.parametrize(
    ("answer", "found", "kept"),
    [
        ("I don't really care.", "care", False),
        ("It doesn't matter.", "matter", False),
        ("He gets on my nerves.", "nerves", False),
        ("I rang my mum. I'm thirty-four!", "thirty-four", False),
        ("It was fifteen quid.", "fifteen quid", True),
        ("It is about care for my mother.", "care", True),
        ("I hate queues.", "hate queues", True),
    ],
)
def test_how_somebody_stands_to_something_or_a_number_is_no_concept_alone(
    parser: SpacyParser, answer: str, found: str, kept: bool
) -> None:
    doc = parser.docs.doc(answer)
    at = answer.index(found)
    assert (candidate_at(doc, answer, split(doc), at, at + len(found)) is not None) == kept
