"""The pages: HTML from `web`, and their static files."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from server import kiosk_page
from server.wordings import languages_route


def web_root() -> Path:
    """Where the pages are, in a checkout as in an installation."""
    return Path(str(files("web")))


class _Static(StaticFiles):
    """Static files that a browser keeps but asks about each time: their names carry no version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return response


def _page(name: str) -> Route:
    urls = {"index.html": "/", "interview.html": "/interview/{session_id}", "moderator.html": "/moderator"}
    path, url = web_root() / name, urls[name]

    async def page(request: Request) -> Response:
        return FileResponse(path, media_type="text/html; charset=utf-8", headers={"cache-control": "no-cache"})

    return Route(url, page, methods=["GET"], name=name)


def routes() -> list[BaseRoute]:
    """The pages that exist, and `/static`."""
    languages = languages_route(web_root() / "static" / "texts")
    static = Mount("/static", _Static(directory=web_root() / "static"), name="static")
    pages = [_page(name) for name in ("index.html", "interview.html", "moderator.html")]
    return [*pages, *kiosk_page.routes(web_root()), languages, static]
