"""The kiosk's page and the worker that keeps it on the device."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from server.pages import routes, web_root, worker_source


def made(source: str) -> dict[str, object]:
    """What the server put before the worker's own text."""
    first = source.split("\n", 1)[0]
    found: dict[str, object] = json.loads(first.removeprefix("globalThis.askwell = ").removesuffix(";"))
    return found


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """The pages, where they may be changed."""
    ignore = shutil.ignore_patterns("node_modules", "vendor", "tests")
    return Path(shutil.copytree(web_root(), tmp_path / "web", ignore=ignore))


@asynccontextmanager
async def site(web: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The pages alone."""
    transport = httpx.ASGITransport(Starlette(routes=routes(web)))
    async with httpx.AsyncClient(transport=transport, base_url="http://kiosk") as http:
        yield http


def test_worker_lists_the_files_of_the_kiosk_and_of_no_other_page(web: Path) -> None:
    files = made(worker_source(web))["FILES"]
    assert isinstance(files, list)
    assert {"/static/kiosk/main.js", "/static/theme.css", "/static/texts/kiosk.en.js", "/static/voice/main.js"} <= set(
        files
    )
    assert "/static/texts/languages.js" in files, "made by the server, no file"
    assert [url for url in files if "moderator" in url or "/home" in url or url.endswith("sw.js")] == []
    assert all(url == "/static/texts/languages.js" or (web / url[1:]).is_file() for url in files)


@pytest.mark.parametrize(
    "name", ["kiosk.html", "static/kiosk/kiosk.css", "static/core/state.js", "static/texts/kiosk.en.js"]
)
def test_worker_of_changed_files_is_another_version(web: Path, name: str) -> None:
    before = made(worker_source(web))["VERSION"]
    assert made(worker_source(web))["VERSION"] == before
    (web / name).write_text((web / name).read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert made(worker_source(web))["VERSION"] != before


def test_worker_of_a_further_language_is_another_version(web: Path) -> None:
    before = made(worker_source(web))["VERSION"]
    shutil.copy(web / "static/texts/en.js", web / "static/texts/sv.js")
    assert made(worker_source(web))["VERSION"] != before


def test_worker_with_other_pages_changed_stays_the_same(web: Path) -> None:
    before = worker_source(web)
    (web / "static/home.css").write_text("/* another one */", encoding="utf-8")
    (web / "static/texts/moderator.en.js").write_text("export default {};", encoding="utf-8")
    assert worker_source(web) == before


async def test_worker_may_only_reach_the_kiosk_and_is_asked_about_each_time(web: Path) -> None:
    async with site(web) as http:
        worker = await http.get("/kiosk/sw.js")
        assert worker.headers["service-worker-allowed"] == "/kiosk/"
        assert worker.headers["cache-control"] == "no-cache"
        assert worker.headers["content-type"].startswith("text/javascript")


async def test_page_is_the_same_for_every_concept_and_is_not_kept_by_the_browser(web: Path) -> None:
    async with site(web) as http:
        start, page = await http.get("/kiosk/"), await http.get("/kiosk/coffee_mec")
        assert start.content == page.content == (web / "kiosk.html").read_bytes()
        assert page.headers["cache-control"] == "no-store"
