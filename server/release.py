"""Which askwell this is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


@cache
def version() -> str:
    """The version that is installed, in words where it is none."""
    try:
        return installed("askwell")
    except PackageNotFoundError:
        return "(not installed)"
