"""Languages of the pages are found by their files."""

from __future__ import annotations

import json
from pathlib import Path

from starlette.applications import Starlette
from starlette.testclient import TestClient

from server.pages import LANGUAGES_URL, languages_of, routes, web_root


def _folder(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).write_text("export default {};\n", encoding="utf-8")
    return root


def test_languages_of_files_by_part_and_without_helpers(tmp_path: Path) -> None:
    _folder(tmp_path, "index.js", "formats.js", "en.js", "pt-br.js", "kiosk.en.js", "kiosk.pt-br.js", "notes.txt")
    assert languages_of(tmp_path) == {"common": ["en", "pt-br"], "kiosk": ["en", "pt-br"]}


def test_languages_of_part_without_common_sentences_left_out(tmp_path: Path) -> None:
    _folder(tmp_path, "en.js", "kiosk.en.js", "kiosk.fr.js")
    assert languages_of(tmp_path)["kiosk"] == ["en"]


def test_languages_module_added_file_is_there_at_the_next_request(tmp_path: Path) -> None:
    texts = tmp_path / "static" / "texts"
    texts.mkdir(parents=True)
    client = TestClient(Starlette(routes=routes(tmp_path)))
    _folder(texts, "en.js")
    assert client.get(LANGUAGES_URL).text == 'export default {"common":["en"]};\n'
    _folder(texts, "sv.js")
    answer = client.get(LANGUAGES_URL)
    assert json.loads(answer.text.removeprefix("export default ").rstrip(";\n")) == {"common": ["en", "sv"]}
    assert answer.headers["content-type"].startswith("text/javascript")


def test_languages_of_checkout_arabic_english_german_in_every_part() -> None:
    for part, tags in languages_of(web_root() / "static" / "texts").items():
        assert {"ar", "de", "en"} <= set(tags), part
