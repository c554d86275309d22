"""Files of the pages, compressed with gzip for browsers that accept it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

COMPRESSIBLE: Final = frozenset({".js", ".css", ".svg", ".html", ".webmanifest"})
"""Suffixes of text files; pictures and fonts are compressed already."""
_LEVEL: Final = 9
_compressed: dict[Path, tuple[int, int, bytes]] = {}


def without_comments(script: bytes) -> bytes:
    """A script whose comments of whole lines are empty lines, so that places in it stay where they are.

    Comments are for those who read the source, and a third of what a phone would load. Lines within a template literal
    are left as they are.
    """
    kept: list[bytes] = []
    in_comment = in_template = False
    for line in script.split(b"\n"):
        text = line.strip()
        if in_comment or (not in_template and text.startswith(b"/*") and (text.endswith(b"*/") or b"*/" not in text)):
            in_comment = not text.endswith(b"*/")
            kept.append(b"")
        elif not in_template and text.startswith(b"//"):
            kept.append(b"")
        else:
            in_template ^= line.count(b"`") % 2 == 1
            kept.append(line)
    return b"\n".join(kept)


def _gzipped(path: Path) -> bytes:
    """The compressed file, compressed again whenever its time or size changes."""
    stat = path.stat()
    known = _compressed.get(path)
    if known is None or known[:2] != (stat.st_mtime_ns, stat.st_size):
        text = path.read_bytes()
        text = without_comments(text) if path.suffix == ".js" else text
        known = (stat.st_mtime_ns, stat.st_size, gzip.compress(text, _LEVEL, mtime=0))
        _compressed[path] = known
    return known[2]


async def compressed(scope: Scope, response: Response) -> Response:
    """The response with a gzip body if it is a whole text file and the request accepts gzip; else the response."""
    headers = Headers(scope=scope)
    if not isinstance(response, FileResponse) or Path(response.path).suffix not in COMPRESSIBLE:
        return response
    response.headers["vary"] = "accept-encoding"
    if scope["method"] != "GET" or "range" in headers or not _accepts_gzip(headers.get("accept-encoding", "")):
        return response
    body = await run_in_threadpool(_gzipped, Path(response.path))
    kept = {name: value for name, value in response.headers.items() if name not in ("content-length", "accept-ranges")}
    if "etag" in kept:
        kept["etag"] = "W/" + kept["etag"].removeprefix("W/")
    return Response(body, response.status_code, {**kept, "content-encoding": "gzip"})


def _accepts_gzip(accepted: str) -> bool:
    for offer in accepted.lower().split(","):
        name, _, quality = offer.strip().partition(";")
        if name.strip() in ("gzip", "*"):
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


class CompressedFiles(StaticFiles):
    """Static files that a browser keeps but revalidates each time: their names carry no version."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, compressed if possible. Raises HTTPException as its base does."""
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return await compressed(scope, response)
