"""What prompts give as an example of what may be said is accepted by the checker that reads what models write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.question.checker import Checker

PROMPTS = Path(__file__).parents[4] / "config" / "prompts"

SPOKEN = re.compile(r'\("([A-Z][^"{}]{2,200}[.?!])"\)', re.DOTALL)
ASKED = ("question", "opening", "rephrase")


def spoken(name: str) -> list[str]:
    """The examples of a prompt, in brackets and quotation marks, each on one line."""
    text = (PROMPTS / f"{name}.md").read_text(encoding="utf-8")
    return [" ".join(example.split()) for example in SPOKEN.findall(text)]


@pytest.mark.parametrize("example", spoken("question"))
def test_example_of_a_question_s_prompt_may_be_said(example: str) -> None:
    secrets = tuple((PROMPTS / f"{name}.md").read_text(encoding="utf-8") for name in ASKED)
    checker = Checker(secrets=secrets)
    text = example if example.endswith("?") else f"{example} What happened then?"
    assert checker.whole(text) == []


@pytest.mark.parametrize("example", spoken("ending"))
def test_example_of_last_words_may_be_said(example: str) -> None:
    said = tuple(re.findall(r"\w+", example.casefold()))
    assert Checker(allowed_words=said).statement(example) == []
