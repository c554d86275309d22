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

from server.descriptions import (
    ANY_TYPE,
    HTML,
    JAVASCRIPT,
    Described,
    DescribedMount,
    DescribedRoute,
    Group,
    Operation,
    Parameter,
    Reply,
)
from server.static_files import CompressedFiles, compressed

LANGUAGES_URL = "/static/texts/languages.js"
KIOSK_URL = "/kiosk/"
WORKER = "kiosk/sw.js"
KIOSK_FOLDERS = ("core", "interview", "kiosk", "texts", "voice")
KIOSK_FILES = ("theme.css", "parts.css", "interview.css", "logo.svg", "mic.svg")
NOT_ON_KIOSKS = "texts/moderator."
PAGES = Group(
    "Pages",
    "What browsers show. Pages hold no data of interviews: their scripts fetch these with the calls above.",
    "curl -I $URL/moderator",
    "",
)
_COMMON = "common"
_TEXTS = re.compile(r"(?:(?P<part>[a-z_]+)\.)?(?P<tag>[a-z]{2,3}(?:-[a-z0-9]+)*)\.js")


def web_root() -> Path:
    """Where the pages are, in a checkout as in an installation."""
    return Path(str(files("web")))


def routes(web: Path | None = None) -> list[Described]:
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
        _page(folder / "index.html", "/", "The start page"),
        _page(folder / "interview.html", "/interview/{session_id}", "The respondent's page"),
        _page(folder / "moderator.html", "/moderator", "The moderators' page"),
        DescribedRoute("/kiosk/sw.js", worker, _shown("The kiosk's service worker", JAVASCRIPT), name="kiosk-worker"),
        DescribedRoute(KIOSK_URL, kiosk, _shown("The kiosk's page, without a concept", HTML), name="kiosk-start"),
        DescribedRoute("/kiosk/{concept_id}", kiosk, _shown("The kiosk's page", HTML), name="kiosk"),
        DescribedRoute(LANGUAGES_URL, languages, _shown("The languages of the pages", JAVASCRIPT), name="languages"),
        DescribedMount("/static", CompressedFiles(directory=static), _files(), name="static"),
    ]


def _shown(summary: str, media_type: str) -> Operation:
    """A page or script, which everybody gets."""
    return Operation(summary, PAGES, (Reply("It.", media_types=(media_type,)),), anyone=True)


def _files() -> Operation:
    return Operation(
        "A file of the pages",
        PAGES,
        (
            Reply("The file.", media_types=(JAVASCRIPT, "text/css", "image/svg+xml", ANY_TYPE)),
            Reply("Part of it.", status=206, media_types=(JAVASCRIPT, "text/css", "image/svg+xml", ANY_TYPE)),
            Reply("The client has it already.", status=304, media_types=()),
        ),
        anyone=True,
        path=(Parameter("path", str, "Where it is below `/static`; may contain slashes.", required=True),),
        errors=("not_found",),
    )


def _page(path: Path, url: str, summary: str) -> DescribedRoute:
    async def page(request: Request) -> Response:
        html = FileResponse(path, media_type="text/html; charset=utf-8", headers={"cache-control": "no-cache"})
        return await compressed(request.scope, html)

    return DescribedRoute(url, page, _shown(summary, HTML), name=path.name)


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
