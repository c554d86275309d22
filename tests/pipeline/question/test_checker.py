from __future__ import annotations

import pytest

from pipeline.question.checker import check, check_beginning, question_part
from pipeline.question.text import jaccard, word_count


def codes(text: str, **arguments: object) -> set[str]:
    return {refusal.code for refusal in check(text, **arguments)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("beginning", "code"),
    [
        ("Do you", "closed"),
        ("Is it ", "closed"),
        ("And does that help", "closed"),
        ("Don't you think", "leading"),
        ("Wouldn't you", "leading"),
        ("So you like", "leading"),
        ("Surely ", "leading"),
        ("When you drink coffee, do you ", "closed"),
        ("The node you ", "machinery"),
        ("**Question", "markup"),
        ("Interviewer: ", "markup"),
        ("Haben Sie ", "closed"),
    ],
)
def test_beginning_that_cannot_be_saved_is_refused(beginning: str, code: str) -> None:
    language = "de" if beginning.startswith("Haben") else "en"
    assert code in {refusal.code for refusal in check_beginning(beginning, language=language)}


@pytest.mark.parametrize(
    "beginning",
    ["What", "What makes ", "Could you tell",
     "Could you ", "Tell me ", "Earlier you mentioned ", "I see. ", "When did you",
     "You said “do you", "Can you walk me ", "So what happened", ""],
)  # fmt: skip
def test_beginning_that_may_become_good_passes(beginning: str) -> None:
    assert check_beginning(beginning) == []


def test_repetition_counts_only_the_last_six() -> None:
    question = "Why does that matter to you?"
    others = [f"What about number {word}?" for word in range(6)]
    assert "repeated" in codes(question, recent_questions=[*others[:5], question])
    assert "repeated" not in codes(question, recent_questions=[question, *others])


def test_cosine_may_be_a_function_a_mapping_or_a_list() -> None:
    recent = ["How did it start?", "What else is there?"]
    for cosine in (lambda one, other: 0.93, {"What else is there?": 0.93}, [0.1, 0.93], [0.93]):
        assert "repeated" in codes("What more is there?", recent_questions=recent, cosine=cosine)
    assert codes("What more is there?", recent_questions=recent, cosine=[0.91]) == set()


def test_machinery_quoted_from_the_respondent_passes() -> None:
    assert "machinery" in codes("What is your strategy for the week?")
    assert codes('You said "my strategy is simple". What does it look like?') == set()
    assert codes("What is your strategy for the week?", allowed_words=["strategy"]) == set()
    assert codes("What do you do when the phone signal is weak?") == set()


def test_allowed_words_never_hide_a_closed_question() -> None:
    assert "closed" in codes("Do you like it?", allowed_words=["do you like it"])


def test_word_limit_is_inclusive() -> None:
    question = "What " + "very " * 23 + "much?"
    assert word_count(question) == 25
    assert "too_long" not in codes(question)
    assert "too_long" in codes(question, max_words=24)


def test_jaccard_ignores_case_and_punctuation() -> None:
    assert jaccard("Why is THAT so?", "why is that so") == 1.0
    assert jaccard("", "") == 0.0


def test_question_part_leaves_the_lead_up_behind() -> None:
    assert question_part("You mentioned price. What does it mean?") == "What does it mean?"
    assert question_part("No question here.") == "No question here."


def test_language_without_table_uses_the_general_rules() -> None:
    assert codes("ماذا حدث؟", language="ar") == set()
    assert "double" in codes("ماذا حدث؟ ولماذا؟", language="ar")
    assert "not_a_question" in codes("شكرا جزيلا.", language="ar")


def test_words_of_the_respondent_never_change_the_form_of_a_question() -> None:
    said = ["where", "take", "describe", "tell", "what", "so", "terrible"]
    assert codes("Where do you usually drink it?", allowed_words=said) == set()
    assert codes("Take me through that morning.", allowed_words=said) == set()
    assert "closed" in codes("Is it terrible?", allowed_words=said)
    assert codes("What made the evening terrible for you?", allowed_words=said) == set()
    assert "leading" in codes("What made the evening terrible for you?")
