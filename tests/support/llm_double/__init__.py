"""A language model's provider that follows a script: a real HTTP server, in both formats, with every fault.

    async with LLMDouble() as double:
        double.next(Fail(429, headers=(("retry-after", "1"),)), Answer("What else?"))
        ... double.base_url ...
        assert [asked.connection for asked in double.requests] == [1, 1]

As a process of its own: `python -m tests.support.llm_double --help`.
"""

from __future__ import annotations

from tests.support.llm_double.behaviour import (
    QUESTION,
    Answer,
    Behaviour,
    Body,
    Break,
    Bytes,
    Cut,
    Fail,
    Pace,
    Shape,
    Usage,
    page,
)
from tests.support.llm_double.request import Asked, FormatName
from tests.support.llm_double.server import LLMDouble, Rule, anything, refused_url, unanswering_url

__all__ = [
    "QUESTION",
    "Answer",
    "Asked",
    "Behaviour",
    "Body",
    "Break",
    "Bytes",
    "Cut",
    "Fail",
    "FormatName",
    "LLMDouble",
    "Pace",
    "Rule",
    "Shape",
    "Usage",
    "anything",
    "page",
    "refused_url",
    "unanswering_url",
]
