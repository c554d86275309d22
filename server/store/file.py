"""The file of an SQLite database: whether the one that is open is still the one at its path, and how to put it back."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Identity = tuple[int, int]
COPY_SUFFIX = ".restored"


class StoreFile:
    """One database file and a connection that keeps it readable when its name is gone.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open: Identity | None = None
        self._log: Identity | None = None
        self._anchor: sqlite3.Connection | None = None
        self._refused: str | None = None

    def adopt(self) -> None:
        """Take the file at the path, which is a database, for the one that is open. Raises OSError, sqlite3.Error."""
        self.release()
        anchor = sqlite3.connect(
            f"{self.path.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
        )
        # Reading opens the write-ahead log as well: by its name it could not be found later.
        anchor.execute("SELECT count(*) FROM sqlite_master").fetchone()
        self._anchor, self._refused = anchor, None
        self._open, self._log = _identity(self.path), _identity(self._log_path)

    def release(self) -> None:
        """Close the connection; any file is accepted then."""
        if self._anchor is not None:
            self._anchor.close()
        self._anchor = self._open = self._log = self._refused = None

    def refuse(self, reason: str) -> None:
        """Accept no file until the next `adopt` or `release`."""
        self._refused = reason

    def problem(self) -> str | None:
        """Why what is written now would not be in the file at the path, in words; None when it would be."""
        if self._refused is not None:
            return self._refused
        if self._open is None:
            return None
        found = _identity(self.path)
        if found == self._open:
            return None
        if found is None:
            return f"the database file {self.path.name} was deleted or moved while the server runs"
        return f"the database file {self.path.name} was replaced while the server runs"

    @property
    def gone(self) -> bool:
        """Whether there is no file at the path, or an empty one."""
        try:
            return self.path.stat().st_size == 0
        except FileNotFoundError:
            return True

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from giving the database another file meanwhile. Raises BlockingIOError if one is at it.

        One after another they find the file that the first one put there, and lose nothing.
        """
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(folder)

    def copy(self) -> Path | None:
        """Write everything that is in the open file into a new one beside the path; None where it can't be read.

        Raises:
            OSError, sqlite3.OperationalError: there is no room, or the folder can't be written.
        """
        if self._anchor is None:
            return None
        copy = self.path.with_name(self.path.name + COPY_SUFFIX)
        copy.unlink(missing_ok=True)
        try:
            self._anchor.execute("VACUUM INTO ?", (str(copy),))
        except sqlite3.OperationalError:
            copy.unlink(missing_ok=True)
            raise
        except sqlite3.DatabaseError:
            copy.unlink(missing_ok=True)
            return None
        _sync(copy)
        return copy

    def put(self, copy: Path) -> bool:
        """Give the copy the name of the database, unless there is a database again; whether that was done."""
        done = self.gone
        if done:
            copy.replace(self.path)
            _sync(self.path.parent)
        else:
            copy.unlink()
        return done

    def let_go(self) -> bool:
        """Close the last connection to the open file; False while others have it open.

        Where its name is gone, SQLite leaves the write-ahead log behind, which would be taken for the next file's.
        """
        if self._anchor is not None:
            if self.problem() is not None:
                with suppress(sqlite3.Error):
                    self._anchor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._anchor.close()
            self._anchor = None
        if self._open is None:
            return True
        if _is_open(self._open):
            return False
        if self.problem() is not None and _identity(self._log_path) == self._log:
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        return True

    @property
    def _log_path(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_open(identity: Identity) -> bool:
    """Whether this process has the file open."""
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            found = os.fstat(int(name))
            if (found.st_dev, found.st_ino) == identity:
                return True
    return False


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
