"""A kiosk's calls: who may ask, what an interview there needs, and the operator's corner."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.patience import PATIENCE_S
from tests.support.speech import tones
from tests.support.syncing import device, full_interview
from tests.support.whole import Process, bearer, hearing_process, process

PIN = "4711"
ASKED: dict[str, Any] = {
    "id": "asked",
    "name": "asked",
    "methodology": "small",
    "objective": "Why",
    "languages": ["en", "de"],
    "stimulus": "A new cup.",
    "consent": {"text": "Do you agree?", "version": "2"},
    "kiosk": {
        "respondent_ref": "required",
        "eligibility": [
            {"id": "adult", "text": {"en": "You are 18 or older.", "de": "Sie sind mindestens 18."}},
            {"id": "user", "text": {"en": "You drink it.", "de": "Sie trinken ihn."}},
        ],
        "modes": ["text"],
        "idle_warning_s": 20,
    },
}


def add_concept(server: Process, **changes: Any) -> None:
    """The concept above, among the server's."""
    folder = server.parts.settings.storage.config_dir
    assert folder is not None
    content = {**ASKED, **changes}
    (folder / "concepts" / f"{content['id']}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))


def begin(**fields: Any) -> dict[str, Any]:
    """A session that fulfils all that is asked."""
    whole = {"concept_id": "asked", "respondent_ref": "R1", "eligibility": {"adult": True, "user": True}, **fields}
    return {name: value for name, value in whole.items() if value is not None}


async def unlocked(server: Process, headers: dict[str, str]) -> dict[str, str]:
    """Headers with a key."""
    answer = await server.call("POST", "/api/kiosk/unlock", json={"pin": PIN}, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["unlocked_s"] == 300
    return {**headers, "x-kiosk-key": answer.json()["key"]}


async def test_kiosk_is_told_all_that_an_interview_there_needs(tmp_path: Path) -> None:
    async with process(tmp_path, kiosk_pin=PIN) as server:
        add_concept(server)
        token, token_id = await device(server, ["asked"], "Entrance")
        answer = await server.call("GET", "/api/kiosk/asked?language=de", headers=bearer(token))
        assert answer.status_code == 200
        told = answer.json()
        assert told["concept"] == {
            "id": "asked",
            "name": "asked",
            "title": "asked",
            "languages": ["en", "de"],
            "stimulus": "A new cup.",
            "consent": {"text": "Do you agree?", "version": "2", "required": True},
        }
        assert told["kiosk"] == {
            "respondent_ref": "required",
            "eligibility": [
                {"id": "adult", "text": "Sie sind mindestens 18."},
                {"id": "user", "text": "Sie trinken ihn."},
            ],
            "modes": ["text"],
            "idle_warning_s": 20,
            "idle_reset_s": 30,
            "thanks_s": 15,
            "half_duplex": True,
            "operator": True,
            "pin_required": True,
        }
        assert told["speech"] == {"available": False, "reason": "transcriber_unavailable", "record_audio": False}
        assert told["device"] == {"id": token_id, "name": "Entrance"}
        assert told["language"] == "de"
        unknown = await server.call("GET", "/api/kiosk/asked?language=fr", headers=bearer(token))
        assert (unknown.status_code, unknown.json()["code"]) == (422, "language_unsupported")


async def test_kiosk_of_other_concepts_or_without_a_token_is_refused(tmp_path: Path) -> None:
    async with process(tmp_path, open_enrolment="false") as server:
        token, token_id = await device(server, ["tea"])
        mine = bearer(token)
        assert (await server.call("GET", "/api/kiosk/tea", headers=mine)).status_code == 200
        for path, headers, status in (
            ("/api/kiosk/coffee", mine, 403),
            ("/api/kiosk/coffee", {}, 401),
            ("/api/kiosk/coffee", bearer("wrong"), 401),
            ("/api/kiosk/nothing", server.moderator, 404),
            ("/api/kiosk/status", {}, 401),
            ("/api/kiosk/unsynced/export", {}, 401),
        ):
            assert (await server.call("GET", path, headers=headers)).status_code == status, (path, status)
        assert (await server.call("DELETE", f"/api/tokens/{token_id}", headers=server.moderator)).status_code == 204
        assert (await server.call("GET", "/api/kiosk/tea", headers=mine)).status_code == 401


async def test_this_machine_needs_no_token_where_enrolment_is_open(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        told = (await server.call("GET", "/api/kiosk/coffee")).json()
        assert told["device"] is None
        assert told["kiosk"]["operator"] is False
        _, respondent = await server.begin("coffee")
        assert (await server.call("GET", "/api/kiosk/coffee", headers=respondent)).status_code == 403


async def test_device_starts_interviews_on_its_concepts_without_open_enrolment(tmp_path: Path) -> None:
    async with process(tmp_path, open_enrolment="false") as server:
        token, token_id = await device(server, ["coffee"], "Entrance")
        body = {"concept_id": "coffee"}
        assert (await server.call("POST", "/api/sessions", json=body)).status_code == 401
        made = await server.call("POST", "/api/sessions", json=body, headers=bearer(token))
        assert made.status_code == 201
        session_id = made.json()["session_id"]
        refused = await server.call("POST", "/api/sessions", json={"concept_id": "tea"}, headers=bearer(token))
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert await server.storage.writer.drain(PATIENCE_S)
        expected = {"id": token_id, "name": "Entrance"}
        [row] = (await server.call("GET", "/api/sessions", headers=server.moderator)).json()["items"]
        assert (row["device"], row["eligibility"], row["received_at"]) == (expected, {}, None)
        detail = (await server.call("GET", f"/api/sessions/{session_id}", headers=server.moderator)).json()
        assert (detail["device"], detail["eligibility"], detail["received_at"]) == (expected, {}, None)


async def test_revoked_device_starts_nothing_even_where_enrolment_is_open(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        token, token_id = await device(server)
        assert (await server.call("DELETE", f"/api/tokens/{token_id}", headers=server.moderator)).status_code == 204
        refused = await server.call("POST", "/api/sessions", json={"concept_id": "coffee"}, headers=bearer(token))
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthorised")


async def test_loudspeaker_of_a_kiosk_is_not_talked_over(tmp_path: Path) -> None:
    async with process(tmp_path, barge_in="true") as server:
        token, _ = await device(server)
        for headers, barge_in in ((bearer(token), False), ({}, True)):
            made = await server.call("POST", "/api/sessions", json={"concept_id": "coffee"}, headers=headers)
            mine = bearer(made.json()["respondent_token"])
            told = await server.call("GET", f"/api/sessions/{made.json()['session_id']}", headers=mine)
            assert told.json()["speech"]["barge_in"] is barge_in


async def test_what_was_confirmed_stays_with_the_session_and_its_exports(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        add_concept(server)
        token, token_id = await device(server, ["asked"], "Entrance")
        made = await server.call("POST", "/api/sessions", json=begin(), headers=bearer(token))
        assert made.status_code == 201, made.text
        assert await server.storage.writer.drain(PATIENCE_S)
        path = f"/api/sessions/{made.json()['session_id']}/export?format=json"
        told = (await server.call("GET", path, headers=server.moderator)).json()["session"]
        assert (told["respondent_ref"], told["eligibility"]) == ("R1", {"adult": True, "user": True})
        assert told["device"] == {"id": token_id, "name": "Entrance"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"eligibility": None}, "`adult` is not confirmed"),
        ({"eligibility": {"adult": True}}, "`user` is not confirmed"),
        ({"eligibility": {"adult": True, "user": False}}, "`user` is not confirmed"),
        ({"eligibility": {"adult": True, "user": True, "rich": True}}, "no statement `rich`"),
        ({"eligibility": {"adult": "yes"}}, "eligibility"),
        ({"respondent_ref": None}, "needs a reference"),
        ({"respondent_ref": "  "}, "needs a reference"),
    ],
)
async def test_interview_that_lacks_what_the_concept_asks_is_not_begun(
    tmp_path: Path, fields: dict[str, Any], reason: str
) -> None:
    async with process(tmp_path) as server:
        add_concept(server)
        token, _ = await device(server, ["asked"])
        refused = await server.call("POST", "/api/sessions", json=begin(**fields), headers=bearer(token))
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
        assert reason in refused.json()["detail"]
        assert await server.storage.writer.drain(PATIENCE_S)
        assert (await server.call("GET", "/api/sessions", headers=server.moderator)).json()["items"] == []


async def test_interview_elsewhere_is_not_asked_for_what_kiosks_ask(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        add_concept(server)
        made = await server.call("POST", "/api/sessions", json={"concept_id": "asked"})
        assert made.status_code == 201


async def test_spoken_only_kiosk_refuses_a_language_that_is_not_heard(tmp_path: Path) -> None:
    async with hearing_process(tmp_path, tones()) as server:
        add_concept(server, kiosk={"modes": ["voice"]})
        token, _ = await device(server, ["asked"])
        body = {"concept_id": "asked", "language": "de"}
        refused = await server.call("POST", "/api/sessions", json=body, headers=bearer(token))
        assert (refused.status_code, refused.json()["code"]) == (422, "language_unsupported")
        made = await server.call("POST", "/api/sessions", json={"concept_id": "asked"}, headers=bearer(token))
        assert made.status_code == 201


# The operator's corner


async def test_corner_tells_how_the_kiosk_is(tmp_path: Path) -> None:
    async with process(tmp_path, kiosk_pin=PIN) as server:
        token, token_id = await device(server, None, "Entrance")
        await full_interview(server)
        await server.interview(turns=1)
        headers = await unlocked(server, bearer(token))
        told = (await server.call("GET", "/api/kiosk/status", headers=headers)).json()
        assert told["device"] == {"id": token_id, "name": "Entrance"}
        assert told["unsynced"] == {"finished": 1, "unfinished": 1}
        assert told["sync"]["state"] == "off"
        assert told["sync"]["to"] is None
        assert told["storage"]["free_bytes"] > told["storage"]["used_bytes"] > 10_000
        assert told["started_at"] < told["clock"]["now"]


async def test_corner_is_shut_without_the_pin(tmp_path: Path) -> None:
    async with process(tmp_path, kiosk_pin=PIN) as server:
        token, _ = await device(server)
        other, _ = await device(server)
        mine = bearer(token)
        key = await unlocked(server, mine)
        stolen = {**bearer(other), "x-kiosk-key": key["x-kiosk-key"]}
        for headers in (mine, {**mine, "x-kiosk-key": "1.0"}, stolen):
            for method, path in (
                ("GET", "/api/kiosk/status"),
                ("GET", "/api/kiosk/unsynced/export"),
                ("POST", "/api/kiosk/restart"),
            ):
                refused = await server.call(method, path, headers=headers)
                assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        for _ in range(3):
            wrong = await server.call("POST", "/api/kiosk/unlock", json={"pin": "0000"}, headers=mine)
            assert wrong.status_code == 403
        wait = await server.call("POST", "/api/kiosk/unlock", json={"pin": PIN}, headers=mine)
        assert (wait.status_code, wait.json()["code"]) == (429, "rate_limited")
        assert 1 <= int(wait.headers["retry-after"]) <= 5


async def test_corner_without_a_pin_stays_shut(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        refused = await server.call("POST", "/api/kiosk/unlock", json={"pin": ""})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert "ASKWELL_KIOSK_PIN" in refused.json()["detail"]


async def test_export_holds_what_waits_and_nothing_of_other_concepts(tmp_path: Path) -> None:
    async with process(tmp_path, kiosk_pin=PIN) as server:
        token, _ = await device(server, ["coffee"])
        narrow, _ = await device(server, ["tea"])
        session_id = await full_interview(server)
        headers = await unlocked(server, bearer(token))
        answer = await server.call("GET", "/api/kiosk/unsynced/export", headers=headers)
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith('attachment; filename="askwell-unsynced-')
        lines = gzip.decompress(answer.content).splitlines()
        assert session_id.encode() in lines[0]
        assert lines[-1] == b'{"askwell":"end","sessions":1}'
        none = await server.call("GET", "/api/kiosk/unsynced/export", headers=await unlocked(server, bearer(narrow)))
        assert (none.status_code, none.json()["code"]) == (404, "not_found")


async def test_restart_is_asked_for_only_where_it_can_be(tmp_path: Path) -> None:
    async with process(tmp_path, kiosk_pin=PIN) as server:
        headers = await unlocked(server, {})
        refused = await server.call("POST", "/api/kiosk/restart", headers=headers)
        assert refused.status_code == 403
        left: list[bool] = []
        server.parts.leaving.arm(lambda: left.append(True))
        assert (await server.call("POST", "/api/kiosk/restart", json={}, headers=headers)).status_code == 202
        assert (left, server.parts.leaving.again) == ([True], True)
