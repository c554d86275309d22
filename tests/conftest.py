"""Rules for every test: what a machine lacks is skipped in plain sight, and is a failure where all is required.

Things are declared with `@pytest.mark.needs("chromium")` (see tests/support/needs.py); `e2e` implies Chromium.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import structlog

from tests.support.needs import NEEDS, quick, require_all

# Machines that run tests are busy with other things too: how long an example takes says nothing.
hypothesis.settings.register_profile(
    "askwell", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], print_blob=True
)
hypothesis.settings.load_profile("askwell")

ROOT = Path(__file__).resolve().parent.parent
LONG = ("smoke", "chaos", "llm", "local_llm", "server", "wire")
"""Folders with files that take long, beside `e2e`."""
THOROUGH = "takes long: make test-all"
_skipped: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def _plain_logs() -> None:
    """Every test begins with logging as it is out of the box, whatever an earlier one has set."""
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the checkout."""
    return ROOT


def long_first(files: list[str]) -> dict[str, int]:
    """The order in which several processes take whole files: none is left with a long one at the end.

    Tests in browsers wait more than they work, so that theirs alternate with others.
    """
    folders = {file: Path(file).parent.as_posix().removeprefix("tests/").split("/")[0] for file in files}
    waiting = [file for file in files if folders[file] == "e2e"]
    working = [file for folder in LONG for file in files if folders[file] == folder]
    mixed = [file for pair in zip_longest(waiting, working) for file in pair if file is not None]
    return {file: n for n, file in enumerate([*mixed, *(file for file in files if file not in mixed)])}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this machine can't run, saying how it could."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        order = long_first(list(dict.fromkeys(item.location[0] for item in items)))
        items.sort(key=lambda item: order[item.location[0]])
    missing = {name: need.how for name, need in NEEDS.items() if not need.present()}
    for item in items:
        if quick() and item.get_closest_marker("thorough"):
            item.add_marker(pytest.mark.skip(reason=THOROUGH))
        wanted = {str(name) for mark in item.iter_markers("needs") for name in mark.args}
        if item.get_closest_marker("e2e"):
            wanted.add("chromium")
        unknown = wanted - NEEDS.keys()
        if unknown:
            raise pytest.UsageError(f"{item.nodeid}: unknown need {sorted(unknown)}; known: {sorted(NEEDS)}")
        for name in sorted(wanted & missing.keys()):
            item.add_marker(pytest.mark.skip(reason=f"needs {missing[name]}"))


def _skip_reason(longrepr: object) -> str:
    text = longrepr[2] if isinstance(longrepr, tuple) else longrepr
    return str(text).removeprefix("Skipped: ")


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and require_all():
        reason = _skip_reason(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"skipped where everything is required: {reason}"


def _count_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped[_skip_reason(report.longrepr)] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where all is required, make a failure of every skip."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole module that asks to be skipped."""
    report = yield
    _refuse_skip(report)
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count every skip, also of tests that another process ran."""
    _count_skip(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """The same for a whole module."""
    _count_skip(report)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was left out, and how to get it."""
    if not _skipped:
        return
    terminalreporter.section("left out on this machine")
    for reason, count in sorted(_skipped.items()):
        terminalreporter.write_line(f"{count} × {reason}")
