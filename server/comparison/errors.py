"""Why an interview can't be compared or repeated; the messages are for the person who asked for it.

ComparisonError
├── NotARecord: the file is nothing that answers can be read from, or holds none
├── NotRepeatable: decisions can't be made again from what was stored
└── Unplayable: an answer can't be taken, or an interview can't be held on this machine
"""

from __future__ import annotations

from typing import ClassVar


class ComparisonError(Exception):
    """Base of them; nothing was changed."""

    code: ClassVar[str] = "invalid_input"
    retryable: ClassVar[bool] = False


class NotARecord(ComparisonError):
    """What was given is nothing that answers can be read from, or holds none."""


class NotRepeatable(ComparisonError):
    """The decisions of an interview can't be made again from what was stored of it."""


class Unplayable(ComparisonError):
    """An answer can't be taken, or the interview can't be held on this machine."""
