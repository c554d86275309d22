"""A session as lines of JSON: a header, its rows, its recordings, an end. Functions block: call them from a thread.

    {"askwell": "session", "format": 1, "session_id": …, "concept_id": …, "rev": …}
    {"table": …, "row": {…}}              rows in the order in which they can be written
    {"file": "0001-….flac", "bytes": …}   followed by {"data": "<base64>"} until they are complete
    {"end": {"rows": …, "files": …}}

The same session always gives the same bytes. Several bundles may follow each other in one file. `SyncOffer` and
`OfferReply` are what a device and the server that collects its interviews tell each other about a bundle.

What is read is bounded: the bytes and JSON values of a line, the number and bytes of all rows. No more than a few rows
are in memory at the same time. An interview of 85 answers of 950 characters has 3,400 rows with 13 MB, of which the
longest has 0.4 MB, and a state of 1.4 MB; all of it grows about as the number of answers does.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
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
MOST_LINE_BYTES = 8 * 1024 * 1024
MOST_LINE_VALUES = 500_000
"""JSON values in a line: what it takes in memory depends on these more than on its bytes."""
MOST_ROWS = 200_000
MOST_ROW_BYTES = 512 * 1024 * 1024
"""Of all rows, as lines."""
MOST_FILES = 2_000
MOST_STATE_BYTES = 32 * 1024 * 1024
"""Of the whole state of a session, unpacked."""
MOST_STATE_VALUES = 1_000_000
BATCH_ROWS = 200
BATCH_BYTES = 1024 * 1024
LEAST_PIECE_BYTES = 1024
"""Bytes of a recording in each line but its last: what is read of a recording is few lines."""

MOST_PIECE_VALUES = 4
MOST_HEADER_BYTES = 4096

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
    """A bundle that was read; `rows` are the positions of the lines with the rows of each table."""

    header: Header
    rows: dict[str, list[int]] = field(repr=False)
    files: list[KeptFile]


def write(out: IO[bytes], header: Header, rows: Iterable[tuple[str, dict[str, Any]]], files: Sequence[Path]) -> Written:
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


def _lines(header: Header, rows: Iterable[tuple[str, dict[str, Any]]], files: Sequence[Path]) -> Iterator[bytes]:
    yield _line({"askwell": "session", "format": FORMAT, **asdict(header)})
    count = 0
    for table, row in rows:
        count += 1
        yield _line({"table": table, "row": row})
    for path in files:
        with path.open("rb") as file:
            yield _line({"file": path.name, "bytes": path.stat().st_size})
            while piece := file.read(PIECE_BYTES):
                yield _line({"data": base64.b64encode(piece).decode()})
    yield _line({"end": {"rows": count, "files": len(files)}})


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def header_of(line: bytes) -> Header:
    """The header that the first line of a bundle holds.

    Raises:
        BundleInvalid: the line is no header, or the format is another one.
    """
    if len(line) > MOST_HEADER_BYTES:
        raise BundleInvalid("This is not an interview of askwell.")
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


def read(source: IO[bytes], take: Callable[[str, dict[str, Any]], None]) -> Bundle:
    """Read one bundle; the position of `source` is the end of the bundle then.

    Args:
        source: which can be sought.
        take: called with the table and the content of each row; what it raises is raised.
    Raises:
        BundleInvalid: it is no bundle, ends too early, or has more than the bounds of this module.
    """
    header = header_of(_next(source))
    rows: dict[str, list[int]] = {}
    files: list[KeptFile] = []
    count = size = 0
    while True:
        start = source.tell()
        line = _next(source)
        size += len(line)
        if size > MOST_ROW_BYTES:
            raise BundleInvalid(f"The rows of the interview have more than {MOST_ROW_BYTES} bytes.")
        content = _content(line)
        if "row" in content:
            table, row = content.get("table"), content["row"]
            if not isinstance(table, str) or not isinstance(row, dict):
                raise BundleInvalid("A row of the interview can't be read.")
            count += 1
            if count > MOST_ROWS:
                raise BundleInvalid(f"The interview has more than {MOST_ROWS} rows.")
            take(table, row)
            rows.setdefault(table, []).append(start)
        elif "file" in content:
            if len(files) >= MOST_FILES:
                raise BundleInvalid(f"The interview has more than {MOST_FILES} recordings.")
            files.append(_skip_file(source, content))
        elif "end" in content:
            if content["end"] != {"rows": count, "files": len(files)}:
                raise BundleInvalid("Something of the interview is missing.")
            return Bundle(header, rows, files)
        else:
            raise BundleInvalid("The interview has a line that can't be read.")


def batches(source: IO[bytes], bundle: Bundle, table: str) -> Iterator[list[dict[str, Any]]]:
    """The rows of a table, a few at a time."""
    batch: list[dict[str, Any]] = []
    size = 0
    for start in bundle.rows.get(table, ()):
        source.seek(start)
        line = _next(source)
        batch.append(_content(line)["row"])
        size += len(line)
        if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def most_values(data: bytes) -> int:
    """How many values JSON of these bytes can have at the most; commas and brackets in texts count too."""
    return 1 + data.count(b",") + data.count(b"[") + data.count(b"{")


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
        piece = _piece(_next(source))
        left -= len(piece)
        if left > 0 and len(piece) < LEAST_PIECE_BYTES:
            raise BundleInvalid("A recording of the interview can't be read.")
    if left < 0:
        raise BundleInvalid("A recording of the interview is longer than it says.")
    return found


def _piece(line: bytes) -> bytes:
    if most_values(line) > MOST_PIECE_VALUES:
        raise BundleInvalid("A recording of the interview can't be read.")
    content = _content(line)
    try:
        if piece := base64.b64decode(content["data"], validate=True):
            return piece
    except (KeyError, TypeError, ValueError, binascii.Error) as exc:
        raise BundleInvalid("A recording of the interview can't be read.") from exc
    raise BundleInvalid("A recording of the interview can't be read.")


def _next(source: IO[bytes]) -> bytes:
    line = source.readline(MOST_LINE_BYTES + 1)
    if len(line) > MOST_LINE_BYTES:
        raise BundleInvalid(f"The interview has a line of more than {MOST_LINE_BYTES} bytes.")
    if not line.endswith(b"\n"):
        raise BundleInvalid("The interview ends too early.")
    return line


def _content(line: bytes) -> dict[str, Any]:
    if most_values(line) > MOST_LINE_VALUES:
        raise BundleInvalid(f"The interview has a line of more than {MOST_LINE_VALUES} values.")
    try:
        if isinstance(content := json.loads(line), dict):
            return content
    except (ValueError, RecursionError) as exc:
        raise BundleInvalid("The interview has a line that can't be read.") from exc
    raise BundleInvalid("The interview has a line that can't be read.")
