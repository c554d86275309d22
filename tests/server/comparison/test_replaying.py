"""Decisions of stored interviews, made again by the command: the same to the digit, or the first difference."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.engines.base import Decision, DecisionInputs, ScoredCandidate
from pipeline.engines.registry import ENGINES
from pipeline.engines.signal_pools import SignalPools
from pipeline.repeating import differences, inputs_of, made_again
from pipeline.state import STATE_VERSION, Directive
from server.comparison.errors import ComparisonError, NotARecord, NotRepeatable
from server.replay_command import DIFFERS, replay
from tests.server.comparison.support import export, held, interview_with
from tests.support.interview import ScriptedReader


def replayed(data: dict[str, Any]) -> int:
    return replay(argparse.Namespace(record="s-1"), lambda session_id: json.dumps(data).encode())


def decided(data: dict[str, Any]) -> dict[str, Any]:
    """The second turn in which an engine chose, which can be changed."""
    found: list[dict[str, Any]] = [turn for turn in data["turns"] if turn["candidates"]]
    return found[1]


@pytest.mark.parametrize("engine", ENGINES)
async def test_interview_comes_out_the_same_to_the_digit(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = export(await held(engine))
    count = sum(bool(turn["candidates"]) for turn in data["turns"])
    assert count >= 4
    assert replayed(data) == 0
    assert f"{count} decisions made again from what was stored" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ENGINES)
async def test_changed_term_is_shown_with_its_turn_and_both_numbers(
    engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = export(await held(engine))
    turn = decided(data)
    term = next(term for term in turn["candidates"][0]["terms"] if term["kind"] == "weighted")
    right, term["amount"] = term["amount"], term["amount"] + 0.5
    assert replayed(data) == DIFFERS
    said = {line.split()[0]: line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines() if "  " in line}
    assert said["turn"] == str(turn["turn_number"])
    assert said["term"] == f"{term['name']}, amount"
    assert (float(said["stored"]), float(said["recomputed"])) == (right + 0.5, right)


async def test_changed_signal_is_shown_by_the_term_that_it_makes(capsys: pytest.CaptureFixture[str]) -> None:
    data = export(await held("signal_pools"))
    turn = decided(data)
    turn["signals"]["values"]["llm.engagement"] = 0.125
    assert replayed(data) == DIFFERS
    said = capsys.readouterr().out
    assert f"turn        {turn['turn_number']}" in said
    assert "llm.engagement, value" in said
    assert "recomputed  0.125" in said


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda turn: turn.update(candidate_count=99), "number of candidates"),
        (lambda turn: turn.update(phase="midnight"), "phase"),
        (lambda turn: turn["candidates"][0].update(selected=False), "chosen"),
        (lambda turn: turn["candidates"].reverse(), "candidate"),
        (lambda turn: turn["candidates"][0]["terms"].pop(), "phase"),
        (lambda turn: turn["candidates"][0].update(final_score=7.5), "score"),
        (lambda turn: turn["candidates"].pop(), "candidate"),
        (lambda turn: turn["scores"]["of_others"].append(["deepen", ["n"], 1.0]), "score among all"),
    ],
)
async def test_anything_that_was_changed_differs(
    change: Callable[[dict[str, Any]], Any], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = export(await held("signal_pools"))
    change(decided(data))
    assert replayed(data) == DIFFERS
    assert f"term        {what}" in capsys.readouterr().out


async def test_reasons_are_words_and_differ_for_nobody() -> None:
    data = export(await held("two_tier"))
    for term in decided(data)["candidates"][0]["terms"]:
        term["reason"] = "in other words"
    assert replayed(data) == 0


@pytest.mark.parametrize("engine", ["two_tier", "arbitration"])
async def test_reply_that_asks_about_something_else_was_asked_before_the_decision(engine: str) -> None:
    interview = interview_with(engine)
    interview.reader = ScriptedReader({"what a question": [("what a question", "complains")]})
    for text in ("sweet", "bitter", "what a question", "cheap", "what a question", "strong", "warm"):
        await interview.say(text)
    replies = [u.turn_number for u in interview.state.utterances if u.kind == "reply"]
    asked = [entry.turn for entry in interview.state.focus_history]
    assert replies, "the complaint has to be heard as one"
    assert any(asked.count(turn) > 1 for turn in replies), "and answered with another question"
    assert replayed(export(interview)) == 0


async def test_questions_are_those_that_the_engine_knew_of() -> None:
    seen: list[DecisionInputs] = []
    engine = ENGINES["signal_pools"]

    class Watching(SignalPools):
        def decide(self, inputs: DecisionInputs) -> Decision:
            seen.append(inputs)
            return super().decide(inputs)

    interview = interview_with("signal_pools")
    interview.engines = {"signal_pools": Watching()}
    interview.reader = ScriptedReader({"what a question": [("what a question", "complains")]})
    for text in ("sweet", "bitter", "what a question", "cheap", "what a question", "strong"):
        await interview.say(text)
    records = [outcome.record for outcome in interview.outcomes if outcome.record is not None]
    assert len(seen) >= len(records) == 4
    by_turn = {inputs.turn_count: inputs for inputs in seen}
    for record in records:
        was, again = by_turn[record.turn_number], inputs_of(
            interview.state, record, interview.configuration, engine.strategies(interview.configuration)
        )  # fmt: skip
        assert again.questions == was.questions
        assert again.question_texts == was.question_texts
        assert again.answers == was.answers


@pytest.mark.parametrize("engine", ENGINES)
async def test_what_a_moderator_asked_for_comes_out_the_same(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    interview = interview_with(engine)
    await interview.say("sweet")
    names = ENGINES[engine].strategies(interview.configuration).names
    wishes = (
        Directive(command_id="c1", kind="steer", strategy=names[0]),
        Directive(command_id="c2", kind="steer", node_id=interview.state.nodes[0].id),
        Directive(command_id="c3", kind="inject", question="And on Sundays?"),
    )
    for text, wish in zip(("bitter", "cheap", "strong"), wishes, strict=True):
        interview.state = interview.state.model_copy(update={"directives": (wish,)})
        await interview.say(text)
    await interview.say("warm")
    records = [outcome.record for outcome in interview.outcomes if outcome.record is not None]
    assert [record.directive is not None for record in records] == [False, True, True, True, False]
    assert replayed(export(interview)) == 0
    said = capsys.readouterr().out
    assert "No engine decided after answer 4." in said
    assert "4 decisions made again" in said


@pytest.mark.parametrize("engine", ENGINES)
async def test_amended_and_skipped_answers_change_nothing(engine: str) -> None:
    interview = interview_with(engine)
    for text in ("sweet", "bitter"):
        await interview.say(text)
    last = interview.state.last_answer()
    assert last is not None
    await interview.say("cheap", kind="correct", corrects=last.id)
    await interview.say("", kind="skip")
    for text in ("warm", "dark"):
        await interview.say(text)
    assert replayed(export(interview)) == 0


async def test_interview_that_still_runs_is_repeated_as_far_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert replayed(export(await held("signal_pools", ("sweet",)))) == 0
    assert "1 decision made again" in capsys.readouterr().out


async def test_interview_without_answers_has_nothing_to_repeat(capsys: pytest.CaptureFixture[str]) -> None:
    interview = interview_with("signal_pools")
    await interview.open()
    assert replayed(export(interview)) == 0
    assert "There is no decision to make again." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data["state"].update(version=STATE_VERSION + 1), f"a newer version .* {STATE_VERSION + 1}"),
        (lambda data: data["state"].update(invention=1), "another version of askwell"),
        (lambda data: data.pop("state"), "left out what decisions follow from; export the session again"),
        (lambda data: data["state"].update(engine="dice"), "the engine `dice`, which this version of askwell does not"),
        (lambda data: data.update(configuration=None), "the configuration .* is missing or of another version"),
        (lambda data: data["turns"][0].update(invention=1), "another version of askwell"),
        (lambda data: data["configuration"].update(engine_file={}), "for another version of two_tier"),
        (lambda data: [turn.update(inputs={}) for turn in data["turns"]], "did not keep what decisions rest on"),
    ],
)  # fmt: skip
async def test_interview_of_another_version_is_refused_in_a_sentence(
    change: Callable[[dict[str, Any]], Any], said: str
) -> None:
    data = export(await held("two_tier", ("sweet", "bitter", "cheap")))
    change(data)
    with pytest.raises(NotRepeatable, match=said):
        replayed(data)


async def test_decisions_stored_without_what_they_rest_on_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    data = export(await held("signal_pools", ("sweet", "bitter", "cheap")))
    data["turns"][0]["inputs"] = {}
    assert replayed(data) == 0
    said = capsys.readouterr().out
    assert "was not kept then: answer 1." in said
    assert "2 decisions made again" in said


@pytest.mark.parametrize("content", ["", "{", "[]", '"text"', '{"format": "other"}', "[" * 100_000])
def test_file_that_is_no_export_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "some.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ComparisonError, match="no complete export"):
        replay(argparse.Namespace(record=str(path)), lambda session_id: b"")


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotARecord, match="there is no interview and no file"):
        replay(argparse.Namespace(record=str(tmp_path / "none.json")), lambda session_id: b"")


async def test_numbers_are_the_same_up_to_their_ninth_digit() -> None:
    interview = await held("signal_pools", ("sweet", "bitter"))
    record = interview.last.record
    assert record is not None
    decision = made_again(interview.state, record, interview.configuration, ENGINES["signal_pools"])

    def shifted(by: float) -> Sequence[ScoredCandidate]:
        first, *others = record.candidates
        assert first.final_score is not None
        return first.model_copy(update={"final_score": first.final_score + by}), *others

    assert list(differences(record, decision)) == []
    assert list(differences(record.model_copy(update={"candidates": shifted(1e-12)}), decision)) == []
    (found,) = differences(record.model_copy(update={"candidates": shifted(1e-6)}), decision)
    assert (found.turn, found.what) == (2, "score")
