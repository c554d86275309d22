"""The checker's figures on the labelled questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.question.checker import Refusal, check

CORPUS = Path(__file__).parents[2] / "corpus" / "questions"


def items(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = yaml.safe_load((CORPUS / name).read_text("utf-8"))
    return loaded


GOOD, BAD = items("good.yaml"), items("bad.yaml")


def refusals(item: dict[str, Any]) -> list[Refusal]:
    return check(
        item["text"],
        recent_questions=item.get("recent", ()),
        language=item.get("language", "en"),
        cosine=item.get("cosine"),
    )


def test_corpus_has_enough_questions_of_every_kind() -> None:
    codes = {item["code"] for item in BAD}
    assert len(GOOD) >= 60
    assert len(BAD) >= 60
    assert codes == {
        "double", "closed", "leading", "too_long", "repeated",
        "machinery", "unsafe", "empty", "not_a_question", "language",
    }  # fmt: skip


def test_checker_on_the_corpus_keeps_its_precision_and_recall() -> None:
    false_alarms = [item["text"] for item in GOOD if refusals(item)]
    missed = [item["text"] for item in BAD if not refusals(item)]
    caught = len(BAD) - len(missed)
    assert caught / len(BAD) >= 0.97, missed
    assert caught / (caught + len(false_alarms)) >= 0.97, false_alarms


@pytest.mark.parametrize("code", sorted({item["code"] for item in BAD}))
def test_checker_names_the_right_fault(code: str) -> None:
    of_kind = [item for item in BAD if item["code"] == code]
    wrong = [item["text"] for item in of_kind if code not in {refusal.code for refusal in refusals(item)}]
    assert len(wrong) <= len(of_kind) // 10, wrong
