"""The kiosk's page: the same for every concept, kept on the device by a service worker that is versioned by content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from server.wordings import URL as LANGUAGES_URL
from server.wordings import languages_of

PAGE_URL = "/kiosk/"
FOLDERS = ("core", "interview", "kiosk", "texts", "voice")
SHARED = ("theme.css", "parts.css", "interview.css", "logo.svg", "mic.svg")
WORKER = "kiosk/sw.js"
OTHERS = "texts/moderator."
"""Sentences of another page."""


def shell_files(static: Path) -> Iterator[Path]:
    """Files the page is made of, in alphabetical order of their paths; the worker itself is none of them."""
    found = [static / name for name in SHARED]
    for folder in FOLDERS:
        found += [path for path in (static / folder).rglob("*") if path.is_file()]
    for path in sorted(found):
        name = path.relative_to(static).as_posix()
        if name != WORKER and not name.startswith(OTHERS):
            yield path


def worker_source(web: Path) -> str:
    """The service worker's script with its list of files, which says what it keeps and changes with any of them.

    Args:
        web: the folder with `kiosk.html` and `static`.
    """
    static = web / "static"
    digest = hashlib.sha256((web / "kiosk.html").read_bytes())
    urls = [LANGUAGES_URL]
    digest.update(json.dumps(languages_of(static / "texts")).encode())
    for path in shell_files(static):
        url = "/static/" + path.relative_to(static).as_posix()
        urls.append(url)
        digest.update(url.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    made = json.dumps({"VERSION": digest.hexdigest()[:16], "FILES": urls})
    return f"globalThis.askwell = {made};\n" + (static / WORKER).read_text(encoding="utf-8")


def routes(web: Path) -> list[BaseRoute]:
    """`/kiosk/`, which a device installs and starts, `/kiosk/{concept_id}`, and the worker."""

    async def page(request: Request) -> Response:
        # Not kept by the browser itself, so that "back" shows no page of before.
        headers = {"cache-control": "no-store"}
        return FileResponse(web / "kiosk.html", media_type="text/html; charset=utf-8", headers=headers)

    def worker(request: Request) -> Response:
        headers = {"cache-control": "no-cache", "service-worker-allowed": PAGE_URL}
        return Response(worker_source(web), media_type="text/javascript", headers=headers)

    return [
        Route("/kiosk/sw.js", worker, methods=["GET"], name="kiosk-worker"),
        Route(PAGE_URL, page, methods=["GET"], name="kiosk-start"),
        Route("/kiosk/{concept_id}", page, methods=["GET"], name="kiosk"),
    ]
