"""What a question is put differently by."""

from __future__ import annotations

import pytest

from config.loader import Library
from pipeline.concept import PipelineSettings
from pipeline.engines.registry import strategies_of
from pipeline.focus import Target
from pipeline.question.request import rephrase_request
from pipeline.state import QuestionAsked
from tests.support.interview import new_state


@pytest.mark.parametrize(("kind", "label"), [("topic", None), ("nodes", "the moka pot")])
def test_name_of_a_guides_topic_is_not_said_when_its_question_is_put_differently(kind: str, label: str | None) -> None:
    configuration = Library(PipelineSettings()).configuration("coffee_mec")
    topic = next(one for one in configuration.methodology.guide if one.questions)
    target = Target(kind=kind, ids=(topic.id,), label="the moka pot")  # type: ignore[arg-type]
    asked = QuestionAsked(
        utterance_id="u", turn_number=3, text="And instead?", kind="question", focus_label="the moka pot", target=target
    )
    request = rephrase_request(new_state(question=asked), configuration, strategies_of("signal_pools", configuration))
    assert request.focus_label == label
    assert request.forms == (topic.questions["en"] if kind == "topic" else ())
