"""What respondents are shown: the text and the image of a stimulus, as they were when the session began."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.config.test_stimulus import png
from tests.support.whole import Process, bearer, process

CONCEPT: dict[str, Any] = {
    "id": "board",
    "name": "the cup",
    "methodology": "small",
    "objective": "Why",
    "stimulus": "A cup that keeps its warmth.",
    "stimulus_image": {"file": "board.png", "alt": "A cup on a table."},
    "elements": [],
}


TOLD = {**CONCEPT, "id": "told", "stimulus": "A warm cup.\nTwo colours."}
del TOLD["stimulus_image"], TOLD["elements"]


def add(server: Process, concept: dict[str, Any]) -> None:
    """A concept, among the server's."""
    folder = server.parts.settings.storage.config_dir
    assert folder is not None
    (folder / "concepts" / f"{concept['id']}.yaml").write_text(yaml.safe_dump(concept, sort_keys=False))


async def elements_of(server: Process, session_id: str) -> list[str]:
    """Labels of the elements that a session is pinned to."""
    answer = await server.call("GET", f"/api/sessions/{session_id}/export", headers=server.moderator)
    return [element["label"] for element in answer.json()["configuration"]["concept"]["elements"]]


def add_board(server: Process, image: bytes) -> Path:
    """The concept above, among the server's; the path of its image."""
    folder = server.parts.settings.storage.config_dir
    assert folder is not None
    path = folder / "concepts" / "board.png"
    path.write_bytes(image)
    add(server, CONCEPT)
    return path


async def test_image_shown_to_the_respondent_and_moderators_as_it_was(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        path = add_board(server, png(3, 2))
        session_id, headers = await server.begin("board")
        other_id, other = await server.begin("board")
        told = (await server.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
        assert told["stimulus"] == "A cup that keeps its warmth."
        shown = told["stimulus_image"]
        assert shown == {
            "url": f"/api/sessions/{session_id}/stimulus",
            "media_type": "image/png",
            "width": 3,
            "height": 2,
            "alt": "A cup on a table.",
        }
        path.write_bytes(b"<svg onload='alert(1)'/>")
        for who in (headers, server.moderator):
            answer = await server.call("GET", shown["url"], headers=who)
            assert (answer.status_code, answer.content) == (200, png(3, 2))
            assert answer.headers["content-type"] == "image/png"
            assert answer.headers["x-content-type-options"] == "nosniff"
        assert (await server.call("GET", shown["url"], headers=other)).status_code == 403
        assert (await server.call("GET", shown["url"])).status_code == 401
        assert (await server.call("GET", f"/api/sessions/{other_id}/stimulus", headers=other)).content == png(3, 2)
        refused = await server.call("POST", "/api/sessions", json={"concept_id": "board"}, headers=server.moderator)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")


async def test_interview_without_an_image_says_so(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        session_id, headers = await server.begin()
        told = (await server.call("GET", f"/api/sessions/{session_id}", headers=headers)).json()
        assert told["stimulus_image"] is None
        answer = await server.call("GET", f"/api/sessions/{session_id}/stimulus", headers=headers)
        assert answer.status_code == 404
        nobody = await server.call("GET", "/api/sessions/none/stimulus", headers=bearer("wrong"))
        assert nobody.status_code == 401


async def test_elements_are_made_of_the_text_once_and_kept_with_the_session(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        add(server, TOLD)
        first, _ = await server.begin("told")
        second, _ = await server.begin("told")
        assert await elements_of(server, first) == ["A warm cup.", "Two colours."] == await elements_of(server, second)
        assert len(server.parser.requests) == 1
        add(server, {**TOLD, "stimulus": "A cold cup, then."})
        third, _ = await server.begin("told")
        assert await elements_of(server, third) == ["A cold cup, then."]
        assert await elements_of(server, first) == ["A warm cup.", "Two colours."]


async def test_concept_with_elements_of_its_own_or_none_wanted_keeps_to_them(tmp_path: Path) -> None:
    async with process(tmp_path) as server:
        add(server, {**TOLD, "elements": [{"id": "warmth", "label": "warmth"}]})
        own, _ = await server.begin("told")
        add(server, {**TOLD, "elements": []})
        none, _ = await server.begin("told")
        assert (await elements_of(server, own), await elements_of(server, none)) == (["warmth"], [])
        assert server.parser.requests == []
