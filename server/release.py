"""The version of askwell."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


@cache
def version() -> str:
    """The installed version; `(not installed)` without an installation."""
    try:
        return installed("askwell")
    except PackageNotFoundError:
        return "(not installed)"
