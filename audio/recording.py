"""Stores spoken answers as FLAC files, by session, for studies that record (`record_audio`).

All functions block: call them from a worker thread. Files are replaced atomically: each is complete or absent.

Recordings that come from another askwell server are staged first, in a folder of their own inside the session's, and
placed once their session is stored. No file is given up for one that comes later under the same name: the earlier one
goes to the folder of the version of the session that it belongs to.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import IO

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream

from audio.types import RATE_HZ, Samples

BLOCK_SAMPLES = RATE_HZ
"""Samples that are encoded at once."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


class Recordings:
    """The recordings of all sessions under one folder: `<session>/<turn>-<turn key>.flac`."""

    def __init__(self, folder: Path) -> None:
        """Does not access the file system.

        Args:
            folder: contains one folder per session.
        """
        self._folder = folder

    def path(self, session_id: str, turn_number: int, turn_key: str) -> Path:
        """The path of the file of an answer. Raises ValueError for ids that cannot be file names."""
        name = f"{turn_number:04d}-{_valid_name(turn_key)}.flac"
        return self._folder / _valid_name(session_id) / name

    def keep(self, session_id: str, turn_number: int, turn_key: str, samples: Samples) -> Path:
        """Write an answer, mono int16 at RATE_HZ; one with the same turn key is replaced. Returns the path.

        Raises:
            OSError: the disk is full, or the folder can't be written.
            ValueError: ids that cannot be file names, or no samples.
        """
        target = self.path(session_id, turn_number, turn_key)
        if not len(samples):
            raise ValueError("There is nothing to keep: no samples.")
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _replacement(target) as draft:
            _encode(draft, samples)
        return target

    def stage(self, session_id: str, digest: str, name: str, source: IO[bytes]) -> Path:
        """Copy a recording from another askwell server, for `place` or `set_aside`. Returns the path.

        Args:
            session_id: the session.
            digest: of the bundle that it came in, in hexadecimal digits.
            name: that of the file, as in `path`.
            source: the file, which is read to its end.
        Raises:
            OSError: the disk is full, or the folder can't be written.
            ValueError: not the name of a recording.
        """
        stem, _, suffix = name.rpartition(".")
        if suffix != "flac" or not _NAME.fullmatch(stem):
            raise ValueError(f"{name!r} is no name of a recording.")
        target = self._staged(session_id, digest) / name
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _replacement(target) as draft, draft.open("wb") as file:
            shutil.copyfileobj(source, file)
        return target

    def place(self, session_id: str, digest: str, *, replaced: str | None) -> None:
        """Make what was staged recordings of the session; doing so again changes nothing.

        Args:
            session_id: the session.
            digest: of the bundle that they came in.
            replaced: of the one whose differing files these take the place of.
        Raises:
            OSError: the folder can't be written.
        """
        for file in _flac_files(self._staged(session_id, digest)):
            target = self._folder / _valid_name(session_id) / file.name
            if replaced is not None and target.exists() and not filecmp.cmp(file, target, shallow=False):
                _move(target, self._version(session_id, replaced))
            _move(file, target.parent)
        self.unstage(session_id, digest)

    def set_aside(self, session_id: str, digest: str) -> None:
        """Keep what was staged for a version of the session, apart from the session's own; as `place` otherwise."""
        for file in _flac_files(self._staged(session_id, digest)):
            own = self._folder / _valid_name(session_id) / file.name
            if not own.exists() or not filecmp.cmp(file, own, shallow=False):
                _move(file, self._version(session_id, digest))
        self.unstage(session_id, digest)

    def unstage(self, session_id: str, digest: str) -> None:
        """Remove what was staged and neither placed nor set aside. Raises OSError."""
        folder = self._staged(session_id, digest)
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)
        with contextlib.suppress(OSError):
            folder.parent.rmdir()  # where nothing else is in it

    def of_version(self, session_id: str, digest: str, names: Iterable[str]) -> list[Path]:
        """The paths of the recordings of a version of a session, in that order; missing ones are left out."""
        apart, own = self._version(session_id, digest), self._folder / _valid_name(session_id)
        found = (next((f / name for f in (apart, own) if (f / name).is_file()), None) for name in names)
        return [path for path in found if path is not None]

    def _staged(self, session_id: str, digest: str) -> Path:
        return self._folder / _valid_name(session_id) / f".staged-{_valid_name(digest)}"

    def _version(self, session_id: str, digest: str) -> Path:
        return self._folder / _valid_name(session_id) / f".version-{_valid_name(digest)}"

    def of(self, session_id: str) -> list[Path]:
        """The paths of a session's recordings, in the order of turns."""
        return _flac_files(self._folder / _valid_name(session_id))

    def sessions(self) -> list[str]:
        """The ids of the sessions that have a folder, sorted."""
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if path.is_dir() and _NAME.fullmatch(path.name))

    def erase(self, session_id: str) -> int:
        """Remove all files of a session, including unfinished ones; returns the number of recordings removed.

        Raises:
            OSError: a file could not be removed; the call may be repeated.
        """
        kept = len(self.of(session_id))
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._folder / _valid_name(session_id))
        return kept


def _flac_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.suffix == ".flac")


def _move(file: Path, folder: Path) -> None:
    """Move a file into a folder, unless it was moved meanwhile."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.suppress(FileNotFoundError):
        os.replace(file, folder / file.name)


def _valid_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no id that can name a file.")
    return name


@contextlib.contextmanager
def _replacement(target: Path) -> Iterator[Path]:
    """A draft in the folder of `target` that replaces it once it is complete and synchronised to the disk."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".draft-")
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _encode(path: Path, samples: Samples) -> None:
    with av.open(str(path), mode="w", format="flac") as container:
        stream = container.add_stream("flac", rate=RATE_HZ, layout="mono")
        assert isinstance(stream, AudioStream)
        stream.format = "s16"
        stream.time_base = Fraction(1, RATE_HZ)
        for start in range(0, len(samples), BLOCK_SAMPLES):
            frame = AudioFrame.from_ndarray(
                samples[start : start + BLOCK_SAMPLES].reshape(1, -1), format="s16", layout="mono"
            )
            frame.sample_rate = RATE_HZ
            frame.time_base = Fraction(1, RATE_HZ)
            frame.pts = start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
