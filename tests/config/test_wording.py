"""Texts of a concept that say nothing, are there twice, or answer nobody are refused with their place."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from config.files import read_concept
from config.yamlfile import ConfigError

ONE = {"id": "one", "question": "How often do you go?"}


def concept(**more: Any) -> str:
    content = {"id": "card", "name": "library cards", "methodology": "small", "objective": "Why", **more}
    return yaml.safe_dump(content, sort_keys=False)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"consent": {"version": "1", "text": " "}}, "consent.text: says nothing"),
        ({"opening_question": ""}, "opening_question: says nothing"),
        ({"opening_question": {"en": " "}}, "opening_question.en: says nothing"),
        ({"must_ask": [ONE, {**ONE, "question": "Who else?"}]}, "`one` is there twice"),
        ({"must_ask": [{**ONE, "question": "  "}]}, "question: says nothing"),
        ({"must_ask": [{**ONE, "words": [""]}]}, "is empty, so that every answer would have it"),
        ({"facts": {"reader": "We do."}}, "did you mean `readers`?"),
        ({"facts": {"readers": ""}}, "facts.readers: says nothing"),
    ],
)
def test_each_mistake_is_told_with_its_place(more: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_concept(concept(**more), "card.yaml", "card")
    assert reason in str(refused.value)


def test_what_says_something_is_taken() -> None:
    asked = [{**ONE, "words": ["often"]}, {"id": "two", "question": {"en": "Who else?"}}]
    told = concept(must_ask=asked, facts={"readers": "We do.", "data": "Nothing."}, consent={"text": "Do you agree?"})
    assert len(read_concept(told, "card.yaml", "card")[0].must_ask) == 2
