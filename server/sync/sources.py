"""Where interviews that are to be sent come from: the store of this machine, or a file that was carried here."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import tempfile
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

from server.recordings import FileRecorder
from server.store.copies import Copies, Unsent, Version
from server.sync import SyncError
from server.sync.bundle import (
    MOST_HEADER_BYTES,
    MOST_LINE_BYTES,
    BundleInvalid,
    Header,
    Written,
    header_of,
    write,
)

END = {"askwell": "end"}
"""Last line of a file of bundles, with their number; a file without it was cut off."""
EXPORT_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Opened:
    """A bundle, and the file that it is in, from its first byte."""

    written: Written
    file: IO[bytes]


@dataclass(frozen=True)
class StoreSource:
    """The finished interviews of this machine.

    Args:
        copies: of the store.
        recorder: knows their recordings.
        folder: for temporary files.
        target: the server; None for no server in particular.
        concepts: only those of these concepts; None for all.
        erase: erases an interview here; nothing is erased if not given.
    """

    copies: Copies
    recorder: FileRecorder
    folder: Path
    _: KW_ONLY
    target: str | None
    concepts: frozenset[str] | None = None
    erase: Callable[[str], Awaitable[object]] | None = None

    async def waiting(self) -> list[Unsent]:
        """Finished interviews that were not confirmed as they are now."""
        return await self.copies.unsent(self.target, self.concepts)

    @asynccontextmanager
    async def opened(self, unsent: Unsent) -> AsyncIterator[Opened | None]:
        """The interview as a bundle, None if it was erased.

        Raises:
            SyncError: this machine's disk is full, or a recording can't be read.
        """
        await self.recorder.drain()
        rows = await self.copies.rows(unsent.session_id)
        if not rows:
            yield None
            return
        rev = next(row["rev"] for name, row in rows if name == "sessions")
        header = Header(unsent.session_id, unsent.concept_id, rev)
        files = await asyncio.to_thread(self.recorder.paths, unsent.session_id)
        async with _bundled(self.folder, header, rows, files) as opened:
            yield opened

    async def settle(self, unsent: Unsent, written: Written) -> bool:
        """Note that the server has it. Where erasing is asked for and nothing was added meanwhile, erase it here.

        Returns:
            Whether it was erased.
        """
        sent = replace(unsent, rev=written.header.rev)
        same = await self.copies.confirm(sent, target=self.target or "", digest=written.digest, at=datetime.now(UTC))
        if not same or self.erase is None:
            return False
        await self.erase(unsent.session_id)
        return True


class FileSource:
    """A file that `exported` wrote. Its making reads the whole file, which blocks.

    Args:
        path: of the file.
    Raises:
        SyncError: it can't be read, is no such file, or not all of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[str, tuple[Written, int]] = {}
        try:
            with gzip.open(path) as file:
                self._index(cast(IO[bytes], file))
        except (OSError, EOFError, zlib.error) as exc:
            raise SyncError(f"{path} can't be read: {getattr(exc, 'strerror', None) or exc}") from exc
        except BundleInvalid as exc:
            raise SyncError(f"{path}: {exc}") from exc

    def _index(self, file: IO[bytes]) -> None:
        header: Header | None = None
        digest, start, size = hashlib.sha256(), 0, 0
        while line := file.readline(MOST_LINE_BYTES + 1):
            if len(line) > MOST_LINE_BYTES:
                raise BundleInvalid("The file has a line that is too long for an interview.")
            if header is None:
                if _is_end(line, len(self._found)):
                    if file.read(1):
                        raise BundleInvalid("The file goes on behind its end. Export it again.")
                    return
                header, digest, start, size = header_of(line), hashlib.sha256(), file.tell() - len(line), 0
            digest.update(line)
            size += len(line)
            if line.startswith(b'{"end":'):
                self._found[header.session_id] = Written(header, size, digest.hexdigest()), start
                header = None
        raise BundleInvalid("The file was cut: its end is missing. Export it again.")

    async def waiting(self) -> list[Unsent]:
        """All that is in the file."""
        return [
            Unsent(written.header.session_id, written.header.concept_id, written.header.rev, 0)
            for written, _ in self._found.values()
        ]

    @asynccontextmanager
    async def opened(self, unsent: Unsent) -> AsyncIterator[Opened]:
        """One of them as a bundle."""
        written, start = self._found[unsent.session_id]

        def unpacked() -> IO[bytes]:
            whole = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by whoever asked
            with gzip.open(self._path) as file:
                file.seek(start)
                left = written.size
                while left > 0 and (piece := file.read(min(left, EXPORT_PIECE_BYTES))):
                    whole.write(piece)
                    left -= len(piece)
            whole.seek(0)
            return whole

        with await asyncio.to_thread(unpacked) as file:
            yield Opened(written, file)

    async def settle(self, unsent: Unsent, written: Written) -> bool:
        """Nothing is erased: the file stays as it is."""
        return False


