"""A session as lines of JSON: a header, its rows, its recordings, an end. Functions block: call them from a thread.

    {"askwell": "session", "format": 1, "session_id": …, "concept_id": …, "rev": …}
    {"table": …, "row": {…}}              rows in the order in which they can be written
    {"file": "0001-….flac", "bytes": …}   followed by {"data": "<base64>"} until they are complete
    {"end": {"rows": …, "files": …}}

The same session always gives the same bytes. Several bundles may follow each other in one file. `SyncOffer` and
`OfferReply` are what a device and the server that collects its interviews tell each other about a bundle.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from pipeline.state import SESSION_ID_PATTERN

FORMAT = 1
"""Changes when an older askwell could not read what a newer one writes."""
PIECE_BYTES = 48 * 1024
"""Bytes of a recording in one line."""
MOST_LINE_BYTES = 64 * 1024 * 1024

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""SHA-256 of a bundle in hexadecimal digits."""


class BundleInvalid(Exception):
    """These bytes are no bundle, or not all of it; the message says why."""

    code = "invalid_input"
    retryable = False


@dataclass(frozen=True, slots=True)
class Header:
    """Which session a bundle holds."""

    session_id: str
    concept_id: str
    rev: int


class SyncOffer(BaseModel):
    """`POST /api/sync/sessions`: a bundle of `size` bytes that a device has; `sent_at` is the time of its clock."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    session_id: Annotated[str, StringConstraints(pattern=f"^{SESSION_ID_PATTERN}$")]
    concept_id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
    rev: int = Field(ge=0, le=2**63 - 1)
    digest: Digest
    size: int = Field(ge=1, le=2**50)
    format: int
    sent_at: Annotated[str, StringConstraints(max_length=40)] | None = None


@dataclass(frozen=True, slots=True)
class OfferReply:
    """What a server says of an interview: `stored`, `erased` there since, or `wanted` from byte `offset` on."""

    status: Literal["stored", "erased", "wanted"]
    offset: int = 0
    received_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A bundle that was written: its length in bytes and its digest."""

    header: Header
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A recording inside a bundle; `start` is the position of the line with its first piece."""

    name: str
    size: int
    start: int


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read."""

    header: Header
    rows: list[tuple[str, dict[str, Any]]] = field(repr=False)
    files: list[KeptFile]


def write(out: IO[bytes], header: Header, rows: Sequence[tuple[str, dict[str, Any]]], files: Sequence[Path]) -> Written:
    """Write a bundle.

    Args:
        out: where to.
        header: which session.
        rows: table and row, as `Copies.rows` gives them.
        files: its recordings, in order.
    Raises:
        OSError: a recording can't be read, or the disk is full.
    """
    digest, size = hashlib.sha256(), 0
    for line in _lines(header, rows, files):
        out.write(line)
        digest.update(line)
        size += len(line)
    return Written(header, size, digest.hexdigest())


def _lines(header: Header, rows: Sequence[tuple[str, dict[str, Any]]], files: Sequence[Path]) -> Iterator[bytes]:
    yield _line({"askwell": "session", "format": FORMAT, **asdict(header)})
    for table, row in rows:
        yield _line({"table": table, "row": row})
    for path in files:
        with path.open("rb") as file:
            yield _line({"file": path.name, "bytes": path.stat().st_size})
            while piece := file.read(PIECE_BYTES):
                yield _line({"data": base64.b64encode(piece).decode()})
    yield _line({"end": {"rows": len(rows), "files": len(files)}})


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def header_of(line: bytes) -> Header:
    """The header that the first line of a bundle holds.

    Raises:
        BundleInvalid: the line is no header, or the format is another one.
    """
    content = _content(line)
    if content.get("askwell") != "session":
        raise BundleInvalid("This is not an interview of askwell.")
    if content.get("format") != FORMAT:
        raise BundleInvalid(
            f"The interview is in the format {content.get('format')}, this askwell knows {FORMAT}: update one."
        )
    session_id, concept_id, rev = (content.get(name) for name in Header.__slots__)
    if not isinstance(session_id, str) or not isinstance(concept_id, str) or type(rev) is not int:
        raise BundleInvalid("The header of the interview can't be read.")
    return Header(session_id, concept_id, rev)


def read(source: IO[bytes]) -> Bundle:
    """Read one bundle; the position of `source` is the end of the bundle then.

    Raises:
        BundleInvalid: it is no bundle, or ends too early.
    """
    header = header_of(_next(source))
    rows: list[tuple[str, dict[str, Any]]] = []
    files: list[KeptFile] = []
    while True:
        content = _content(_next(source))
        if "row" in content:
            table, row = content.get("table"), content["row"]
            if not isinstance(table, str) or not isinstance(row, dict):
                raise BundleInvalid("A row of the interview can't be read.")
            rows.append((table, row))
        elif "file" in content:
            files.append(_skip_file(source, content))
        elif "end" in content:
            if content["end"] != {"rows": len(rows), "files": len(files)}:
                raise BundleInvalid("Something of the interview is missing.")
            return Bundle(header, rows, files)
        else:
            raise BundleInvalid("The interview has a line that can't be read.")


def pieces(source: IO[bytes], file: KeptFile) -> Iterator[bytes]:
    """The bytes of a recording inside a bundle."""
    source.seek(file.start)
    left = file.size
    while left > 0:
        piece = _piece(_next(source))
        left -= len(piece)
        yield piece


def _skip_file(source: IO[bytes], content: dict[str, Any]) -> KeptFile:
    name, size = content["file"], content.get("bytes")
    if not isinstance(name, str) or type(size) is not int or size < 0:
        raise BundleInvalid("A recording of the interview can't be read.")
    found, left = KeptFile(name, size, source.tell()), size
    while left > 0:
        left -= len(_piece(_next(source)))
    if left < 0:
        raise BundleInvalid("A recording of the interview is longer than it says.")
    return found


def _piece(line: bytes) -> bytes:
    content = _content(line)
    try:
        if piece := base64.b64decode(content["data"], validate=True):
            return piece
    except (KeyError, TypeError, ValueError, binascii.Error) as exc:
        raise BundleInvalid("A recording of the interview can't be read.") from exc
    raise BundleInvalid("A recording of the interview can't be read.")


def _next(source: IO[bytes]) -> bytes:
    line = source.readline(MOST_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise BundleInvalid("The interview ends too early.")
    return line


def _content(line: bytes) -> dict[str, Any]:
    try:
        if isinstance(content := json.loads(line), dict):
            return content
    except (ValueError, RecursionError) as exc:
        raise BundleInvalid("The interview has a line that can't be read.") from exc
    raise BundleInvalid("The interview has a line that can't be read.")
