"""What moderators do to interviews, over real sockets: as soon as possible, on record, seen by the others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.engines.base import DecisionInputs
from pipeline.engines.signal_pools import SignalPools
from pipeline.focus import Target
from pipeline.signals.base import SignalMatrix
from server.auth import Principal
from server.watch.commands import read_command
from tests.support.client import RespondentClient, key
from tests.support.interview import concepts, small_methodology
from tests.support.moderator import ModeratorClient, Place, place

MARKUP = 'What about <img src=x onerror="alert(1)"> & **bold**?'


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    """One process on a free port."""
    async with place(tmp_path) as running:
        yield running


async def opened(here: Place, respondent: RespondentClient, watcher: ModeratorClient, session_id: str) -> None:
    """Respondent and watcher are there, the opening question is asked."""
    await respondent.hello()
    await respondent.until("question.completed", turn_number=0)
    await watcher.hello()
    await watcher.watch(session_id)


async def test_injected_question_is_asked_next_word_for_word_and_on_record(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as ada, here.moderator() as ben, here.respondent(token) as respondent:
        await opened(here, respondent, ada, session_id)
        await ben.hello()
        await ben.watch(session_id)
        done = await ada.order("inject", question=MARKUP)
        assert done["applies_to_turn"] == 1
        seen = (await ben.until("action"))["action"]
        assert (seen["action"], seen["moderator"], seen["turn_number"]) == ("inject", "moderator", 1)
        assert seen["details"] == {"question": MARKUP}
        await respondent.answer("I like the taste.")
        asked = await respondent.until("question.completed", turn_number=1)
        assert asked["text"] == MARKUP
        await respondent.turn("Cheap.")
    await here.stored()
    [action] = (await here.call(f"/api/sessions/{session_id}/actions"))["items"]
    assert (action["command_id"], action["action"]) == (done["command_id"], "inject")
    turns = (await here.call(f"/api/sessions/{session_id}/scores"))["items"]
    assert turns[0]["directive"]["question"] == MARKUP
    assert turns[1]["directive"] is None


async def test_questions_asked_one_after_the_other_name_the_turns_in_which_they_come(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        first = await watcher.order("inject", question="And the price?")
        second = await watcher.order("inject", question="And the shop?")
        note = await watcher.order("note", text="Ask about the shop.")
        assert [done["applies_to_turn"] for done in (first, second, note)] == [1, 2, 1]
        again = await watcher.order("inject", command_id=second["command_id"], question="And the shop?")
        assert again["applies_to_turn"] == 2
        await respondent.answer("I like the taste.")
        assert (await respondent.until("question.completed", turn_number=1))["text"] == "And the price?"
        await respondent.answer("Cheap.")
        assert (await respondent.until("question.completed", turn_number=2))["text"] == "And the shop?"
    await here.stored()
    actions = (await here.call(f"/api/sessions/{session_id}/actions"))["items"]
    assert [one["turn_number"] for one in actions if one["action"] == "inject"] == [1, 2]


async def test_command_before_the_decision_takes_effect_in_the_running_turn(here: Place) -> None:
    session_id, token = await here.begin()
    gate = here.providing.extractor.close_gate()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        await respondent.answer("I like the taste.")
        await here.providing.extractor.at_gate.wait()
        command_id = await watcher.begin("inject", question="And the price?")
        await here.settled_inbox(session_id)
        gate.set()
        done = await watcher.until("command.done", command_id=command_id)
        assert done["applies_to_turn"] == 1
        asked = await respondent.until("question.completed", turn_number=1)
        assert asked["text"] == "And the price?"
        await watcher.order("inject", command_id=command_id, question="And the price?")
        await respondent.answer("Cheap.")
        assert (await respondent.until("question.completed", turn_number=2))["text"] != "And the price?"
    await here.stored()
    actions = (await here.call(f"/api/sessions/{session_id}/actions"))["items"]
    assert [(one["command_id"], one["turn_number"]) for one in actions] == [(command_id, 1)]


async def test_command_after_the_decision_takes_effect_in_the_next_turn_and_says_so(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        gate = here.providing.writer.close_gate(2)
        await respondent.answer("I like the taste.")
        await here.providing.writer.at_gate.wait()
        command_id = await watcher.begin("inject", question="And the price?")
        await here.settled_inbox(session_id)
        gate.set()
        done = await watcher.until("command.done", command_id=command_id)
        assert done["applies_to_turn"] == 2
        assert (await respondent.until("question.completed", turn_number=1))["text"] != "And the price?"
        await respondent.answer("Cheap.")
        assert (await respondent.until("question.completed", turn_number=2))["text"] == "And the price?"


async def test_claimed_interview_waits_for_the_moderators_question(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        assert (await watcher.order("claim"))["applies_to_turn"] == 1
        await respondent.until("notice", code="moderator_here")
        turn_key = await respondent.answer("I like the taste.")
        await respondent.until("turn.started", turn_key=turn_key)
        await respondent.until("notice", code="moderator_here")
        said = await watcher.until("transcript.final")
        assert said["text"] == "I like the taste."
        held = await watcher.until("respondent", activity="held")
        assert held["waiting"]
        await respondent.answer("Something else.")
        await respondent.refused("turn_in_progress")
        await watcher.order("inject", question="And the price?")
        asked = await respondent.until("question.completed", turn_number=1)
        assert asked["text"] == "And the price?"
        await respondent.until("turn.completed", turn_key=turn_key)
        await respondent.answer("Cheap.")
        await watcher.until("respondent", activity="held")
        done = await watcher.order("release")
        assert done["applies_to_turn"] == 2
        await respondent.until("turn.completed", turn_number=2)
    assert here.providing.extractor.requests[0].text == "I like the taste."


async def test_claim_before_the_decision_stops_the_running_turn(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        gate = here.providing.extractor.close_gate()
        turn_key = await respondent.answer("I like the taste.")
        await here.providing.extractor.at_gate.wait()
        command_id = await watcher.begin("claim")
        await here.settled_inbox(session_id)
        gate.set()
        done = await watcher.until("command.done", command_id=command_id)
        assert done["applies_to_turn"] == 1
        await respondent.until("notice", code="moderator_here")
        assert not [
            frame for frame in respondent.seen if frame["type"] == "question.delta" and frame["turn_number"] == 1
        ]
        await watcher.order("steer", strategy="explore")
        await respondent.until("question.completed", turn_number=1)
        await respondent.until("turn.completed", turn_key=turn_key)
    await here.stored()
    turns = (await here.call(f"/api/sessions/{session_id}/scores"))["items"]
    assert turns[0]["strategy"] == "explore"


async def test_second_moderator_can_not_claim_what_another_one_has(here: Place) -> None:
    session_id, token = await here.begin()
    ben = await here.make_token(name="Ben")
    async with here.moderator() as one, here.moderator(ben["token"]) as two, here.respondent(token) as respondent:
        await opened(here, respondent, one, session_id)
        await two.hello()
        await two.watch(session_id)
        await one.order("claim")
        state = await two.until("session.state", claimed_by="moderator")
        assert state["paused_by"] is None
        command_id = await two.begin("claim")
        refusal = await two.refused("forbidden", ref=command_id)
        assert refusal["message"].startswith("moderator has taken over")
        await two.order("release")
        await two.order("claim")
        await one.until("session.state", claimed_by="Ben")


async def test_respondent_may_end_an_interview_that_waits_for_a_moderator(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        await watcher.order("claim")
        await respondent.answer("I like the taste.")
        await watcher.until("respondent", activity="held")
        await respondent.send("finish")
        await respondent.until("session.state", state="completed")
        await watcher.until("session.state", state="completed", claimed_by=None)
    await here.stored()


async def test_pause_extend_note_and_end_are_done_and_stored(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        await watcher.order("pause")
        await respondent.until("session.state", state="paused")
        await watcher.settle()
        assert watcher.latest("session.state")["paused_by"] == "moderator"
        await watcher.order("resume")
        await respondent.until("session.state", state="active")
        await watcher.order("extend", turns=5)
        await watcher.settle()
        assert watcher.latest("session.state")["max_turns"] == 20
        await watcher.order("set", patience="patient")
        await watcher.order("note", text="<b>Interesting</b>", turn_number=0)
        await watcher.order("end", reason="Out of time")
        await respondent.until("session.state", state="completed")
    await here.stored()
    actions = (await here.call(f"/api/sessions/{session_id}/actions"))["items"]
    assert [one["action"] for one in actions] == ["pause", "resume", "extend", "set", "note", "end"]
    assert actions[4]["details"] == {"text": "<b>Interesting</b>"}
    assert actions[4]["turn_number"] == 0
    assert all(one["moderator"] == "moderator" and one["recorded_at"] for one in actions)


async def test_command_for_a_finished_interview_is_refused_but_a_note_is_taken(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        await respondent.send("finish")
        await watcher.until("session.state", state="completed")
        for kind, fields in COMMANDS_THAT_CHANGE.items():
            command_id = await watcher.begin(kind, **fields)
            refusal = await watcher.refused("session_completed", ref=command_id)
            assert refusal["message"] == "This interview is over."
        await watcher.order("note", text="A good one.")


COMMANDS_THAT_CHANGE: dict[str, dict[str, Any]] = {
    "pause": {},
    "resume": {},
    "end": {"reason": "time"},
    "extend": {"turns": 1},
    "inject": {"question": "And?"},
    "steer": {"strategy": "explore"},
    "claim": {},
    "release": {},
    "set": {"patience": "quick"},
}


async def test_question_that_is_too_long_is_refused_in_clear_words(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        command_id = await watcher.begin("inject", question="x" * 10_000)
        refusal = await watcher.refused("invalid_input", ref=command_id)
        assert refusal["message"] == "A question has at most 1000 characters; this one has 10000."
        command_id = await watcher.begin("steer", strategy="no-such-thing")
        assert "deepen" in (await watcher.refused("invalid_input", ref=command_id))["message"]
        command_id = await watcher.begin("steer", node_id="nowhere")
        await watcher.refused("invalid_input", ref=command_id)
        await watcher.order("inject", question="x" * 1000)


async def test_preview_tells_the_question_and_changes_nothing(here: Place) -> None:
    session_id, token = await here.begin()
    here.providing.extractor.script["I like the taste."] = concepts(("taste", "attribute"), ("smell", "attribute"))
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        await respondent.turn("I like the taste.")
        await here.stored()
        before = await here.call(f"/api/sessions/{session_id}")
        nodes = (await here.call(f"/api/sessions/{session_id}/graph"))["nodes"]
        wanted = next(node for node in nodes if node["label"] == "smell")
        done = await watcher.order("steer", node_id=wanted["id"], preview=True)
        assert done["preview"]["node_label"] == "smell"
        assert "smell" in done["preview"]["question"]
        assert done["preview"]["strategy"] == "deepen"
        other = await watcher.order("steer", strategy="explore", preview=True)
        assert (other["preview"]["strategy"], other["preview"]["node_id"]) == ("explore", None)
        await here.stored()
        assert await here.call(f"/api/sessions/{session_id}") == before


async def test_steered_decision_can_be_made_again_from_the_store(here: Place) -> None:
    session_id, token = await here.begin()
    here.providing.extractor.script["I like the taste."] = concepts(("taste", "attribute"), ("smell", "attribute"))
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        await respondent.turn("I like the taste.")
        await here.stored()
        nodes = (await here.call(f"/api/sessions/{session_id}/graph"))["nodes"]
        focus = (await here.call(f"/api/sessions/{session_id}"))["focus_history"][-1]["node_id"]
        other = next(node for node in nodes if node["id"] != focus)
        await watcher.order("steer", strategy="deepen", node_id=other["id"])
        await respondent.turn("It is sweet.")
    await here.stored()
    row = (await here.call(f"/api/sessions/{session_id}/scores"))["items"][1]
    wish = row["directive"]
    assert (wish["strategy"], wish["node_id"], row["node_id"]) == ("deepen", other["id"], other["id"])
    inputs = DecisionInputs(
        small_methodology(),
        SignalMatrix.model_validate(row["signals"]),
        strategy=wish["strategy"],
        target=Target.node(wish["node_key"], ""),
    )
    again = SignalPools().decide(inputs)
    assert (again.strategy, again.node_key) == (row["strategy"], row["node_key"])
    assert [one.model_dump(mode="json") for one in again.candidates] == row["candidates"]
    free = SignalPools().decide(DecisionInputs(small_methodology(), inputs.signals))
    assert len(free.candidates) > len(again.candidates)


async def test_commands_without_a_session_or_by_call(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await watcher.hello()
        command_id = await watcher.begin("pause")
        await watcher.refused("invalid_message", ref=command_id)
        await respondent.hello()
        await respondent.until("question.completed")
        assert (await watcher.order("pause", session_id=session_id))["session_id"] == session_id
        await respondent.until("session.state", state="paused")
        headers = {"authorization": f"Bearer {here.token}"}
        path = f"/api/sessions/{session_id}/commands"
        body = {"type": "resume", "command_id": key()}
        answer = await here.http.post(path, json=body, headers=headers)
        assert answer.json() == {
            "command_id": body["command_id"],
            "session_id": session_id,
            "applies_to_turn": 1,
            "preview": None,
        }
        await respondent.until("session.state", state="active")
        answer = await here.http.post(path, json={"type": "dance", "command_id": key()}, headers=headers)
        assert answer.status_code == 422
        respondents = {"authorization": f"Bearer {token}"}
        assert (await here.http.post(path, json=body, headers=respondents)).status_code == 403


async def test_the_same_command_twice_at_once_counts_once(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await opened(here, respondent, watcher, session_id)
        command_id = key()
        await watcher.begin("extend", command_id=command_id, turns=5)
        await watcher.begin("extend", command_id=command_id, turns=5)
        first = await watcher.until("command.done", command_id=command_id)
        second = await watcher.until("command.done", command_id=command_id)
        assert first == second
        again = await here.parts.watch.commands.apply(
            session_id, read_command({"type": "extend", "command_id": command_id, "turns": 5}), Principal("moderator")
        )
        assert again.applies_to_turn == 1
        await watcher.settle()
    await here.stored()
    assert (await here.call(f"/api/sessions/{session_id}"))["max_turns"] == 20
    assert len((await here.call(f"/api/sessions/{session_id}/actions"))["items"]) == 1
