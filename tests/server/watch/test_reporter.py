"""What a session's owner tells, as rows, frames and alerts; and what becomes of an answer nobody fetches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from server.hot.values import DurableEvent
from server.protocol.watched import OverviewItem
from server.session.events import EventsPublished, RespondentConnected
from server.watch.exchange import Follower
from server.watch.mailbox import Mailbox
from server.watch.reporter import Reporter
from tests.support.client import key
from tests.support.moderator import Place, place
from tests.support.patience import PATIENCE_S


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    """One process on a free port."""
    async with place(tmp_path, alert_stuck_s="10", alert_disconnected_s="5", claim_timeout_s="10") as running:
        yield running


def reporter(here: Place, session_id: str) -> Reporter:
    """Of a session that lives here."""
    return here.parts.watch._reporters[session_id]


def codes(row: OverviewItem) -> list[str]:
    """The alerts of a row."""
    return [alert.code for alert in row.alerts]


async def test_time_without_a_sign_raises_an_alert_and_a_sign_ends_it(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id, token = await here.begin()
    told: list[str] = []
    monkeypatch.setattr(here.parts.watch.webhook, "offer", lambda key, alert: told.append(alert["code"]))
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        found = reporter(here, session_id)
        now = here.parts.now()
        found.tick(now + timedelta(seconds=9))
        assert codes(found.live.row()) == []
        found.tick(now + timedelta(seconds=11))
        assert codes(found.live.row()) == ["stuck"]
        await respondent.turn("I like the taste.")
        assert codes(found.live.row()) == []
    async with asyncio.timeout(PATIENCE_S):
        while found.live.row().connected:
            await asyncio.sleep(0.01)
    found.tick(here.parts.now() + timedelta(seconds=6))
    assert codes(found.live.row()) == ["disconnected"]
    assert told == ["stuck", "disconnected"]


async def test_answer_that_nobody_fetches_is_given_back_to_the_engine(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.moderator() as watcher, here.respondent(token) as respondent:
        await watcher.hello()
        await respondent.hello()
        await respondent.until("question.completed")
        await watcher.watch(session_id)
        await watcher.order("claim")
        turn_key = await respondent.answer("I like the taste.")
        await watcher.until("respondent", activity="held")
        found = reporter(here, session_id)
        since = found.live.waits_since
        assert since is not None
        found.observe(RespondentConnected(False))
        found.observe(RespondentConnected(True))
        assert found.live.waits_since == since, "a connection that comes and goes begins nothing anew"
        await here.parts.watch.check_waiting(found, since + timedelta(seconds=9))
        assert found.live.row().waiting
        await here.parts.watch.check_waiting(found, since + timedelta(seconds=11))
        await respondent.until("turn.completed", turn_key=turn_key)
        action = (await watcher.have("session.state", claimed_by=None))["state"]
        assert action == "active"
    await here.stored()
    actions = (await here.call(f"/api/sessions/{session_id}/actions"))["items"]
    assert [(one["action"], one["moderator"]) for one in actions] == [("claim", "moderator"), ("release", "askwell")]


async def test_who_looks_before_the_store_knows_of_a_command_is_told_of_it(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id, token = await here.begin()

    async def behind(session_id: str) -> list[Any]:
        return []

    async with here.moderator() as first, here.moderator() as later, here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await first.hello()
        await first.watch(session_id)
        await first.order("pause")
        monkeypatch.setattr(here.parts.store, "moderator_actions", behind)
        await later.hello()
        snapshot = await later.watch(session_id)
        assert (snapshot["state"]["state"], snapshot["state"]["moderator_actions"]) == ("paused", [])
        assert (await later.until("action"))["action"]["action"] == "pause"


async def test_work_that_is_over_in_a_moment_costs_the_overview_no_row(here: Place) -> None:
    session_id, token = await here.begin()
    rows: list[OverviewItem] = []

    def told(row: OverviewItem) -> bool:
        rows.append(row)
        return True

    here.parts.watch.exchange.follow(Follower(Mailbox(), told))
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        rows.clear()
        await respondent.turn("I like the taste.")
        found = reporter(here, session_id)
        assert [(row.turn_number, row.activity) for row in rows][-1] == (1, "thinking")
        assert [(row.turn_number, row.activity) for row in rows] == [(1, "thinking")]
        rows.clear()
        found.observe(EventsPublished([DurableEvent(1, {"type": "turn.started", "turn_number": 2, "turn_key": "k"})]))
        assert rows == []
        found.tick(here.parts.now())
        assert [row.activity for row in rows] == ["working"]
        found.tick(here.parts.now())
        assert len(rows) == 1


async def test_defect_in_showing_harms_no_interview(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    session_id, token = await here.begin()

    def broken(*_: Any, **__: Any) -> OverviewItem:
        raise RuntimeError("a defect")

    monkeypatch.setattr("server.watch.live.row_of", broken)
    here.parts.watch.exchange.follow(Follower(Mailbox(), lambda row: True))
    with capture_logs() as lines:
        async with here.respondent(token) as respondent:
            await respondent.hello()
            await respondent.until("question.completed")
            assert (await respondent.turn("I like the taste.", key()))["turn_number"] == 1
    defects = [line for line in lines if line["event"] == "session.observer_defect"]
    assert {(line["session"], line["log_level"]) for line in defects} == {(session_id, "error")}
    assert "SessionCommitted" in {line["event_type"] for line in defects}
    monkeypatch.undo()
    await here.stored()
    lines_said = (await here.call(f"/api/sessions/{session_id}/transcript"))["items"]
    assert [line["text"] for line in lines_said if line["speaker"] == "respondent"] == ["I like the taste."]


async def test_kiosk_that_is_not_heard_of_is_told(here: Place) -> None:
    made = await here.make_token("device", name="Hall")
    headers = {"authorization": f"Bearer {made['token']}"}
    created = (await here.http.post("/api/sessions", json={"concept_id": "coffee"}, headers=headers)).json()
    async with here.moderator() as watcher, here.respondent(created["respondent_token"]) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await watcher.hello()
        assert [row["kiosk"] for row in (await watcher.overview())["rows"]] == ["Hall"]
        await here.parts.watch.look_at_devices(at_once=True)
        assert [(one.name, one.online) for one in here.parts.watch.devices.kiosks.kiosks] == [("Hall", True)]
        long_ago = int((here.parts.now() - timedelta(seconds=100)).timestamp() * 1000)
        await here.storage.hot.broadcasts.set_last_seen(made["id"], long_ago, 3600)
        await here.parts.watch.look_at_devices(at_once=True)
        frame = await watcher.until("kiosks", kiosks=_offline(made["id"], long_ago))
        assert not frame["kiosks"][0]["online"]
        while not (row := await watcher.until("overview.row", session_id=created["session_id"]))["alerts"]:
            continue
        assert [one["code"] for one in row["alerts"]] == ["kiosk_offline"]


def _offline(device_id: str, at_ms: int) -> list[dict[str, Any]]:
    seen = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()
    return [{"id": device_id, "name": "Hall", "online": False, "last_seen": seen}]


async def test_frames_of_a_session_at_rest_are_those_from_before(here: Place) -> None:
    session_id, token = await here.begin()
    async with here.respondent(token) as respondent:
        await respondent.hello()
        await respondent.until("question.completed")
        await respondent.turn("I like the taste.")
        owner = here.parts.hub.owner(session_id)
        assert owner is not None
        live = reporter(here, session_id).live
        await owner.context.worker.settled()
        before, row = live.frames(), live.row()
        assert any('"scores"' in frame for frame in before)
        await owner.rest(0.0)
        assert owner.context.ledger.resting
        assert (live.frames(), live.row()) == (before, row)
        reporter(here, session_id).tick(here.parts.now())
        assert owner.context.ledger.resting, "the time that passes wakes nobody"
        await respondent.turn("It wakes me up.")
        assert live.frames() != before