@dataclass(frozen=True)
class VersionSource:
    """One state of an interview that a device sent, besides the one that is shown.

    Args:
        copies: of the store.
        recorder: knows its recordings.
        folder: for temporary files.
        session_id: the interview.
        concept_id: its concept.
        version: which state.
    """

    copies: Copies
    recorder: FileRecorder
    folder: Path
    _: KW_ONLY
    session_id: str
    concept_id: str
    version: Version

    async def waiting(self) -> list[Unsent]:
        """That one."""
        return [Unsent(self.session_id, self.concept_id, self.version.rev, 0)]

    @asynccontextmanager
    async def opened(self, unsent: Unsent) -> AsyncIterator[Opened | None]:
        """It as a bundle, None if it was erased meanwhile. Raises SyncError, as `StoreSource.opened`."""
        version = self.version
        rows = await self.copies.version_rows(self.session_id, version.digest)
        if rows is None:
            yield None
            return
        header = Header(self.session_id, self.concept_id, version.rev)
        files = await asyncio.to_thread(
            self.recorder.version_paths, self.session_id, version.digest, version.recordings
        )
        async with _bundled(self.folder, header, rows, files) as opened:
            yield opened

    async def settle(self, unsent: Unsent, written: Written) -> bool:
        """Nothing is erased: it stays with its interview."""
        return False


Source = StoreSource | FileSource | VersionSource
"""Interviews that are to be sent."""


@asynccontextmanager
async def _bundled(
    folder: Path, header: Header, rows: Iterable[tuple[str, dict[str, Any]]], files: list[Path]
) -> AsyncIterator[Opened]:
    """A bundle in a temporary file. Raises SyncError when it can't be written, or a recording can't be read."""
    try:
        with ExitStack() as stack:
            file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            written = await asyncio.to_thread(write, file, header, rows, files)
            await asyncio.to_thread(file.seek, 0)
            kept = stack.pop_all()
    except OSError as exc:
        raise SyncError(
            f"the interview {header.session_id} can't be made ready on this machine: {exc.strerror or exc}"
        ) from exc
    with kept:
        yield Opened(written, file)


def _is_end(line: bytes, count: int) -> bool:
    if len(line) > MOST_HEADER_BYTES:
        return False
    try:
        content: Any = json.loads(line)
    except ValueError:
        return False
    if not isinstance(content, dict) or content.get("askwell") != END["askwell"]:
        return False
    if content.get("sessions") != count:
        raise BundleInvalid(f"The file should hold {content.get('sessions')} interviews, and holds {count}.")
    return True


async def exported(source: Source) -> AsyncIterator[bytes]:
    """All that waits as one compressed file, piece by piece."""
    count = 0
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed:
        for unsent in await source.waiting():
            async with source.opened(unsent) as opened:
                if opened is None:
                    continue
                count += 1
                while piece := await asyncio.to_thread(opened.file.read, EXPORT_PIECE_BYTES):
                    await asyncio.to_thread(packed.write, piece)
                    yield _taken(out)
        packed.write(json.dumps({**END, "sessions": count}, separators=(",", ":")).encode() + b"\n")
    yield _taken(out)


def _taken(out: io.BytesIO) -> bytes:
    data = out.getvalue()
    out.seek(0)
    out.truncate()
    return data
