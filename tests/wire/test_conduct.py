"""Stops, pauses, distress and withdrawal over real sockets: what the respondent gets and what a moderator sees."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import RespondentClient, key
from tests.support.moderator import Place, place
from tests.support.patience import PATIENCE_S
from tests.support.whole import bearer

GRACE_S = 1


def shorter_grace(folder: Path) -> None:
    """The policy that comes along, with a second to take a stop back."""
    text = (files("config") / "conduct.yaml").read_text(encoding="utf-8")
    (folder / "config").mkdir(parents=True, exist_ok=True)
    (folder / "config" / "conduct.yaml").write_text(
        text.replace("stop_grace_s: 60", f"stop_grace_s: {GRACE_S}"), encoding="utf-8"
    )


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    """One process on a free port."""
    shorter_grace(tmp_path)
    async with place(tmp_path, sweep_every_s="1") as running:
        yield running


async def replied(respondent: RespondentClient, text: str) -> dict[str, Any]:
    """Say something that is no answer; the reply."""
    return await respondent.until("interviewer.replied", turn_key=await respondent.answer(text))


async def test_stop_is_completed_after_a_while_and_nothing_is_asked(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await respondent.turn("I like the taste.")
        said = await replied(respondent, "I'd like to stop the interview now.")
        assert (said["act"], said["open"]) == ("wants_stop", False)
        await respondent.until("session.state", state="closing", reason="stopping")
        refused = await respondent.answer("One more thing.")
        await respondent.refused("session_completed", ref=refused)
        await respondent.until("session.state", state="completed", reason="stopped_by_respondent")
    assert [frame["type"] for frame in respondent.seen].count("question.completed") == 2
    await here.stored()
    lines = (await here.call(f"/api/sessions/{session_id}/transcript"))["items"]
    assert [(line["kind"], line["replies_to"]) for line in lines[-2:]] == [("answer", None), ("reply", "wants_stop")]
    assert lines[-2]["acts"][0]["act"] == "wants_stop"


async def test_stop_put_behind_an_answer_is_heard_and_other_words_amend_it(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        first = "I like the taste."
        said = (await respondent.turn(first))["result"]["utterance_id"]
        turn_key = key()
        more = f"{first} And that it wakes me up."
        await respondent.send("correct", utterance_id=said, text=more, turn_key=turn_key)
        amended = (await respondent.until("turn.completed", turn_key=turn_key))["result"]["utterance_id"]
        turn_key = key()
        stop = f"{more} I'd like to stop the interview now."
        for _ in range(2):
            await respondent.send("correct", utterance_id=amended, text=stop, turn_key=turn_key)
            heard = await respondent.until("interviewer.replied", turn_key=turn_key)
            assert (heard["act"], heard["open"]) == ("wants_stop", False)
    await here.stored()
    lines = (await here.call(f"/api/sessions/{session_id}/transcript"))["items"]
    kinds = [(line["kind"], line["text"]) for line in lines if line["speaker"] == "respondent"]
    assert kinds == [("answer", first), ("correct", more), ("answer", "I'd like to stop the interview now.")]


async def test_risk_put_behind_an_answer_raises_its_alert(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        said = (await respondent.turn("I like the taste."))["result"]["utterance_id"]
        turn_key = key()
        text = "I like the taste. I want to kill myself."
        await respondent.send("correct", utterance_id=said, text=text, turn_key=turn_key)
        heard = await respondent.until("interviewer.replied", turn_key=turn_key)
        assert heard["act"] == "risk" and heard["help"]
    await here.stored()
    lines = (await here.call(f"/api/sessions/{session_id}/transcript"))["items"]
    assert lines[-2]["acts"][0]["act"] == "risk"


async def test_stop_that_is_taken_back_goes_on_with_the_same_question(here: Place) -> None:
    _, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await respondent.turn("I like the taste.")
        await replied(respondent, "I'd like to stop the interview now.")
        await respondent.send("resume")
        await respondent.until("session.state", state="active", reason="stop_taken_back")
        await asyncio.sleep(1.5 * GRACE_S)
        done = await respondent.turn("It is sweet.")
        assert done["result"]["turn_number"] == 2


async def test_stop_is_completed_though_the_node_was_gone_meanwhile(tmp_path: Path) -> None:
    shorter_grace(tmp_path)
    async with place(tmp_path) as before:
        session_id, token = await before.begin()
        async with before.respondent(token) as respondent:
            await respondent.hello()
            await respondent.until("question.completed")
            await respondent.turn("I like the taste.")
            await replied(respondent, "I'd like to stop the interview now.")
        await before.stored()
    await asyncio.sleep(GRACE_S)
    async with place(tmp_path) as after, after.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("session.state", state="completed", reason="stopped_by_respondent")
        await after.stored()
        assert (await after.call(f"/api/sessions/{session_id}"))["state"] == "completed"


async def test_reply_is_repeated_to_who_sends_the_same_message_again(here: Place) -> None:
    _, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        turn_key = key()
        await respondent.answer("Are you a robot?", turn_key)
        first = await respondent.until("interviewer.replied", turn_key=turn_key)
        await respondent.answer("Are you a robot?", turn_key)
        again = await respondent.until("interviewer.replied", turn_key=turn_key)
        assert again == first
        done = await respondent.turn("I like the taste.")
        assert done["result"]["turn_number"] == 1


async def test_deltas_of_a_reply_are_its_text(here: Place) -> None:
    _, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        respondent.seen.clear()
        said = await replied(respondent, "Are you a robot?")
        deltas = "".join(frame["text"] for frame in respondent.seen if frame["type"] == "question.delta")
        assert deltas == said["text"]


async def test_distress_alarms_a_moderator_until_somebody_has_seen_it(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await watcher.hello()
        await respondent.hello()
        await respondent.until("question.completed")
        await watcher.watch(session_id)
        said = await replied(respondent, "I'm crying right now, sorry.")
        assert [offer["name"] for offer in said["offers"]] == ["go_on", "something_else", "pause", "stop"]
        alerts = await watcher.until("alerts")
        while not alerts["alerts"]:
            alerts = await watcher.until("alerts")
        assert [alert["code"] for alert in alerts["alerts"]] == ["distress"]
        seen = await watcher.until("interviewer.replied", act="distress")
        assert seen["text"] == said["text"]
        await watcher.begin("acknowledge", session_id=session_id)
        assert (await watcher.until("alerts"))["alerts"] == []
        chosen = await respondent.answer("Something else")
        await respondent.until("turn.completed", turn_key=chosen)


async def test_stop_is_heard_though_a_moderator_has_taken_over(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await watcher.hello()
        await respondent.hello()
        await respondent.until("question.completed")
        await watcher.watch(session_id)
        await watcher.order("claim", session_id=session_id)
        said = await replied(respondent, "I'd like to stop the interview now.")
        assert said["act"] == "wants_stop"


async def test_withdrawal_in_words_erases_everything_after_one_confirmation(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await respondent.turn("I like the taste.")
        asked = await replied(respondent, "Please delete everything I said.")
        assert (asked["act"], asked["open"]) == ("wants_withdrawal", True)
        said = await replied(respondent, "yes")
        assert said["open"] is False
    async with asyncio.timeout(PATIENCE_S):
        while (await here.http.get(f"/api/sessions/{session_id}", headers=bearer(here.token))).status_code != 404:
            await asyncio.sleep(0.05)


async def test_wish_to_delete_that_is_plain_is_not_asked_about_a_second_time(here: Place) -> None:
    _, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await respondent.turn("I like the taste.")
        await replied(respondent, "Please delete everything I said.")
        assert (await replied(respondent, "I want to withdraw"))["open"] is False


async def test_answer_to_a_deletion_that_is_not_clear_is_asked_for_once_more_and_deletes_nothing(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await respondent.turn("I like the taste.")
        asked = await replied(respondent, "Please delete everything I said.")
        again = await replied(respondent, "into the fire with it, whatever it was")
        assert (again["act"], again["open"]) == ("wants_withdrawal", True)
        assert again["text"] != asked["text"]
        kept = await replied(respondent, "well, who knows what is best here")
        assert (kept["act"], kept["text"].split(",")[0]) == ("wants_withdrawal", "I can't tell for sure")
        await respondent.turn("It wakes me up.")
    await here.stored()
    lines = (await here.call(f"/api/sessions/{session_id}/transcript"))["items"]
    assert [line["text"] for line in lines if line["speaker"] == "respondent"][-1] == "It wakes me up."


async def test_interview_with_a_minor_is_held_back_until_a_moderator_releases_it(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await watcher.hello()
        await respondent.hello()
        await respondent.until("question.completed")
        await respondent.turn("I like the taste.")
        said = await replied(respondent, "I'm 15 years old.")
        assert (said["act"], said["open"]) == ("minor", False)
        await respondent.until("session.state", state="completed", reason="under_age")
        await here.stored()
        export = f"/api/sessions/{session_id}/export?format=json"
        held = await here.http.get(export, headers=bearer(here.token))
        assert (held.status_code, held.json()["code"]) == (403, "forbidden")
        await watcher.watch(session_id)
        await watcher.order("release_held", session_id=session_id)
        await here.stored()
        assert (await here.http.get(export, headers=bearer(here.token))).status_code == 200
        await watcher.begin("release_held", session_id=session_id)
        await watcher.refused("invalid_input")
