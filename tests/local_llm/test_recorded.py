"""What a real small model once said, through a whole askwell: clumsy output must not do harm."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from pipeline.question.checker import SHORT_PROBE_WINDOW, SHORT_PROBE_WORDS
from tests.local_llm.interview import Interview, interview, model_environment
from tests.local_llm.replay import Replay, recorded

HERE = Path(__file__).parent
ANSWERS = HERE.joinpath("answers.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Interview:
    lines = HERE.joinpath("recorded.jsonl").read_text(encoding="utf-8").splitlines()
    with Replay(recorded(lines)).listening() as address:
        # Recorded when the rules alone heard acts: where more is heard, other questions would be asked of the model.
        environment = {**model_environment(f"{address}/v1", "local", 30), "ASKWELL_READER": "rules"}
        place = tmp_path_factory.mktemp("held")
        return asyncio.run(interview("local", ANSWERS, environment, place, patience_s=60))


def test_interview_of_a_clumsy_model_comes_to_its_end(held: Interview) -> None:
    assert [turn.failures for turn in held.turns if turn.failures] == []
    assert held.record["session"]["state"] == "completed"


def test_evidence_of_a_clumsy_model_was_said_word_for_word(held: Interview) -> None:
    said = {row["id"]: row["text"] for row in held.record["utterances"] if row["speaker"] == "respondent"}
    quotes = [mention for node in held.record["nodes"] for mention in node["quotes"]]
    assert len(quotes) > len(held.turns)
    assert [mention for mention in quotes if mention["quote"] not in said[mention["utterance_id"]]] == []


def test_what_a_clumsy_model_made_up_is_on_record_with_its_reason(held: Interview) -> None:
    reasons = {row["reason"].split(":")[0] for row in held.record["tensions"]}
    assert {"quote_not_verbatim", "unresolved_endpoint", "connection_not_permitted"} <= reasons


def test_questions_of_a_clumsy_model_are_one_question_each(held: Interview) -> None:
    asked = [held.opening.question, *(turn.question for turn in held.turns[:-1])]
    request = re.compile(r"\b(Tell me|Think of|Help me|Say a little more)\b")
    assert [text for text in asked if text.count("?") != 1 and not request.search(text)] == []


def test_questions_of_a_clumsy_model_are_not_asked_again(held: Interview) -> None:
    asked = [held.opening.question, *(turn.question for turn in held.turns[:-1])]
    assert [text for text in asked if asked.count(text) > 1 and len(text.split()) > SHORT_PROBE_WORDS] == []
    near = [asked[max(0, at - SHORT_PROBE_WINDOW) : at] for at in range(len(asked))]
    assert [text for text, before in zip(asked, near, strict=True) if text in before] == []
