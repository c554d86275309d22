"""A file system of a few megabytes that can be filled up; tests that use it need "tmpfs"."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BLOCK = bytes(4096)


@dataclass(frozen=True)
class SmallDisk:
    """A mounted file system."""

    path: Path

    @property
    def _ballast(self) -> Path:
        return self.path / "ballast"

    def fill(self) -> None:
        """Write until nothing more fits."""
        with self._ballast.open("ab", buffering=0) as ballast:
            while True:
                try:
                    ballast.write(BLOCK)
                except OSError:
                    return

    def empty(self) -> None:
        """Make room again."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(path: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount one at that path for as long as the block runs."""
    path.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(path)], check=True)
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
