"""Which languages the pages speak: found by looking at the files in `static/texts`, so that adding one is enough."""

from __future__ import annotations

import json
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

URL = "/static/texts/languages.js"
COMMON = "common"
_FILE = re.compile(r"(?:(?P<part>[a-z_]+)\.)?(?P<tag>[a-z]{2,3}(?:-[a-z0-9]+)*)\.js")


def languages_of(folder: Path) -> dict[str, list[str]]:
    """Languages by part of the pages, each in alphabetical order.

    Args:
        folder: where `de.js` (the common sentences) and `kiosk.de.js` (those of a part) are.
    Returns:
        Tags as files spell them, in lower case. A part that is there in a language without its common sentences is
        left out in that language: half a page in another one helps nobody.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.js")):
        match = _FILE.fullmatch(path.name)
        if match:
            found.setdefault(match["part"] or COMMON, []).append(match["tag"])
    common = found.get(COMMON, [])
    return {part: [tag for tag in tags if tag in common] for part, tags in found.items()}


def languages_route(folder: Path) -> Route:
    """A module whose default export is what `languages_of` says of the folder as it is now."""

    def languages(request: Request) -> Response:
        listed = json.dumps(languages_of(folder), separators=(",", ":"))
        return Response(
            f"export default {listed};\n", media_type="text/javascript", headers={"cache-control": "no-cache"}
        )

    return Route(URL, languages, methods=["GET"], name="languages")
