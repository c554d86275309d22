"""What tests/conftest.py does: skips are visible, or failures where everything is required; long files come first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import LONG, long_first
from tests.support.needs import NEEDS

LACKING = """
import pytest

@pytest.mark.needs("chromium")
def test_page_opens(): pass

@pytest.mark.e2e
def test_page_ends(): pass

def test_arithmetic_holds(): pass
"""
LONG_ONE = """
import pytest

@pytest.mark.thorough
def test_patience_pays(): pass

def test_arithmetic_holds(): pass
"""
UNKNOWN = """
import pytest

@pytest.mark.needs("a pony")
def test_pony_neighs(): pass
"""


def run_pytest(root: Path, folder: Path, text: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with our conftest on one test file, on a machine whose path is empty."""
    test = folder / "test_lacking.py"
    test.write_text(text)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("ASKWELL_", "PYTEST_", "CI"))}
    env |= {"PATH": str(folder), "PYTHONPATH": str(root)} | more
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", str(root / "pyproject.toml")]
    options = ["--rootdir", str(folder), "-p", "no:cacheprovider", str(test)]
    return subprocess.run([*command, *options], cwd=folder, env=env, capture_output=True, text=True, timeout=120)


def test_missing_thing_is_skipped_with_the_way_to_get_it(root: Path, tmp_path: Path) -> None:
    run = run_pytest(root, tmp_path, LACKING)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 passed, 2 skipped" in run.stdout
    assert f"2 × needs {NEEDS['chromium'].how}" in run.stdout


def test_missing_thing_where_all_is_required_fails(root: Path, tmp_path: Path) -> None:
    run = run_pytest(root, tmp_path, LACKING, ASKWELL_REQUIRE_ALL="1")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 passed, 2 errors" in run.stdout


def test_unknown_need_is_refused(root: Path, tmp_path: Path) -> None:
    run = run_pytest(root, tmp_path, UNKNOWN)
    assert run.returncode != 0
    assert "unknown need" in run.stdout + run.stderr


def test_files_that_take_long_come_first_and_browsers_alternate_with_others(root: Path) -> None:
    files = ["audio/test_a.py", "e2e/test_b.py", "e2e/test_c.py", "server/api/test_d.py", "wire/test_e.py", "test_f.py"]
    order = long_first([f"tests/{file}" for file in files])
    assert [file.removeprefix("tests/") for file in sorted(order, key=order.__getitem__)] == [
        "e2e/test_b.py", "server/api/test_d.py", "e2e/test_c.py", "wire/test_e.py", "audio/test_a.py", "test_f.py",
    ]  # fmt: skip
    assert all((root / "tests" / folder).is_dir() for folder in LONG)


def test_what_takes_long_is_left_out_in_plain_sight_where_not_everything_is_required(
    root: Path, tmp_path: Path
) -> None:
    quick = run_pytest(root, tmp_path, LONG_ONE, ASKWELL_QUICK="1")
    assert quick.returncode == 0
    assert "1 passed, 1 skipped" in quick.stdout
    assert "1 × takes long: make test-all" in quick.stdout
    for more in ({}, {"ASKWELL_QUICK": "0"}, {"ASKWELL_QUICK": "1", "ASKWELL_REQUIRE_ALL": "1"}):
        assert "2 passed" in run_pytest(root, tmp_path, LONG_ONE, **more).stdout
