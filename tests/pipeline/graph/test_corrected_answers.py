"""Which answers a correction reaches."""

from __future__ import annotations

from datetime import UTC, datetime

from pipeline.stages.graph import CORRECTED_ANSWERS, _corrected_by
from pipeline.state import Utterance


def answer(number: int, text: str) -> Utterance:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Utterance(
        id=str(number), turn_number=number, speaker="respondent", kind="answer", text=text, recorded_at=now
    )


def test_only_a_whole_word_is_what_was_corrected() -> None:
    later = [answer(n, "I go there often.") for n in range(2, 2 + CORRECTED_ANSWERS)]
    answers = [answer(1, "It cost ten euros."), *later]
    assert _corrected_by("ten", answers) == {"1"}
    assert _corrected_by("often", answers) == {one.id for one in later}
