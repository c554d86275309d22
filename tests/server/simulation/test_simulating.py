"""Whole simulated interviews by the command, as somebody would run it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.engines.registry import ENGINES
from server.cli import run
from server.simulation.report import SIDES
from tests.config.test_personas import WHOLE
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.thorough


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith("ASKWELL_"):
            monkeypatch.delenv(name)
    (tmp_path / "config" / "personas").mkdir(parents=True)
    (tmp_path / "config" / "personas" / "tester.yaml").write_text(WHOLE, encoding="utf-8")
    monkeypatch.setenv("ASKWELL_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ASKWELL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ASKWELL_LOG_LEVEL", "error")


def _simulate(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code, _ = run(("simulate", *arguments))
    said = capfd.readouterr()
    return code, said.out, said.err


def test_interviews_are_held_counted_reported_and_not_held_again(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ("coffee_mec", "--persona", "tester", "--seeds", "2", "--jobs", "1", "--max-turns", "5")
    code, table, progress = _simulate(capfd, *arguments, "--html", str(tmp_path / "report.html"))
    assert code == 0
    assert [line.split()[0] for line in table.splitlines()] == ["persona", "tester", "all"]
    assert "1 of 2: tester-5-1, " in progress
    kept = sorted((tmp_path / "data" / "simulations" / "coffee_mec").glob("*.json"))
    assert [path.stem for path in kept] == ["tester-5-1", "tester-5-2"]
    document = json.loads(kept[0].read_text("utf-8"))
    score = document["score"]
    assert (score["ideas"], score["height_there"]) == (4, 2)
    assert 1 <= score["told"] <= 4
    assert score["found"] <= score["told"]
    assert score["turns"] == len(document["transcript"]) >= 3
    assert not score["broken_off"]
    report = (tmp_path / "report.html").read_text("utf-8")
    assert report.startswith("<!doctype html>")
    assert "heavy cup" in report
    assert report.count("<polyline") == 2

    before = [path.stat().st_mtime_ns for path in kept]
    assert _simulate(capfd, *arguments)[1] == table
    assert [path.stat().st_mtime_ns for path in kept] == before
    kept[0].write_text("{", encoding="utf-8")
    assert _simulate(capfd, *arguments)[1] == table
    assert json.loads(kept[0].read_text("utf-8"))["transcript"] == document["transcript"]


def test_engines_are_put_side_by_side(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    arguments = ("coffee_mec", "--persona", "tester", "--seeds", "1", "--jobs", "1", "--max-turns", "5")
    code, table, progress = _simulate(capfd, *arguments, "--engine", "all", "--html", str(report))
    assert code == 0
    assert "3 of 3: " in progress
    first, *sides = table.split("\n\n")
    rows = [line.split() for line in first.splitlines()]
    assert [row[0] for row in rows] == ["persona", *["tester"] * 3, *["all"] * 3]
    assert [row[2] for row in rows[1:4]] == [row[1] for row in rows[4:]] == list(ENGINES)
    assert [side.partition(":")[0] for side in sides] == list(SIDES)
    told = [line.split() for line in sides[0].splitlines()[1:]]
    column = rows[0].index("told")
    assert told[0] == list(ENGINES)
    assert told[1][2:] == [row[column] for row in rows[1:4]]
    assert told[2][1:] == [row[column - 1] for row in rows[4:]], "the rows of all have no manner"
    page = report.read_text("utf-8")
    assert page.count("<polyline") == 3
    assert {f'class="hue{at}" points' in page for at in range(3)} == {True}
    assert page.count("<table aria-label=") == len(SIDES)

    kept = sorted(path.stem for path in (tmp_path / "data" / "simulations" / "coffee_mec").glob("*.json"))
    assert kept == sorted(f"tester-{engine}-5-1" for engine in ENGINES)
    named = _simulate(capfd, *arguments, "--engine", "two_tier,signal_pools", "--engine", "two_tier")[1]
    assert [line.split()[0] for line in named.splitlines()[:5]] == ["persona", "tester", "tester", "all", "all"]
    alone = _simulate(capfd, *arguments, "--engine", "two_tier")[1]
    assert [line.split()[0] for line in alone.splitlines()] == ["persona", "tester", "all"]
    assert "engine" not in alone.splitlines()[0].split()


def test_engine_that_can_not_be_used_is_left_out_of_all_and_refused_by_name(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "config" / "engines").mkdir()
    (tmp_path / "config" / "engines" / "two_tier.yaml").write_text("engine: {name: two_tier}\n", encoding="utf-8")
    arguments = ("coffee_mec", "--persona", "tester", "--seeds", "1", "--jobs", "1", "--max-turns", "3")
    code, table, progress = _simulate(capfd, *arguments, "--engine", "all")
    assert code == 0
    assert "left out: two_tier with tester." in progress
    assert "two_tier" not in table
    code, table, progress = _simulate(capfd, *arguments, "--engine", "two_tier")
    assert (code, table) == (2, "")
    assert "`two_tier` can't be used" in progress


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "There is no concept `nowhere`"),
        (("coffee_mec", "--persona", "nobody"), "There is no persona of this concept `nobody`"),
        (("coffee_mec", "--manner", "shy"), "There is no manner `shy`"),
        (("coffee_mec", "--engine", "dice"), "There is no decision engine `dice`"),
        (("coffee_mec", "--engine", "two_tier,dice"), "There is no decision engine `dice`"),
        (("coffee_mec", "--engine", ""), "There is no decision engine ``"),
        (("coffee_mec", "--persona", "tester", "--by-model", "--jobs", "1"), "no language model is set up"),
        (("coffee_mec", "--persona", "tester", "--scheduler", "tcp://127.0.0.1:1"), "dask"),
    ],
)
def test_what_can_not_be_held_is_said(capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    code, table, told = _simulate(capfd, *arguments)
    assert (code, table) == (2, "")
    assert said.casefold() in told.splitlines()[-1].casefold()
    assert "Traceback" not in told


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """A Dask scheduler with one worker, in processes of their own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    started = [sys.executable, "-m", "dask"]
    port = address.rpartition(":")[2]
    commands = (
        [*started, "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"],
        [*started, "worker", address, "--nworkers", "1", "--nthreads", "2", "--no-dashboard"],
    )
    running = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    yield address
    for process in reversed(running):
        process.terminate()
        process.wait(timeout=PATIENCE_S)


@pytest.mark.needs("dask")
def test_workers_elsewhere_come_to_the_same(capfd: pytest.CaptureFixture[str], scheduler: str) -> None:
    arguments = ("coffee_mec", "--persona", "tester", "--seeds", "1", "--max-turns", "3", "--fresh")
    here = _simulate(capfd, *arguments, "--jobs", "1")
    there = _simulate(capfd, *arguments, "--scheduler", scheduler)
    assert there[:2] == here[:2]
