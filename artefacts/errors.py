"""Errors of models and binaries.

    ArtefactError
    ├── ArtefactMissing   a file is not here, or can't be read
    ├── ArtefactDiffers   a file has another SHA-256 than the table says
    ├── ArtefactUnknown   the table has no such artefact, or no file of it for this machine
    └── FetchFailed       an artefact could not be fetched

Every error carries `code` and `retryable`; the message says what to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class ArtefactError(Exception):
    """Base of all errors that this package raises."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class ArtefactMissing(ArtefactError):
    """A file is not here, or can't be read."""


class ArtefactUnknown(ArtefactError):
    """The table has no such artefact, or no file of it for this machine."""


class FetchFailed(ArtefactError):
    """An artefact could not be fetched."""

    retryable: ClassVar[bool] = True


class ArtefactDiffers(ArtefactError):
    """A file has another SHA-256 than the table says.

    Args:
        path: the file.
        expected: the digest in the table, in hexadecimal.
        found: the digest of the file.
        remedy: what to do, a sentence; empty where the caller says it.
    """

    def __init__(self, path: Path, expected: str, found: str, remedy: str = "") -> None:
        super().__init__(
            f"{path} is not the file that askwell knows: its SHA-256 is {found}, expected is {expected}."
            + (f" {remedy}" if remedy else "")
        )
        self.path = path
        self.expected = expected
        self.found = found
