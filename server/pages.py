"""The pages: HTML from `web`, and their static files."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from server import kiosk_page
from server.packed import PackedFiles, packed_response
from server.wordings import languages_route


def web_root() -> Path:
    """Where the pages are, in a checkout as in an installation."""
    return Path(str(files("web")))


def _page(name: str) -> Route:
    urls = {"index.html": "/", "interview.html": "/interview/{session_id}", "moderator.html": "/moderator"}
    path, url = web_root() / name, urls[name]

    async def page(request: Request) -> Response:
        html = FileResponse(path, media_type="text/html; charset=utf-8", headers={"cache-control": "no-cache"})
        return await packed_response(request.scope, html)

    return Route(url, page, methods=["GET"], name=name)


def routes() -> list[BaseRoute]:
    """The pages that exist, and `/static`."""
    languages = languages_route(web_root() / "static" / "texts")
    static = Mount("/static", PackedFiles(directory=web_root() / "static"), name="static")
    pages = [_page(name) for name in ("index.html", "interview.html", "moderator.html")]
    return [*pages, *kiosk_page.routes(web_root()), languages, static]
