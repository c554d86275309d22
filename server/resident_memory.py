"""Memory that was used once goes back to the operating system, where the C library offers that."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=1)
def _trim() -> Callable[[int], int] | None:
    """`malloc_trim` of glibc; None with another C library."""
    try:
        found = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    found.argtypes, found.restype = [ctypes.c_size_t], ctypes.c_int
    return found


def give_back() -> bool:
    """Give back what the C library keeps for later; whether there was any.

    A turn takes a megabyte for a moment, in pieces between those that stay: without this the process keeps all pages
    that it ever used. Takes some milliseconds, without holding Python's lock.
    """
    trim = _trim()
    return trim is not None and bool(trim(0))
