"""Files of the pages, compressed for browsers that accept it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from server.static_files import CompressedFiles, without_comments

WORDS = "export default {};\n" * 200


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "a.js").write_text(WORDS, encoding="utf-8")
    (tmp_path / "b.png").write_bytes(b"\x89PNG")
    return TestClient(Starlette(routes=[Mount("/static", CompressedFiles(directory=tmp_path))]))


def test_text_compressed_for_browsers_that_accept_it(client: TestClient) -> None:
    answer = client.get("/static/a.js", headers={"accept-encoding": "br, gzip;q=0.8"})
    assert (answer.headers["content-encoding"], answer.headers["vary"]) == ("gzip", "accept-encoding")
    assert int(answer.headers["content-length"]) < len(WORDS) // 10
    assert answer.text == WORDS
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("headers", [{"accept-encoding": "identity"}, {"accept-encoding": "gzip;q=0"}])
def test_text_plain_for_those_that_do_not(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.get("/static/a.js", headers=headers)
    assert "content-encoding" not in answer.headers
    assert answer.text == WORDS


def test_part_of_a_file_is_a_part_of_the_plain_one(client: TestClient) -> None:
    answer = client.get("/static/a.js", headers={"range": "bytes=0-5", "accept-encoding": "gzip"})
    assert (answer.status_code, answer.content) == (206, b"export")


def test_pictures_left_as_they_are(client: TestClient) -> None:
    assert "content-encoding" not in client.get("/static/b.png").headers


def test_unchanged_file_not_sent_again_and_changed_one_is(client: TestClient, tmp_path: Path) -> None:
    first = client.get("/static/a.js")
    known = {"if-none-match": first.headers["etag"]}
    assert first.headers["etag"].startswith("W/")
    assert client.get("/static/a.js", headers=known).status_code == 304
    (tmp_path / "a.js").write_text("changed", encoding="utf-8")
    again = client.get("/static/a.js", headers=known)
    assert (again.status_code, again.text) == (200, "changed")


def test_missing_file_not_found(client: TestClient) -> None:
    assert client.get("/static/none.js").status_code == 404


def test_scripts_are_sent_without_comments_and_places_in_them_stay() -> None:
    script = b"/** Says hello.\n * @param {string} name\n */\nexport function hello(name) { // kept\n  // gone\n"
    script += b"  return `\n// kept\n`;\n}\n"
    sent = without_comments(script).split(b"\n")
    assert len(sent) == len(script.split(b"\n"))
    assert sent[:5] == [b"", b"", b"", b"export function hello(name) { // kept", b""]
    assert sent[5:8] == [b"  return `", b"// kept", b"`;"]


@pytest.mark.parametrize(
    "script",
    [b"", b"\n", b"a /* b */ c", b"const url = 'http://x/*';\nb();", b"/* one */ two();", b"x = 4\n* 5;"],
)
def test_what_is_no_comment_of_whole_lines_stays(script: bytes) -> None:
    assert without_comments(script) == script
