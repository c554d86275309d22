"""Files of the pages, packed once for browsers that take gzip: text shrinks to a third on its way."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

PACKABLE: Final = frozenset({".js", ".css", ".svg", ".html", ".webmanifest"})
"""What is text; pictures and fonts are packed already."""
_LEVEL: Final = 9
_packed: dict[Path, tuple[int, int, bytes]] = {}


def pack(path: Path) -> bytes:
    """The file's content by gzip, made anew whenever the file changes."""
    stat = path.stat()
    known = _packed.get(path)
    if known is None or known[:2] != (stat.st_mtime_ns, stat.st_size):
        known = (stat.st_mtime_ns, stat.st_size, gzip.compress(path.read_bytes(), _LEVEL, mtime=0))
        _packed[path] = known
    return known[2]


async def packed_response(scope: Scope, response: Response) -> Response:
    """The same answer in less room, where it is a whole text file and the browser takes it so; else as it is."""
    headers = Headers(scope=scope)
    if not isinstance(response, FileResponse) or Path(response.path).suffix not in PACKABLE:
        return response
    response.headers["vary"] = "accept-encoding"
    if scope["method"] != "GET" or "range" in headers or not _takes_gzip(headers.get("accept-encoding", "")):
        return response
    body = await run_in_threadpool(pack, Path(response.path))
    kept = {name: value for name, value in response.headers.items() if name not in ("content-length", "accept-ranges")}
    if "etag" in kept:
        kept["etag"] = "W/" + kept["etag"].removeprefix("W/")
    return Response(body, response.status_code, {**kept, "content-encoding": "gzip"})


def _takes_gzip(accepted: str) -> bool:
    for offer in accepted.lower().split(","):
        name, _, quality = offer.strip().partition(";")
        if name.strip() in ("gzip", "*"):
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


class PackedFiles(StaticFiles):
    """Static files that a browser keeps but asks about each time: their names carry no version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, packed if possible. Raises HTTPException as its base does."""
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return await packed_response(scope, response)
