"""The lock that lets one process at a time use a data directory."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

from server.hot.errors import DataDirInUse, DataDirUnusable

LOCK_FILE = "askwell.lock"


class DataDir:
    """A data directory locked for this process until `release`.

    The lock is `flock` on a file that also contains the process id and URL of its holder. The kernel releases it when
    the process ends, however that happens.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self) -> Self:
        """Create the directory if need be, for this user alone, and lock it.

        Raises:
            DataDirUnusable: it can't be created or written.
            DataDirInUse: another process holds it.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self.path / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as exc:
            raise DataDirUnusable(f"the data directory {self.path} can't be written: {exc.strerror}") from exc
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            pid, url = _holder(fd)
            os.close(fd)
            where = f" at {url}" if url else ""
            who = f"process {pid}{where}" if pid else "another process"
            raise DataDirInUse(f"the data directory {self.path} is in use by {who}") from exc
        except OSError as exc:
            os.close(fd)
            raise DataDirUnusable(f"the data directory {self.path} can't be locked: {exc.strerror}") from exc
        self._fd = fd
        self._keep_private()
        try:
            self.publish(None)
        except OSError as exc:
            self.release()
            raise DataDirUnusable(f"the data directory {self.path} can't be written: {exc.strerror}") from exc
        return self

    def _keep_private(self) -> None:
        """Close what lies in the directory to everybody else; what cannot be changed stays as it is."""
        for path in self.path.iterdir():
            mode = path.lstat().st_mode
            if mode & 0o077 and not stat.S_ISLNK(mode):
                with contextlib.suppress(OSError):
                    path.chmod(stat.S_IMODE(mode) & ~0o077)

    def publish(self, url: str | None) -> None:
        """Write this process's id and URL into the lock file."""
        if self._fd is None:
            raise RuntimeError("the data directory is not locked")
        text = json.dumps({"pid": os.getpid(), "url": url}).encode()
        os.pwrite(self._fd, text, 0)
        os.ftruncate(self._fd, len(text))

    def release(self) -> None:
        """Unlock the directory; nothing happens when it is not locked."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def running_server(path: Path) -> tuple[int, str | None] | None:
    """Process id and URL of the server that has locked the directory, None if it is not locked."""
    try:
        fd = os.open(path / LOCK_FILE, os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        pid, url = _holder(fd)
        return (pid, url) if pid is not None else None
    finally:
        os.close(fd)
    return None


def _holder(fd: int) -> tuple[int | None, str | None]:
    try:
        content = json.loads(os.pread(fd, 4096, 0))
        return int(content["pid"]), content.get("url")
    except (ValueError, KeyError, TypeError):
        return None, None
