"""Compares files with their SHA-256.

A file that has the right digest is recorded with its size, its inode, and the times of its last modification and change
of state, and is not read again until one of these changes. Whoever can write the record can also write the code; it is
in the user's cache directory, and one that belongs to another user, or that others may write, is not believed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from artefacts.errors import ArtefactDiffers, ArtefactMissing
from artefacts.table import Artefact

RECORD_FILE = "checked.json"
LONGEST_RECORD = 1000
"""Most files that are recorded; the oldest ones are dropped."""


def cache_folder() -> Path:
    """Askwell's folder in the user's cache directory."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path(os.path.expanduser("~")) / ".cache") / "askwell"


def sha256_of(path: Path) -> str:
    """The file's SHA-256, in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_bytes(path: Path, data: bytes, sha256: str, remedy: str = "") -> None:
    """Compare what was read from a file with its digest. Raises ArtefactDiffers."""
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ArtefactDiffers(path, sha256, found, remedy)


def check_artefact(artefact: Artefact, folder: Path | None = None, *, store: Path | None = None) -> Path:
    """Compare all files of an artefact for this machine with the table.

    Args:
        artefact: as the table has it.
        folder: where its files are; None for the installed package's.
        store: folder of the record; None for the user's cache directory.
    Returns:
        The folder.
    Raises:
        ArtefactMissing, ArtefactDiffers, ArtefactUnknown.
    """
    where = folder or artefact.folder()
    if where is None:
        raise ArtefactMissing(f"{artefact.name} is not installed. {artefact.remedy}".rstrip())
    wanted = [(where / file.path, file.sha256) for file in artefact.files_here()]
    check_files(wanted, store=store, remedy=artefact.remedy if folder is None else "")
    return where


def check_files(wanted: Iterable[tuple[Path, str]], *, store: Path | None = None, remedy: str = "") -> None:
    """Compare files with their digests, those excepted that had them before and have not changed since.

    Args:
        wanted: each file with its digest.
        store: folder of the record; None for the user's cache directory.
        remedy: what to do about a missing or another file, a sentence.
    Raises:
        ArtefactMissing: one can't be read.
        ArtefactDiffers: one has another digest.
    """
    record = (store or cache_folder()) / RECORD_FILE
    known = _read_record(record)
    fresh: dict[str, Any] = {}
    for path, sha256 in wanted:
        try:
            state = _state(path, sha256)
            if known.get(str(path)) == state:
                continue
            found = sha256_of(path)
        except OSError as exc:
            raise ArtefactMissing(f"{path} can't be read: {exc.strerror or exc}. {remedy}".rstrip()) from exc
        if found != sha256:
            raise ArtefactDiffers(path, sha256, found, remedy)
        fresh[str(path)] = state
    if fresh:
        _write_record(record, known | fresh)


def _state(path: Path, sha256: str) -> list[Any]:
    """What changes when the file does, and the digest it was compared with. Raises OSError."""
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, sha256]


def _read_record(path: Path) -> dict[str, Any]:
    """The record; empty if it is missing or damaged, or if another user could have written it."""
    try:
        with path.open(encoding="utf-8") as file:
            about = os.fstat(file.fileno())
            if about.st_uid != os.getuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return {}
            record = json.load(file)
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _write_record(path: Path, record: dict[str, Any]) -> None:
    kept = dict(list(record.items())[-LONGEST_RECORD:])
    with contextlib.suppress(OSError):  # without the record the next start reads the files once more
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replacement_for(path) as out:
            out.write(json.dumps(kept, indent=1).encode())


@contextlib.contextmanager
def replacement_for(target: Path) -> Iterator[IO[bytes]]:
    """A temporary file, open for writing, that replaces `target` once the block ends without an error."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
