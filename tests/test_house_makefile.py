"""The make targets a newcomer meets, on machines that are not as they should be."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TARGETS = ("setup", "run", "test", "test-all", "check", "bench", "bench-voice", "soak", "chaos", "help")
OLD_PYTHON = """#!/bin/sh
case "$1" in --version) echo "Python 3.9.2" ;; *) exit 1 ;; esac
"""


def make(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run make in `folder`."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "PYTHON"))}
    program = shutil.which("make")
    assert program is not None
    return subprocess.run(
        [program, *arguments], cwd=folder, env=clean | env, capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A folder with what make needs and no virtual environment."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(root / name, tmp_path)
    return tmp_path


def test_make_without_a_target_explains_the_targets(root: Path) -> None:
    run = make(root)
    assert run.returncode == 0
    listed = {line.split()[0] for line in run.stdout.splitlines() if line}
    assert set(TARGETS) <= listed


def test_make_setup_with_an_old_python_says_what_is_needed(checkout: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "sh", "sed", "grep", "touch", "rm"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    (tools / "python3").write_text(OLD_PYTHON)
    (tools / "python3").chmod(0o755)
    run = make(checkout, "setup", PATH=str(tools))
    assert run.returncode != 0
    assert "needs Python 3.11 or newer" in run.stderr
    assert "Found: Python 3.9.2" in run.stderr
    assert not (checkout / ".venv").exists()


def test_make_step_that_a_machine_lacks_is_told_and_fails_where_all_is_required(checkout: Path) -> None:
    with (checkout / "Makefile").open("a") as file:
        file.write("\nprobe:\n\t@mkdir -p $(VENV); $(call skip,Pages: no Node.js)\n")
    told = make(checkout, "probe", ASKWELL_REQUIRE_ALL="")
    assert told.returncode == 0
    assert "Pages: no Node.js" in told.stdout
    assert (checkout / ".venv" / ".skipped").read_text() == "Pages: no Node.js\n"
    refused = make(checkout, "probe", ASKWELL_REQUIRE_ALL="1")
    assert refused.returncode != 0
    assert "required here, but missing: Pages: no Node.js" in refused.stderr


def test_make_lets_python_keep_what_it_has_compiled(checkout: Path) -> None:
    with (checkout / "Makefile").open("a") as file:
        file.write('\nprobe:\n\t@echo "[$${PYTHONDONTWRITEBYTECODE:-}]"\n')
    assert make(checkout, "probe", PYTHONDONTWRITEBYTECODE="1").stdout == "[]\n"
