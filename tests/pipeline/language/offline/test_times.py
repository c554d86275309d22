"""When what was told is so, by the verb of the clause it stands in."""

from __future__ import annotations

import pytest

from pipeline.language.srl import SpacyParser
from pipeline.language.times import told_in


@pytest.mark.parametrize(
    ("answer", "quote", "time"),
    [
        ("I rang the landlord and left a message.", "left a message", "event"),
        ("He didn't ring back.", "didn't ring back", "event"),
        ("They were always late, the lot of them.", "late", "past"),
        ("I was waiting for the bus.", "waiting for the bus", "past"),
        ("We used to argue about garlic.", "argue about garlic", "past"),
        ("I go round opening drawers.", "opening drawers", "present"),
        ("I've changed how I book.", "changed how I book", "present"),
        ("I'd have torn mine up.", "torn mine up", "imagined"),
        ("I bought it last year. It keeps me warm.", "keeps me warm", "present"),
        ("I bought it last year. It keeps me warm.", "bought it", "event"),
        ("I bought it last year. It keeps me warm.", "somewhere else", "present"),
        ("Peace. Company.", "Peace", None),
        ("She put a tag on the rabbit. Same as hers. With his name on it.", "his name on it", "event"),
        ("", "", None),
        ("?!", "?!", None),
    ],
)
def test_time_is_that_of_the_clause(parser: SpacyParser, answer: str, quote: str, time: str | None) -> None:
    assert told_in(parser.docs.doc(answer), quote) == time


@pytest.mark.parametrize(
    ("answer", "quote", "time"),
    [
        ("She’d laid the table for me herself, and she put down two glasses.", "She’d laid the table", "event"),
        ("When I rode with him in the summers he'd give me a lid full.", "he'd give me a lid full", "past"),
        ("He'd come in at six and sit down where the dog was.", "He'd come in at six", "past"),
        ("I'd buy it on the spot.", "I'd buy it", "imagined"),
        ("If he asked me I'd go.", "I'd go", "imagined"),
        ("She said she'd come.", "she'd come", "imagined"),
        ("It would mean I could sleep.", "It would mean", "imagined"),
    ],
)
def test_had_and_used_to_are_no_would(parser: SpacyParser, answer: str, quote: str, time: str) -> None:
    assert told_in(parser.docs.doc(answer), quote) == time
