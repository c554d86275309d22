from __future__ import annotations

import pytest

from pipeline.methodology import Strategy
from pipeline.ports import Line, QuestionRequest
from pipeline.question.selection import best, lemma_set, score
from tests.support.interview import small_methodology

STRATEGY = Strategy(name="deepen", description="Ask why a concept matters.", signal_weights={})


def request(**changes: object) -> QuestionRequest:
    fields: dict[str, object] = {
        "kind": "follow_up", "methodology": small_methodology(), "topic": "coffee", "objective": "", "language": "en",
        "seed": 1, "turn_number": 4, "strategy": STRATEGY, "focus_label": "rich aroma",
        "lines": (Line(speaker="respondent", text="The rich aroma wakes me up."),),
    }  # fmt: skip
    return QuestionRequest.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("Why does the rich aroma matter to you?", "Why does the packaging matter to you?"),
        ("Why does the rich aroma matter to you?", "Do you like the rich aroma?"),
        ("Why does the rich aroma matter to you?", "What is the significance of the rich aroma in terms of aspects?"),
        ("What does the rich aroma do for you?", "Great answer! What does the rich aroma do for you?"),
        (
            "What does the rich aroma do for you?",
            "When you consider, all in all, the rich aroma, the cup, the day, what, if anything, does it do for you?",
        ),
    ],
)
def test_best_prefers_what_a_moderator_would_ask(better: str, worse: str) -> None:
    assert best([worse, better], request()) == better
    assert best([better, worse], request()) == better


def test_jump_prefers_the_candidate_with_a_bridge() -> None:
    bridged = "Earlier you mentioned the rich aroma. Why does it matter to you?"
    plain = "You mentioned the rich aroma. Why does it matter to you?"
    assert best([plain, bridged], request(focus_is_jump=True)) == bridged
    assert best([bridged, plain], request()) == plain


def test_repeated_opening_counts_as_less_natural() -> None:
    recent = ("What does the cup give you?", "What does the price give you?")
    fresh = score("How is the aroma part of your day?", recent_questions=recent)
    again = score("What does the aroma give you?", recent_questions=recent)
    assert fresh.naturalness > again.naturalness


def test_naturalness_counts_twice_and_every_part_is_bounded() -> None:
    found = score("Why does the rich aroma matter to you?", focus=lemma_set("rich aroma"), topic=lemma_set("coffee"))
    assert found.total == pytest.approx(found.clarity + found.fit + 2 * found.naturalness + found.anchoring)
    assert all(0 <= part <= 1 for part in (found.clarity, found.fit, found.naturalness, found.anchoring))


def test_anchoring_rewards_topic_and_punishes_drifting_off() -> None:
    topic = lemma_set("coffee")
    near = score("What does coffee change in your morning?", topic=topic, depth=3)
    adrift = score("What is the meaning of life?", topic=topic, depth=3)
    assert near.anchoring > adrift.anchoring


def test_equal_candidates_keep_their_order() -> None:
    assert best(["Why is that?", "Why is that?"], request()) == "Why is that?"


def test_no_candidates_is_an_error() -> None:
    with pytest.raises(ValueError, match="no candidates"):
        best([], request())


def test_lemma_sets_meet_over_word_forms() -> None:
    assert lemma_set("planning meals") & lemma_set("I planned a meal") == lemma_set("plan meal")
