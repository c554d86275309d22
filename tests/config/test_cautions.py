"""What is warned of in a methodology, and what makes a strategy unreachable."""

from __future__ import annotations

from typing import Any

import pytest

from config.cautions import cautions
from config.loader import Library
from pipeline.concept import PipelineSettings
from pipeline.signals.registry import check
from tests.support.interview import small_methodology


def strategies(**changes: Any) -> list[dict[str, Any]]:
    """The strategies of the small methodology, the first one changed."""
    first, *others = (s.model_dump() for s in small_methodology().strategies)
    return [{**first, **changes}, *others]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"strategies": strategies(templates={"en": ["What about {subject}?"]})}, "unknown placeholder {subject}"),
        ({"strategies": strategies(templates={"en": ["What about {topic?"]})}, "belongs to no placeholder"),
        ({"strategies": strategies(templates={"de": ["Wie war es, als {clause}?"]})}, "English answers alone"),
        ({"strategies": strategies(signal_weights={"llm.engagement": 40})}, "weight of 40"),
        (
            {"strategies": strategies(templates={"en": ["Don't you think {topic} is awful?"]})},
            "would not be asked (closed",
        ),
        ({"strategies": strategies()[:2], "phases": {}}, "no strategy generates a closing question"),
        ({"synonyms": [["coffee", "brew"], ["Brew", "beer"]]}, "in two sets"),
        ({"openings": {"en": ["Surely you like {topic}. What else?"]}}, "may be leading"),
        ({"openings": {"en": ["Do you like {topic}?"]}}, "may be closed"),
        (
            {"guide": [{"id": "liking", "label": "Liking", "questions": {"en": ["Do you like {topic}?"]}}]},
            "would not be asked (closed",
        ),
    ],
)
def test_what_is_probably_a_mistake_is_warned_of(changes: dict[str, Any], reason: str) -> None:
    found = [text for _, text in cautions(small_methodology(**changes))]
    assert any(reason in text for text in found), found


@pytest.mark.parametrize("weights", [{}, {"llm.engagement": -0.5, "temporal.strategy_repetition_count": -1.0}])
def test_strategy_that_nothing_can_lead_to_is_refused(weights: dict[str, float]) -> None:
    found = [problem.reason for problem in check(small_methodology(strategies=strategies(signal_weights=weights)))]
    assert any("nothing can lead to deepen" in text for text in found), found


def test_nothing_is_to_be_warned_of_in_what_comes_with_askwell() -> None:
    assert Library(PipelineSettings()).cautions() == ()
