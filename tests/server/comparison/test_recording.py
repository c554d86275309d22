"""What a respondent said, read from exports, results of simulations, lists and text; and what is none of these."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.state import STATE_VERSION
from server.comparison.errors import ComparisonError, NotARecord
from server.comparison.recording import Message, Recording, is_file, read, recording
from tests.server.comparison.support import export, held, interview_with

ANSWER = Message("It is sweet.")


def read_from(value: Any) -> tuple[Message, ...]:
    content = value if isinstance(value, str) else json.dumps(value)
    return recording(content.encode(), "file").messages


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("It is sweet.", (ANSWER,)),
        ("\ufeff\r\n  It is sweet. \r\n\r\nAnd cheap.\n", (ANSWER, Message("And cheap."))),
        (["It is sweet."], (ANSWER,)),
        (["It is sweet.", "It is sweet."], (ANSWER, ANSWER)),
        (["It is sweet.", "", None, "  "], (ANSWER, *[Message("", "skip")] * 3)),
        ([{"question": "Why?", "answer": "It is sweet."}], (Message("It is sweet.", question="Why?"),)),
        ([{"answer": None}, {"answer": "It is sweet."}], (Message("", "skip"), ANSWER)),
        ({"transcript": [{"question": "Why?", "answer": "It is sweet.", "told": []}]},
         (Message("It is sweet.", question="Why?"),)),
        (["one\ntwo"], (Message("one\ntwo"),)),
    ],
)  # fmt: skip
def test_answers_are_read(value: Any, messages: tuple[Message, ...]) -> None:
    assert read_from(value) == messages


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "holds no answers"),
        (" \n \n", "holds no answers"),
        ("[]", "holds no answers"),
        ('["", null]', "holds no answers"),
        ("[1]", "item 1 is neither a text nor an object with `answer`"),
        ('["yes", {"answer": 2}]', "item 2 is neither"),
        ('["yes", {"answer": "x", "question": 2}]', "item 2 is neither"),
        ("[", "begins like JSON and is none"),
        ('{"a": 1', "line 1: this begins like JSON and is none"),
        ("[" * 100_000, "begins like JSON and is none"),
        ("{}", "should be an export"),
        ('{"format": "askwell.session"}', "'session' is missing"),
        ('{"format": "askwell.session", "session": 1, "utterances": [], "configuration": {}}', "has no answers yet"),
        ('{"format": "askwell.session", "session": {}, "utterances": 3}', "no export that this version"),
        ('{"transcript": []}', "holds no answers"),
    ],
)
def test_what_holds_no_answers_is_refused(value: str, said: str) -> None:
    with pytest.raises(NotARecord, match=said):
        read_from(value)


def test_result_of_a_simulation_tells_who_spoke() -> None:
    data = {"job": {"persona": "night_nurse", "seed": 7, "max_turns": 6}, "transcript": [{"answer": "It is sweet."}]}
    found = recording(json.dumps(data).encode(), "file")
    assert (found.persona, found.seed, found.max_turns) == ("night_nurse", 7, 6)
    assert found.origin == "told by the simulated respondent night_nurse"
    odd = {"job": {"persona": 3, "seed": "x", "max_turns": []}, "transcript": [{"answer": "It is sweet."}]}
    assert recording(json.dumps(odd).encode(), "file") == Recording("file", (ANSWER,))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["format", "session", "utterances", "configuration", "state", "transcript", "answer", "job"]
            )
            | st.text(max_size=4),
            inner | st.just("askwell.session"),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(
    content=st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | JSON.map(lambda it: json.dumps(it).encode())
)
def test_any_content_is_answers_or_refused_in_a_sentence(content: bytes) -> None:
    try:
        found = recording(content, "file")
    except ComparisonError:
        return
    assert any(message.text for message in found.messages)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(NotARecord, match="no text in UTF-8"):
        recording(b"\xff\xfe\x00", "file")


async def test_export_has_the_answers_with_their_questions_and_the_interview_as_it_was() -> None:
    interview = await held("two_tier", ("sweet", "bitter"))
    found = recording(json.dumps(export(interview)).encode(), "file")
    said = [utterance.text for utterance in interview.state.utterances]
    assert [(m.question, m.text) for m in found.messages] == [(said[0], said[1]), (said[2], said[3])]
    assert (found.state, found.engine) == (interview.state, "two_tier")
    assert found.records == tuple(one.record for one in interview.outcomes)
    assert (found.title, found.origin, found.concept_id) == ("coffee", "session s-1", "coffee")
    assert found.notes == ("The interview is not over: what is compared is what was said so far.",)


async def test_export_without_the_state_still_has_its_answers() -> None:
    data = export(await held("two_tier", ("sweet", "bitter")))
    del data["state"]
    found = recording(json.dumps(data).encode(), "file")
    assert len(found.messages) == 2
    assert found.state is None
    assert found.configuration is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["state"].update(version=STATE_VERSION + 1),
        lambda data: data["configuration"].update(invention=1),
        lambda data: data["configuration"].pop("methodology"),
        lambda data: data["utterances"][1].pop("text"),
        lambda data: data["utterances"].insert(0, 3),
    ],
)
async def test_export_of_another_version_is_refused_in_a_sentence(change: Callable[[dict[str, Any]], Any]) -> None:
    data = export(await held("two_tier", ("sweet", "bitter")))
    change(data)
    with pytest.raises(ComparisonError, match=r"version|no export"):
        recording(json.dumps(data).encode(), "file")


async def test_interview_without_answers_is_refused() -> None:
    interview = interview_with("signal_pools")
    await interview.open()
    with pytest.raises(NotARecord, match="has no answers yet"):
        recording(json.dumps(export(interview)).encode(), "session s-1")


async def test_what_should_be_known_of_an_interview_is_said() -> None:
    interview = interview_with("signal_pools")
    await interview.say("sweet")
    last = interview.state.last_answer()
    assert last is not None
    await interview.say("bitter", kind="correct", corrects=last.id)
    data = export(interview)
    data["turns"][0]["directive"] = {"command_id": "c", "kind": "inject", "question": "Well?"}
    data["configuration"]["prompts"] = {"question": "Ask."}
    notes = " ".join(recording(json.dumps(data).encode(), "file").notes)
    assert "not over" in notes
    assert "A moderator asked or steered 1 question;" in notes
    assert "1 took back the one before" in notes
    assert "held with a language model" in notes


def test_files_and_sessions_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert not is_file("0b5a3bd8-9d2c")
    assert is_file("answers.txt")
    Path("0b5a3bd8-9d2c").write_text("x", encoding="utf-8")
    assert is_file("0b5a3bd8-9d2c")
    with pytest.raises(NotARecord, match="there is no interview and no file"):
        read(Path("answers.txt"))
    with pytest.raises(NotARecord, match="can't be read"):
        read(tmp_path)
