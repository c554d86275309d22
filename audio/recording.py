"""Spoken answers kept as files beside their session, for studies that record (`record_audio`), and erased with it.

Blocking: call it from a worker thread. A file is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import IO

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream

from audio.types import RATE_HZ, Samples

BLOCK_SAMPLES = RATE_HZ
"""Samples encoded at once."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


class Recordings:
    """The recordings of all sessions under one folder: `<session>/<turn>-<turn key>.flac`."""

    def __init__(self, folder: Path) -> None:
        """Nothing is written yet.

        Args:
            folder: where sessions get their folders.
        """
        self._folder = folder

    def path(self, session_id: str, turn_number: int, turn_key: str) -> Path:
        """Where an answer is kept. Raises ValueError for ids that are no file names."""
        name = f"{turn_number:04d}-{_valid_name(turn_key)}.flac"
        return self._folder / _valid_name(session_id) / name

    def keep(self, session_id: str, turn_number: int, turn_key: str, samples: Samples) -> Path:
        """Write an answer, mono int16 at RATE_HZ; the same turn key again replaces it.

        Raises:
            OSError: the disk is full, or the folder can't be written.
            ValueError: ids that are no file names, or no samples.
        """
        target = self.path(session_id, turn_number, turn_key)
        if not len(samples):
            raise ValueError("There is nothing to keep: no samples.")
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _replacement(target) as draft:
            _encode(draft, samples)
        return target

    def adopt(self, session_id: str, name: str, source: IO[bytes]) -> Path:
        """Keep a recording that was made elsewhere, under the name that it has there.

        Args:
            session_id: the session.
            name: of the file, as `path` makes them.
            source: the file, read to its end.
        Raises:
            OSError: the disk is full, or the folder can't be written.
            ValueError: it is no such name.
        """
        stem, _, suffix = name.rpartition(".")
        if suffix != "flac" or not _NAME.fullmatch(stem):
            raise ValueError(f"{name!r} is no name of a recording.")
        target = self._folder / _valid_name(session_id) / name
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _replacement(target) as draft, draft.open("wb") as file:
            shutil.copyfileobj(source, file)
        return target

    def of(self, session_id: str) -> list[Path]:
        """The session's recordings, by turn."""
        folder = self._folder / _valid_name(session_id)
        return sorted(path for path in folder.glob("*") if path.suffix == ".flac")

    def sessions(self) -> list[str]:
        """Ids of the sessions of which anything is kept."""
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if path.is_dir() and _NAME.fullmatch(path.name))

    def erase(self, session_id: str) -> int:
        """Remove everything of a session, unfinished files too; the number of recordings removed.

        Raises:
            OSError: something could not be removed; erase again.
        """
        kept = len(self.of(session_id))
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._folder / _valid_name(session_id))
        return kept


def _valid_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no id that can name a file.")
    return name


@contextlib.contextmanager
def _replacement(target: Path) -> Iterator[Path]:
    """A draft beside `target` that takes its place when it is whole and on the disk."""
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
