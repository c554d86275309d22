"""The pages: HTML and static files from `web`, the list of their languages, and the kiosk's service worker."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from server.static_files import CompressedFiles, compressed

LANGUAGES_URL = "/static/texts/languages.js"
KIOSK_URL = "/kiosk/"
WORKER = "kiosk/sw.js"
KIOSK_FOLDERS = ("core", "interview", "kiosk", "texts", "voice")
KIOSK_FILES = ("theme.css", "parts.css", "interview.css", "logo.svg", "mic.svg")
NOT_ON_KIOSKS = "texts/moderator."
_COMMON = "common"
_TEXTS = re.compile(r"(?:(?P<part>[a-z_]+)\.)?(?P<tag>[a-z]{2,3}(?:-[a-z0-9]+)*)\.js")


def web_root() -> Path:
    """Where the pages are, in a checkout as in an installation."""
    return Path(str(files("web")))


def routes(web: Path | None = None) -> list[BaseRoute]:
    """The pages and `/static`.

    Args:
        web: the folder with the HTML files and `static`; `web_root()` if not given.
    """
    folder = web or web_root()
    static = folder / "static"

    async def kiosk(request: Request) -> Response:
        # Not kept by the browser itself, so that "back" shows nothing of an earlier interview.
        headers = {"cache-control": "no-store"}
        return FileResponse(folder / "kiosk.html", media_type="text/html; charset=utf-8", headers=headers)

    def worker(request: Request) -> Response:
        return _script(worker_source(folder), {"service-worker-allowed": KIOSK_URL})

    def languages(request: Request) -> Response:
        listed = json.dumps(languages_of(static / "texts"), separators=(",", ":"))
        return _script(f"export default {listed};\n", {})

    return [
        _page(folder / "index.html", "/"),
        _page(folder / "interview.html", "/interview/{session_id}"),
        _page(folder / "moderator.html", "/moderator"),
        Route("/kiosk/sw.js", worker, methods=["GET"], name="kiosk-worker"),
        Route(KIOSK_URL, kiosk, methods=["GET"], name="kiosk-start"),
        Route("/kiosk/{concept_id}", kiosk, methods=["GET"], name="kiosk"),
        Route(LANGUAGES_URL, languages, methods=["GET"], name="languages"),
        Mount("/static", CompressedFiles(directory=static), name="static"),
    ]


def _page(path: Path, url: str) -> Route:
    async def page(request: Request) -> Response:
        html = FileResponse(path, media_type="text/html; charset=utf-8", headers={"cache-control": "no-cache"})
        return await compressed(request.scope, html)

    return Route(url, page, methods=["GET"], name=path.name)


def _script(source: str, headers: dict[str, str]) -> Response:
    return Response(source, media_type="text/javascript", headers={"cache-control": "no-cache", **headers})


def languages_of(folder: Path) -> dict[str, list[str]]:
    """Languages by part of the pages, each in alphabetical order; a file for one more language is enough to add it.

    Args:
        folder: where `de.js` (the sentences that all parts share) and `kiosk.de.js` (those of one part) are.
    Returns:
        Tags as files spell them, in lower case. A part whose language has no shared sentences is left out in that
        language, because the page would be half in another one.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.js")):
        match = _TEXTS.fullmatch(path.name)
        if match:
            found.setdefault(match["part"] or _COMMON, []).append(match["tag"])
    common = found.get(_COMMON, [])
    return {part: [tag for tag in tags if tag in common] for part, tags in found.items()}


def kiosk_files(static: Path) -> Iterator[Path]:
    """Files that the kiosk's page is made of, in alphabetical order of their paths, without the service worker."""
    found = [static / name for name in KIOSK_FILES]
    for folder in KIOSK_FOLDERS:
        found += [path for path in (static / folder).rglob("*") if path.is_file()]
    for path in sorted(found):
        name = path.relative_to(static).as_posix()
        if name != WORKER and not name.startswith(NOT_ON_KIOSKS):
            yield path


def worker_source(web: Path) -> str:
    """The kiosk's service worker, which keeps the page on the device.

    Before its script stand the files that it keeps and a version that changes with the content of any of them.

    Args:
        web: the folder with `kiosk.html` and `static`.
    """
    static = web / "static"
    digest = hashlib.sha256((web / "kiosk.html").read_bytes())
    urls = [LANGUAGES_URL]
    digest.update(json.dumps(languages_of(static / "texts")).encode())
    for path in kiosk_files(static):
        url = "/static/" + path.relative_to(static).as_posix()
        urls.append(url)
        digest.update(url.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    made = json.dumps({"VERSION": digest.hexdigest()[:16], "FILES": urls})
    return f"globalThis.askwell = {made};\n" + (static / WORKER).read_text(encoding="utf-8")
