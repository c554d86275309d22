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
